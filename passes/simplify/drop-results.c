/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Removes trailing results that no node reads, and replaces a Split by a Slice if nodes read
 * only one of its results. */

#include "../info.h"

#include "help.h"

/*      x                  x
 *      |                  |
 *   MaxPool      =>    MaxPool             Split     =>    Slice
 *    /   \                |                / | \             |
 *   y  indices            y                  y               y
 *
 * Drops trailing results without users if the op allows fewer results, since many fast kernels
 * compute only the first result.  A Split with one used result becomes a Slice.
 *
 * Before: a valid graph.  After: no node has results that could be dropped. */

static gboolean
slice_split (CleaveNode *node)
{
  const CleaveSplitAttrs *a = node->attrs;
  CleaveRange range = cleave_range_whole (&node->operands[0].result->type.shape);
  CleaveResult *only = NULL, *value;
  gint64 begin = 0, end = 0;

  for (guint r = 0; r < node->n_results; r++)
    {
      gint64 size = g_array_index (a->sizes, gint64, r);

      if (only != NULL && node->results[r].n_uses > 0)
        return FALSE;
      if (only == NULL)
        end += size;
      if (node->results[r].n_uses > 0)
        only = &node->results[r];
      else if (only == NULL)
        begin = end;
    }
  if (only == NULL)
    return FALSE;
  range.dim[a->axis] = (CleaveSpan){ begin, end };
  value = cleave_graph_add_slice_range (node->graph, node->name, node->operands[0].result, &range,
                                        NULL);
  if (value == NULL)
    return FALSE;
  cleave_result_replace_uses (only, value);
  if (only->name != NULL)
    {
      g_autofree char *name = g_strdup (only->name);

      cleave_result_set_name (only, NULL);
      cleave_result_set_name (value, name);
    }
  return TRUE;
}

static gboolean
visit (CleaveNode *node)
{
  guint n = node->n_results;
  g_autofree CleaveTensorType *types = g_new0 (CleaveTensorType, n);
  g_autofree CleaveResult **operands = g_new0 (CleaveResult *, node->n_operands + 1);
  CleaveNode *less;

  if (cleave_node_is (node, CLEAVE_KNOWN_SPLIT))
    return n > 1 && slice_split (node);
  while (n > 1 && node->results[n - 1].n_uses == 0)
    n--;
  if (n == node->n_results || (node->op->flags & CLEAVE_OP_ALL_RESULTS) != 0 ||
      !cleave_node_infer_with (node, 0, NULL, n, types))
    return FALSE;
  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = node->operands[i].result;
  for (guint r = 0; r < n; r++)
    if (!cleave_tensor_type_equal (&types[r], &node->results[r].type))
      return FALSE;
  less = cleave_graph_add (node->graph, node->op, node->name, operands, node->n_operands, n,
                           node->attrs, NULL);
  if (less == NULL)
    return FALSE;
  for (guint r = 0; r < n; r++)
    cleave_result_replace_uses (&node->results[r], &less->results[r]);
  cleave_node_take_names (less, node);
  return TRUE;
}

const CleavePassInfo cleave_pass_info_drop_results = {
  .name = "drop-results",
  .summary = "Removes unused results of ops that can do without them.",
  .visit = visit,
};
