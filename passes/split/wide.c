/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Marks the nodes whose result is wide, which means much larger than the operands. An
 * element-wise node is wide if all its large operands are wide. */

#include "wide.h"

#include "../../lib/ir/topology.h"

/* A result is wide if it has at least this many times the elements of its operands. */
#define WIDE 1.5

/* An operand is ignored if it has fewer elements than the result divided by this number, for
 * example an operand with one factor for each channel. */
#define SMALL_PART 2

static gint64
count_operands (const CleaveNode *node)
{
  gint64 n = 0;

  for (guint o = 0; o < node->n_operands; o++)
    if (node->operands[o].result != NULL && !cleave_node_is_fixed (node->operands[o].result->node))
      n += cleave_shape_n_elements (&node->operands[o].result->type.shape);
  return n;
}

/* Returns whether an element-wise node has operands of about the result's size, and all these
 * operands are wide. */
static gboolean
follows_wide (const CleaveNode *node, const gboolean *wide)
{
  const gint64 n = cleave_shape_n_elements (&node->results[0].type.shape);
  gboolean found = FALSE;

  for (guint o = 0; o < node->n_operands; o++)
    {
      const CleaveResult *x = node->operands[o].result;

      if (x == NULL || cleave_node_is_fixed (x->node) ||
          cleave_shape_n_elements (&x->type.shape) < n / SMALL_PART)
        continue;
      if (!wide[x->node->id])
        return FALSE;
      found = TRUE;
    }
  return found;
}

static gboolean
is_wide (const CleaveNode *node, const gboolean *wide)
{
  gint64 n_read;

  if (node->n_results == 0 || node->op->maps == NULL || cleave_node_is_fixed (node) ||
      (node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN)) != 0)
    return FALSE;
  if ((node->op->flags & CLEAVE_OP_IN_PLACE) != 0)
    return follows_wide (node, wide);
  n_read = count_operands (node);
  return n_read > 0 &&
         (double) cleave_shape_n_elements (&node->results[0].type.shape) >= WIDE * (double) n_read;
}

gboolean *
cleave_find_wide (const CleaveGraph *graph, const GPtrArray *order)
{
  gboolean *wide = g_new0 (gboolean, graph->n_ids + 1);

  for (guint i = 0; i < order->len; i++)
    {
      const CleaveNode *node = order->pdata[i];

      wide[node->id] = is_wide (node, wide);
    }
  return wide;
}
