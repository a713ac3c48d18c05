/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Records of ops whose result has the elements of the operand in another order: Reshape, Flatten,
 * Squeeze, Unsqueeze, and others with constant indices. Ops that keep the order in memory are views
 * (views.c) and need no kernel.
 *
 * To find the order, the op's reference code runs on the numbers 0, 1, 2, …. The order is then
 * written as nested loops. Each loop has an extent, the number of its iterations, and a step, which
 * each iteration adds to the offset. For example, the order 0 1 2 6 7 8 3 4 5 9 10 11 has three
 * loops, with the extents 2, 2, 3 and the steps 3, 6, 1; the outermost loop is first. The kernel
 * (kernels/reorder.c) counts the iterations as the digits of a number, so its constants call a loop
 * a digit. */

#include <string.h>

#include "../ops/reference.h"
#include "op-help.h"
#include "ops.h"

/* largest number of nested loops; equals CLEAVE_MAX_DIGITS in kernels/constants.h */
#define MAX_LOOPS 8

typedef struct
{
  gint64 extent, step;
} Loop;

/* Returns a list with an offset for each element of the result in memory order: the offset of the
 * operand's element that the op copies. */
static gint32 *
find_order (const CleaveNode *node)
{
  g_autoptr (CleaveTensor) x = cleave_bundle_new_integers (node), result = NULL;
  const CleaveShape *shape = &node->results[0].type.shape;
  CleaveBundleImage from = cleave_bundle_image (node->operands[0].result);
  CleaveBundleImage to = cleave_bundle_image (&node->results[0]);
  gint32 *order = g_new (gint32, (gsize) cleave_shape_n_elements (shape));
  CleaveView view = cleave_view_tensor (x);
  gint64 at[CLEAVE_MAX_RANK];

  CLEAVE_EACH_INDEX (at, &view.type.shape)
    *(gint32 *) cleave_view_at (&view, at) =
        (gint32) cleave_bundle_offset (&from, &view.type.shape, at);
  result = cleave_bundle_run_on (node, x);
  view = cleave_view_tensor (result);
  CLEAVE_EACH_INDEX (at, shape)
    order[cleave_bundle_offset (&to, shape, at)] = *(gint32 *) cleave_view_at (&view, at);
  return order;
}

/* Returns whether a loop with `extent` iterations visits each `extent` consecutive offsets of
 * `order`. Then each offset is larger than the offset before it by the loop's step, order[1] -
 * order[0]. */
static gboolean
is_loop (const gint32 *order, gint64 n, gint64 extent)
{
  for (gint64 i = 0; i < n; i++)
    if (order[i] - order[i - i % extent] != (order[1] - order[0]) * (i % extent))
      return FALSE;
  return TRUE;
}

/* Finds the innermost loop that visits the `n` offsets of `order`. Sets the loop's step, and
 * returns the loop's extent; 1 if no loop visits the offsets in this order. Removes the loop from
 * `order`: keeps only the first offset of each `extent` offsets. */
static gint64
take_loop (gint32 *order, gint64 n, gint64 *step)
{
  gint64 extent = 2;

  *step = order[1] - order[0];
  while (extent < n && order[extent] - order[extent - 1] == *step)
    extent++;
  while (extent > 1 && (n % extent != 0 || !is_loop (order, n, extent)))
    extent--;
  for (gint64 i = 0; i < n / extent; i++)
    order[i] = order[i * extent];
  return extent;
}

/* Finds nested loops that visit the `n` offsets of `order`. Stores the loops in `loops`, the
 * outermost loop first. Returns the number of loops; 0 if MAX_LOOPS loops do not suffice.
 * Overwrites `order`. */
static guint
find_loops (gint32 *order, gint64 n, Loop *loops)
{
  guint k = MAX_LOOPS;

  while (n > 1)
    {
      if (k == 0)
        return 0;
      k--;
      loops[k].extent = take_loop (order, n, &loops[k].step);
      if (loops[k].extent == 1)
        return 0;
      n /= loops[k].extent;
    }
  if (k == MAX_LOOPS)
    loops[--k] = (Loop){ 1, 0 };
  memmove (loops, loops + k, sizeof *loops * (MAX_LOOPS - k));
  return MAX_LOOPS - k;
}

static void
set_fields (
    const CleaveNode *node, const Loop *loops, guint n, gint32 first, CleaveBundleLayer *layer)
{
  CleaveBundleImage x = cleave_bundle_image (node->operands[0].result);
  CleaveBundleImage y = cleave_bundle_image (&node->results[0]);
  g_autoptr (GString) fields = g_string_new (NULL);

  g_string_printf (fields, ".n_digits = %u, .first = %d, .extents = {", n, first);
  for (guint k = 0; k < n; k++)
    g_string_append_printf (fields, " %" G_GINT64_FORMAT ",", loops[k].extent);
  g_string_append (fields, " }, .steps = {");
  for (guint k = 0; k < n; k++)
    g_string_append_printf (fields, " %" G_GINT64_FORMAT ",", loops[k].step);
  g_string_append_printf (fields,
                          " }, .columns = %" G_GINT64_FORMAT ", .channels = %" G_GINT64_FORMAT
                          ", .row_elements = %" G_GINT64_FORMAT ", .x_columns = %" G_GINT64_FORMAT
                          ", .size = %u",
                          y.columns, y.channels, x.columns * x.channels, x.columns,
                          (guint) cleave_element_size (node->results[0].type.element));
  cleave_bundle_layer_set_kernel (layer, "reorder", "cleave_reorder");
  cleave_bundle_layer_set_params (layer, "CleaveReorder", fields->str);
}

gboolean
cleave_bundle_describe_reorder (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveShape *shape = &node->results[0].type.shape;
  Loop loops[MAX_LOOPS];
  g_autofree gint32 *order = NULL;
  gint64 n_bytes = cleave_tensor_type_n_bytes (&node->operands[0].result->type);
  gint64 n_elements = cleave_shape_n_elements (shape);
  guint n;

  if (!cleave_bundle_need_constants (node, 1, node->n_operands, "shapes and indices", error))
    return FALSE;
  if (n_bytes > G_MAXINT32)
    return cleave_bundle_fail (node, error, "the operand has over 2 GiB");
  if (cleave_bundle_image (node->operands[0].result).images != 1 ||
      cleave_bundle_image (&node->results[0]).images != 1)
    cleave_bundle_layer_set_folded (layer);
  order = find_order (node);
  n = find_loops (order, n_elements, loops);
  if (n == 0)
    return cleave_bundle_fail (node, error, "a bundle has no kernel for this order of elements");
  set_fields (node, loops, n, n_elements == 0 ? 0 : order[0], layer);
  return TRUE;
}

const CleaveBundleOp cleave_bundle_op_reshape = { "Reshape", cleave_bundle_describe_reorder };
const CleaveBundleOp cleave_bundle_op_flatten = { "Flatten", cleave_bundle_describe_reorder };
const CleaveBundleOp cleave_bundle_op_squeeze = { "Squeeze", cleave_bundle_describe_reorder };
const CleaveBundleOp cleave_bundle_op_unsqueeze = { "Unsqueeze", cleave_bundle_describe_reorder };
