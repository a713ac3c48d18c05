/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Split: cuts a value into consecutive results along an axis. All dimensions but the axis can
 * be split. */

#include "move.h"

static const CleaveAttr attr_table[] = {
  { "axis", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveSplitAttrs, axis), .flags = CLEAVE_ATTR_AXIS },
  { "split", CLEAVE_ATTR_ARRAY, CLEAVE_FIELD (CleaveSplitAttrs, sizes), .onnx_operand = 1 },
  { 0 },
};

/* Returns the sizes of a Split whose attributes give no sizes: equal parts, one for each result. */
static GArray *
equal_parts (guint n_parts, gint64 axis, gint64 extent, GError **error)
{
  g_autoptr (GArray) sizes = g_array_new (FALSE, FALSE, sizeof (gint64));
  gint64 size;

  if (n_parts == 0 || extent % n_parts != 0)
    return cleave_fail_null (error, CLEAVE_ERROR_ATTRIBUTE,
                             "dimension %" G_GINT64_FORMAT " has %" G_GINT64_FORMAT
                             ", which does not divide by the %u results",
                             axis, extent, n_parts);
  size = extent / n_parts;
  for (guint i = 0; i < n_parts; i++)
    g_array_append_val (sizes, size);
  return g_steal_pointer (&sizes);
}

static gboolean
normalize (const CleaveCall *call, gpointer attributes, GError **error)
{
  CleaveSplitAttrs *a = attributes, *checked;
  const CleaveTensorType *x = &call->operands[0];

  if (a->sizes == NULL)
    {
      if (!cleave_call_check_rank (call, 0, 1, CLEAVE_MAX_RANK, error))
        return FALSE;
      a->sizes = equal_parts (call->n_results, a->axis, x->shape.dim[a->axis], error);
      return a->sizes != NULL;
    }
  checked =
      cleave_split_attrs_new (x, a->axis, (const gint64 *) a->sizes->data, a->sizes->len, error);
  if (checked == NULL)
    return FALSE;
  cleave_split_attrs_free (checked);
  if (a->sizes->len != call->n_results)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%u sizes for %u results", a->sizes->len,
                        call->n_results);
  return TRUE;
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveSplitAttrs *a = call->attrs;
  const CleaveTensorType *x = &call->operands[0];
  gint64 sum = 0;

  for (guint i = 0; i < call->n_results; i++)
    {
      results[i] = *x;
      results[i].shape.dim[a->axis] = g_array_index (a->sizes, gint64, i);
      sum += results[i].shape.dim[a->axis];
    }
  if (sum != x->shape.dim[a->axis]) /* Only a piece can fail this check: normalize() has already
                                     * checked the sizes of a whole node. */
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "the sizes add up to %" G_GINT64_FORMAT ", dimension %" G_GINT64_FORMAT
                        " has %" G_GINT64_FORMAT,
                        sum, a->axis, x->shape.dim[a->axis]);
  return TRUE;
}

static gint64
begin_of (const CleaveSplitAttrs *a, guint result)
{
  gint64 begin = 0;

  for (guint i = 0; i < result; i++)
    begin += g_array_index (a->sizes, gint64, i);
  return begin;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveSplitAttrs *a = call->attrs;

  cleave_maps_same (call, operand, map);
  map[a->axis] = cleave_dim_map_offset ((guint) a->axis, begin_of (a, call->result));
}

/* Sets the map from result 0 to another result. If a piece computes a range of result 0, it
 * computes the same range of the other results, except along the axis. Along the axis, the piece
 * computes each result whole. */
static void
result_maps (const CleaveCall *call, guint result, CleaveDimMap *map)
{
  const CleaveSplitAttrs *a = call->attrs;

  for (guint d = 0; d < call->operands[0].shape.rank; d++)
    map[d] = cleave_dim_map_same (d);
  map[a->axis] = cleave_dim_map_whole (g_array_index (a->sizes, gint64, result));
}

static gboolean
narrow (const CleaveCall *call, const CleaveChunk *chunk, gpointer attributes, GString *why)
{
  const CleaveSplitAttrs *a = attributes;
  const CleaveSpan *span = &chunk->range.dim[a->axis];
  gint64 size = g_array_index (a->sizes, gint64, 0);

  if (span->begin != 0 || span->end != size)
    return cleave_refuse (why,
                          "along dimension %" G_GINT64_FORMAT
                          " the results are the pieces: a chunk must be 0:%" G_GINT64_FORMAT,
                          a->axis, size);
  return TRUE;
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveSplitAttrs *a = call->attrs;
  CleaveRange part = cleave_range_whole (&operands[0].type.shape);

  part.dim[a->axis].end = 0;
  for (guint i = 0; i < call->n_results; i++)
    {
      CleaveView from;

      part.dim[a->axis].begin = part.dim[a->axis].end;
      part.dim[a->axis].end += g_array_index (a->sizes, gint64, i);
      from = cleave_view_slice (&operands[0], &part);
      cleave_view_copy (&results[i], &from);
    }
}

const CleaveOp cleave_op_split = {
  .name = "Split",
  .operands = (const char *const[]){ "input", NULL },
  .results = (const char *const[]){ "outputs", NULL },
  .min_operands = 1,
  .flags = CLEAVE_OP_VIEW,
  .attrs_size = sizeof (CleaveSplitAttrs),
  .attrs = attr_table,
  .normalize = normalize,
  .infer = infer,
  .maps = maps,
  .work = cleave_work_once,
  .result_maps = result_maps,
  .narrow = narrow,
  .compute = compute,
};

/**
 * cleave_graph_add_split:
 * @graph: the graph to add to
 * @name: (nullable): name of the node; a number is appended if it is taken. %NULL for `split`
 * @x: (transfer none): a value of rank 1 or more
 * @axis: the dimension that is cut; negative values count from the end
 * @sizes: (array length=n_sizes): one size for each result, 0 or more; they must add up to the
 * extent of the dimension
 * @n_sizes: number of results, at least 1
 * @error: return location for a [struct@GLib.Error]
 *
 * Adds a node that cuts a value into consecutive results: [ONNX
 * Split](https://onnx.ai/onnx/operators/onnx__Split.html).
 *
 * `cleave_split_op_from_onednn()` and similar functions convert the splits of other frameworks to
 * sizes. The node itself can be split along each dimension except @axis. In a program the results
 * are views, and nothing is copied.
 *
 * Fails with %CLEAVE_ERROR_ATTRIBUTE if @axis or a size is out of range, or if the sizes do not add
 * up to the extent. The graph is then unchanged.
 *
 * Returns: (transfer none) (nullable): the node, whose result i has size i, or %NULL on error
 *
 * Since: 0.1
 */
CleaveNode *
cleave_graph_add_split (CleaveGraph *graph,
                        const char *name,
                        CleaveResult *x,
                        gint64 axis,
                        const gint64 *sizes,
                        guint n_sizes,
                        GError **error)
{
  g_return_val_if_fail (sizes != NULL || n_sizes == 0, NULL);
  g_autoptr (GArray) array = g_array_sized_new (FALSE, FALSE, sizeof (gint64), n_sizes);
  CleaveSplitAttrs a = { axis, array };

  g_return_val_if_fail (n_sizes > 0, NULL);
  g_array_append_vals (array, sizes, n_sizes);
  return cleave_graph_add (graph, &cleave_op_split, name, &x, 1, n_sizes, &a, error);
}
