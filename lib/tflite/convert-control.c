/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts operators that call subgraphs: IF, WHILE and CALL_ONCE. The operators of a called
 * subgraph become nodes of the graph:
 *
 * - IF with a constant condition: the nodes of one branch;
 * - IF with a computed condition: the nodes of both branches, and a Where that selects each result;
 * - WHILE: the nodes of each iteration; so only constants may determine the number of iterations;
 * - CALL_ONCE, which sets variables before the first run: the import computes its nodes. */

#include "calls.h"

#include "../ir/graph-private.h"

enum { IF_THEN, IF_ELSE };
enum { WHILE_CONDITION, WHILE_BODY };

/* Returns the values of the operator's inputs (CleaveTfliteValue), from input `first` on. */
static GArray *
read_inputs (CleaveTfliteImport *import, guint first, GError **error)
{
  g_autoptr (GArray) values = cleave_tflite_new_values ();

  for (guint i = first; i < import->op->inputs.n; i++)
    if (!cleave_tflite_append_value (import, i, cleave_flat_integer (&import->op->inputs, 4, i),
                                     values, error))
      return NULL;
  return g_steal_pointer (&values);
}

/* Makes `values` (CleaveTfliteValue) the values of the operator's outputs. */
static gboolean
set_outputs (CleaveTfliteImport *import, const GArray *values, GError **error)
{
  if (values->len != import->op->outputs.n)
    return cleave_tflite_refuse (error, "it has %u outputs, its subgraph has %u",
                                 import->op->outputs.n, values->len);
  for (guint i = 0; i < values->len; i++)
    {
      const CleaveTfliteValue *value = &g_array_index (values, CleaveTfliteValue, i);
      guint tensor = (guint) cleave_flat_integer (&import->op->outputs, 4, i);

      if (value->state != 0)
        import->values[tensor].state = value->state;
      else if (value->constant != NULL ? !cleave_tflite_set_constant (
                                             import, i, cleave_tensor_ref (value->constant), error)
                                       : !cleave_tflite_set (import, i, value->result, error))
        return FALSE;
    }
  return TRUE;
}

/* Reads the condition of an IF or a WHILE, one bool. Sets `known` to TRUE if the condition is a
 * constant, and `condition` to the value of the constant. */
static gboolean
read_condition (const CleaveTfliteValue *value,
                gboolean *condition,
                gboolean *known,
                GError **error)
{
  const CleaveTensorType *type = value->state != 0 ? NULL : cleave_tflite_value_type (value);
  g_autoptr (CleaveTensor) dense = NULL;

  if (type == NULL || type->element != CLEAVE_BOOL || cleave_shape_n_elements (&type->shape) != 1)
    return cleave_tflite_refuse (error, "its condition must be one bool");
  *known = value->constant != NULL;
  dense = *known ? cleave_tensor_dup_dense (value->constant) : NULL;
  *condition = *known && *(const guint8 *) cleave_tensor_get_data (dense) != 0;
  return TRUE;
}

/* The functions below convert an IF with a computed condition. */

/* Returns the current values of all variables. A variable that no operator has read or set yet has
 * the value NULL. */
static GPtrArray *
save_states (const CleaveTfliteImport *import)
{
  GPtrArray *saved = g_ptr_array_new ();

  for (guint i = 0; i < import->states->len; i++)
    g_ptr_array_add (saved, g_array_index (import->states, CleaveTfliteState, i).next);
  return saved;
}

static CleaveResult *
saved_state (const GPtrArray *saved, guint i)
{
  return i < saved->len ? saved->pdata[i] : NULL;
}

static void
restore_states (CleaveTfliteImport *import, const GPtrArray *saved)
{
  for (guint i = 0; i < import->states->len; i++)
    g_array_index (import->states, CleaveTfliteState, i).next = saved_state (saved, i);
}

/* Adds a Where that selects `one` or `other` by `condition`. `name` is the name of the node.
 * Returns NULL on error. */
static CleaveResult *
select_value (CleaveTfliteImport *import,
              const char *name,
              CleaveResult *condition,
              CleaveResult *one,
              CleaveResult *other,
              GError **error)
{
  CleaveNode *node;

  if (one == other)
    return one;
  if (!cleave_tensor_type_equal (cleave_result_get_type (one), cleave_result_get_type (other)))
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL,
                             "its branches give values of different types for '%s'", name);
  node = cleave_graph_add (import->graph, cleave_op_lookup ("Where"), name,
                           (CleaveResult *[]){ condition, one, other }, 3, 1, NULL, error);
  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

/* Returns the value of output `i` of a branch; NULL on error. */
static CleaveResult *
branch_output (CleaveTfliteImport *import, const GArray *outputs, guint i, GError **error)
{
  const CleaveTfliteValue *value = &g_array_index (outputs, CleaveTfliteValue, i);

  if (value->state != 0)
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL,
                             "output %u is a handle of a variable, and its condition is computed",
                             i);
  return value->result != NULL ? value->result
                               : cleave_graph_add_constant (import->graph, NULL, value->constant);
}

static gboolean
select_outputs (CleaveTfliteImport *import,
                CleaveResult *condition,
                GArray *const *branches,
                GError **error)
{
  guint n = import->op->outputs.n;

  if (branches[0]->len != n || branches[1]->len != n)
    return cleave_tflite_refuse (error, "it has %u outputs, its subgraphs have %u and %u", n,
                                 branches[0]->len, branches[1]->len);
  for (guint i = 0; i < n; i++)
    {
      const char *name = import->names[cleave_flat_integer (&import->op->outputs, 4, i)];
      CleaveResult *one = branch_output (import, branches[0], i, error);
      CleaveResult *other = one == NULL ? NULL : branch_output (import, branches[1], i, error);

      if (other == NULL ||
          !cleave_tflite_set (import, i, select_value (import, name, condition, one, other, error),
                              error))
        return FALSE;
    }
  return TRUE;
}

/* Adds a Where for the value of each variable after the IF. If a branch neither reads nor sets a
 * variable, the branch keeps the value before the IF. */
static gboolean
select_states (CleaveTfliteImport *import,
               CleaveResult *condition,
               const GPtrArray *ones,
               const GPtrArray *others,
               GError **error)
{
  for (guint i = 0; i < import->states->len; i++)
    {
      CleaveTfliteState *state = &g_array_index (import->states, CleaveTfliteState, i);
      CleaveResult *one = saved_state (ones, i), *other = saved_state (others, i);
      CleaveResult *known = one != NULL ? one : other;

      state->next = NULL;
      if (known == NULL)
        continue;
      if ((one == NULL || other == NULL) &&
          !cleave_tflite_read_handle (import, state, cleave_result_get_type (known), error))
        return FALSE;
      state->next = select_value (import, state->name, condition, one == NULL ? state->next : one,
                                  other == NULL ? state->next : other, error);
      if (state->next == NULL)
        return FALSE;
    }
  return TRUE;
}

/* Returns a condition of one element, reshaped to a scalar, which broadcasts to all shapes. The
 * Reshape gets the name of the condition, since another node has the name of output 0. */
static CleaveResult *
as_scalar (CleaveTfliteImport *import, CleaveResult *condition, GError **error)
{
  const char *name = import->names[cleave_flat_integer (&import->op->inputs, 4, 0)];
  const CleaveReshapeAttrs attrs = { .allowzero = TRUE };
  CleaveNode *node;

  if (cleave_result_get_type (condition)->shape.rank == 0)
    return condition;
  node = cleave_graph_add (import->graph, cleave_op_lookup ("Reshape"), name, &condition, 1, 1,
                           &attrs, error);
  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

/* Adds the nodes of both branches, and a Where for each output and each variable. */
static gboolean
add_branches (CleaveTfliteImport *import,
              CleaveResult *condition,
              const gint64 *subgraphs,
              const GArray *inputs,
              GError **error)
{
  g_autoptr (GPtrArray) before = save_states (import);
  g_autoptr (GPtrArray) ones = NULL, others = NULL;
  g_autoptr (GArray) one = NULL, other = NULL;

  if (import->is_once)
    return cleave_tflite_refuse (error, "in the subgraph of a CALL_ONCE, the condition must be "
                                        "constant");
  condition = as_scalar (import, condition, error);
  if (condition == NULL)
    return FALSE;
  one = cleave_tflite_call (import, subgraphs[0], inputs, error);
  ones = save_states (import);
  restore_states (import, before);
  other = one == NULL ? NULL : cleave_tflite_call (import, subgraphs[1], inputs, error);
  others = save_states (import);
  return other != NULL && select_outputs (import, condition, (GArray *[]){ one, other }, error) &&
         select_states (import, condition, ones, others, error);
}

gboolean
cleave_tflite_convert_if (CleaveTfliteImport *import, GError **error)
{
  gboolean condition = FALSE, is_known = FALSE;
  gint64 subgraphs[2];
  g_autoptr (GArray) inputs = read_inputs (import, 0, error);
  g_autoptr (GArray) outputs = NULL;
  CleaveTfliteValue first = { 0 };
  gboolean good;

  if (inputs == NULL)
    return FALSE;
  if (inputs->len == 0)
    return cleave_tflite_refuse (error, "it has no condition");
  if (!read_condition (&g_array_index (inputs, CleaveTfliteValue, 0), &condition, &is_known,
                       error) ||
      !cleave_tflite_option (import, IF_THEN, 4, 0, &subgraphs[0], error) ||
      !cleave_tflite_option (import, IF_ELSE, 4, 0, &subgraphs[1], error))
    return FALSE;
  first = g_array_index (inputs, CleaveTfliteValue, 0);
  if (first.constant != NULL)
    cleave_tensor_ref (first.constant);
  g_array_remove_index (inputs, 0);
  if (is_known)
    {
      outputs = cleave_tflite_call (import, subgraphs[condition ? 0 : 1], inputs, error);
      good = outputs != NULL && set_outputs (import, outputs, error);
    }
  else
    good = add_branches (import, first.result, subgraphs, inputs, error);
  cleave_tflite_clear_value (&first);
  return good;
}

/* Converts the operator WHILE. */

gboolean
cleave_tflite_convert_while (CleaveTfliteImport *import, GError **error)
{
  g_autoptr (GArray) values = read_inputs (import, 0, error);
  gint64 condition, body;

  if (values == NULL || !cleave_tflite_option (import, WHILE_CONDITION, 4, 0, &condition, error) ||
      !cleave_tflite_option (import, WHILE_BODY, 4, 0, &body, error))
    return FALSE;
  for (;;)
    {
      g_autoptr (GArray) judged = cleave_tflite_call (import, condition, values, error);
      gboolean goes_on = FALSE, is_known = FALSE;
      GArray *next;

      if (judged == NULL)
        return FALSE;
      if (judged->len != 1)
        return cleave_tflite_refuse (error, "the subgraph of its condition has %u outputs, not 1",
                                     judged->len);
      if (!read_condition (&g_array_index (judged, CleaveTfliteValue, 0), &goes_on, &is_known,
                           error))
        return FALSE;
      if (!is_known)
        return cleave_tflite_refuse (error, "its condition must depend on constants alone, since "
                                            "loops are unrolled");
      if (!goes_on)
        return set_outputs (import, values, error);
      next = cleave_tflite_call (import, body, values, error);
      if (next == NULL)
        return FALSE;
      g_array_unref (values);
      values = next;
    }
}

/* Converts the operator CALL_ONCE. */

gboolean
cleave_tflite_convert_call_once (CleaveTfliteImport *import, GError **error)
{
  g_autoptr (GArray) inputs = cleave_tflite_new_values (), outputs = NULL;
  gboolean was_once = import->is_once;
  gint64 subgraph;

  if (import->op->inputs.n != 0 || import->op->outputs.n != 0)
    return cleave_tflite_refuse (error, "it has %u inputs and %u outputs, it must have none",
                                 import->op->inputs.n, import->op->outputs.n);
  if (!cleave_tflite_option (import, 0, 4, 0, &subgraph, error))
    return FALSE;
  import->is_once = TRUE;
  outputs = cleave_tflite_call (import, subgraph, inputs, error);
  import->is_once = was_once;
  return outputs != NULL;
}
