/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the nodes whose result is a view, because its bytes in memory are the bytes of the operand
 * (model.h). */

#include "model.h"

/* Lists the dimensions with extent above 1 in memory order, outermost first. Returns their
 * number. */
static guint
list_memory_order (const CleaveResult *value, guint *dims)
{
  CleaveBundleImage image = cleave_bundle_image (value);
  const CleaveShape *shape = &value->type.shape;
  gint last[] = { image.row_dim, image.column_dim, image.channel_dim };
  guint n = 0;

  for (gint d = 0; d < (gint) shape->rank; d++)
    if (shape->dim[d] > 1 && d != last[0] && d != last[1] && d != last[2])
      dims[n++] = (guint) d;
  for (guint i = 0; i < G_N_ELEMENTS (last); i++)
    if (last[i] >= 0 && shape->dim[last[i]] > 1)
      dims[n++] = (guint) last[i];
  return n;
}

gboolean
cleave_bundle_is_row_major (const CleaveResult *value)
{
  guint dims[CLEAVE_MAX_RANK], n = list_memory_order (value, dims);

  for (guint i = 1; i < n; i++)
    if (dims[i] < dims[i - 1])
      return FALSE;
  return TRUE;
}

/* Returns whether a permutation of a value keeps the order of its bytes in memory. */
static gboolean
keeps_memory_order (const CleaveNode *node)
{
  const CleaveResult *x = node->operands[0].result, *y = &node->results[0];
  guint from[CLEAVE_MAX_RANK], to[CLEAVE_MAX_RANK], n = list_memory_order (x, from);
  CleaveDimMap maps[CLEAVE_MAX_RANK];
  g_auto (CleaveNodeCall) call = { 0 };

  if (list_memory_order (y, to) != n)
    return FALSE;
  node->op->maps (cleave_node_call_init (&call, node), 0, maps);
  for (guint i = 0; i < n; i++)
    if (maps[from[i]].stride != 1 || maps[from[i]].from != to[i])
      return FALSE;
  return TRUE;
}

gboolean
cleave_bundle_is_view (const CleaveNode *node)
{
  const CleaveResult *x = node->n_operands == 0 ? NULL : node->operands[0].result;
  const CleaveResult *y = &node->results[0];
  g_auto (CleaveNodeCall) call = { 0 };

  if (x == NULL || x->type.element != y->type.element ||
      cleave_shape_n_elements (&x->type.shape) != cleave_shape_n_elements (&y->type.shape))
    return FALSE;
  if (node->op->flags & CLEAVE_OP_ROW_MAJOR)
    return cleave_bundle_is_row_major (x) && cleave_bundle_is_row_major (y);
  return (node->op->flags & CLEAVE_OP_VIEW) && node->op->maps != NULL &&
         cleave_call_is_view (cleave_node_call_init (&call, node)) && keeps_memory_order (node);
}
