/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes quick lower bounds for the memory of an order (order-bound.h). */

#include "order-bound.h"

#include "../ir/align.h"
#include "../ir/memory.h"
#include "../ir/node-queries.h"
#include "buffers.h"
#include "materialized.h"
#include "order-facts.h"

/* The result of a node. `n_bytes` is 0 if the bound does not count the result, such as a view or a
 * join. */
typedef struct
{
  gint64 n_bytes;
  guint base; /* id of the node whose result this value is a view of; the node's own id if it is no
               * view */
  guint last; /* for a base: last position of a node that reads this value or a view of it */
} Value;

#define MOVES_NOTHING (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN | CLEAVE_OP_ROW_MAJOR)

static gboolean
is_computed (const CleaveNode *node)
{
  return !cleave_node_is_source (node) && (node->op->flags & MOVES_NOTHING) == 0;
}

static gint64
count_bytes (const CleaveNode *node)
{
  gboolean counts = cleave_node_is_input (node)
                        ? cleave_node_is_used (node) && !node->graph->exclude_inputs
                        : is_computed (node);

  if (node->n_results != 1 || !counts)
    return 0;
  return cleave_tensor_type_n_bytes (&node->results[0].type);
}

/* Returns the node id of the base of a view; for any other node, the id of `node`. A view that may
 * be copied to its own buffer counts as no view, since a copy need not keep the base in memory. */
static guint
find_base (const CleaveNode *node, const Value *values, CleaveGraphFacts *facts)
{
  return (node->op->flags & CLEAVE_OP_VIEW) != 0 && node->n_results == 1 && node->n_operands > 0 &&
                 node->operands[0].result != NULL && !cleave_storage_is_for_joins (node) &&
                 cleave_graph_facts_of_view (facts, node, 0)->is_view
             ? values[node->operands[0].result->node->id].base
             : node->id;
}

/* Returns whether a join needs all its operands: each operand has elements, and no two operands
 * overlap. */
static gboolean
needs_all (const CleaveNode *join, CleaveGraphFacts *facts)
{
  const CleaveJoinFacts *of_join = cleave_graph_facts_of_join (facts, join);

  for (guint i = 0; i < join->n_operands; i++)
    if (cleave_range_holds_none (&of_join->ranges[i]))
      return FALSE;
  return !of_join->overlap;
}

/* Returns whether a run needs the node and all its operands. A run needs the inputs, and each node
 * whose result has a reader. A join does not need an operand without elements, or an operand whose
 * elements another operand overwrites. */
static gboolean
is_needed (const CleaveNode *node, CleaveGraphFacts *facts)
{
  if ((node->op->flags & CLEAVE_OP_JOIN) != 0 && !cleave_node_is_fixed (node) &&
      !needs_all (node, facts))
    return FALSE;
  return cleave_node_is_used (node) || cleave_node_is_input (node);
}

/* Returns an array indexed by node id: the Value that describes the node's result. Returns NULL if
 * a run does not need some node or operand of the graph (is_needed()): the bound would be too
 * high. */
static Value *
find_values (const CleaveGraph *graph, CleaveGraphFacts *facts, const GPtrArray *order)
{
  g_autofree Value *values = CLEAVE_NEW (Value, graph->n_ids + 1);

  for (guint i = 0; i < order->len; i++)
    {
      const CleaveNode *node = order->pdata[i];

      if (!is_needed (node, facts))
        return NULL;
      values[node->id] = (Value){ count_bytes (node), find_base (node, values, facts), i };
      for (guint o = 0; o < node->n_operands && !cleave_node_is_fixed (node); o++)
        if (node->operands[o].result != NULL)
          values[values[node->operands[o].result->node->id].base].last = i;
    }
  for (guint i = 0; i < graph->outputs->len; i++)
    {
      const CleaveOutput *output = graph->outputs->pdata[i];

      values[values[output->operand.result->node->id].base].last = order->len;
    }
  return g_steal_pointer (&values);
}

/* Returns the bytes of the largest operand that dies at this node. The result may take the memory
 * of this operand. */
static gint64
find_largest_dying (const CleaveNode *node, const Value *values, guint position)
{
  gint64 largest = 0;

  for (guint o = 0; o < node->n_operands; o++)
    {
      guint id = node->operands[o].result == NULL ? node->id : node->operands[o].result->node->id;

      if (id != node->id && values[id].base == id && values[id].last == position)
        largest = MAX (largest, values[id].n_bytes);
    }
  return largest;
}

gint64 *
cleave_order_find_least (const CleaveGraph *graph, CleaveGraphFacts *facts, const GPtrArray *order)
{
  const gint64 align = CLEAVE_BUFFER_ALIGNMENT;
  g_autofree Value *values = find_values (graph, facts, order);
  gint64 *least, sum = 0;

  if (values == NULL)
    return NULL;
  least = CLEAVE_NEW0 (gint64, order->len + 2); /* the first loop stores how many bytes come into
                                                 * use at each position; the second loop replaces
                                                 * each entry by the bound for the position */
  for (guint i = 0; i < order->len; i++)
    {
      const CleaveNode *node = order->pdata[i];
      const Value *value = &values[node->id];

      least[cleave_node_is_input (node) ? 0 : i + 1] += value->n_bytes;
      least[value->last + 1] -= value->n_bytes;
    }
  for (guint i = 0; i < order->len; i++)
    {
      const CleaveNode *node = order->pdata[i];
      gint64 more;

      sum += least[i];
      more = values[node->id].n_bytes - find_largest_dying (node, values, i);
      least[i] = is_computed (node) ? cleave_align_up (sum + MAX (more, 0), align) : 0;
    }
  return least;
}

gboolean
cleave_order_keeps_peak (const CleaveGraph *graph,
                         const CleaveOrderCandidate *candidate,
                         const GPtrArray *order)
{
  g_autofree guint *position = cleave_order_positions (graph, order);
  guint end = 0; /* the nodes at the positions before i are at positions before `end` in `order` */

  for (guint i = 0; i < order->len; i++)
    {
      const guint at = position[((const CleaveNode *) candidate->order->pdata[i])->id];

      if (candidate->live[i] == candidate->peak && at == i && end == i)
        return TRUE;
      end = MAX (end, at + 1);
    }
  return FALSE;
}
