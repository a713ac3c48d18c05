/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts the operators of variables. A VAR_HANDLE names a variable by a container and a name; two
 * handles with the same container and name are one variable. The value of a variable before a run
 * is an input of the graph, and its value after the run is an output. */

#include "convert.h"

enum { HANDLE, VALUE };
enum { CONTAINER, SHARED_NAME };

static gboolean
check_counts (const CleaveTfliteImport *import, guint n_inputs, guint n_outputs, GError **error)
{
  if (import->op->inputs.n != n_inputs || import->op->outputs.n != n_outputs)
    return cleave_tflite_refuse (error, "it has %u inputs and %u outputs, it must have %u and %u",
                                 import->op->inputs.n, import->op->outputs.n, n_inputs, n_outputs);
  for (guint i = 0; i < n_inputs; i++)
    if (cleave_tflite_input (import, i) == NULL)
      return cleave_tflite_refuse (error, "input %u is absent", i);
  return TRUE;
}

gboolean
cleave_tflite_convert_var_handle (CleaveTfliteImport *import, GError **error)
{
  g_autofree char *container = NULL, *name = NULL, *key = NULL;
  CleaveTfliteState state = { .tensor = -1 };
  guint tensor, index;

  if (!check_counts (import, 0, 1, error) ||
      !cleave_flat_dup_string (&import->op->options, CONTAINER, &container, error) ||
      !cleave_flat_dup_string (&import->op->options, SHARED_NAME, &name, error))
    return FALSE;
  tensor = (guint) cleave_flat_integer (&import->op->outputs, 4, 0);
  key = g_strdup_printf ("%s/%s", container == NULL ? "" : container, name == NULL ? "" : name);
  index = GPOINTER_TO_UINT (g_hash_table_lookup (import->handles, key));
  if (index == 0)
    {
      state.name = g_strdup (name == NULL || *name == '\0' ? import->names[tensor] : name);
      g_array_append_val (import->states, state);
      index = import->states->len;
      g_hash_table_insert (import->handles, g_steal_pointer (&key), GUINT_TO_POINTER (index));
    }
  import->values[tensor].state = index;
  return TRUE;
}

/* Returns the variable that input 0, a handle, names. */
static CleaveTfliteState *
find_variable (CleaveTfliteImport *import, GError **error)
{
  gint64 tensor = cleave_flat_integer (&import->op->inputs, 4, HANDLE);
  guint index = import->values[tensor].state;

  if (index == 0)
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL,
                             "input 0, tensor %" G_GINT64_FORMAT
                             " '%s', must be the output of a VAR_HANDLE",
                             tensor, import->names[tensor]);
  return &g_array_index (import->states, CleaveTfliteState, index - 1);
}

gboolean
cleave_tflite_read_handle (CleaveTfliteImport *import,
                           CleaveTfliteState *state,
                           const CleaveTensorType *type,
                           GError **error)
{
  if (state->next == NULL && state->input == NULL)
    state->input = cleave_graph_add_input (import->graph, state->name, type, error);
  if (state->next == NULL)
    state->next = state->input;
  return state->next != NULL;
}

gboolean
cleave_tflite_convert_read_variable (CleaveTfliteImport *import, GError **error)
{
  CleaveTfliteState *state;
  const CleaveTfliteTensor *y;

  if (!check_counts (import, 1, 1, error))
    return FALSE;
  state = find_variable (import, error);
  if (state == NULL)
    return FALSE;
  y = cleave_tflite_output (import, 0);
  if (import->is_once)
    return cleave_tflite_refuse (error, "the subgraph of a CALL_ONCE may not read a variable");
  if (y->type.element == CLEAVE_NONE)
    return cleave_tflite_refuse (error,
                                 "output 0 has the element type %" G_GINT64_FORMAT
                                 " of the schema, which is not supported",
                                 y->type_code);
  return cleave_tflite_read_handle (import, state, &y->type, error) &&
         cleave_tflite_set (import, 0, state->next, error);
}

/* Returns whether all elements of a value equal the zero point of input 1, as the elements of a
 * variable do before an operator sets the variable. */
static gboolean
is_zero (const CleaveTfliteImport *import, CleaveTensor *value)
{
  const CleaveTfliteTensor *tensor = cleave_tflite_input (import, VALUE);
  gsize size = cleave_element_size (tensor->type.element);
  g_autoptr (CleaveTensor) dense = cleave_tensor_dup_dense (value);
  const guint8 *bytes = cleave_tensor_get_data (dense);
  gint64 n_bytes = cleave_tensor_type_n_bytes (cleave_tensor_get_type (dense));
  guint64 zero = (guint64) cleave_tflite_zero_point (tensor, 0);

  for (gint64 i = 0; i < n_bytes; i++)
    if (bytes[i] != (guint8) (zero >> 8 * ((gsize) i % size)))
      return FALSE;
  return TRUE;
}

/* Makes input 1 the value that a variable has before the first run. Fails if input 1 is not known
 * during the import. */
static gboolean
set_initial (CleaveTfliteImport *import, CleaveTfliteState *state, GError **error)
{
  CleaveTensor *value;

  if (!cleave_tflite_find_constant (import, VALUE, &value, error))
    return FALSE;
  if (value == NULL)
    return cleave_tflite_refuse (
        error, "in the subgraph of a CALL_ONCE, input 1 must be a constant or computed from some");
  g_clear_pointer (&state->initial, cleave_tensor_unref);
  if (!is_zero (import, value))
    state->initial = cleave_tensor_ref (value);
  return TRUE;
}

gboolean
cleave_tflite_convert_assign_variable (CleaveTfliteImport *import, GError **error)
{
  CleaveTfliteState *state;
  CleaveResult *value;

  if (!check_counts (import, 2, 0, error))
    return FALSE;
  state = find_variable (import, error);
  if (state == NULL)
    return FALSE;
  if (cleave_tflite_input_type (import, VALUE)->element == CLEAVE_NONE)
    return cleave_tflite_refuse (error, "input 1 has an element type that is not supported");
  if (import->is_once)
    return set_initial (import, state, error);
  if (!cleave_tflite_find_result (import, VALUE, &value, error))
    return FALSE;
  if (state->next != NULL && !cleave_tensor_type_equal (cleave_result_get_type (state->next),
                                                        cleave_result_get_type (value)))
    return cleave_tflite_refuse (error, "the variable '%s' has another type than its new value",
                                 state->name);
  state->next = value;
  return TRUE;
}
