/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Checks the invariants of a graph. Each invariant has one small function, and a test that breaks
 * the invariant. */

#include "graph-private.h"

#include "topology.h"

#define BROKEN(...) cleave_fail (error, CLEAVE_ERROR_MODEL, __VA_ARGS__)

static gboolean
check_operand (const CleaveNode *node, guint index, GError **error)
{
  const CleaveOperand *operand = &node->operands[index];

  if (operand->node != node || operand->index != index)
    return BROKEN ("operand %u does not know its node", index);
  if (operand->result == NULL)
    return index >= node->op->min_operands ||
           BROKEN ("the operand %s is missing", cleave_op_operand_name (node->op, index));
  if (operand->result->node->graph != node->graph)
    return BROKEN ("operand %u is of another graph", index);
  return TRUE;
}

static gboolean
check_operands (const CleaveNode *node, GError **error)
{
  for (guint i = 0; i < node->n_operands; i++)
    if (!check_operand (node, i, error))
      return FALSE;
  return TRUE;
}

/* Checks that the uses of each result are linked in both directions and read this result, and that
 * n_uses is the number of uses. */
static gboolean
check_uses (const CleaveNode *node, GError **error)
{
  for (guint i = 0; i < node->n_results; i++)
    {
      const CleaveResult *result = &node->results[i];
      const CleaveOperand *last = NULL;
      guint n = 0;

      if (result->node != node || result->index != i)
        return BROKEN ("result %u does not know its node", i);
      for (const CleaveOperand *use = result->first_use; use != NULL; use = use->next_use)
        {
          if (use->result != result || use->prev_use != last)
            return BROKEN ("the uses of result %u are not linked", i);
          last = use;
          n++;
        }
      if (n != result->n_uses || result->last_use != last)
        return BROKEN ("result %u has %u uses, not %u", i, n, result->n_uses);
    }
  return TRUE;
}

/* Checks that attributes are in their normal form, and that the stored types are the types that
 * `infer` returns. */
static gboolean
check_types (const CleaveNode *node, GError **error)
{
  g_auto (CleaveNodeCall) node_call;
  g_autofree CleaveTensorType *results = g_new0 (CleaveTensorType, node->n_results);
  gpointer attrs = cleave_attrs_copy (node->op, node->attrs);
  CleaveCall call;
  gboolean good;

  cleave_node_call_init (&node_call, node);
  call = node_call.call;
  call.attrs = attrs;
  call.results = NULL;
  good = cleave_attrs_normalize (&call, attrs, error) && node->op->infer (&call, results, error);
  if (good && !cleave_attrs_equal (node->op, attrs, node->attrs))
    good = BROKEN ("the attributes are not in their normal form");
  cleave_attrs_free (node->op, attrs);
  for (guint i = 0; good && i < node->n_results; i++)
    if (!cleave_tensor_type_equal (&results[i], &node->results[i].type))
      {
        g_autofree char *stored = cleave_tensor_type_to_string (&node->results[i].type);
        g_autofree char *inferred = cleave_tensor_type_to_string (&results[i]);

        return BROKEN ("result %u is stored as %s, but inferred as %s", i, stored, inferred);
      }
  return good;
}

static gboolean
check_names (const CleaveNode *node, GError **error)
{
  if (g_hash_table_lookup (node->graph->nodes, node->name) != node)
    return BROKEN ("the name leads to another node");
  for (guint i = 0; i < node->n_results; i++)
    if (node->results[i].name != NULL &&
        g_hash_table_lookup (node->graph->values, node->results[i].name) != &node->results[i])
      return BROKEN ("the name of result %u leads to another value", i);
  return TRUE;
}

static gboolean
check_list (const CleaveGraph *graph, GError **error)
{
  const CleaveNode *last = NULL;
  guint n = 0;

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      if (node->graph != graph || node->prev != last)
        return BROKEN ("%s '%s': the list of nodes is not linked", node->op->name, node->name);
      if (node->id >= graph->n_ids || (last != NULL && node->id <= last->id))
        return BROKEN ("%s '%s': the index %u is out of order", node->op->name, node->name,
                       node->id);
      last = node;
      n++;
    }
  if (n != graph->n_nodes || graph->last != last || g_hash_table_size (graph->nodes) != n)
    return BROKEN ("there are %u nodes, not %u", n, graph->n_nodes);
  return TRUE;
}

static gboolean
check_borders (const CleaveGraph *graph, GError **error)
{
  for (guint i = 0; i < graph->inputs->len; i++)
    {
      const CleaveResult *input = g_ptr_array_index (graph->inputs, i);

      if (input->node->op != &cleave_op_input || input->node->graph != graph)
        return BROKEN ("input %u is not an input", i);
    }
  for (guint i = 0; i < graph->outputs->len; i++)
    {
      const CleaveOperand *output = cleave_graph_get_output (graph, i);

      if (output->node != NULL || output->index != i || output->result == NULL ||
          output->result->node->graph != graph)
        return BROKEN ("output '%s' has no value of this graph",
                       cleave_graph_get_output_name (graph, i));
    }
  return TRUE;
}

/* Checks that each operand is listed once among the uses of the result that it reads. check_uses()
 * has shown that each listed use reads its result. So this function only compares the number of
 * operands with the number of uses. */
static gboolean
check_all_listed (const CleaveGraph *graph, GError **error)
{
  guint64 n_operands = graph->outputs->len, n_uses = 0;

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      for (guint i = 0; i < node->n_operands; i++)
        n_operands += node->operands[i].result != NULL;
      for (guint i = 0; i < node->n_results; i++)
        n_uses += node->results[i].n_uses;
    }
  return n_operands == n_uses ||
         BROKEN ("%" G_GUINT64_FORMAT " operands read results, but %" G_GUINT64_FORMAT
                 " are listed as uses",
                 n_operands, n_uses);
}

/* Checks that n_variable of each node is the number of its operands that depend on more than
 * constants. */
static gboolean
check_fixed (const CleaveGraph *graph, GError **error)
{
  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      guint n = 0;

      for (guint i = 0; i < node->n_operands; i++)
        n += node->operands[i].result != NULL &&
             !cleave_node_is_fixed (node->operands[i].result->node);
      if (n != node->n_variable)
        return BROKEN ("%s '%s': %u operands depend on inputs, not %u", node->op->name, node->name,
                       n, node->n_variable);
    }
  return TRUE;
}

static gboolean
check_no_cycle (const CleaveGraph *graph, GError **error)
{
  g_autoptr (GPtrArray) order = cleave_topology_sort (graph, error);

  return order != NULL;
}

/**
 * cleave_graph_validate:
 * @graph: a graph
 * @error: return location for a [struct@GLib.Error]
 *
 * Checks all invariants of a graph, in O(graph):
 *
 * - nodes and uses are linked correctly, and names are unique;
 * - attributes are legal and in normal form;
 * - types equal the types that the ops infer;
 * - the operands of an Assemble cover its result;
 * - there is no cycle.
 *
 * Fails with the error code of the invariant that does not hold, such as %CLEAVE_ERROR_CYCLE, or
 * with %CLEAVE_ERROR_MODEL if nodes, uses or names are not linked correctly.
 *
 * Returns: %TRUE if all invariants hold
 *
 * Since: 0.1
 */
gboolean
cleave_graph_validate (const CleaveGraph *graph, GError **error)
{
  g_return_val_if_fail (graph != NULL, FALSE);
  if (!check_list (graph, error) || !check_borders (graph, error))
    return FALSE;
  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    if (!check_operands (node, error) || !check_uses (node, error) || !check_names (node, error) ||
        !check_types (node, error))
      {
        g_prefix_error (error, "%s '%s': ", node->op->name, node->name);
        return FALSE;
      }
  return check_all_listed (graph, error) && check_fixed (graph, error) &&
         check_no_cycle (graph, error);
}
