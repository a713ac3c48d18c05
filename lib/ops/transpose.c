/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Transpose: permutes dimensions. All dimensions can be split. */

#include "move.h"

static const CleaveAttr attr_table[] = {
  { "perm", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveTransposeAttrs, perm),
    .flags = CLEAVE_ATTR_NO_DEFAULT },
  { 0 },
};

/* Replaces an empty perm by the reversed dimensions. */
static gboolean
normalize (const CleaveCall *call, gpointer attributes, GError **error)
{
  CleaveTransposeAttrs *a = attributes;
  guint rank = call->operands[0].shape.rank, seen = 0;

  if (a->perm.n == 0)
    for (a->perm.n = rank; seen < rank; seen++)
      a->perm.v[seen] = rank - 1 - seen;
  if (a->perm.n != rank)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "perm has %u entries for rank %u", a->perm.n,
                        rank);
  seen = 0;
  for (guint d = 0; d < rank; d++)
    {
      gint64 p = a->perm.v[d];

      if (p < 0 || p >= rank || (seen & 1u << p) != 0)
        return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                            "entry %u of perm is %" G_GINT64_FORMAT
                            ": each of 0 to %u must come once",
                            d, p, rank - 1);
      seen |= 1u << p;
    }
  return TRUE;
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveTransposeAttrs *a = call->attrs;
  const CleaveTensorType *x = &call->operands[0];

  results[0] = *x;
  for (guint d = 0; d < x->shape.rank; d++)
    results[0].shape.dim[d] = x->shape.dim[a->perm.v[d]];
  return TRUE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveTransposeAttrs *a = call->attrs;

  for (guint d = 0; d < a->perm.n; d++)
    map[a->perm.v[d]] = cleave_dim_map_same (d);
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveTransposeAttrs *a = call->attrs;
  CleaveView from = { .data = operands[0].data, .type = results[0].type };

  for (guint d = 0; d < a->perm.n; d++)
    from.stride[d] = operands[0].stride[a->perm.v[d]];
  cleave_view_copy (&results[0], &from);
}

const CleaveOp cleave_op_transpose = {
  .name = "Transpose",
  .operands = (const char *const[]){ "data", NULL },
  .results = (const char *const[]){ "transposed", NULL },
  .min_operands = 1,
  .flags = CLEAVE_OP_VIEW,
  .attrs_size = sizeof (CleaveTransposeAttrs),
  .attrs = attr_table,
  .normalize = normalize,
  .infer = infer,
  .maps = maps,
  .compute = compute,
};

/**
 * cleave_graph_add_transpose:
 * @graph: the graph to add to
 * @name: (nullable): name of the node; a number is appended if it is taken. %NULL for `transpose`
 * @x: (transfer none): any value
 * @perm: (nullable): dimension i of the result is dimension `perm[i]` of @x; %NULL or empty to
 * reverse the dimensions
 * @error: return location for a [struct@GLib.Error]
 *
 * Adds a permutation of dimensions: [ONNX
 * Transpose](https://onnx.ai/onnx/operators/onnx__Transpose.html).
 *
 * The node can be split along each dimension. In a program its result is a view, and nothing is
 * copied.
 *
 * Fails with %CLEAVE_ERROR_ATTRIBUTE if @perm is no permutation. The graph is then unchanged.
 *
 * Returns: (transfer none) (nullable): the result, or %NULL on error
 *
 * Since: 0.1
 */
CleaveResult *
cleave_graph_add_transpose (
    CleaveGraph *graph, const char *name, CleaveResult *x, const CleaveInts *perm, GError **error)
{
  CleaveTransposeAttrs a = { { 0 } };

  if (perm != NULL)
    a.perm = *perm;
  return cleave_build (graph, &cleave_op_transpose, name, &x, 1, &a, error);
}
