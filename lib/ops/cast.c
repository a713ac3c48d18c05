/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Cast from each element type to each other. All dimensions can be split.
 *
 *   float or integer to float    rounded once, to nearest, ties to even
 *   float to integer             truncated, and clamped to the range of the type; NaN gives 0
 *   integer to integer           the low bits
 *   any to bool                  1 if not 0
 *   bool to any                  0 or 1 */

#include "../ir/op.h"
#include "lines.h"

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveCastAttrs *a = call->attrs;

  results[0] = (CleaveTensorType){ a->to, call->operands[0].shape };
  return TRUE;
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveView *views[] = { &results[0], &operands[0] };
  CleaveWide wide = cleave_wide_of (operands[0].type.element);
  CleaveLineBuffer buffer;
  CleaveLines lines;

  for (gboolean more = cleave_lines_init_views (&lines, views, 2); more;
       more = cleave_lines_next (&lines))
    for (gint64 at = 0; at < lines.length; at += CLEAVE_LINE)
      {
        gint64 n = MIN (lines.length - at, CLEAVE_LINE);
        gconstpointer x = cleave_line_read (views[1], lines.offset[1] + at * lines.step[1],
                                            lines.step[1], n, wide, &buffer);

        cleave_line_write (views[0], lines.offset[0] + at * lines.step[0], lines.step[0], n, wide,
                           x);
      }
}

/* Returns the fast kernel if it can compute the call, else the reference kernel. The fast kernel
 * converts through float32, so it computes neither float64 nor casts that would round a large
 * integer twice. */
static CleaveKernel
kernel (const CleaveCall *call)
{
  CleaveElement from = call->operands[0].element, to = call->results[0].element;

  if (from == CLEAVE_FLOAT64 || to == CLEAVE_FLOAT64 ||
      (to == CLEAVE_BFLOAT16 && !cleave_element_is_float (from) && cleave_element_size (from) > 2))
    return CLEAVE_KERNEL_REFERENCE;
  return CLEAVE_KERNEL_CONVERT;
}

static const CleaveAttr cast_attrs[] = {
  { "to", CLEAVE_ATTR_ELEMENT, CLEAVE_FIELD (CleaveCastAttrs, to) },
  { 0 },
};

const CleaveOp cleave_op_cast = {
  .name = "Cast",
  .operands = (const char *const[]){ "input", NULL },
  .results = (const char *const[]){ "output", NULL },
  .flags = CLEAVE_OP_IN_PLACE,
  .min_operands = 1,
  .attrs_size = sizeof (CleaveCastAttrs),
  .attrs = cast_attrs,
  .infer = infer,
  .maps = cleave_maps_same,
  .kernel = kernel,
  .compute = compute,
};
