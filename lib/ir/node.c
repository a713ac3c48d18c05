/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Over 400 lines: nodes, operands and results point at each other; a third of it documents the API.
 * */

#include "graph-private.h"

#include <string.h>

/* In one block: a node costs less to make, and what is read together lies together. */
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

/* Those that read a node learn that it is fixed now, or no longer is, and those that read them.
 * Each changes once, in a cycle, too. */
static void
tell_users (CleaveNode *node)
{
  g_autoptr (GPtrArray) changed = NULL;
  gboolean is_fixed = cleave_node_is_fixed (node);

  if (!cleave_node_is_used (node)) /* it is being made */
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

/* Uses are listed in the order of attaching. */
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
    tell_users (operand->node);
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

/**
 * cleave_node_get_graph:
 * @node: a node
 *
 * Returns: (transfer none) (nullable): the graph that owns it, %NULL if it was removed from it
 */
CleaveGraph *
cleave_node_get_graph (const CleaveNode *node)
{
  g_return_val_if_fail (node != NULL, NULL);
  return node->graph;
}

/**
 * cleave_node_get_next:
 * @node: a node
 *
 * Returns: (transfer none) (nullable): the node built after it, which need not read it
 */
CleaveNode *
cleave_node_get_next (const CleaveNode *node)
{
  g_return_val_if_fail (node != NULL, NULL);
  return node->next;
}

/**
 * cleave_node_get_name:
 * @node: a node
 *
 * Returns: (transfer none): its name, which no other node of the graph has
 */
const char *
cleave_node_get_name (const CleaveNode *node)
{
  g_return_val_if_fail (node != NULL, NULL);
  return node->name;
}

/**
 * cleave_node_get_op:
 * @node: a node
 *
 * Returns: (transfer none): what it computes
 */
const CleaveOp *
cleave_node_get_op (const CleaveNode *node)
{
  g_return_val_if_fail (node != NULL, NULL);
  return node->op;
}

/**
 * cleave_node_get_attrs:
 * @node: a node
 *
 * Returns: (transfer none) (nullable): the op's attribute struct, %NULL if the op has no attributes
 */
gconstpointer
cleave_node_get_attrs (const CleaveNode *node)
{
  g_return_val_if_fail (node != NULL, NULL);
  return node->attrs;
}

/**
 * cleave_node_dup_attrs_string:
 * @node: a node
 *
 * Returns: (transfer full): its attributes as the dump prints them, without those that have their
 * default
 */
char *
cleave_node_dup_attrs_string (const CleaveNode *node)
{
  g_return_val_if_fail (node != NULL, NULL);
  g_autoptr (GString) out = g_string_new (NULL);

  cleave_attrs_print (node->op, node->attrs, out);
  return g_strdup (g_strstrip (out->str));
}

/**
 * cleave_node_get_n_operands:
 * @node: a node
 *
 * Returns: how many operands it has, absent ones before its last included
 */
guint
cleave_node_get_n_operands (const CleaveNode *node)
{
  g_return_val_if_fail (node != NULL, 0);
  return node->n_operands;
}

/**
 * cleave_node_get_operand:
 * @node: a node
 * @index: which operand
 *
 * Returns: (transfer none): the operand
 */
CleaveOperand *
cleave_node_get_operand (const CleaveNode *node, guint index)
{
  g_return_val_if_fail (node != NULL, NULL);
  g_return_val_if_fail (index < node->n_operands, NULL);
  return &node->operands[index];
}

/**
 * cleave_node_get_n_results:
 * @node: a node
 *
 * Returns: how many results it has
 */
guint
cleave_node_get_n_results (const CleaveNode *node)
{
  g_return_val_if_fail (node != NULL, 0);
  return node->n_results;
}

/**
 * cleave_node_get_result:
 * @node: a node
 * @index: which result
 *
 * Returns: (transfer none): the result
 */
CleaveResult *
cleave_node_get_result (const CleaveNode *node, guint index)
{
  g_return_val_if_fail (node != NULL, NULL);
  g_return_val_if_fail (index < node->n_results, NULL);
  return &node->results[index];
}

/**
 * cleave_node_get_macs:
 * @node: a node
 *
 * Returns: multiply-accumulates of one run of it; 0 for ops that are not made of them, and 2^63 - 1
 * for any number that is larger
 */
gint64
cleave_node_get_macs (const CleaveNode *node)
{
  g_return_val_if_fail (node != NULL, 0);
  CleaveNodeCall call;
  gint64 macs;

  if (node->op->macs == NULL)
    return 0;
  macs = node->op->macs (cleave_node_call_init (&call, node));
  cleave_node_call_clear (&call);
  return macs;
}

/**
 * cleave_node_is_input:
 * @node: a node
 *
 * Returns: whether it stands for an input of the graph
 */
gboolean
cleave_node_is_input (const CleaveNode *node)
{
  g_return_val_if_fail (node != NULL, FALSE);
  return node->op == &cleave_op_input;
}

/**
 * cleave_node_get_constant:
 * @node: a node
 *
 * Returns: (transfer none) (nullable): the value of a Constant, %NULL of any other node
 */
CleaveTensor *
cleave_node_get_constant (const CleaveNode *node)
{
  g_return_val_if_fail (node != NULL, NULL);
  return node->op == &cleave_op_constant ? ((const CleaveConstantAttrs *) node->attrs)->value
                                         : NULL;
}

void
cleave_node_drop_constant (CleaveNode *node)
{
  g_clear_pointer (&((CleaveConstantAttrs *) node->attrs)->value, cleave_tensor_unref);
}

/**
 * cleave_operand_get_node:
 * @operand: an operand
 *
 * Returns: (transfer none) (nullable): the node that it belongs to, %NULL for an output of the
 * graph
 */
CleaveNode *
cleave_operand_get_node (const CleaveOperand *operand)
{
  g_return_val_if_fail (operand != NULL, NULL);
  return operand->node;
}

/**
 * cleave_operand_get_index:
 * @operand: an operand
 *
 * Returns: which operand of its node, or which output of the graph it is
 */
guint
cleave_operand_get_index (const CleaveOperand *operand)
{
  g_return_val_if_fail (operand != NULL, 0);
  return operand->index;
}

/**
 * cleave_operand_get_name:
 * @operand: an operand
 *
 * Returns: (transfer none): what the op calls it, such as `W`, or the name of the graph's output
 */
const char *
cleave_operand_get_name (const CleaveOperand *operand)
{
  g_return_val_if_fail (operand != NULL, NULL);
  if (operand->node == NULL)
    return ((const CleaveOutput *) operand)->name;
  return cleave_op_operand_name (operand->node->op, operand->index);
}

/**
 * cleave_operand_get_result:
 * @operand: an operand
 *
 * Returns: (transfer none) (nullable): the value that it reads, %NULL if it is absent
 */
CleaveResult *
cleave_operand_get_result (const CleaveOperand *operand)
{
  g_return_val_if_fail (operand != NULL, NULL);
  return operand->result;
}

/**
 * cleave_operand_get_next_use:
 * @operand: an operand that is present
 *
 * Returns: (transfer none) (nullable): the next use of the same value
 */
CleaveOperand *
cleave_operand_get_next_use (const CleaveOperand *operand)
{
  g_return_val_if_fail (operand != NULL, NULL);
  return operand->next_use;
}

/**
 * cleave_result_get_node:
 * @result: a result
 *
 * Returns: (transfer none): the node that makes it
 */
CleaveNode *
cleave_result_get_node (const CleaveResult *result)
{
  g_return_val_if_fail (result != NULL, NULL);
  return result->node;
}

/**
 * cleave_result_get_index:
 * @result: a result
 *
 * Returns: which of its node's results it is
 */
guint
cleave_result_get_index (const CleaveResult *result)
{
  g_return_val_if_fail (result != NULL, 0);
  return result->index;
}

/**
 * cleave_result_get_type:
 * @result: a result
 *
 * Returns: (transfer none): element type and shape
 */
const CleaveTensorType *
cleave_result_get_type (const CleaveResult *result)
{
  g_return_val_if_fail (result != NULL, NULL);
  return &result->type;
}

/**
 * cleave_result_dup_name:
 * @result: a result
 *
 * Returns: (transfer full): its own name if it has one, else the node's, with a suffix for all but
 * the first
 */
char *
cleave_result_dup_name (const CleaveResult *result)
{
  g_return_val_if_fail (result != NULL, NULL);
  if (result->name != NULL)
    return g_strdup (result->name);
  if (result->index == 0)
    return g_strdup (result->node->name);
  return g_strdup_printf ("%s.r%u", result->node->name, result->index);
}

/**
 * cleave_result_get_n_uses:
 * @result: a result
 *
 * Returns: how many operands and outputs use it, in constant time
 */
guint
cleave_result_get_n_uses (const CleaveResult *result)
{
  g_return_val_if_fail (result != NULL, 0);
  return result->n_uses;
}

/**
 * cleave_result_get_first_use:
 * @result: a result
 *
 * Returns: (transfer none) (nullable): its oldest use; the others follow by
 * [method@Cleave.Operand.get_next_use]
 */
CleaveOperand *
cleave_result_get_first_use (const CleaveResult *result)
{
  g_return_val_if_fail (result != NULL, NULL);
  return result->first_use;
}

/* An output of the graph has no node, but it has a value. */
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
 * Lets an operand read another value, in constant time; if a constant takes the place of what is
 * none, or the other way round, in time proportional to what comes of it.
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
  /* Asked before the operand lets go: the value may come of the node itself for a while. */
  is_variable = !cleave_node_is_fixed (result->node);
  was_fixed = operand->node != NULL && cleave_node_is_fixed (operand->node);
  cleave_operand_detach (operand);
  link_use (operand, result, is_variable);
  if (operand->node != NULL && cleave_node_is_fixed (operand->node) != was_fixed)
    tell_users (operand->node);
}

/**
 * cleave_result_replace_uses:
 * @result: a value
 * @with: (transfer none): another of the same graph and type
 *
 * Lets all that use a value use another, in O(uses).
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
 * @name: (nullable): its name, %NULL for one made of the node's
 *
 * Names a value.  A name that another value has gets a number.
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
 * @node: a node that takes another's place
 * @from: the other node of the same graph
 *
 * Gives @node the names of @from and of its results; @from gets the name that @node had.
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
