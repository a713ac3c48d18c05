/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Loads a model for the files of --input. The files give the shapes of inputs, and the values of
 * inputs that have default values. */

#include "inputs.h"

#include "image.h"
#include "npy.h"
#include "npz.h"

#include <string.h>

/* The functions below read tensors from the files of --input, and write the shape of each tensor as
 * an argument of --shape, such as "x=1,3". */

/* Returns whether an argument of --shape gives the shape of the input `name`, or of an input
 * without a name. If `name` is NULL, returns whether there is any --shape. */
static gboolean
is_given (char *const *shapes, const char *name)
{
  for (; shapes != NULL && *shapes != NULL; shapes++)
    {
      g_autofree char *of = NULL;
      const char *shape;

      cleave_argument_pair (*shapes, &of, &shape);
      if (name == NULL || of == NULL || g_str_equal (of, name))
        return TRUE;
    }
  return FALSE;
}

static void
add_shape (GPtrArray *shapes, char *const *given, const char *name, CleaveTensor *tensor)
{
  const CleaveShape *shape = &cleave_tensor_get_type (tensor)->shape;
  g_autoptr (GString) text = g_string_new (name);

  if (shape->rank == 0 || is_given (given, name))
    return;
  if (name != NULL)
    g_string_append_c (text, '=');
  for (guint d = 0; d < shape->rank; d++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, d == 0 ? "" : ",", shape->dim[d]);
  g_ptr_array_add (shapes, g_string_free (g_steal_pointer (&text), FALSE));
}

/* Adds the shapes of the tensors in the file of one --input. Ignores errors: the command reports
 * errors when it reads the file for the run. */
static void
add_shapes_of (GPtrArray *shapes, char *const *given, const char *text)
{
  g_autofree char *name = NULL;
  const char *path;
  g_autoptr (CleaveTensor) tensor = NULL;
  g_autoptr (GArray) entries = NULL;

  cleave_argument_file (text, NULL, &name, &path);
  if (g_str_has_suffix (path, ".npz"))
    entries = cleave_npz_load (path, NULL);
  else if (!cleave_image_is_name (path))
    tensor = cleave_tensor_load (path, ".npy or .pb", NULL);
  if (tensor != NULL)
    add_shape (shapes, given, name, tensor);
  for (guint i = 0; entries != NULL && i < entries->len; i++)
    {
      const CleaveNpzEntry *entry = &g_array_index (entries, CleaveNpzEntry, i);

      if (name == NULL || entries->len == 1 || g_str_equal (entry->name, name))
        add_shape (shapes, given, name == NULL ? entry->name : name, entry->tensor);
    }
}

/* The functions below replace default values of inputs by constants with the values of --input. */

static void
add_value (GPtrArray *values, char *const *defaults, const char *name, CleaveTensor *tensor)
{
  CleaveModelValue *value;

  if (name == NULL || !g_strv_contains ((const char *const *) defaults, name))
    return;
  value = g_new (CleaveModelValue, 1);
  *value = (CleaveModelValue){ g_strdup (name), cleave_tensor_ref (tensor) };
  g_ptr_array_add (values, value);
}

/* Reads the tensors of one --input (`text`). Adds to `values` the tensors of the inputs that have
 * default values. `defaults` has the names of these inputs. */
static gboolean
add_values (
    GPtrArray *values, char *const *names, char *const *defaults, const char *text, GError **error)
{
  g_autofree char *name = NULL;
  const char *path;
  gboolean is_archive;

  cleave_argument_file (text, names, &name, &path);
  is_archive = g_str_has_suffix (path, ".npz");
  if (is_archive ? name != NULL && !g_strv_contains ((const char *const *) defaults, name)
                 : name == NULL || !g_strv_contains ((const char *const *) defaults, name))
    return TRUE;
  if (is_archive)
    {
      g_autoptr (GArray) entries = cleave_npz_load (path, error);

      for (guint i = 0; entries != NULL && i < entries->len; i++)
        {
          const CleaveNpzEntry *entry = &g_array_index (entries, CleaveNpzEntry, i);

          if (name == NULL || entries->len == 1 || g_str_equal (entry->name, name))
            add_value (values, defaults, name == NULL ? entry->name : name, entry->tensor);
        }
      return entries != NULL;
    }
  {
    g_autoptr (CleaveTensor) tensor = cleave_tensor_load (path, ".npy, .npz or .pb", error);

    if (tensor != NULL)
      add_value (values, defaults, name, tensor);
    return tensor != NULL;
  }
}

/* If --input gives values to inputs that have default values, loads the model again with these
 * values, and returns the new graph. If not, returns `graph`. Takes ownership of `graph`. */
static CleaveGraph *
load_with_defaults (CleaveGraph *graph,
                    const char *path,
                    const CleaveModelOptions *model,
                    const CleaveInputOptions *inputs,
                    GError **error)
{
  g_auto (GStrv) names = cleave_input_list_names (graph);
  g_auto (GStrv) defaults = cleave_onnx_list_defaults (graph, FALSE);
  g_autoptr (GPtrArray) values = g_ptr_array_new_with_free_func (cleave_model_value_free);
  CleaveModelOptions more = *model;

  for (char **file = inputs->files; defaults[0] != NULL && file != NULL && *file != NULL; file++)
    if (!add_values (values, names, defaults, *file, error))
      {
        cleave_graph_unref (graph);
        return NULL;
      }
  if (values->len == 0)
    return graph;
  cleave_graph_unref (graph);
  more.more_values = values;
  return cleave_model_load (path, &more, error);
}

/* The functions below load a model for which --shape gives ranges of extents. The input files give
 * the extents. */

/* Adds the arguments of --shape (`texts`) to `shapes`, which has the shapes of the input files,
 * such as "x=1,3". Leaves out an argument with a range, such as "x=1..8,3", if `shapes` already has
 * a shape for the same input. */
static void
add_texts (GPtrArray *shapes, char *const *texts)
{
  guint n = shapes->len;

  for (; texts != NULL && *texts != NULL; texts++)
    {
      const char *equals = strchr (*texts, '=');
      gboolean is_replaced = FALSE;

      for (guint i = 0; i < n && equals != NULL && strstr (equals, "..") != NULL; i++)
        is_replaced |= strncmp (shapes->pdata[i], *texts, (gsize) (equals - *texts) + 1) == 0;
      if (!is_replaced)
        g_ptr_array_add (shapes, g_strdup (*texts));
    }
}

/* `largest` is the model with the largest extents that the ranges of --shape allow. Fails if a
 * dimension of an input of `graph` is longer than in `largest`. */
static gboolean
check_extents (const CleaveGraph *graph, const CleaveGraph *largest, GError **error)
{
  guint n = MIN (cleave_graph_get_n_inputs (graph), cleave_graph_get_n_inputs (largest));

  for (guint i = 0; i < n; i++)
    {
      CleaveResult *input = cleave_graph_get_input (graph, i);
      const CleaveShape *shape = &cleave_result_get_type (input)->shape,
                        *most =
                            &cleave_result_get_type (cleave_graph_get_input (largest, i))->shape;

      for (guint d = 0; d < shape->rank && d < most->rank; d++)
        if (shape->dim[d] > most->dim[d])
          {
            g_autofree char *name = cleave_result_dup_name (input);

            return cleave_argument_fail (error,
                                         "--input '%s' has %" G_GINT64_FORMAT
                                         " in dimension %u, and --shape allows at most "
                                         "%" G_GINT64_FORMAT,
                                         name, shape->dim[d], d, most->dim[d]);
          }
    }
  return TRUE;
}

/* Loads the model with the shapes of the input files in place of the shapes with ranges of --shape.
 * `largest` is the model with the largest extents that these ranges allow. Returns NULL and sets
 * the error if a dimension of an input is longer than in `largest`. */
static CleaveGraph *
load_in_range (const char *path,
               CleaveModelOptions *model,
               const CleaveInputOptions *inputs,
               const CleaveGraph *largest,
               GPtrArray *shapes,
               GError **error)
{
  g_autoptr (CleaveGraph) graph = NULL;

  for (char **file = inputs->files; *file != NULL; file++)
    add_shapes_of (shapes, NULL, *file);
  add_texts (shapes, model->shapes);
  g_ptr_array_add (shapes, NULL);
  model->shapes = (char **) shapes->pdata;
  graph = cleave_model_load (path, model, error);
  return graph != NULL && check_extents (graph, largest, error) ? g_steal_pointer (&graph) : NULL;
}

static gboolean
has_range (char *const *texts)
{
  for (; texts != NULL && *texts != NULL; texts++)
    if (strstr (*texts, "..") != NULL)
      return TRUE;
  return FALSE;
}

CleaveGraph *
cleave_model_load_for_inputs (const char *path,
                              const CleaveModelOptions *model,
                              const CleaveInputOptions *inputs,
                              GError **error)
{
  GError *mine = NULL;
  CleaveGraph *graph = cleave_model_load (path, model, &mine);
  g_autoptr (GPtrArray) shapes = g_ptr_array_new_with_free_func (g_free);
  CleaveModelOptions more = *model;

  if (graph != NULL && inputs->files != NULL && has_range (model->shapes))
    {
      g_autoptr (CleaveGraph) largest = graph;

      graph = load_in_range (path, &more, inputs, largest, shapes, error);
      return graph == NULL ? NULL : load_with_defaults (graph, path, &more, inputs, error);
    }
  for (char **file = inputs->files; graph == NULL && file != NULL && *file != NULL; file++)
    add_shapes_of (shapes, model->shapes, *file);
  if (shapes->len > 0)
    {
      for (char **shape = model->shapes; shape != NULL && *shape != NULL; shape++)
        g_ptr_array_add (shapes, g_strdup (*shape));
      g_ptr_array_add (shapes, NULL);
      more.shapes = (char **) shapes->pdata;
      g_clear_error (&mine);
      graph = cleave_model_load (path, &more, &mine);
    }
  if (mine != NULL)
    g_propagate_error (error, mine);
  return graph == NULL ? NULL : load_with_defaults (graph, path, &more, inputs, error);
}
