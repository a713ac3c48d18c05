/* SPDX-License-Identifier: GPL-2.0-or-later */

/* LRN: each element divided by a power of the sum of squares over a window of channels. Channels
 * cannot be split: a piece would also read channels of the halo, and no pads could exclude these
 * channels from the result. All other dimensions can be split.
 *
 * Order of the sum: the squares of the window in the order of channels, in double; the result is
 * rounded once. */

#include "../ir/op.h"
#include "lines.h"
#include "lrn-power.h"

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  return cleave_call_check_element (call, 0, CLEAVE_ELEMENTS_FLOAT, error) &&
         cleave_call_check_rank (call, 0, 2, CLEAVE_MAX_RANK, error) &&
         cleave_infer_same (call, results, error);
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  guint c = cleave_call_dims (call).c;

  cleave_maps_same (call, operand, map);
  map[c] = cleave_dim_map_whole (call->operands[0].shape.dim[c]);
}

static double
work (const CleaveCall *call)
{
  const CleaveLrnAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[0].shape;

  return (double) cleave_shape_n_elements (x) *
         (double) MIN (a->size, x->dim[cleave_call_dims (call).c]);
}

/* Normalizes all channels at one position. */
static void
normalize_place (const CleaveLrnAttrs *a,
                 const CleaveView *x,
                 gint64 from,
                 const CleaveView *y,
                 gint64 to,
                 guint c)
{
  gint64 n = x->type.shape.dim[c], before = (a->size - 1) / 2, after = a->size - 1 - before;

  for (gint64 i = 0; i < n; i++)
    {
      double sum = 0, value, power;

      for (gint64 j = MAX (i - before, 0); j <= MIN (i + after, n - 1); j++)
        {
          value =
              cleave_real_load (x->type.element, cleave_view_element (x, from + j * x->stride[c]));
          sum += value * value;
        }
      power = a->bias + a->alpha / (double) a->size * sum;
      cleave_lrn_powers (&power, 1, a->beta);
      value = cleave_real_load (x->type.element, cleave_view_element (x, from + i * x->stride[c]));
      cleave_real_store (y->type.element, cleave_view_element (y, to + i * y->stride[c]),
                         value / power);
    }
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveView *views[] = { &results[0], &operands[0] };
  guint c = cleave_call_dims (call).c;
  CleaveLines lines;

  for (gboolean more = cleave_lines_init_dims (&lines, views, 2, ~(1u << c)); more;
       more = cleave_lines_next (&lines))
    for (gint64 i = 0; i < lines.length; i++)
      normalize_place (call->attrs, views[1], lines.offset[1] + i * lines.step[1], views[0],
                       lines.offset[0] + i * lines.step[0], c);
}

static CleaveKernel
kernel (const CleaveCall *call)
{
  return cleave_kernel_of_floats (call, CLEAVE_KERNEL_LRN);
}

static const CleaveAttr lrn_attrs[] = {
  CLEAVE_LAYOUT_ATTR (CleaveLrnAttrs),
  { "alpha", CLEAVE_ATTR_DOUBLE, CLEAVE_FIELD (CleaveLrnAttrs, alpha), .fallback = (double) 1e-4f },
  { "beta", CLEAVE_ATTR_DOUBLE, CLEAVE_FIELD (CleaveLrnAttrs, beta), .fallback = 0.75 },
  { "bias", CLEAVE_ATTR_DOUBLE, CLEAVE_FIELD (CleaveLrnAttrs, bias), .fallback = 1 },
  { "size", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveLrnAttrs, size), .fallback = 1,
    CLEAVE_AT_LEAST (1) },
  { 0 },
};

const CleaveOp cleave_op_lrn = {
  .name = "LRN",
  .operands = (const char *const[]){ "X", NULL },
  .results = (const char *const[]){ "Y", NULL },
  .min_operands = 1,
  .attrs_size = sizeof (CleaveLrnAttrs),
  .attrs = lrn_attrs,
  .infer = infer,
  .maps = maps,
  .layout = cleave_call_letters,
  .work = work,
  .kernel = kernel,
  .compute = compute,
};
