/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads the constant indices of a Gather as a progression (begin, step and number of indices),
 * and adds a Slice that selects these indices. */

#include "gathers.h"

#include "../../lib/ir/defaults.h"
#include "known-ops.h"

static gint64
get_int (CleaveTensor *dense, gint64 index)
{
  return cleave_tensor_get_type (dense)->element == CLEAVE_INT32
             ? ((const gint32 *) cleave_tensor_get_data (dense))[index]
             : ((const gint64 *) cleave_tensor_get_data (dense))[index];
}

static guint
get_axis (const CleaveNode *node)
{
  return (guint) ((const CleaveAxisAttrs *) node->attrs)->axis;
}

/* Sets `begin`, `step` and `count` to the first index of a Gather, the difference of neighboring
 * indices, and the number of indices. Negative indices count from the end. Returns FALSE if the
 * indices are not constant, are not in range, or do not ascend by equal steps. */
static gboolean
find_progression (const CleaveNode *node, gint64 *begin, gint64 *step, gint64 *count)
{
  CleaveTensor *value = cleave_node_get_final_constant (node->operands[1].result->node);
  g_autoptr (CleaveTensor) dense = value == NULL ? NULL : cleave_tensor_dup_dense (value);
  gint64 extent = node->operands[0].result->type.shape.dim[get_axis (node)];

  if (dense == NULL)
    return FALSE;
  *count = cleave_shape_n_elements (&node->operands[1].result->type.shape);
  *step = 1;
  for (gint64 i = 0; i < *count; i++)
    {
      gint64 index = get_int (dense, i);

      index += index < 0 ? extent : 0;
      if (index < 0 || index >= extent)
        return FALSE;
      if (i == 0)
        *begin = index;
      else if (i == 1)
        *step = index - *begin;
      if (*step <= 0 || index != *begin + i * *step)
        return FALSE;
    }
  return *count > 0;
}

gboolean
cleave_gather_get_strided_range (const CleaveNode *node, CleaveStridedRange *range)
{
  CleaveRange whole;
  guint axis;

  if (!cleave_node_is (node, CLEAVE_KNOWN_GATHER) ||
      cleave_shape_n_elements (&node->results[0].type.shape) == 0)
    return FALSE;
  axis = get_axis (node);
  whole = cleave_range_whole (&node->operands[0].result->type.shape);
  *range = cleave_strided_range_of_range (&whole);
  return find_progression (node, &range->begin[axis], &range->step[axis], &range->count[axis]);
}

CleaveResult *
cleave_gather_add_slice (CleaveNode *node)
{
  const CleaveShape *shape = &node->results[0].type.shape;
  CleaveInts dims = { .n = shape->rank };
  CleaveSliceAttrs attrs = { 0 };
  CleaveStridedRange range;
  CleaveResult *value;
  guint axis;

  if (!cleave_gather_get_strided_range (node, &range))
    return NULL;
  axis = get_axis (node);
  attrs.axes.n = attrs.starts.n = attrs.ends.n = attrs.steps.n = 1;
  attrs.axes.v[0] = axis;
  attrs.starts.v[0] = range.begin[axis];
  attrs.ends.v[0] = range.begin[axis] + (range.count[axis] - 1) * range.step[axis] + 1;
  attrs.steps.v[0] = range.step[axis];
  value = cleave_graph_add_slice (node->graph, node->name, node->operands[0].result, &attrs, NULL);
  for (guint d = 0; d < shape->rank; d++)
    dims.v[d] = shape->dim[d];
  if (value != NULL && !cleave_shape_equal (&value->type.shape, shape))
    value = cleave_graph_add_reshape (node->graph, node->name, value, &dims, NULL);
  return value;
}
