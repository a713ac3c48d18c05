/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Imports, runs and compares one case of ONNX's operator tests (golden-case.h). */

#include "golden-case.h"

#include <math.h>
#include <string.h>

#include "../../lib/ir/error.h"
#include "../../lib/onnx/wire.h"
#include "../../lib/ops/reference.h"
#include "interpret.h"

#define RTOL 1e-3
#define ATOL 1e-7
/* The tolerance for bfloat16, one unit in the last place: the tests' numbers are truncated, while a
 * cast rounds to nearest. */
#define RTOL_BFLOAT16 0x1p-7

GPtrArray *
golden_read_tensors (const char *folder, const char *kind, GError **error)
{
  g_autoptr (GPtrArray) tensors =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

  for (guint i = 0;; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s/test_data_set_0/%s_%u.pb", folder, kind, i);
      g_autoptr (GBytes) bytes = NULL;
      CleaveTensor *tensor;
      char *text;
      gsize n;

      if (!g_file_get_contents (path, &text, &n, NULL))
        return g_steal_pointer (&tensors);
      bytes = g_bytes_new_take (text, n);
      tensor = n == 0 ? NULL : cleave_onnx_parse_tensor (bytes, error);
      if (tensor == NULL)
        {
          if (n == 0)
            g_set_error (error, CLEAVE_ERROR, CLEAVE_ERROR_MODEL, "empty %s", kind);
          return NULL;
        }
      g_ptr_array_add (tensors, tensor);
    }
}

/* Replaces a tensor of uint16 by a tensor of bfloat16 with the same bits, since the tests store
 * bfloat16 as uint16. Frees the old tensor. */
static CleaveTensor *
as_bfloat16 (CleaveTensor *tensor)
{
  CleaveTensorType type = *cleave_tensor_get_type (tensor);
  CleaveTensor *turned;

  if (type.element != CLEAVE_UINT16)
    return tensor;
  type.element = CLEAVE_BFLOAT16;
  turned = cleave_tensor_new_copy (&type, cleave_tensor_get_data (tensor), NULL);
  cleave_tensor_unref (tensor);
  return turned;
}

static void
fix_type (GPtrArray *tensors, guint index, const CleaveTensorType *as)
{
  if (as->element == CLEAVE_BFLOAT16)
    tensors->pdata[index] = as_bfloat16 (tensors->pdata[index]);
}

/* Makes each input whose `is_fixed` is TRUE an initializer with the value of the test. */
static void
fix_inputs (Model *model, const GPtrArray *inputs, const gboolean *is_fixed)
{
  Onnx__GraphProto *graph = model->graph;

  /* protobuf-c allocates lists that are exactly full, so make this list longer. */
  graph->initializer =
      g_renew (Onnx__TensorProto *, graph->initializer, 2 * graph->n_initializer + 1);
  for (guint i = 0; i < inputs->len && i < model->graph->n_input; i++)
    {
      const Onnx__TypeProto *type = model->graph->input[i]->type;
      g_autoptr (CleaveTensor) dense =
          is_fixed[i] ? cleave_tensor_dup_dense (inputs->pdata[i]) : NULL;

      if (dense != NULL && type != NULL &&
          type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE &&
          type->tensor_type->elem_type == ONNX__TENSOR_PROTO__DATA_TYPE__BFLOAT16)
        dense = as_bfloat16 (g_steal_pointer (&dense));
      if (dense != NULL)
        model_add_initializer (model, model->graph->input[i]->name, cleave_tensor_get_type (dense),
                               cleave_tensor_get_data (dense));
    }
}

CleaveGraph *
golden_import (GBytes *bytes,
               const GPtrArray *inputs,
               const gboolean *is_fixed,
               gboolean dynamic,
               GError **error)
{
  g_autoptr (Model) model =
      cleave_wire_unpack (&onnx__model_proto__descriptor, bytes, FALSE, "ONNX model", error);
  g_autofree CleaveOnnxShape *shapes = g_new0 (CleaveOnnxShape, inputs->len + 1);
  g_autoptr (GBytes) packed = NULL;
  CleaveOnnxOptions options = { .shapes = shapes, .dynamic = dynamic };

  if (model == NULL)
    return NULL;
  fix_inputs (model, inputs, is_fixed);
  for (guint i = 0; i < inputs->len && i < model->graph->n_input; i++)
    if (!is_fixed[i])
      shapes[options.n_shapes++] =
          (CleaveOnnxShape){ model->graph->input[i]->name,
                             cleave_tensor_get_type (inputs->pdata[i])->shape };
  packed = model_pack (model);
  return cleave_onnx_parse (packed, NULL, &options, error);
}

CleaveGraph *
golden_import_somehow (GBytes *bytes, GPtrArray *inputs, gboolean *any_fixed, GError **error)
{
  g_autofree gboolean *is_fixed = g_new0 (gboolean, inputs->len + 1);
  CleaveGraph *graph = golden_import (bytes, inputs, is_fixed, FALSE, NULL);

  *any_fixed = graph == NULL;
  if (graph != NULL)
    return graph;
  for (guint i = 0; i < inputs->len; i++)
    is_fixed[i] = TRUE;
  graph = golden_import (bytes, inputs, is_fixed, FALSE, error);
  for (guint i = 0; i < inputs->len && graph != NULL; i++)
    {
      CleaveGraph *with;

      is_fixed[i] = FALSE;
      with = golden_import (bytes, inputs, is_fixed, FALSE, NULL);
      is_fixed[i] = with == NULL;
      if (with != NULL)
        {
          cleave_graph_unref (graph);
          graph = with;
        }
    }
  for (guint i = inputs->len; i-- > 0 && graph != NULL;)
    if (is_fixed[i])
      g_ptr_array_remove_index (inputs, i);
  return graph;
}

static gboolean
is_close (CleaveElement element, gconstpointer a, gconstpointer b)
{
  double x = cleave_real_load (element, a), y = cleave_real_load (element, b);
  double rtol = element == CLEAVE_BFLOAT16 ? RTOL_BFLOAT16 : RTOL;

  if (!cleave_element_is_float (element))
    return memcmp (a, b, cleave_element_size (element)) == 0;
  return (isnan (x) && isnan (y)) || x == y || fabs (x - y) <= ATOL + rtol * fabs (y);
}

char *
golden_compare (CleaveTensor *got, CleaveTensor *want)
{
  g_autoptr (CleaveTensor) x = cleave_tensor_dup_dense (got);
  const CleaveTensorType *type = cleave_tensor_get_type (x);
  const char *a = cleave_tensor_get_data (x), *b = cleave_tensor_get_data (want);
  gsize size = cleave_element_size (type->element);
  gint64 n = cleave_shape_n_elements (&type->shape);

  if (!cleave_tensor_type_equal (type, cleave_tensor_get_type (want)))
    {
      g_autofree char *one = cleave_tensor_type_to_string (type);
      g_autofree char *two = cleave_tensor_type_to_string (cleave_tensor_get_type (want));

      return g_strdup_printf ("the result is %s, not %s", one, two);
    }
  for (gint64 i = 0; i < n; i++)
    if (!is_close (type->element, a + (gsize) i * size, b + (gsize) i * size))
      return g_strdup_printf ("element %" G_GINT64_FORMAT " is %g, not %g", i,
                              cleave_real_load (type->element, a + (gsize) i * size),
                              cleave_real_load (type->element, b + (gsize) i * size));
  return NULL;
}

/* Runs the dynamic part twice: node by node, and with chains of nodes that run together. All nodes
 * count as expensive (golden.c). Both runs must have the same bits. */
static GPtrArray *
run_dynamic (const CleaveOnnxDynamic *dynamic,
             const GPtrArray *names,
             const GPtrArray *values,
             GError **error)
{
  GPtrArray *one = cleave_onnx_dynamic_run (dynamic, (const char *const *) names->pdata,
                                            (CleaveTensor *const *) values->pdata, values->len,
                                            NULL, NULL, NULL, error);
  g_autoptr (GPtrArray) other =
      one == NULL ? NULL
                  : cleave_onnx_dynamic_run (dynamic, (const char *const *) names->pdata,
                                             (CleaveTensor *const *) values->pdata, values->len,
                                             cleave_interpret_into, NULL, NULL, error);
  gboolean good = other != NULL;

  for (guint i = 0; good && i < one->len; i++)
    if (!cleave_tensor_equal (one->pdata[i], other->pdata[i]))
      good = cleave_fail (error, CLEAVE_ERROR_MODEL, "output %u differs with chains", i);
  if (one != NULL && !good)
    g_clear_pointer (&one, g_ptr_array_unref);
  return one;
}

/* Runs the graph, and its dynamic part if it has one. Returns the outputs, or NULL on error. */
static GPtrArray *
run_all (const CleaveGraph *graph, GPtrArray *inputs, GError **error)
{
  const CleaveOnnxDynamic *dynamic = cleave_onnx_get_dynamic (graph);
  GPtrArray *got = cleave_interpret (graph, (CleaveTensor *const *) inputs->pdata), *all;
  g_autoptr (GPtrArray) names = NULL, values = NULL;

  if (dynamic == NULL)
    return got;
  names = g_ptr_array_new_with_free_func (g_free);
  values = g_ptr_array_new ();
  for (guint i = 0; i < inputs->len; i++)
    {
      g_ptr_array_add (names, cleave_result_dup_name (cleave_graph_get_input (graph, i)));
      g_ptr_array_add (values, inputs->pdata[i]);
    }
  for (guint i = 0; i < got->len; i++)
    {
      g_ptr_array_add (names, g_strdup (cleave_graph_get_output_name (graph, i)));
      g_ptr_array_add (values, got->pdata[i]);
    }
  all = run_dynamic (dynamic, names, values, error);
  g_ptr_array_unref (got);
  return all;
}

char *
golden_run (const CleaveGraph *graph, GPtrArray *inputs, GPtrArray *outputs)
{
  g_autoptr (GPtrArray) got = NULL;
  g_autoptr (GError) error = NULL;

  if (!cleave_graph_validate (graph, &error))
    return g_strdup (error->message);
  if (cleave_graph_get_n_inputs (graph) != inputs->len)
    return g_strdup ("other inputs");
  for (guint i = 0; i < inputs->len; i++)
    fix_type (inputs, i, cleave_result_get_type (cleave_graph_get_input (graph, i)));
  for (guint i = 0; i < inputs->len; i++)
    if (!cleave_tensor_type_equal (cleave_tensor_get_type (inputs->pdata[i]),
                                   cleave_result_get_type (cleave_graph_get_input (graph, i))))
      return g_strdup_printf ("input %u has another type", i);
  got = run_all (graph, inputs, &error);
  if (got == NULL)
    return g_strdup (error->message);
  if (got->len != outputs->len)
    return g_strdup ("other outputs");
  for (guint i = 0; i < got->len; i++)
    {
      char *wrong;

      fix_type (outputs, i, cleave_tensor_get_type (got->pdata[i]));
      wrong = golden_compare (got->pdata[i], outputs->pdata[i]);

      if (wrong != NULL)
        return wrong;
    }
  return NULL;
}

char *
golden_run_again (const CleaveGraph *graph, GPtrArray *inputs)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = cleave_onnx_serialize (graph, &error);
  const CleaveOnnxOptions options = { .dynamic = cleave_onnx_get_dynamic (graph) != NULL };
  g_autoptr (CleaveGraph) again =
      bytes == NULL ? NULL : cleave_onnx_parse (bytes, NULL, &options, &error);
  g_autoptr (GPtrArray) one = NULL, two = NULL;

  if (again == NULL)
    return g_strdup_printf ("written and read again: %s", error->message);
  one = run_all (graph, inputs, &error);
  two = one == NULL ? NULL : run_all (again, inputs, &error);
  if (two == NULL)
    return g_strdup_printf ("written and run again: %s", error->message);
  for (guint i = 0; i < one->len; i++)
    if (!cleave_tensor_equal (one->pdata[i], two->pdata[i]))
      return g_strdup_printf ("written and read again, output %u is another", i);
  for (guint i = 0; i < cleave_graph_get_n_outputs (graph); i++)
    if (strcmp (cleave_graph_get_output_name (graph, i), cleave_graph_get_output_name (again, i)) !=
        0)
      return g_strdup_printf ("written and read again, output %u has another name", i);
  return NULL;
}

GBytes *
golden_make_dynamic (GBytes *bytes, GPtrArray *inputs)
{
  g_autoptr (Model) model =
      cleave_wire_unpack (&onnx__model_proto__descriptor, bytes, FALSE, "ONNX model", NULL);
  Onnx__GraphProto *graph = model->graph;
  const guint n = inputs->len;

  if (n != graph->n_input)
    return NULL;
  /* protobuf-c allocates lists that are exactly full, so make them longer. */
  graph->node = g_renew (Onnx__NodeProto *, graph->node, 2 * graph->n_node + 1);
  graph->input = g_renew (Onnx__ValueInfoProto *, graph->input, 2 * graph->n_input + 1);
  for (guint i = 0; i < n; i++)
    {
      const CleaveShape *shape = &cleave_tensor_get_type (inputs->pdata[i])->shape;
      g_autofree char *name = g_strdup (graph->input[i]->name);
      g_autofree char *raw = g_strconcat (name, ".raw", NULL);
      g_autofree char *keep = g_strconcat (name, ".keep", NULL);
      g_autofree char *operands = g_strconcat (raw, " ", keep, NULL);
      g_autofree char *rows = NULL;

      if (shape->rank == 0 || cleave_shape_n_elements (shape) == 0 || strchr (name, ' ') != NULL)
        continue;
      rows = g_strdup_printf ("%" G_GINT64_FORMAT, shape->dim[0]);
      g_free (graph->input[i]->name);
      graph->input[i]->name = g_strdup (raw);
      model_add_input (model, keep, rows)->type->tensor_type->elem_type =
          ONNX__TENSOR_PROTO__DATA_TYPE__BOOL;
      node_add_int (model_add_node (model, "Compress", raw, operands, name), "axis", 0);
      g_ptr_array_add (inputs, cleave_tensor_new (&CLEAVE_TYPE (CLEAVE_BOOL, shape->dim[0]), NULL));
      memset (cleave_tensor_get_mutable_data (inputs->pdata[inputs->len - 1]), 1,
              (gsize) shape->dim[0]);
    }
  return model_pack (model);
}
