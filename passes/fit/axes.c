/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the axes of a graph (axes.h) with union-find over the dimensions of all values, and
 * converts between cuts and dimensions of a node. An axis has a halo if neighboring pieces of some
 * node read the same elements along the axis. */

#include "axes.h"

#include "../../lib/ir/chunk.h"

/* Returns the dimension that represents the set of dimensions connected with `dim` (union-find).
 * `parent[dim]` points towards the representative, and the representative points to itself.
 * Dimension d of value v has the number CLEAVE_MAX_RANK * v + d. */

static guint
find (guint *parent, guint dim)
{
  while (parent[dim] != dim)
    dim = parent[dim] = parent[parent[dim]];
  return dim;
}

/* Unites the sets of two dimensions. The smaller representative represents the union. */
static void
unite (guint *parent, guint a, guint b)
{
  a = find (parent, a);
  b = find (parent, b);
  parent[MAX (a, b)] = MIN (a, b);
}

static guint
first_dim (guint value)
{
  return value * CLEAVE_MAX_RANK;
}

/* Connects the results of a node with each other: each dimension of result 1 and of all later
 * results with a dimension of result 0. The result maps of the op name the dimension of result 0.
 * If the op has no result maps, both dimensions have the same index. */
static void
unite_results (CleaveFitSteps *steps, const CleaveFitNode *node, const CleaveCall *call)
{
  for (guint r = 1; r < node->n_values; r++)
    {
      const CleaveShape *shape = &call->results[r].shape;
      CleaveDimMap map[CLEAVE_MAX_RANK];

      if (node->node->op->result_maps != NULL)
        node->node->op->result_maps (call, r, map);
      for (guint d = 0; d < shape->rank; d++)
        if (node->node->op->result_maps == NULL)
          unite (steps->axes, first_dim (node->first_value + r) + d,
                 first_dim (node->first_value) + d);
        else if (map[d].stride != 0)
          unite (steps->axes, first_dim (node->first_value + r) + d,
                 first_dim (node->first_value) + map[d].from);
    }
}

/* Connects each dimension of an operand with the dimension of result 0 to which the operand's
 * dimension map refers. If the window of the map is longer than the stride, neighboring windows
 * read the same elements, and the function records that the axis has a halo. Inputs of the graph
 * have no axes: for an input, the function only records the halo. */
static void
unite_operand (CleaveFitSteps *steps,
               const CleaveFitNode *node,
               const CleaveCall *call,
               guint index)
{
  const CleaveShape *shape = &call->operands[index].shape;
  const guint value =
      g_array_index (steps->operands, CleaveFitOperand, node->first_operand + index).value;
  CleaveDimMap map[CLEAVE_MAX_RANK];

  node->node->op->maps (call, index, map);
  for (guint d = 0; d < shape->rank; d++)
    {
      const guint result = first_dim (node->first_value) + map[d].from;

      if (map[d].stride == 0 || shape->dim[d] < 2)
        continue;
      steps->has_halo[result] |= map[d].window > ABS (map[d].stride);
      if (value != CLEAVE_FIT_NONE)
        unite (steps->axes, first_dim (value) + d, result);
    }
}

static void
unite_operands (CleaveFitSteps *steps, const CleaveFitNode *node, const CleaveCall *call)
{
  for (guint o = 0; o < node->n_operands; o++)
    {
      const CleaveResult *x = node->node->operands[o].result;

      if (x != NULL && !cleave_node_is_fixed (x->node))
        unite_operand (steps, node, call, o);
    }
}

/* Stores the numbers of elements of the blocks (cleave_node_get_block()) along each dimension of
 * result 0 of node number `index`. */
static void
find_blocks (CleaveFitSteps *steps, guint index)
{
  const CleaveNode *node = cleave_fit_node (steps, index)->node;

  for (guint d = 0; d < node->results[0].type.shape.rank; d++)
    steps->blocks[index * CLEAVE_MAX_RANK + d] = cleave_node_get_block (node, d);
}

void
cleave_fit_axes_init (CleaveFitSteps *steps)
{
  const guint n = first_dim (steps->values->len);

  g_assert (steps->values->len < G_MAXUINT / (CLEAVE_MAX_RANK * CLEAVE_MAX_RANK));
  steps->axes = g_new (guint, n + 1);
  steps->has_halo = g_new0 (gboolean, n + 1);
  steps->blocks = g_new0 (gint64, steps->nodes->len * CLEAVE_MAX_RANK + 1);
  for (guint i = 0; i < n; i++)
    steps->axes[i] = i;
  for (guint i = 0; i < steps->nodes->len; i++)
    {
      const CleaveFitNode *node = cleave_fit_node (steps, i);
      g_auto (CleaveNodeCall) call = { 0 };

      if (!node->can_split)
        continue;
      cleave_node_call_init (&call, node->node);
      unite_results (steps, node, &call.call);
      unite_operands (steps, node, &call.call);
      find_blocks (steps, i);
    }
  for (guint i = 0; i < n; i++)
    {
      steps->axes[i] = find (steps->axes, i);
      steps->has_halo[steps->axes[i]] |= steps->has_halo[i];
    }
}

gint
cleave_fit_axes_find_dim (const CleaveFitSteps *steps, guint node, CleaveFitCut cut)
{
  const CleaveFitNode *made = cleave_fit_node (steps, node);
  const CleaveShape *shape = &made->node->results[0].type.shape;
  guint index = cut % CLEAVE_MAX_RANK;

  for (guint d = 0; d < shape->rank && made->can_split; d++)
    if (steps->axes[first_dim (made->first_value) + d] == cut / CLEAVE_MAX_RANK && index-- == 0)
      return shape->dim[d] > 1 ? (gint) d : -1;
  return -1;
}

/* Returns the cut that divides dimension `dim` of result 0 of a node. */
static CleaveFitCut
get_cut (const CleaveFitSteps *steps, const CleaveFitNode *node, guint dim)
{
  const guint *axis = &steps->axes[first_dim (node->first_value)];
  guint index = 0;

  for (guint d = 0; d < dim; d++)
    index += axis[d] == axis[dim];
  return axis[dim] * CLEAVE_MAX_RANK + index;
}

/* Returns the sort key of a cut for cleave_fit_axes_list_cuts(), which lists small keys first.
 * `dim` is the dimension that the cut divides, and `rank` is the value's number of dimensions. */
static guint
get_rank (const CleaveFitSteps *steps, CleaveFitCut cut, guint dim, guint rank)
{
  if (cleave_fit_axes_has_halo (steps, cut))
    return dim;
  return dim + 1 == rank ? 2 * rank : 2 * rank - 1 - dim;
}

guint
cleave_fit_axes_list_cuts (const CleaveFitSteps *steps, guint node, CleaveFitCut *cuts)
{
  const CleaveFitNode *made = cleave_fit_node (steps, node);
  const CleaveShape *shape = &made->node->results[0].type.shape;
  guint rank[CLEAVE_MAX_RANK], n = 0;

  for (guint d = 0; d < shape->rank && made->can_split; d++)
    {
      const CleaveFitCut cut = get_cut (steps, made, d);
      const guint own = get_rank (steps, cut, d, shape->rank);
      guint i = n;

      if (shape->dim[d] < 2)
        continue;
      for (; i > 0 && own < rank[i - 1]; i--)
        {
          cuts[i] = cuts[i - 1];
          rank[i] = rank[i - 1];
        }
      cuts[i] = cut;
      rank[i] = own;
      n++;
    }
  return n;
}
