/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes, compares, checks and rounds the types of all inputs of a model (types.h). */

#include "types.h"

#include "../ir/error.h"
#include <cleave/cleave-load.h>

#define TYPE(types, i) (&g_array_index (types, CleaveTensorType, i))

GArray *
cleave_types_of_graph (const CleaveGraph *graph)
{
  GArray *types = g_array_new (FALSE, FALSE, sizeof (CleaveTensorType));

  for (guint i = 0; i < cleave_graph_get_n_inputs (graph); i++)
    g_array_append_val (types, *cleave_result_get_type (cleave_graph_get_input (graph, i)));
  return types;
}

GArray *
cleave_types_of_tensors (CleaveTensor *const *tensors, guint n_tensors)
{
  GArray *types = g_array_new (FALSE, FALSE, sizeof (CleaveTensorType));

  for (guint i = 0; i < n_tensors; i++)
    g_array_append_val (types, *cleave_tensor_get_type (tensors[i]));
  return types;
}

gboolean
cleave_types_equal (const GArray *a, const GArray *b)
{
  for (guint i = 0; i < a->len && a->len == b->len; i++)
    if (!cleave_tensor_type_equal (TYPE (a, i), TYPE (b, i)))
      return FALSE;
  return a->len == b->len;
}

gint64
cleave_types_count_elements (const GArray *types)
{
  gint64 n = 0;

  for (guint i = 0; i < types->len; i++)
    n += cleave_shape_n_elements (&TYPE (types, i)->shape);
  return n;
}

/* Checks that an input of type `type` fits the largest type: the same element type and rank, and no
 * larger extent. Sets the error if not. */
static gboolean
check_one (const CleaveTensorType *type,
           const CleaveTensorType *largest,
           const CleaveResult *input,
           GError **error)
{
  g_autofree char *name = cleave_result_dup_name (input);

  if (type->element != largest->element || type->shape.rank != largest->shape.rank)
    {
      g_autofree char *want = cleave_tensor_type_to_string (largest);
      g_autofree char *got = cleave_tensor_type_to_string (type);

      return cleave_fail (error, CLEAVE_ERROR_OPTION,
                          "input '%s' must be %s or smaller in some dimensions, not %s", name, want,
                          got);
    }
  for (guint d = 0; d < type->shape.rank; d++)
    if (type->shape.dim[d] > largest->shape.dim[d])
      return cleave_fail (error, CLEAVE_ERROR_OPTION,
                          "dimension %u of input '%s' is %" G_GINT64_FORMAT
                          ", but the program was made for at most %" G_GINT64_FORMAT
                          ": make it for a larger shape",
                          d, name, type->shape.dim[d], largest->shape.dim[d]);
  return TRUE;
}

gboolean
cleave_types_check (const GArray *types,
                    const GArray *largest,
                    const CleaveGraph *graph,
                    GError **error)
{
  if (types->len != largest->len)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "the model has %u inputs, not %u", largest->len,
                        types->len);
  for (guint i = 0; i < types->len; i++)
    if (!check_one (TYPE (types, i), TYPE (largest, i), cleave_graph_get_input (graph, i), error))
      return FALSE;
  return TRUE;
}

static gint64
round_up (gint64 extent, gint64 largest)
{
  if (extent == 0)
    return 0;
  while (largest > 1 && (largest + 1) / 2 >= extent)
    largest = (largest + 1) / 2;
  return largest;
}

GArray *
cleave_types_round_up (const GArray *types, const GArray *largest)
{
  GArray *rounded = g_array_copy ((GArray *) types);

  for (guint i = 0; i < types->len; i++)
    for (guint d = 0; d < TYPE (types, i)->shape.rank; d++)
      TYPE (rounded, i)->shape.dim[d] =
          round_up (TYPE (types, i)->shape.dim[d], TYPE (largest, i)->shape.dim[d]);
  return rounded;
}

/* Copies from `options` to `shapes` the extents of free dimensions. An entry of the options is an
 * extent if its name is not in `inputs`, the names of the model's inputs. */
static void
add_dimensions (GArray *shapes, const CleaveOnnxOptions *options, char *const *inputs)
{
  for (guint i = 0; options != NULL && i < options->n_shapes; i++)
    if (options->shapes[i].name != NULL &&
        !g_strv_contains ((const char *const *) inputs, options->shapes[i].name))
      g_array_append_val (shapes, options->shapes[i]);
}

CleaveGraph *
cleave_types_load (const char *path,
                   const CleaveOnnxOptions *options,
                   const GArray *types,
                   const CleaveGraph *graph,
                   GError **error)
{
  g_auto (GStrv) names = g_new0 (char *, types->len + 1);
  g_autoptr (GArray) shapes = g_array_new (FALSE, FALSE, sizeof (CleaveOnnxShape));
  CleaveOnnxOptions given = { 0 };

  for (guint i = 0; i < types->len; i++)
    {
      CleaveOnnxShape shape = { .shape = TYPE (types, i)->shape };

      shape.name = names[i] = cleave_result_dup_name (cleave_graph_get_input (graph, i));
      g_array_append_val (shapes, shape);
    }
  add_dimensions (shapes, options, names);
  if (options != NULL)
    given = *options;
  given.shapes = (const CleaveOnnxShape *) (gpointer) shapes->data;
  given.n_shapes = shapes->len;
  return cleave_graph_load (path, &given, error);
}
