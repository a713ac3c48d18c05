/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Folds adjacent views and joins. A view is a Slice, a Split, a Reshape or a Transpose; a join
 * is a Concat or an Assemble. The parts of a join are its operands with their ranges in its
 * result. */

#include "info.h"

#include "../lib/ir/topology.h"

#include "views/forwarding.h"
#include "views/joins.h"
#include "views/known-ops.h"
#include "views/movement.h"
#include "views/strided-range.h"

/*    x            x
 *    |            |
 *  Split          |
 *  / | \    =>    |
 *  \ | /          |
 *  Concat         |
 *    |            |
 *
 * Folds these patterns:
 * - a Concat of all results of a Split, in order, becomes the Split's operand (a Concat of
 *   consecutive results becomes one Slice of the operand);
 * - a view of all elements of a value, a join with one operand, and a Pad that adds no element
 *   become their operand;
 * - the results of a Split of a Concat become the Concat's operands;
 * - a Split of a Split becomes one Split, and a Concat of a Concat one Concat, if the inner node
 *   has no other reader;
 * - two consecutive Reshapes or Transposes become one node;
 * - a Transpose that only moves dimensions of extent 1 becomes a Reshape.
 *
 * Before: a valid graph.  After: none of these patterns is left. Run this pass after
 * forward-slices, which folds Slices. */

typedef struct
{
  CleaveGraph *graph;
  CleaveForwarder *forwarder;
  const CleaveOp *split, *concat, *assemble;
} Folder;

/* Returns whether a node is a Pad that neither adds nor removes elements. */
static gboolean
is_empty_pad (const CleaveNode *node)
{
  const CleavePadAttrs *a = node->attrs;

  if (!cleave_node_is (node, CLEAVE_KNOWN_PAD))
    return FALSE;
  for (guint i = 0; i < a->pads.n; i++)
    if (a->pads.v[i] != 0)
      return FALSE;
  return TRUE;
}

/* Returns operand 0 of the node that computes `result`, if this operand equals the result in every
 * element; NULL if not. */
static CleaveResult *
find_same (CleaveResult *result)
{
  const CleaveNode *node = result->node;
  CleaveResult *operand = node->n_operands > 0 ? node->operands[0].result : NULL;
  CleaveStridedRange window;

  if (operand == NULL || !cleave_tensor_type_equal (&operand->type, &result->type))
    return NULL;
  if ((node->op->flags & CLEAVE_OP_ROW_MAJOR) != 0 && result->index == 0)
    return operand;
  if (((node->op->flags & CLEAVE_OP_JOIN) != 0 && node->n_operands == 1) || is_empty_pad (node))
    return operand;
  return cleave_result_get_strided_range (result, &window) &&
                 cleave_strided_range_is_whole (&window, &operand->type.shape)
             ? operand
             : NULL;
}

static gboolean
fold_same (CleaveNode *node)
{
  gboolean changed = FALSE;

  for (guint r = 0; r < node->n_results; r++)
    {
      CleaveResult *same = node->results[r].n_uses > 0 ? find_same (&node->results[r]) : NULL;

      if (same == NULL)
        continue;
      cleave_result_replace_uses (&node->results[r], same);
      changed = TRUE;
    }
  return changed;
}

static gboolean
fold_split_of_join (Folder *folder, CleaveNode *node)
{
  gboolean changed = FALSE;

  if ((node->operands[0].result->node->op->flags & CLEAVE_OP_JOIN) == 0)
    return FALSE;
  for (guint r = 0; r < node->n_results; r++)
    {
      CleaveResult *result = &node->results[r];
      CleaveResult *forwarded =
          result->n_uses > 0 ? cleave_forwarder_forward (folder->forwarder, result) : result;

      if (forwarded == result)
        continue;
      cleave_result_replace_uses (result, forwarded);
      changed = TRUE;
    }
  return changed;
}

/* Merges the sizes of two Splits. The first Split has the sizes `outer`. The second Split reads
 * result number `at` of the first one and has the sizes `inner`. Returns a copy of `outer` in which
 * the sizes `inner` replace the size with index `at`. */
static GArray *
insert_sizes (const GArray *outer, guint at, const GArray *inner)
{
  GArray *sizes = g_array_new (FALSE, FALSE, sizeof (gint64));

  g_array_append_vals (sizes, outer->data, at);
  g_array_append_vals (sizes, inner->data, inner->len);
  g_array_append_vals (sizes, &g_array_index (outer, gint64, at + 1), outer->len - at - 1);
  return sizes;
}

static void
move_result (CleaveResult *from, CleaveResult *to)
{
  cleave_result_replace_uses (from, to);
  if (from->name != NULL)
    {
      g_autofree char *name = g_strdup (from->name);

      cleave_result_set_name (from, NULL);
      cleave_result_set_name (to, name);
    }
}

static gboolean
fold_split_of_split (Folder *folder, CleaveNode *inner)
{
  const CleaveResult *value = inner->operands[0].result;
  CleaveNode *outer = value->node;
  const CleaveSplitAttrs *a = outer->attrs, *b = inner->attrs;
  g_autoptr (GArray) sizes = NULL;
  g_autofree char *name = NULL;
  CleaveNode *node;

  if (outer->op != folder->split || value->n_uses != 1 || a->axis != b->axis)
    return FALSE;
  sizes = insert_sizes (a->sizes, value->index, b->sizes);
  name = g_strdup (outer->name);
  node = cleave_graph_add_split (folder->graph, name, outer->operands[0].result, a->axis,
                                 (const gint64 *) sizes->data, sizes->len, NULL);
  g_assert (node != NULL);
  for (guint r = 0; r < outer->n_results; r++)
    if (r != value->index)
      move_result (&outer->results[r],
                   &node->results[r < value->index ? r : r + inner->n_results - 1]);
  for (guint r = 0; r < inner->n_results; r++)
    move_result (&inner->results[r], &node->results[value->index + r]);
  return TRUE;
}

/* Returns whether `node`, a join, is the only reader of `value`, and the node that computes `value`
 * is a join with the same op and axis. */
static gboolean
joins_alike (const CleaveNode *node, const CleaveResult *value)
{
  const CleaveNode *inner = value->node;

  return inner->op == node->op && value->n_uses == 1 &&
         (cleave_node_is (node, CLEAVE_KNOWN_ASSEMBLE) ||
          cleave_attrs_equal (node->op, node->attrs, inner->attrs));
}

/* Removes empty parts from the list of a join's parts. If a part is a join of the same kind that
 * only `node` reads, replaces the part by the parts of that join. Returns whether the list
 * changed. */
static gboolean
flatten (const CleaveNode *node, GArray *parts)
{
  g_autoptr (GArray) flat = g_array_new (FALSE, FALSE, sizeof (CleaveJoinPart));
  gboolean changed = FALSE;

  for (guint i = 0; i < parts->len; i++)
    {
      const CleaveJoinPart *part = &g_array_index (parts, CleaveJoinPart, i);
      gboolean is_empty = cleave_range_is_empty (&part->place) && parts->len > 1;
      gboolean is_join = !is_empty && joins_alike (node, part->value);

      if (is_join)
        cleave_join_list (part->value->node, &part->place, flat);
      else if (!is_empty)
        g_array_append_val (flat, *part);
      changed = changed || is_empty || is_join;
    }
  if (!changed || flat->len == 0)
    return FALSE;
  g_array_set_size (parts, 0);
  g_array_append_vals (parts, flat->data, flat->len);
  return TRUE;
}

/* Sets `base` to the value that a part is a view of, and `range` to the part's range in `base`.
 * Returns FALSE if the part is not a view, or if the view skips elements. */
static gboolean
find_base (const CleaveJoinPart *part, CleaveResult **base, CleaveRange *range)
{
  CleaveStridedRange window;

  if (!cleave_result_get_strided_range (part->value, &window))
    return FALSE;
  *base = part->value->node->operands[0].result;
  range->rank = window.rank;
  for (guint d = 0; d < window.rank; d++)
    {
      if (window.step[d] != 1 && window.count[d] > 1)
        return FALSE;
      range->dim[d] = (CleaveSpan){ window.begin[d], window.begin[d] + window.count[d] };
    }
  return TRUE;
}

/* Returns whether two parts of a join are adjacent both in the join and in a value, along the same
 * dimension. Both parts are views of this value. `a` and `b` are the ranges of the parts in the
 * join; `in_a` and `in_b` are the ranges of the parts in the value. */
static gboolean
follow (const CleaveRange *a,
        const CleaveRange *in_a,
        const CleaveRange *b,
        const CleaveRange *in_b)
{
  CleaveRange both;

  if (!cleave_range_join (a, b, &both))
    return FALSE;
  for (guint d = 0; d < a->rank; d++)
    if (in_b->dim[d].begin - in_a->dim[d].begin != b->dim[d].begin - a->dim[d].begin)
      return FALSE;
  return TRUE;
}

/* Replaces consecutive parts of a join by one part, if they are views of adjacent ranges of one
 * value. Returns whether the list of parts changed. */
static gboolean
merge_runs (Folder *folder, const CleaveNode *node, GArray *parts)
{
  guint n = 0;
  gboolean changed = FALSE;

  for (guint i = 0, end; i < parts->len; i = end)
    {
      CleaveJoinPart run = g_array_index (parts, CleaveJoinPart, i);
      CleaveResult *base, *other;
      CleaveRange range, next;
      gboolean is_view = find_base (&run, &base, &range);

      for (end = i + 1; is_view && end < parts->len; end++)
        {
          const CleaveJoinPart *part = &g_array_index (parts, CleaveJoinPart, end);

          if (!find_base (part, &other, &next) || other != base ||
              !follow (&run.place, &range, &part->place, &next))
            break;
          run.place = cleave_range_hull (&run.place, &part->place);
          range = cleave_range_hull (&range, &next);
        }
      if (end > i + 1)
        {
          run.value = cleave_forwarder_get (folder->forwarder, base, &range, node->name);
          changed = TRUE;
        }
      g_array_index (parts, CleaveJoinPart, n++) = run;
    }
  g_array_set_size (parts, n);
  return changed;
}

static gboolean
fold_join (Folder *folder, CleaveNode *node)
{
  g_autoptr (GArray) parts = g_array_new (FALSE, FALSE, sizeof (CleaveJoinPart));
  CleaveRange whole = cleave_range_whole (&node->results[0].type.shape);
  CleaveResult *value;
  gboolean changed;

  if (!cleave_join_list (node, &whole, parts))
    return FALSE;
  changed = flatten (node, parts);
  changed |= merge_runs (folder, node, parts);
  if (!changed)
    return FALSE;
  value = g_array_index (parts, CleaveJoinPart, 0).value;
  if (parts->len > 1 || !cleave_tensor_type_equal (&value->type, &node->results[0].type))
    {
      value = &cleave_join_add (folder->graph, node, node->name, parts, &node->results[0].type)
                   ->results[0];
      cleave_result_replace_uses (&node->results[0], value);
      cleave_node_take_names (value->node, node);
    }
  else
    cleave_result_replace_uses (&node->results[0], value);
  return TRUE;
}

static gboolean
fold_movement (Folder *folder, CleaveNode *node)
{
  guint first_new = folder->graph->n_ids;
  CleaveResult *value = cleave_movement_compose (folder->graph, node);

  if (value == NULL)
    return FALSE;
  cleave_result_replace_uses (&node->results[0], value);
  if (value->node->id >= first_new)
    cleave_node_take_names (value->node, node);
  return TRUE;
}

static gboolean
fold (Folder *folder, CleaveNode *node)
{
  if (!cleave_node_is_used (node))
    return FALSE;
  if (fold_same (node) || fold_movement (folder, node))
    return TRUE;
  if (node->op == folder->split)
    return fold_split_of_join (folder, node) || fold_split_of_split (folder, node);
  return (node->op == folder->concat || node->op == folder->assemble) && fold_join (folder, node);
}

/**
 * cleave_pass_fold_views:
 * @graph: a graph
 * @options: (nullable): unused
 * @changed: (out) (optional): whether it changed the graph
 * @error: return location for a [struct@GLib.Error]
 *
 * Folds adjacent Splits, Slices, Concats, Reshapes and Transposes, and removes views of whole
 * values. Never changes the order of operands, and never moves a computation past a Split or a
 * Concat. Near-linear.
 *
 * Fails with %CLEAVE_ERROR_CYCLE.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.1
 */
gboolean
cleave_pass_fold_views (CleaveGraph *graph,
                        gconstpointer options,
                        gboolean *changed,
                        GError **error)
{
  g_return_val_if_fail (graph != NULL, FALSE);
  g_autoptr (GPtrArray) order = cleave_topology_sort (graph, error);
  g_autoptr (CleaveForwarder) forwarder = cleave_forwarder_new (graph);
  Folder folder = { graph, forwarder, cleave_known_op (CLEAVE_KNOWN_SPLIT),
                    cleave_known_op (CLEAVE_KNOWN_CONCAT),
                    cleave_known_op (CLEAVE_KNOWN_ASSEMBLE) };

  if (changed != NULL)
    *changed = FALSE;
  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    if (fold (&folder, g_ptr_array_index (order, i)) && changed != NULL)
      *changed = TRUE;
  return TRUE;
}

const CleavePassInfo cleave_pass_info_fold_views = {
  .name = "fold-views",
  .summary = "Merges views of views, and joins of adjacent parts.",
  .run = cleave_pass_fold_views,
};
