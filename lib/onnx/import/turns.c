/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "turns.h"

#include "../../ir/graph-private.h"

void
cleave_onnx_turns_clear (CleaveOnnxTurns *turns)
{
  g_clear_pointer (&turns->states, g_ptr_array_unref);
  g_clear_pointer (&turns->stacked, g_ptr_array_unref);
  g_clear_pointer (&turns->is_own, g_free);
  g_clear_pointer (&turns->empty, g_array_unref);
}

static gboolean
check_body (const CleaveOnnxTurns *turns,
            const Onnx__NodeProto *proto,
            guint n_inputs,
            GError **error)
{
  const Onnx__GraphProto *body = turns->body;

  if (body == NULL)
    return cleave_onnx_node_fail (turns->node, error, "it has no body");
  if (body->n_input != n_inputs)
    return cleave_onnx_node_fail (turns->node, error,
                                  "its body has %" G_GSIZE_FORMAT " inputs, not %u",
                                  (gsize) body->n_input, n_inputs);
  if (body->n_output < turns->n_first + turns->n_states ||
      proto->n_output > body->n_output - turns->n_first || proto->n_output < turns->n_states)
    return cleave_onnx_node_fail (turns->node, error,
                                  "it has %" G_GSIZE_FORMAT
                                  " results, but its body has %" G_GSIZE_FORMAT
                                  " outputs for %u loop-carried values",
                                  (gsize) proto->n_output, (gsize) body->n_output, turns->n_states);
  for (size_t i = 0; i < body->n_input; i++)
    if (!cleave_onnx_check_name (body->input[i]->name, "an input of a body", error))
      return FALSE;
  return TRUE;
}

gboolean
cleave_onnx_turns_init (CleaveOnnxTurns *turns,
                        const Onnx__NodeProto *proto,
                        guint n_inputs,
                        guint first,
                        GError **error)
{
  if (!check_body (turns, proto, n_inputs, error))
    return FALSE;
  turns->states = g_ptr_array_new ();
  turns->stacked = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
  turns->is_own = g_new0 (gboolean, turns->n_states + 1);
  for (guint i = 0; i < turns->n_states; i++)
    {
      if (cleave_onnx_node_operand (turns->node, first + i) == NULL)
        return cleave_onnx_node_fail (turns->node, error, "operand %u is missing", first + i);
      g_ptr_array_add (turns->states, cleave_onnx_node_operand (turns->node, first + i));
    }
  for (size_t i = turns->n_first + turns->n_states; i < turns->body->n_output; i++)
    g_ptr_array_add (turns->stacked, g_ptr_array_new ());
  return TRUE;
}

/* Iterations */

static CleaveOnnxValue *
find_output (const CleaveOnnxTurns *turns, guint index, GError **error)
{
  const char *name = turns->body->output[index]->name;
  CleaveOnnxValue *value = name == NULL ? NULL : cleave_onnx_lookup (turns->node->import, name);
  g_autofree char *text = value != NULL ? NULL : g_utf8_make_valid (name == NULL ? "" : name, -1);

  if (value == NULL)
    cleave_onnx_node_fail (turns->node, error, "'%s' is not defined in its body", text);
  else if (value->items != NULL)
    {
      cleave_onnx_node_fail (turns->node, error,
                             "'%s' is a sequence, which an iteration cannot give", name);
      return NULL;
    }
  return value;
}

static gboolean
take_outputs (CleaveOnnxTurns *turns, gboolean *goes_on, GError **error)
{
  for (guint i = 0; i < turns->body->n_output; i++)
    {
      CleaveOnnxValue *value = find_output (turns, i, error);
      guint at = i - turns->n_first;

      if (value == NULL)
        return FALSE;
      if (i < turns->n_first)
        {
          if (i == 0 && turns->judge != NULL && !turns->judge (turns, value, goes_on, error))
            return FALSE;
        }
      else if (at >= turns->n_states)
        g_ptr_array_add (turns->stacked->pdata[at - turns->n_states], value);
      else
        {
          turns->states->pdata[at] = value;
          turns->is_own[at] =
              g_hash_table_contains (turns->node->import->values, turns->body->output[i]->name);
        }
    }
  return TRUE;
}

/* Reads one iteration. The body's inputs are in a scope outside that of its nodes: this
 * distinguishes states that a node computed from states that are passed through. */
static gboolean
take_turn (CleaveOnnxTurns *turns, gint64 turn, gboolean *goes_on, GError **error)
{
  CleaveOnnxImport *import = turns->node->import;
  gboolean good;

  cleave_onnx_begin_scope (import);
  good = cleave_onnx_unroll (turns->node, turns->body->n_node + turns->body->n_output, error) &&
         turns->bind (turns, turn, error);
  cleave_onnx_begin_scope (import);
  good = good && cleave_onnx_read_nodes (import, turns->body, error) &&
         take_outputs (turns, goes_on, error);
  cleave_onnx_end_scope (import);
  cleave_onnx_end_scope (import);
  return good;
}

/* No iteration */

/* Removes the nodes after `last` that nothing reads, except constants, which outer values refer
 * to. */
static void
remove_unread (CleaveOnnxImport *import, const CleaveNode *last)
{
  for (CleaveNode *node = import->graph->last, *prev; node != NULL && node != last; node = prev)
    {
      prev = node->prev;
      if (cleave_node_is_used (node) || cleave_node_is_input (node) ||
          cleave_node_get_constant (node) != NULL)
        continue;
      if (import->values_of != NULL)
        g_hash_table_remove (import->values_of, node);
      cleave_graph_remove (import->graph, node);
    }
}

/* Reads one iteration for the types of its outputs, then removes its nodes. */
static gboolean
try_turn (CleaveOnnxTurns *turns, GError **error)
{
  CleaveOnnxImport *import = turns->node->import;
  const CleaveNode *last = import->graph->last;
  g_autoptr (GPtrArray) states = g_ptr_array_copy (turns->states, NULL, NULL);
  __typeof__ (turns->judge) judge = turns->judge;
  gboolean goes_on, good;

  turns->judge = NULL; /* whether another iteration would follow may depend on values */
  good = take_turn (turns, 0, &goes_on, error);
  turns->judge = judge;
  for (guint i = 0; good && i < turns->stacked->len; i++)
    {
      GPtrArray *values = turns->stacked->pdata[i];

      g_array_append_val (turns->empty, *cleave_onnx_value_type (values->pdata[0]));
    }
  for (guint i = 0; i < turns->stacked->len; i++)
    g_ptr_array_set_size (turns->stacked->pdata[i], 0);
  for (guint i = 0; i < turns->n_states; i++)
    {
      turns->states->pdata[i] = states->pdata[i];
      turns->is_own[i] = FALSE;
    }
  remove_unread (import, last);
  return good;
}

/* Finds the types of scan outputs when there is no iteration: the declared types, or, if one is
 * not declared, those that the body infers. */
static gboolean
find_empty (CleaveOnnxTurns *turns, GError **error)
{
  guint first = turns->n_first + turns->n_states;
  CleaveTensorType type;

  turns->empty = g_array_new (FALSE, FALSE, sizeof (CleaveTensorType));
  for (guint i = 0; i < turns->stacked->len; i++)
    if (cleave_onnx_value_info_type (turns->node->import, turns->body->output[first + i], &type,
                                     NULL))
      g_array_append_val (turns->empty, type);
  if (turns->empty->len == turns->stacked->len)
    return TRUE;
  g_array_set_size (turns->empty, 0);
  return try_turn (turns, error);
}

gboolean
cleave_onnx_take_turns (CleaveOnnxTurns *turns, gint64 n_turns, GError **error)
{
  gboolean good, goes_on = TRUE;

  cleave_onnx_begin_scope (turns->node->import);
  good = cleave_onnx_read_initializers (turns->node->import, turns->body, error);
  for (gint64 turn = 0; good && goes_on && turn < n_turns; turn++)
    good = take_turn (turns, turn, &goes_on, error);
  if (good && n_turns <= 0 && turns->node->n_results > turns->n_states)
    good = find_empty (turns, error);
  cleave_onnx_end_scope (turns->node->import);
  return good;
}

/* Results */

/* Adds the dimension of an iteration to a scan output. */
static CleaveOnnxValue *
add_dimension (CleaveOnnxNode *node, CleaveOnnxValue *value, gint64 axis, GError **error)
{
  const CleaveShape *shape = cleave_onnx_value_shape (value);
  CleaveShape row = { .rank = shape->rank + 1 };

  if (row.rank > CLEAVE_MAX_RANK)
    return cleave_onnx_node_fail_null (node, error, "its scan output has more than %d dimensions",
                                       CLEAVE_MAX_RANK - 1);
  axis += axis < 0 ? row.rank : 0;
  if (axis < 0 || axis >= row.rank)
    return cleave_onnx_node_fail_null (
        node, error, "its scan output has rank %u, which has no axis %" G_GINT64_FORMAT,
        shape->rank, axis);
  for (guint d = 0; d < row.rank; d++)
    row.dim[d] = d == axis ? 1 : shape->dim[d < axis ? d : d - 1];
  return cleave_onnx_node_reshape (node, value, &row, ".turn", error);
}

/* Returns the scan output of no iterations: extent 0 along the axis. */
static CleaveOnnxValue *
make_empty (CleaveOnnxNode *node, const CleaveTensorType *turn, gint64 axis, GError **error)
{
  CleaveTensorType type = { turn->element, { .rank = turn->shape.rank + 1 } };

  axis += axis < 0 ? type.shape.rank : 0;
  if (type.shape.rank > CLEAVE_MAX_RANK || axis < 0 || axis >= type.shape.rank)
    return cleave_onnx_node_fail_null (
        node, error, "its scan output has rank %u, which has no axis %" G_GINT64_FORMAT,
        turn->shape.rank, axis);
  for (guint d = 0; d < type.shape.rank; d++)
    type.shape.dim[d] = d == axis ? 0 : turn->shape.dim[d < axis ? d : d - 1];
  return cleave_onnx_value_new_constant (node->import, NULL, cleave_tensor_new (&type, NULL));
}

/* Concatenates a scan output of all iterations along the axis. */
static CleaveOnnxValue *
stack (const CleaveOnnxTurns *turns, guint index, gint64 axis, gboolean backwards, GError **error)
{
  CleaveOnnxNode *node = turns->node;
  const GPtrArray *values = turns->stacked->pdata[index];
  g_autofree CleaveOnnxValue **rows = g_new0 (CleaveOnnxValue *, values->len);

  if (values->len == 0)
    return make_empty (node, &g_array_index (turns->empty, CleaveTensorType, index), axis, error);
  for (guint i = 0; i < values->len; i++)
    {
      guint at = backwards ? values->len - 1 - i : i;

      rows[at] = add_dimension (node, values->pdata[i], axis, error);
      if (rows[at] == NULL)
        return NULL;
    }
  return cleave_onnx_step (node, "Concat", ".turns", rows, values->len,
                           cleave_onnx_attr_new_int ("axis", axis), error);
}

gboolean
cleave_onnx_give_turns (const CleaveOnnxTurns *turns,
                        const gint64 *axes,
                        const gint64 *backwards,
                        GError **error)
{
  CleaveOnnxNode *node = turns->node;

  node->values = g_ptr_array_new ();
  for (guint i = 0; i < node->n_results; i++)
    {
      guint at = i - turns->n_states;
      CleaveOnnxValue *value = i < turns->n_states
                                   ? turns->states->pdata[i]
                                   : stack (turns, at, axes == NULL ? 0 : axes[at],
                                            backwards != NULL && backwards[at] != 0, error);

      if (i < turns->n_states && !turns->is_own[i])
        value = cleave_onnx_pass_on (node, value, error);
      if (value == NULL)
        return FALSE;
      g_ptr_array_add (node->values, value);
    }
  return TRUE;
}
