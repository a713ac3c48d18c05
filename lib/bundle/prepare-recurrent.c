/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Rewrites recurrent nodes with other directions than forward:
 *
 *   reverse         =>  reverse the steps of X; forward; reverse the steps of Y
 *   bidirectional   =>  one forward node for each direction; Concat of their results */

#include "../ops/recurrent.h"
#include "prepare.h"

#define MAX_OPERANDS 8

/* Adds a Slice of one index `at` of a dimension. */
static CleaveResult *
slice_index (CleaveGraph *graph, CleaveResult *x, guint dim, gint64 at, GError **error)
{
  CleaveRange range = cleave_range_whole (&x->type.shape);

  range.dim[dim] = (CleaveSpan){ at, at + 1 };
  return cleave_graph_add_slice_range (graph, x->node->name, x, &range, error);
}

static CleaveResult *
reverse (CleaveGraph *graph, CleaveResult *x, guint dim, GError **error)
{
  CleaveSliceAttrs a = { .starts = { .n = 1, .v = { -1 } },
                         .ends = { .n = 1, .v = { G_MININT64 + 1 } },
                         .axes = { .n = 1, .v = { dim } },
                         .steps = { .n = 1, .v = { -1 } } };

  return cleave_graph_add_slice (graph, x->node->name, x, &a, error);
}

/* Sets the operands of the new node for one direction. */
static gboolean
set_operands (CleaveGraph *graph,
              const CleaveNode *node,
              gint64 direction,
              gboolean is_reverse,
              CleaveResult **operands,
              GError **error)
{
  CleaveRecurrentDims dims = cleave_recurrent_dims (node->attrs);

  for (guint i = 0; i < node->n_operands; i++)
    {
      gboolean is_state = i == CLEAVE_RECURRENT_INITIAL_H || i == CLEAVE_RECURRENT_INITIAL_C;

      operands[i] = node->operands[i].result;
      if (operands[i] == NULL || i == CLEAVE_RECURRENT_LENGTHS)
        continue;
      if (i != CLEAVE_RECURRENT_X)
        operands[i] =
            slice_index (graph, operands[i], is_state ? dims.state_direction : 0, direction, error);
      else if (is_reverse)
        operands[i] = reverse (graph, operands[i], dims.x_time, error);
      if (operands[i] == NULL)
        return FALSE;
    }
  return TRUE;
}

/* Adds the new node for one direction, and sets its results. */
static gboolean
add_direction (CleaveGraph *graph,
               const CleaveNode *node,
               gint64 direction,
               CleaveResult **results,
               GError **error)
{
  CleaveRecurrentAttrs a = *(const CleaveRecurrentAttrs *) node->attrs;
  gboolean is_reverse = a.direction == CLEAVE_DIRECTION_REVERSE || direction == 1;
  guint n = a.direction == CLEAVE_DIRECTION_BIDIRECTIONAL ? a.activations.n / 2 : a.activations.n;
  CleaveResult *operands[MAX_OPERANDS] = { NULL };
  CleaveNode *forward;

  for (guint i = 0; i < n; i++)
    a.activations.v[i] = a.activations.v[direction * n + i];
  a.activations.n = n;
  a.direction = CLEAVE_DIRECTION_FORWARD;
  if (!set_operands (graph, node, direction, is_reverse, operands, error))
    return FALSE;
  forward = cleave_graph_add (graph, node->op, node->name, operands, node->n_operands,
                              node->n_results, &a, error);
  if (forward == NULL)
    return FALSE;
  for (guint r = 0; r < node->n_results; r++)
    results[r] = &forward->results[r];
  if (is_reverse && node->results[0].n_uses > 0)
    results[0] = reverse (graph, results[0], cleave_recurrent_dims (&a).x_time, error);
  return results[0] != NULL;
}

static gboolean
join_directions (
    CleaveGraph *graph, CleaveNode *node, guint result, CleaveResult **parts, GError **error)
{
  CleaveRecurrentDims dims = cleave_recurrent_dims (node->attrs);
  CleaveAxisAttrs a = { result == 0 ? dims.y_direction : dims.state_direction };
  CleaveNode *join =
      cleave_graph_add (graph, cleave_op_lookup ("Concat"), node->name, parts, 2, 1, &a, error);

  if (join == NULL)
    return FALSE;
  cleave_result_replace_uses (&node->results[result], &join->results[0]);
  return TRUE;
}

gboolean
cleave_bundle_prepare_recurrent (CleaveGraph *graph, CleaveNode *node, GError **error)
{
  const CleaveRecurrentAttrs *a = node->attrs;
  CleaveResult *results[2][3] = { { NULL } };
  gboolean is_both = a->direction == CLEAVE_DIRECTION_BIDIRECTIONAL;

  if (a->direction == CLEAVE_DIRECTION_FORWARD || a->activation_alpha.n > 0 ||
      a->activation_beta.n > 0)
    return TRUE;
  for (gint64 d = 0; d < (is_both ? 2 : 1); d++)
    if (!add_direction (graph, node, d, results[d], error))
      return FALSE;
  for (guint r = 0; r < node->n_results; r++)
    {
      CleaveResult *parts[] = { results[0][r], results[1][r] };

      if (node->results[r].n_uses == 0)
        continue;
      if (!is_both)
        cleave_result_replace_uses (&node->results[r], parts[0]);
      else if (!join_directions (graph, node, r, parts, error))
        return FALSE;
    }
  return TRUE;
}
