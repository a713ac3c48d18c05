/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "../info.h"

#include "help.h"

/*   x   [2, 3, 4]        x
 *    \   /               |
 *   Gather       =>    Slice
 *      |                 |
 *
 * Indices that are constants and go up in even steps take a part of the dimension, which is a view.
 * Where they are no list, a Reshape follows: a single index takes the dimension away.
 *
 * Before: a valid graph.  After: no Gather has such indices. */

typedef struct
{
  gint64 begin, step, n;
} Progression;

/* The indices, counted from the begin, if they are such. */
static gboolean
find_progression (const CleaveNode *node, gint64 extent, Progression *p)
{
  CleaveTensor *value = cleave_node_get_constant (node->operands[1].result->node);
  g_autoptr (CleaveTensor) dense = value == NULL ? NULL : cleave_tensor_dup_dense (value);

  if (dense == NULL)
    return FALSE;
  p->n = cleave_shape_n_elements (&node->operands[1].result->type.shape);
  p->step = 1;
  for (gint64 i = 0; i < p->n; i++)
    {
      gint64 index = cleave_constant_get_int (dense, i);

      index += index < 0 ? extent : 0;
      if (index < 0 || index >= extent)
        return FALSE;
      if (i == 0)
        p->begin = index;
      else if (i == 1)
        p->step = index - p->begin;
      if (p->step <= 0 || index != p->begin + i * p->step)
        return FALSE;
    }
  return p->n > 0;
}

static CleaveResult *
slice (CleaveNode *node, guint axis, const Progression *p)
{
  CleaveSliceAttrs attrs = { 0 };

  attrs.axes.n = attrs.starts.n = attrs.ends.n = attrs.steps.n = 1;
  attrs.axes.v[0] = axis;
  attrs.starts.v[0] = p->begin;
  attrs.ends.v[0] = p->begin + (p->n - 1) * p->step + 1;
  attrs.steps.v[0] = p->step;
  return cleave_graph_add_slice (node->graph, node->name, node->operands[0].result, &attrs, NULL);
}

static gboolean
visit (CleaveNode *node)
{
  const CleaveShape *shape = &node->results[0].type.shape;
  guint first_new = node->graph->n_ids;
  CleaveInts dims = { .n = shape->rank };
  CleaveResult *value;
  Progression p = { 0 };
  guint axis;

  if (!cleave_node_is (node, CLEAVE_KNOWN_GATHER))
    return FALSE;
  axis = (guint) ((const CleaveAxisAttrs *) node->attrs)->axis;
  if (cleave_shape_n_elements (shape) == 0 ||
      !find_progression (node, node->operands[0].result->type.shape.dim[axis], &p))
    return FALSE;
  value = slice (node, axis, &p);
  for (guint d = 0; d < shape->rank; d++)
    dims.v[d] = shape->dim[d];
  if (value != NULL && !cleave_shape_equal (&value->type.shape, shape))
    value = cleave_graph_add_reshape (node->graph, node->name, value, &dims, NULL);
  return cleave_node_give_way (node, value, first_new);
}

const CleavePassInfo cleave_pass_info_gather_to_slice = {
  .name = "gather-to-slice",
  .summary = "A Gather of constant indices in even steps becomes a Slice.",
  .visit = visit,
};
