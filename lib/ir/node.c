/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Nodes, operands and results: memory, uses, names and edits. */

#include "graph-private.h"

#include <string.h>

/* Returns the size of the one block that holds a node, its results and its operands. One block is
 * cheaper to allocate than three, and memory that is read together is close together. */
static gsize
n_bytes_of_node (guint n_operands, guint n_results)
{
  return sizeof (CleaveNode) + n_results * sizeof (CleaveResult) +
         n_operands * sizeof (CleaveOperand);
}

CleaveNode *
cleave_node_new (CleaveGraph *graph, guint n_operands, guint n_results)
{
  gsize n_bytes = n_bytes_of_node (n_operands, n_results);
  CleaveNode *node = memset (cleave_slab_take (graph->slab, n_bytes), 0, n_bytes);

  node->n_operands = n_operands;
  node->n_results = n_results;
  node->results = (CleaveResult *) (node + 1);
  node->operands = (CleaveOperand *) (node->results + n_results);
  return node;
}

void
cleave_node_free (CleaveNode *node, CleaveSlab *slab)
{
  for (guint i = 0; i < node->n_results; i++)
    cleave_graph_free_name (slab, node->results[i].name);
  cleave_attrs_free (node->op, node->attrs);
  cleave_graph_free_name (slab, node->name);
  cleave_slab_give_back (slab, node, n_bytes_of_node (node->n_operands, node->n_results));
}

void
cleave_node_release (CleaveNode *node, CleaveSlab *slab)
{
  if (g_atomic_int_dec_and_test (&node->n_holds))
    cleave_node_free (node, slab);
}

/* Updates n_variable, the number of operands that are not fixed, of all nodes that depend on
 * `node`, which has become fixed or is no longer fixed. Each node changes at most once, so the walk
 * also ends in a graph with a cycle. */
static void
update_fixed_users (CleaveNode *node)
{
  g_autoptr (GPtrArray) changed = NULL;
  gboolean is_fixed = cleave_node_is_fixed (node);

  if (!cleave_node_is_used (node)) /* fast path for a node that is being built */
    return;
  changed = g_ptr_array_new ();
  g_ptr_array_add (changed, node);
  while (changed->len > 0)
    {
      const CleaveNode *of = g_ptr_array_steal_index_fast (changed, changed->len - 1);

      for (guint r = 0; r < of->n_results; r++)
        for (CleaveOperand *use = of->results[r].first_use; use != NULL; use = use->next_use)
          {
            if (use->node == NULL)
              continue;
            use->node->n_variable += is_fixed ? -1u : 1u;
            if (use->node->n_variable == (is_fixed ? 0 : 1))
              g_ptr_array_add (changed, use->node);
          }
    }
}

/* Appends an operand to the list of uses of a result. The list is in the order in which uses were
 * added. */
static void
link_use (CleaveOperand *operand, CleaveResult *result, gboolean is_variable)
{
  if (operand->node != NULL && is_variable)
    operand->node->n_variable++;
  operand->result = result;
  operand->prev_use = result->last_use;
  operand->next_use = NULL;
  *(result->last_use != NULL ? &result->last_use->next_use : &result->first_use) = operand;
  result->last_use = operand;
  result->n_uses++;
}

void
cleave_operand_attach (CleaveOperand *operand, CleaveResult *result)
{
  gboolean was_fixed = operand->node != NULL && cleave_node_is_fixed (operand->node);

  link_use (operand, result, !cleave_node_is_fixed (result->node));
  if (was_fixed && !cleave_node_is_fixed (operand->node))
    update_fixed_users (operand->node);
}

void
cleave_operand_detach (CleaveOperand *operand)
{
  CleaveResult *result = operand->result;

  if (result == NULL)
    return;
  if (operand->node != NULL && !cleave_node_is_fixed (result->node))
    operand->node->n_variable--;
  *(operand->prev_use != NULL ? &operand->prev_use->next_use : &result->first_use) =
      operand->next_use;
  *(operand->next_use != NULL ? &operand->next_use->prev_use : &result->last_use) =
      operand->prev_use;
  operand->prev_use = operand->next_use = NULL;
  operand->result = NULL;
  result->n_uses--;
}

void
cleave_node_drop_constant (CleaveNode *node)
{
  g_clear_pointer (&((CleaveConstantAttrs *) node->attrs)->value, cleave_tensor_unref);
}

/* Returns the graph that has an operand. An output of a graph is a CleaveOperand without a node;
 * for an output, returns the graph of the value that the output reads. */
static const CleaveGraph *
graph_of (const CleaveOperand *operand)
{
  return operand->node != NULL ? operand->node->graph : operand->result->node->graph;
}

/**
 * cleave_operand_set:
 * @operand: an operand, or an output of the graph
 * @result: (transfer none): a value of the same graph and type
 *
 * Makes an operand read another value, in constant time. If only one of the old and the new value
 * depends on constants alone, the time is proportional to the number of nodes that depend on the
 * node of @operand.
 *
 * Since: 0.1
 */
void
cleave_operand_set (CleaveOperand *operand, CleaveResult *result)
{
  gboolean was_fixed, is_variable;

  g_return_if_fail (operand != NULL && result != NULL);
  g_return_if_fail (result->node->graph != NULL && graph_of (operand) == result->node->graph);
  g_return_if_fail (operand->result == NULL ||
                    cleave_tensor_type_equal (&operand->result->type, &result->type));

  if (operand->result == result)
    return;
  /* Ask cleave_node_is_fixed() before the call of cleave_operand_detach(). After the call, the node
   * counts as fixed if the detached operand was its only operand that is not fixed. */
  is_variable = !cleave_node_is_fixed (result->node);
  was_fixed = operand->node != NULL && cleave_node_is_fixed (operand->node);
  cleave_operand_detach (operand);
  link_use (operand, result, is_variable);
  if (operand->node != NULL && cleave_node_is_fixed (operand->node) != was_fixed)
    update_fixed_users (operand->node);
}

/**
 * cleave_result_replace_uses:
 * @result: a value
 * @with: (transfer none): another value of the same graph and type
 *
 * Makes all operands and outputs that read @result read @with, in O(uses).
 *
 * Since: 0.1
 */
void
cleave_result_replace_uses (CleaveResult *result, CleaveResult *with)
{
  g_return_if_fail (result != NULL && with != NULL && result != with);
  g_return_if_fail (with->node->graph != NULL && result->node->graph == with->node->graph);
  g_return_if_fail (cleave_tensor_type_equal (&result->type, &with->type));

  while (result->first_use != NULL)
    cleave_operand_set (result->first_use, with);
}

/**
 * cleave_result_set_name:
 * @result: a value
 * @name: (nullable): the name; %NULL to derive it from the name of the node
 *
 * Sets the name of a value. If another value has the name, a number is appended.
 *
 * Since: 0.1
 */
void
cleave_result_set_name (CleaveResult *result, const char *name)
{
  g_return_if_fail (result != NULL && result->node->graph != NULL);

  CleaveGraph *graph = result->node->graph;
  GHashTable *values = graph->values;

  if (result->name != NULL)
    g_hash_table_remove (values, result->name);
  cleave_graph_free_name (graph->slab, g_steal_pointer (&result->name));
  if (name == NULL || (result->index == 0 && g_str_equal (name, result->node->name)))
    return;
  result->name = g_hash_table_contains (values, name) ? cleave_graph_unique_name (graph, name)
                                                      : cleave_graph_dup_name (graph, name);
  g_hash_table_insert (values, result->name, result);
}

/**
 * cleave_node_take_names:
 * @node: a node that replaces another
 * @from: the node that is replaced, of the same graph
 *
 * Swaps the names of two nodes and of their results, so that @node has the names of @from.
 *
 * Since: 0.1
 */
void
cleave_node_take_names (CleaveNode *node, CleaveNode *from)
{
  g_return_if_fail (node != NULL && node->graph != NULL);
  g_return_if_fail (from != NULL && node->graph == from->graph);

  GHashTable *nodes = node->graph->nodes;
  GHashTable *values = node->graph->values;
  char *name = node->name;

  node->name = from->name;
  from->name = name;
  g_hash_table_replace (nodes, node->name, node);
  g_hash_table_replace (nodes, from->name, from);
  for (guint i = 0; i < MIN (node->n_results, from->n_results); i++)
    {
      char *taken = from->results[i].name;

      from->results[i].name = node->results[i].name;
      node->results[i].name = taken;
      if (taken != NULL)
        g_hash_table_replace (values, taken, &node->results[i]);
      if (from->results[i].name != NULL)
        g_hash_table_replace (values, from->results[i].name, &from->results[i]);
    }
}

const CleaveCall *
cleave_node_call_init (CleaveNodeCall *call, const CleaveNode *node)
{
  guint n = node->n_operands + node->n_results;
  CleaveTensorType *types = n <= G_N_ELEMENTS (call->few) ? call->few : g_new (CleaveTensorType, n);

  for (guint i = 0; i < node->n_operands; i++)
    types[i] = node->operands[i].result != NULL ? node->operands[i].result->type
                                                : (CleaveTensorType){ .element = CLEAVE_NONE };
  for (guint i = 0; i < node->n_results; i++)
    types[node->n_operands + i] = node->results[i].type;
  call->types = types;
  call->cursor = (CleaveCursor){ 0 };
  call->call = (CleaveCall){
    .op = node->op,
    .attrs = node->attrs,
    .n_operands = node->n_operands,
    .n_results = node->n_results,
    .operands = types,
    .results = types + node->n_operands,
    .cursor = &call->cursor,
  };
  return &call->call;
}

void
cleave_node_call_clear (CleaveNodeCall *call)
{
  if (call->types != call->few)
    g_free (call->types);
}

gint
cleave_node_widens (const CleaveNode *node)
{
  if ((node->op->flags & CLEAVE_OP_STORAGE) == 0 || cleave_node_is_fixed (node))
    return 0;
  return (gint) cleave_element_size (node->results[0].type.element) -
         (gint) cleave_element_size (node->operands[0].result->type.element);
}
