/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the inputs, options and outputs of the current operator, and their values in the graph. */

#include "import.h"

#include "../ir/graph-private.h"

static gboolean
fail_input (const CleaveTfliteImport *import, guint i, gint64 tensor, GError **error)
{
  return cleave_fail (error, CLEAVE_ERROR_MODEL,
                      "input %u, tensor %" G_GINT64_FORMAT " '%s', is neither a constant nor an "
                      "input of the graph, and no earlier operator computes it",
                      i, tensor, import->names[tensor]);
}

/* Adds the Pad node of a tensor whose PAD is deferred, for a reader that is not a convolution: only
 * convolutions add the zeros themselves. */
static gboolean
make_pad (CleaveTfliteImport *import, guint tensor, GError **error)
{
  CleaveTfliteValue *value = &import->values[tensor];
  CleaveTfliteScale scale = { 0 };
  CleavePadAttrs attrs = { .pads.n = 8 };
  CleaveResult *base;
  CleaveNode *node;

  if (cleave_tflite_is_quantized (&import->subgraph->tensors[tensor]) &&
      !cleave_tflite_read_scale (&import->subgraph->tensors[tensor], &scale, error))
    return FALSE;
  attrs.constant_value = scale.zero;
  for (guint i = 0; i < 2; i++)
    {
      attrs.pads.v[1 + i] = value->pads_begin[i];
      attrs.pads.v[5 + i] = value->pads_end[i];
    }
  base = import->values[value->base].result;
  node = cleave_graph_add (import->graph, cleave_op_lookup ("Pad"), import->names[tensor], &base, 1,
                           1, &attrs, error);
  value->result = node == NULL ? NULL : cleave_node_get_result (node, 0);
  return node != NULL;
}

gboolean
cleave_tflite_find_value (
    CleaveTfliteImport *import, guint i, guint tensor, CleaveResult **result, GError **error)
{
  CleaveTfliteValue *value = &import->values[tensor];

  if (value->result == NULL && value->has_pads && !make_pad (import, tensor, error))
    return FALSE;
  if (value->result == NULL)
    {
      if (value->constant == NULL && import->subgraph->tensors[tensor].data == NULL)
        return fail_input (import, i, tensor, error);
      if (value->constant == NULL)
        value->constant = cleave_tflite_read_constant (import, tensor, error);
      if (value->constant == NULL)
        return FALSE;
      value->result =
          cleave_graph_add_constant (import->graph, import->names[tensor], value->constant);
    }
  *result = value->result;
  return TRUE;
}

static gint64
input_index (const CleaveTfliteImport *import, guint i)
{
  return i < import->op->inputs.n ? cleave_flat_integer (&import->op->inputs, 4, i) : -1;
}

const CleaveTfliteTensor *
cleave_tflite_input (const CleaveTfliteImport *import, guint i)
{
  gint64 tensor = input_index (import, i);

  return tensor < 0 ? NULL : &import->subgraph->tensors[tensor];
}

const CleaveTfliteTensor *
cleave_tflite_output (const CleaveTfliteImport *import, guint i)
{
  return &import->subgraph->tensors[cleave_flat_integer (&import->op->outputs, 4, i)];
}

const CleaveTensorType *
cleave_tflite_input_type (const CleaveTfliteImport *import, guint i)
{
  return &cleave_tflite_input (import, i)->type;
}

gboolean
cleave_tflite_find_result (CleaveTfliteImport *import,
                           guint i,
                           CleaveResult **result,
                           GError **error)
{
  gint64 tensor = input_index (import, i);

  *result = NULL;
  return tensor < 0 || cleave_tflite_find_value (import, i, (guint) tensor, result, error);
}

gboolean
cleave_tflite_find_unpadded (CleaveTfliteImport *import,
                             CleaveResult **x,
                             gint64 *pads_begin,
                             gint64 *pads_end,
                             GError **error)
{
  guint tensor = (guint) input_index (import, 0);
  const CleaveTfliteValue *value = &import->values[tensor];

  for (guint i = 0; i < 2; i++)
    {
      pads_begin[i] = value->has_pads ? value->pads_begin[i] : 0;
      pads_end[i] = value->has_pads ? value->pads_end[i] : 0;
    }
  return cleave_tflite_find_value (import, 0, value->has_pads ? value->base : tensor, x, error);
}

static CleaveTfliteState *
find_state (const CleaveTfliteImport *import, guint tensor)
{
  for (guint i = 0; i < import->states->len; i++)
    if (g_array_index (import->states, CleaveTfliteState, i).tensor == (gint64) tensor)
      return &g_array_index (import->states, CleaveTfliteState, i);
  return NULL;
}

gboolean
cleave_tflite_find_state (CleaveTfliteImport *import,
                          guint i,
                          CleaveResult **result,
                          GError **error)
{
  gint64 tensor = input_index (import, i);
  CleaveTfliteState state = { .tensor = tensor };

  if (import->depth > 0)
    return cleave_tflite_refuse (
        error, "input %u is a variable; variables of a called subgraph are not supported", i);
  if (tensor < 0 || !import->subgraph->tensors[tensor].is_variable)
    return cleave_tflite_refuse (error, "input %u must be a variable", i);
  if (import->values[tensor].result == NULL)
    {
      state.next = cleave_graph_add_input (import->graph, import->names[tensor],
                                           &import->subgraph->tensors[tensor].type, error);
      if (state.next == NULL)
        return FALSE;
      state.input = state.next;
      state.name = g_strdup (import->names[tensor]);
      import->values[tensor].result = state.next;
      g_array_append_val (import->states, state);
    }
  *result = import->values[tensor].result;
  return TRUE;
}

gboolean
cleave_tflite_set_state (CleaveTfliteImport *import, guint i, CleaveResult *result, GError **error)
{
  guint tensor = (guint) input_index (import, i);
  CleaveTfliteState *state = find_state (import, tensor);

  if (result == NULL)
    return FALSE;
  if (state == NULL || !cleave_tensor_type_equal (cleave_result_get_type (result),
                                                  &import->subgraph->tensors[tensor].type))
    return cleave_tflite_refuse (error,
                                 "input %u, a variable, has another shape than its new value", i);
  state->next = import->values[tensor].result = result;
  return TRUE;
}

gboolean
cleave_tflite_find_constant (CleaveTfliteImport *import,
                             guint i,
                             CleaveTensor **constant,
                             GError **error)
{
  gint64 tensor = input_index (import, i);
  CleaveTfliteValue *value = tensor < 0 ? NULL : &import->values[tensor];

  *constant = NULL;
  if (value == NULL)
    return TRUE;
  if (value->constant == NULL && value->result == NULL &&
      import->subgraph->tensors[tensor].data != NULL)
    {
      value->constant = cleave_tflite_read_constant (import, (guint) tensor, error);
      if (value->constant == NULL)
        return FALSE;
    }
  *constant = value->constant;
  return TRUE;
}

gboolean
cleave_tflite_read_ints (CleaveTfliteImport *import, guint i, CleaveInts *ints, GError **error)
{
  g_autoptr (CleaveTensor) dense = NULL;
  CleaveTensor *constant;
  const CleaveTensorType *type;
  gint64 n;

  if (!cleave_tflite_find_constant (import, i, &constant, error))
    return FALSE;
  if (constant == NULL)
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "input %u must be a constant, since shapes depend on it", i);
  type = cleave_tensor_get_type (constant);
  n = cleave_shape_n_elements (&type->shape);
  if ((type->element != CLEAVE_INT32 && type->element != CLEAVE_INT64) ||
      n > (gint64) G_N_ELEMENTS (ints->v))
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "input %u must be at most %zu elements of int32 or int64", i,
                        G_N_ELEMENTS (ints->v));
  dense = cleave_tensor_dup_dense (constant);
  ints->n = (guint) n;
  for (guint k = 0; k < n; k++)
    ints->v[k] = type->element == CLEAVE_INT32
                     ? ((const gint32 *) cleave_tensor_get_data (dense))[k]
                     : ((const gint64 *) cleave_tensor_get_data (dense))[k];
  return TRUE;
}

gboolean
cleave_tflite_option (const CleaveTfliteImport *import,
                      guint field,
                      gsize size,
                      gint64 fallback,
                      gint64 *value,
                      GError **error)
{
  return cleave_flat_get_integer (&import->op->options, field, size, fallback, value, error);
}

gboolean
cleave_tflite_option_float (
    const CleaveTfliteImport *import, guint field, float fallback, float *value, GError **error)
{
  return cleave_flat_get_float (&import->op->options, field, fallback, value, error);
}

gboolean
cleave_tflite_refuse (GError **error, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list arguments;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  return cleave_fail (error, CLEAVE_ERROR_MODEL, "%s", message);
}

/* Sets `tensor` to the tensor that is output `i`. Fails if the tensor has a value already. */
static gboolean
take_output (CleaveTfliteImport *import, guint i, guint *tensor, GError **error)
{
  const CleaveTfliteValue *value;

  *tensor = (guint) cleave_flat_integer (&import->op->outputs, 4, i);
  value = &import->values[*tensor];
  if (value->result != NULL || value->constant != NULL || value->has_pads)
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "output %u, tensor %u '%s', has a value already",
                        i, *tensor, import->names[*tensor]);
  return TRUE;
}

static gboolean
check_type (const CleaveTfliteImport *import,
            guint i,
            guint tensor,
            const CleaveTensorType *type,
            GError **error)
{
  const CleaveTensorType *declared = &import->subgraph->tensors[tensor].type;
  g_autofree char *is = NULL, *should = NULL;

  if (cleave_tensor_type_equal (type, declared))
    return TRUE;
  is = cleave_tensor_type_to_string (type);
  should = cleave_tensor_type_to_string (declared);
  return cleave_fail (error, CLEAVE_ERROR_MODEL,
                      "output %u, tensor %u '%s', is %s, the file declares %s", i, tensor,
                      import->names[tensor], is, should);
}

gboolean
cleave_tflite_set (CleaveTfliteImport *import, guint i, CleaveResult *result, GError **error)
{
  guint tensor;

  if (result == NULL || !take_output (import, i, &tensor, error) ||
      !check_type (import, i, tensor, cleave_result_get_type (result), error))
    return FALSE;
  result = cleave_tflite_fold_as (import, result, import->names[tensor], error);
  if (result == NULL)
    return FALSE;
  import->values[tensor].result = result;
  if (cleave_node_get_op (result->node) == &cleave_op_constant)
    import->values[tensor].constant = cleave_tensor_ref (cleave_node_get_constant (result->node));
  else if (result->name == NULL && result->node->op != &cleave_op_input)
    cleave_result_set_name (result, import->names[tensor]);
  return TRUE;
}

gboolean
cleave_tflite_set_constant (CleaveTfliteImport *import,
                            guint i,
                            CleaveTensor *tensor,
                            GError **error)
{
  g_autoptr (CleaveTensor) owned = tensor;
  guint to;

  if (tensor == NULL || !take_output (import, i, &to, error) ||
      !check_type (import, i, to, cleave_tensor_get_type (tensor), error))
    return FALSE;
  import->values[to].constant = g_steal_pointer (&owned);
  return TRUE;
}
