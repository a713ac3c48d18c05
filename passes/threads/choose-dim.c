/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Chooses the dimension along which a node is cut into a piece for each thread. */

#include "choose-dim.h"

#include <string.h>

#include "../../lib/memory/cost.h"
#include "../split/dimension-names.h"

/* A node that takes less than MIN_NODE_TIME ns is not worth a split, since handing the pieces to
 * other threads takes a large part of the node's time. */
#define MIN_NODE_TIME 2222

/* Limits on the length by which the longest chunk exceeds the mean length of the chunks, as a
 * fraction of the mean. The threads with shorter chunks wait for the thread with the longest chunk.
 * MAX_SURPLUS is the limit for nodes with MACs. LAST_SURPLUS is the limit for other nodes, and for
 * nodes with MACs that have no dimension within MAX_SURPLUS. */
#define MAX_SURPLUS 0.1
#define LAST_SURPLUS 0.15

/* If a node has MACs, a piece with fewer result channels takes nearly as long as a piece with this
 * many result channels. */
#define MIN_CHANNELS 24

/* If pieces read the same weights and have fewer rows than this, each piece takes nearly as long as
 * the whole node. A GRU of 256 units and two sequences takes 1.38 ms if cut by batch, and 0.93 ms
 * if cut by direction. From 8 rows on, both cuts take the same time. */
#define MIN_ROWS 8

/* If a value has more readers than this, the choice ignores the dimensions along which the readers
 * are cut. */
#define MAX_READERS 16

/* How values with 4 dimensions (images) and 5 dimensions (volumes) are cut; indexed by the number
 * of dimensions. `choices` has the letters of the dimensions in the order in which they are tried.
 * `letters` is the default order of the dimensions, for a node whose layout is not known. The
 * dimensions of a value with another number of dimensions are tried in their own order. */
static const struct
{
  const char *choices, *letters;
} images[] = {
  [4] = { "NHCW", "NCHW" },
  [5] = { "NDHCW", "NCDHW" },
};

/* Returns whether a node takes long enough to be worth a split (MIN_NODE_TIME). */
static gboolean
is_worth_a_split (const CleaveNode *node)
{
  return cleave_cost_of_shared (node) >= MIN_NODE_TIME;
}

/* Returns whether the longest chunk of an extent exceeds the mean by at most the fraction
 * `surplus`. */
static gboolean
is_even (gint64 extent, guint n_threads, double surplus)
{
  gint64 longest = (extent + n_threads - 1) / n_threads;

  return extent >= n_threads && (double) (longest * n_threads) <= (1 + surplus) * (double) extent;
}

/* Returns the dimension of the result that corresponds to dimension `dim` of an operand. Returns -1
 * if each element of the result needs all of dimension `dim`, or if the op has no dimension
 * maps. */
static gint
follow_dim (const CleaveNode *node, guint operand, guint dim)
{
  g_auto (CleaveNodeCall) call = { 0 };
  CleaveDimMap map[CLEAVE_MAX_RANK];

  if (node->op->maps == NULL)
    return -1;
  node->op->maps (cleave_node_call_init (&call, node), operand, map);
  return map[dim].stride == 0 ? -1 : (gint) map[dim].from;
}

/* Returns whether each piece along `dim` would read all weights for few rows, while pieces along
 * another dimension would read a part of the weights. */
static gboolean
repeats_weights (const CleaveNode *node, guint dim, guint n_threads)
{
  double n_weights = 0, n_rows = (double) node->results[0].type.shape.dim[dim];

  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *w = node->operands[i].result;

      if (w == NULL || !cleave_node_is_fixed (w->node))
        continue;
      for (guint d = 0; d < w->type.shape.rank; d++)
        if (follow_dim (node, i, d) == (gint) dim)
          return FALSE;
      n_weights += (double) cleave_shape_n_elements (&w->type.shape);
    }
  if (node->op->sequence == NULL)
    n_rows = (double) cleave_node_get_macs (node) / MAX (n_weights, 1);
  return n_weights > 0 && n_rows < MIN_ROWS * n_threads;
}

/* Returns whether chunks along dimension `d` are even, and large enough to run at full speed. */
static gboolean
is_good (const CleaveNode *node, guint d, guint n_threads)
{
  const CleaveShape *shape = &node->results[0].type.shape;
  gboolean sums = cleave_node_get_macs (node) > 0;

  if (sums && cleave_node_find_dim (node, 'C') == (gint) d &&
      shape->dim[d] < MIN_CHANNELS * (gint64) n_threads)
    return FALSE;
  if (sums && repeats_weights (node, d, n_threads))
    return FALSE;
  return is_even (shape->dim[d], n_threads, sums ? MAX_SURPLUS : LAST_SURPLUS);
}

/* Lists the dimensions of result 0 of a node in the order in which they are tried. */
static void
list_dims (const CleaveNode *node, const CleaveThreads *threads, guint *dims)
{
  guint rank = node->results[0].type.shape.rank;
  gboolean is_image = rank < G_N_ELEMENTS (images) && images[rank].choices != NULL;
  const char *letters = is_image && threads->letters != NULL
                            ? cleave_letters_find (threads->letters, node, G_MAXUINT)
                            : NULL;

  for (guint d = 0; d < rank; d++)
    {
      const char *at = letters == NULL ? NULL : strchr (letters, images[rank].choices[d]);

      if (is_image && at == NULL)
        {
          letters = images[rank].letters;
          at = strchr (letters, images[rank].choices[d]);
        }
      dims[d] = is_image ? (guint) (at - letters) : d;
    }
}

/* Returns the dimension along which to cut a node at attempt number `attempt`. Returns -1 if no
 * dimension is left. Dimensions with even, large chunks come first, and no dimension comes twice.
 * The choice depends only on the shape and on whether the node has MACs, so a chain of nodes
 * becomes chains of pieces. */
static gint
choose_dim (const CleaveNode *node, const CleaveThreads *threads, guint attempt)
{
  const CleaveShape *shape = &node->results[0].type.shape;
  guint dims[CLEAVE_MAX_RANK], skip = attempt;

  list_dims (node, threads, dims);
  for (gint good = TRUE; good >= FALSE; good--)
    for (guint i = 0; i < shape->rank; i++)
      {
        const guint d = dims[i];

        if (is_even (shape->dim[d], threads->n, LAST_SURPLUS) &&
            is_good (node, d, threads->n) == good && skip-- == 0)
          return (gint) d;
      }
  return -1;
}

/* Returns the dimension along which an operand of `node`, an element-wise or quantizing node, is
 * already cut. Returns -1 if no operand is cut, or if `node` is of another kind. `node` is cut
 * along this dimension even if `node` is small: pieces then compute element-wise ops in registers.
 * If a quantizing node stayed whole, a join before the node would join pieces of floats. */
static gint
find_dim_before (const CleaveNode *node, const CleaveCutDims *dims)
{
  if ((node->op->flags & (CLEAVE_OP_IN_PLACE | CLEAVE_OP_STORAGE)) == 0 || node->n_results != 1)
    return -1;
  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *x = node->operands[i].result;
      gpointer dim;

      if (x != NULL && x->index == 0 &&
          g_hash_table_lookup_extended (dims->dims, x->node, NULL, &dim) &&
          cleave_shape_equal (&x->type.shape, &node->results[0].type.shape))
        return GPOINTER_TO_INT (dim);
    }
  return -1;
}

/* Returns the index of the largest constant operand. Returns -1 unless this operand has more than
 * `ratio` times the bytes of all operands that are not constant. */
static gint
find_large_weights (const CleaveNode *node, double ratio)
{
  double others = 0, largest = 0;
  gint found = -1;

  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *x = node->operands[i].result;
      double n_bytes = x == NULL ? 0 : (double) cleave_tensor_type_n_bytes (&x->type);

      if (x == NULL || !cleave_node_is_fixed (x->node))
        others += n_bytes;
      else if (n_bytes > largest)
        {
          largest = n_bytes;
          found = (gint) i;
        }
    }
  return largest > ratio * others ? found : -1;
}

/* Returns a dimension of the result along which pieces read different parts of the weights. Each
 * thread then keeps only a part of the weights. Returns -1 if the weights are small, or if the
 * chunks along the dimension are uneven or too small to run at full speed. */
static gint
find_dim_of_weights (const CleaveNode *node, const CleaveThreads *threads)
{
  gint w = threads->weights_to_cut > 0 ? find_large_weights (node, threads->weights_to_cut) : -1;

  for (guint d = 0; w >= 0 && d < node->operands[w].result->type.shape.rank; d++)
    {
      gint dim = follow_dim (node, (guint) w, d);

      if (dim >= 0)
        return is_good (node, (guint) dim, threads->n) ? dim : -1;
    }
  return -1;
}

/* Returns whether a join of the pieces of operand 0 before `node` is better than a cut of `node`.
 * The node that computes operand 0 is cut by weights: each piece reads a part of the weights. The
 * join is better if the result of `node` has more bytes than operand 0, and a node of a segment
 * reads this result. Segments are cut by rows, so each strip would read from all pieces of the
 * result. */
static gboolean
is_better_joined_before (const CleaveNode *node, GHashTable *members)
{
  const CleaveResult *y = &node->results[0];

  if (cleave_tensor_type_n_bytes (&y->type) <=
          cleave_tensor_type_n_bytes (&node->operands[0].result->type) ||
      y->n_uses > MAX_READERS)
    return FALSE;
  for (const CleaveOperand *use = y->first_use; use != NULL; use = use->next_use)
    if (use->node != NULL && g_hash_table_contains (members, use->node))
      return TRUE;
  return FALSE;
}

/* Returns the dimension along which to cut `node`, if the node that computes operand 0 is cut by
 * weights: each piece reads a part of the weights. The pieces of `node` then read one piece of
 * operand 0 each. Returns -1 in three cases:
 *
 * - the node that computes operand 0 is not cut by weights, or `node` is a join;
 * - a join before `node` is better (is_better_joined_before());
 * - the result has no dimension that corresponds to the cut, or this dimension cannot be cut
 *   evenly. Example: an attention has fewer heads than there are threads. */
static gint
follow_weights (const CleaveNode *node, const CleaveCutDims *dims)
{
  const CleaveResult *x = node->n_operands == 0 ? NULL : node->operands[0].result;
  gint dim;

  if (x == NULL || (node->op->flags & CLEAVE_OP_JOIN) != 0 ||
      !g_hash_table_contains (dims->by_weights, x->node) ||
      is_better_joined_before (node, dims->members))
    return -1;
  dim = follow_dim (node, 0, GPOINTER_TO_UINT (g_hash_table_lookup (dims->dims, x->node)));
  if (dim < 0 || !is_even (node->results[0].type.shape.dim[dim], dims->threads->n, LAST_SURPLUS))
    return -1;
  return dim;
}

static gint
choose_dim_of_weights (const CleaveNode *node, const CleaveCutDims *dims)
{
  gint dim = is_worth_a_split (node) ? find_dim_of_weights (node, dims->threads) : -1;

  return dim >= 0 ? dim : follow_weights (node, dims);
}

/* Returns whether dimension `dim` of the result corresponds to a dimension of an operand. For the
 * axis of a Softmax or a ScatterElements, for example, no operand has a corresponding dimension. A
 * cut along this axis is rarely possible. */
static gboolean
has_source (const CleaveNode *node, guint dim)
{
  for (guint i = 0; i < node->n_operands; i++)
    for (guint d = 0;
         node->operands[i].result != NULL && d < node->operands[i].result->type.shape.rank; d++)
      if (follow_dim (node, i, d) == (gint) dim)
        return TRUE;
  return FALSE;
}

/* Predicts the dimension along which a node will be cut: the first dimension that choose_dim()
 * returns and that corresponds to a dimension of an operand. Returns -1 if no dimension meets both
 * conditions. */
static gint
predict_dim (const CleaveNode *node, const CleaveThreads *threads)
{
  for (guint attempt = 0; attempt < CLEAVE_MAX_ATTEMPTS; attempt++)
    {
      gint dim = choose_dim (node, threads, attempt);

      if (dim < 0 || has_source (node, (guint) dim))
        return dim;
    }
  return -1;
}

/* Returns whether all readers that are worth a cut will be cut along `dim` of the node's result. */
static gboolean
is_read_along (const CleaveNode *node, gint dim, const CleaveThreads *threads)
{
  for (const CleaveOperand *use = node->results[0].first_use; use != NULL; use = use->next_use)
    {
      gint after = use->node == NULL || !is_worth_a_split (use->node)
                       ? -1
                       : predict_dim (use->node, threads);

      if (after >= 0 && follow_dim (use->node, use->index, (guint) dim) != after)
        return FALSE;
    }
  return TRUE;
}

/* Returns the dimension along which the readers of a node without MACs are cut. If the node were
 * cut along another dimension, each piece of a reader would read from all pieces of the node, which
 * other cores have written. Returns -1 if there is no dimension along which all readers that are
 * worth a cut will be cut. */
static gint
choose_dim_of_readers (const CleaveNode *node, const CleaveThreads *threads)
{
  if (cleave_node_get_macs (node) > 0 || node->op->maps == NULL ||
      (node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN | CLEAVE_OP_ROW_MAJOR)) != 0 ||
      node->results[0].n_uses > MAX_READERS)
    return -1;
  for (guint attempt = 0; attempt < CLEAVE_MAX_ATTEMPTS; attempt++)
    {
      gint dim = choose_dim (node, threads, attempt);

      if (dim < 0)
        return -1;
      if (has_source (node, (guint) dim) && is_read_along (node, dim, threads))
        return dim;
    }
  return -1;
}

gboolean
cleave_cut_dims_would_copy (const CleaveCutDims *dims, const CleaveNode *node, gint dim)
{
  const CleaveResult *x = node->n_operands == 0 ? NULL : node->operands[0].result;
  gpointer before;

  if ((node->op->flags & CLEAVE_OP_VIEW) == 0)
    return FALSE;
  if (x == NULL || !g_hash_table_lookup_extended (dims->dims, x->node, NULL, &before) ||
      follow_dim (node, 0, GPOINTER_TO_UINT (before)) != dim)
    return TRUE;
  for (guint r = 0; r < node->n_results; r++)
    for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
      {
        gint after = use->node == NULL ? -1 : choose_dim (use->node, dims->threads, 0);

        if (after < 0 || !is_worth_a_split (use->node) ||
            follow_dim (use->node, use->index, (guint) dim) != after)
          return TRUE;
      }
  return FALSE;
}

gint
cleave_cut_dims_choose (const CleaveCutDims *dims,
                        const CleaveNode *node,
                        guint attempt,
                        gboolean *is_by_weights)
{
  gint dim = attempt == 0 ? choose_dim_of_weights (node, dims) : -1;

  *is_by_weights = dim >= 0;
  if (dim < 0 && attempt == 0)
    dim = find_dim_before (node, dims);
  if (dim >= 0 || !is_worth_a_split (node))
    return dim;
  if (attempt == 0)
    dim = choose_dim_of_readers (node, dims->threads);
  return dim >= 0 ? dim : choose_dim (node, dims->threads, attempt);
}
