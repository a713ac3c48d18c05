/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs a random model with a program, or with the reference kernels, and compares outputs. */

#include "compare.h"

#include <stdlib.h>
#include <string.h>

#include "../../lib/runtime/program-private.h"

/* Returns the element type of the library for an element type of ONNX (trial.h). */
static CleaveElement
library_element (guint element)
{
  static const CleaveElement elements[] = {
    [F32] = CLEAVE_FLOAT32,   [U8] = CLEAVE_UINT8,    [I8] = CLEAVE_INT8,    [U16] = CLEAVE_UINT16,
    [I16] = CLEAVE_INT16,     [I32] = CLEAVE_INT32,   [I64] = CLEAVE_INT64,  [BOOL] = CLEAVE_BOOL,
    [F16] = CLEAVE_FLOAT16,   [F64] = CLEAVE_FLOAT64, [U32] = CLEAVE_UINT32, [U64] = CLEAVE_UINT64,
    [BF16] = CLEAVE_BFLOAT16,
  };

  return elements[element];
}

static CleaveTensorType
library_type (const TrialType *type)
{
  CleaveTensorType to = CLEAVE_SCALAR (library_element (type->element));

  to.shape.rank = type->rank;
  for (guint d = 0; d < type->rank; d++)
    to.shape.dim[d] = type->dim[d];
  return to;
}

static const TrialValue *
value_of_name (const Trial *trial, const char *name)
{
  guint v = name == NULL || name[0] != 'v' ? 0 : (guint) atoi (name + 1);

  return v < trial->values->len ? &g_array_index (trial->values, TrialValue, v) : NULL;
}

static const TrialValue *
nth_output (const Trial *trial, guint i)
{
  return &g_array_index (trial->values, TrialValue, g_array_index (trial->outputs, guint, i));
}

gboolean
compare_types (const Trial *trial, const CleaveGraph *graph, GString *what)
{
  if (cleave_graph_get_n_outputs (graph) != trial->outputs->len)
    {
      g_string_append (what, "another number of outputs");
      return FALSE;
    }
  for (guint i = 0; i < trial->outputs->len; i++)
    {
      CleaveTensorType want = library_type (&nth_output (trial, i)->type);
      const CleaveTensorType *got =
          cleave_result_get_type (cleave_operand_get_result (cleave_graph_get_output (graph, i)));

      if (!cleave_tensor_type_equal (&want, got))
        {
          g_autofree char *a = cleave_tensor_type_to_string (&want);
          g_autofree char *b = cleave_tensor_type_to_string (got);

          g_string_append_printf (what, "output v%u is %s, not %s",
                                  g_array_index (trial->outputs, guint, i), b, a);
          return FALSE;
        }
    }
  return TRUE;
}

static GPtrArray *
make_inputs (const Trial *trial, const CleaveGraph *graph)
{
  GPtrArray *inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

  for (guint i = 0; i < cleave_graph_get_n_inputs (graph); i++)
    {
      CleaveResult *input = cleave_graph_get_input (graph, i);
      g_autofree char *name = cleave_result_dup_name (input);
      const TrialValue *value = value_of_name (trial, name);

      g_assert (value != NULL && value->data != NULL);
      g_ptr_array_add (inputs,
                       cleave_tensor_new_copy (cleave_result_get_type (input), value->data, NULL));
    }
  return inputs;
}

static gboolean
inputs_are_unchanged (const Trial *trial, const CleaveGraph *graph, GPtrArray *inputs)
{
  for (guint i = 0; i < inputs->len; i++)
    {
      g_autofree char *name = cleave_result_dup_name (cleave_graph_get_input (graph, i));
      const TrialValue *value = value_of_name (trial, name);

      if (memcmp (cleave_tensor_get_data (inputs->pdata[i]), value->data, value->n_bytes) != 0)
        return FALSE;
    }
  return TRUE;
}

static GPtrArray *
make_outputs (const CleaveGraph *graph, int poison)
{
  GPtrArray *outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

  for (guint i = 0; i < cleave_graph_get_n_outputs (graph); i++)
    {
      const CleaveTensorType *type =
          cleave_result_get_type (cleave_operand_get_result (cleave_graph_get_output (graph, i)));
      CleaveTensor *tensor = cleave_tensor_new (type, NULL);

      memset (cleave_tensor_get_mutable_data (tensor), poison,
              (gsize) cleave_tensor_type_n_bytes (type));
      g_ptr_array_add (outputs, tensor);
    }
  return outputs;
}

GPtrArray *
compare_run (const Trial *trial,
             const CleaveGraph *graph,
             guint n_threads,
             gboolean reference,
             guint poison,
             GString *what)
{
  static const int poisons[] = { 0xff, 0x4b, 0x01, 0x00 };
  CleaveProgramOptions options = { .n_threads = n_threads, .reference = reference };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveProgram) program = cleave_program_new (graph, &options, &error);
  g_autoptr (GPtrArray) inputs = make_inputs (trial, graph);
  GPtrArray *outputs = make_outputs (graph, poisons[poison]);

  if (program != NULL &&
      cleave_program_bind (program, (CleaveTensor *const *) inputs->pdata, inputs->len,
                           (CleaveTensor *const *) outputs->pdata, outputs->len, &error))
    {
      memset (program->arena, poisons[poison], (gsize) program->stats.arena_bytes);
      cleave_program_run (program);
      if (inputs_are_unchanged (trial, graph, inputs))
        return outputs;
      g_string_append (what, "! an input was written into");
    }
  else
    g_string_append (what, error->message);
  g_ptr_array_unref (outputs);
  return NULL;
}

static gboolean
is_nan (guint element, gconstpointer data)
{
  if (element == F32)
    return (*(const guint32 *) data & 0x7fffffff) > 0x7f800000;
  if (element == F64)
    return (*(const guint64 *) data & G_MAXINT64) > G_GUINT64_CONSTANT (0x7ff0000000000000);
  if (element == F16)
    return (*(const guint16 *) data & 0x7fff) > 0x7c00;
  return element == BF16 && (*(const guint16 *) data & 0x7fff) > 0x7f80;
}

static void
tell_difference (GString *what,
                 guint value,
                 const TrialType *type,
                 gint64 at,
                 const guint8 *got,
                 const guint8 *want)
{
  gsize size = element_size (type->element);

  g_string_append_printf (what,
                          "output v%u (%s) differs at element %" G_GINT64_FORMAT
                          " of %" G_GINT64_FORMAT ": bytes",
                          value, element_name (type->element), at, type_n_elements (type));
  for (gsize i = size; i-- > 0;)
    g_string_append_printf (what, "%s%02x", i + 1 == size ? " " : "", got[i]);
  g_string_append (what, " in place of ");
  for (gsize i = size; i-- > 0;)
    g_string_append_printf (what, "%02x", want[i]);
  if (type->element == F32)
    g_string_append_printf (what, " (%g, %g)", (double) *(const float *) (gconstpointer) got,
                            (double) *(const float *) (gconstpointer) want);
}

static gboolean
output_is_equal (
    guint v, const TrialType *type, CleaveTensor *got, CleaveTensor *want, GString *what)
{
  const guint8 *a = cleave_tensor_get_data (got), *b = cleave_tensor_get_data (want);
  gsize size = element_size (type->element);
  gint64 n = type_n_elements (type);

  if (memcmp (a, b, (gsize) n * size) == 0)
    return TRUE;
  for (gint64 i = 0; i < n; i++, a += size, b += size)
    if (memcmp (a, b, size) != 0 && !(is_nan (type->element, a) && is_nan (type->element, b)))
      {
        tell_difference (what, v, type, i, a, b);
        return FALSE;
      }
  return TRUE;
}

gboolean
compare_outputs (const Trial *trial, GPtrArray *got, GPtrArray *expected, GString *what)
{
  for (guint i = 0; i < expected->len; i++)
    if (!output_is_equal (g_array_index (trial->outputs, guint, i), &nth_output (trial, i)->type,
                          got->pdata[i], expected->pdata[i], what))
      return FALSE;
  return TRUE;
}

GPtrArray *
compare_run_tail (const Trial *trial,
                  const CleaveGraph *graph,
                  guint n_threads,
                  gboolean reference,
                  guint poison,
                  GString *what)
{
  g_autoptr (GPtrArray) got = compare_run (trial, graph, n_threads, reference, poison, what);
  g_autoptr (GPtrArray) inputs = make_inputs (trial, graph);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) values = g_ptr_array_new ();
  g_autoptr (GError) error = NULL;
  GPtrArray *outputs;

  if (got == NULL || cleave_onnx_get_dynamic (graph) == NULL)
    return g_steal_pointer (&got);
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
  outputs = cleave_onnx_dynamic_run (
      cleave_onnx_get_dynamic (graph), (const char *const *) names->pdata,
      (CleaveTensor *const *) values->pdata, values->len, NULL, NULL, NULL, &error);
  if (outputs == NULL)
    g_string_append (what, error->message);
  return outputs;
}

GPtrArray *
compare_fold_tail (const Trial *trial, GBytes *model)
{
  g_autoptr (GArray) given = g_array_new (FALSE, FALSE, sizeof (CleaveOnnxGiven));
  g_autoptr (CleaveGraph) open =
      cleave_onnx_parse (model, NULL, &(CleaveOnnxOptions){ .dynamic = TRUE }, NULL);
  g_autoptr (GPtrArray) inputs = open == NULL ? NULL : make_inputs (trial, open);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GString) what = g_string_new (NULL);
  g_autoptr (CleaveGraph) graph = NULL;

  for (guint i = 0; inputs != NULL && i < inputs->len; i++)
    {
      CleaveOnnxGiven one = { .value = inputs->pdata[i] };

      g_ptr_array_add (names, cleave_result_dup_name (cleave_graph_get_input (open, i)));
      one.name = names->pdata[i];
      g_array_append_val (given, one);
    }
  if (inputs != NULL)
    graph = cleave_onnx_parse (
        model, NULL,
        &(CleaveOnnxOptions){ .values = (const CleaveOnnxGiven *) (gpointer) given->data,
                              .n_values = given->len },
        NULL);
  return graph == NULL ? NULL : compare_run (trial, graph, 1, TRUE, 0, what);
}
