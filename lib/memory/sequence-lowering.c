/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Splits each chunk of a sequence into two nodes, the first of which does not depend on the state
 * (sequence-lowering.h). */

#include "sequence-lowering.h"

#include "quantized-group.h"

/* Returns whether a node is one of several chunks of a sequence. A chunk takes the state of another
 * node of the same op, or passes its own state to such a node. */
static gboolean
is_chunk (const CleaveNode *node, const CleaveSequence *sequence)
{
  for (guint r = 1; r < node->n_results; r++)
    {
      guint takes = sequence->takes[r];
      const CleaveResult *from = takes < node->n_operands ? node->operands[takes].result : NULL;

      if (from != NULL && from->node->op == node->op && from->index == r)
        return TRUE;
      for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
        if (use->node != NULL && use->node->op == node->op && use->index == takes)
          return TRUE;
    }
  return FALSE;
}

/* Sets `sequence` to the description of the part of a node's work that does not depend on the
 * state. Returns FALSE if the whole work depends on the state, or if the node is not one of several
 * chunks. */
static gboolean
find_independent_work (const CleaveNode *node, CleaveSequence *sequence)
{
  g_auto (CleaveNodeCall) call = { 0 };

  return node->op->sequence != NULL && !cleave_node_is_fixed (node) &&
         node->op->sequence (cleave_node_call_init (&call, node), sequence) &&
         sequence->ahead != NULL && is_chunk (node, sequence);
}

static CleaveNode *
add_independent_work (const CleaveNode *node, const CleaveSequence *sequence)
{
  CleaveResult *operands[1 + CLEAVE_MAX_AHEAD] = { node->operands[0].result };
  CleaveTensorType types[1 + CLEAVE_MAX_AHEAD] = { node->operands[0].result->type }, type;
  g_autofree char *name = g_strdup_printf ("%s.ahead", node->name);
  gpointer attrs = cleave_attrs_copy (sequence->ahead, node->attrs);
  const CleaveCall call = { .op = sequence->ahead,
                            .attrs = attrs,
                            .n_operands = 1 + CLEAVE_MAX_AHEAD,
                            .n_results = 1,
                            .operands = types };

  for (guint i = 0; i < CLEAVE_MAX_AHEAD; i++)
    {
      guint operand = sequence->ahead_operands[i];

      if (operand >= node->n_operands || node->operands[operand].result == NULL)
        continue;
      operands[1 + i] = node->operands[operand].result;
      types[1 + i] = operands[1 + i]->type;
    }
  if (!sequence->ahead->infer (&call, &type, NULL))
    g_assert_not_reached (); /* cannot fail, since type inference of the node itself did not fail */
  return cleave_graph_add_checked (node->graph, sequence->ahead, name, operands,
                                   G_N_ELEMENTS (operands), &type, 1, attrs);
}

/* Replaces the node by two nodes. The first node computes the part that does not depend on the
 * state. The second node reads the result of the first node and computes the results of the
 * replaced node. */
static void
replace (CleaveNode *node, const CleaveSequence *sequence)
{
  g_autofree CleaveResult **operands = g_new0 (CleaveResult *, node->n_operands);
  g_autofree CleaveTensorType *types = g_new0 (CleaveTensorType, node->n_results);
  CleaveNode *rest;

  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = node->operands[i].result;
  for (guint r = 0; r < node->n_results; r++)
    types[r] = node->results[r].type;
  operands[0] = &add_independent_work (node, sequence)->results[0];
  operands[sequence->ahead_operands[0]] = NULL;
  rest = cleave_graph_add_checked (node->graph, node->op, "rest", operands, node->n_operands, types,
                                   node->n_results, cleave_attrs_copy (node->op, node->attrs));
  for (guint r = 0; r < node->n_results; r++)
    cleave_result_replace_uses (&node->results[r], &rest->results[r]);
  cleave_node_take_names (rest, node);
  cleave_graph_remove (node->graph, node);
}

static gboolean
has_ahead (const CleaveGraph *graph)
{
  CleaveSequence sequence;

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    if (find_independent_work (node, &sequence))
      return TRUE;
  return FALSE;
}

CleaveGraph *
cleave_lower (const CleaveGraph *graph, guint n_threads)
{
  CleaveGraph *lowered = cleave_group_quantized (graph);

  if (n_threads == 1 || !has_ahead (graph))
    return lowered;
  if (lowered == NULL)
    lowered = cleave_graph_copy (graph);
  for (CleaveNode *node = lowered->first, *next; node != NULL; node = next)
    {
      CleaveSequence sequence;

      next = node->next;
      if (find_independent_work (node, &sequence))
        replace (node, &sequence);
    }
  return lowered;
}
