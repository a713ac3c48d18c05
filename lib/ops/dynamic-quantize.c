/* SPDX-License-Identifier: GPL-2.0-or-later */

/* DynamicQuantizeLinear: quantizes to uint8, with a scale and a zero point computed from the
 * values.
 *
 * `smallest` is the minimum of 0 and all values, and `largest` the maximum of 0 and all values;
 * NaNs are ignored.
 *
 *   scale      = (largest - smallest) / 255; 1 if the quotient is 0
 *   zero point = 0 - smallest / scale, rounded to nearest, ties to even, clamped to [0, 255]
 *
 * Values are quantized as in QuantizeLinear. All operations are float32. Each element of y depends
 * on all of x, so the op cannot be split. */

#include "lines.h"
#include "quantized.h"

enum { Y, Y_SCALE, Y_ZERO };

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  if (!cleave_call_check_element (call, 0, CLEAVE_ELEMENT_BIT (CLEAVE_FLOAT32), error))
    return FALSE;
  results[Y] = (CleaveTensorType){ CLEAVE_UINT8, call->operands[0].shape };
  results[Y_SCALE] = CLEAVE_SCALAR (CLEAVE_FLOAT32);
  results[Y_ZERO] = CLEAVE_SCALAR (CLEAVE_UINT8);
  return TRUE;
}

typedef struct
{
  float low, high;
} Range;

static Range
find_range (const CleaveView *x)
{
  Range range = { 0, 0 };
  CleaveLineBuffer buffer;
  CleaveLines lines;

  for (gboolean more = cleave_lines_init_views (&lines, &x, 1); more;
       more = cleave_lines_next (&lines))
    for (gint64 i = 0; i < lines.length; i += CLEAVE_LINE)
      {
        gint64 n = MIN (lines.length - i, CLEAVE_LINE);
        const float *line = cleave_line_read (x, lines.offset[0] + i * lines.step[0], lines.step[0],
                                              n, CLEAVE_WIDE_F32, &buffer);

        for (gint64 j = 0; j < n; j++)
          {
            range.low = line[j] < range.low ? line[j] : range.low;
            range.high = line[j] > range.high ? line[j] : range.high;
          }
      }
  return range;
}

static void
quantize (const CleaveView *x, const CleaveView *y, float scale, double zero)
{
  const CleaveView *views[] = { y, x };
  CleaveLineBuffer buffer;
  CleaveLines lines;

  for (gboolean more = cleave_lines_init_views (&lines, views, 2); more;
       more = cleave_lines_next (&lines))
    for (gint64 i = 0; i < lines.length; i += CLEAVE_LINE)
      {
        gint64 n = MIN (lines.length - i, CLEAVE_LINE);
        const float *line = cleave_line_read (x, lines.offset[1] + i * lines.step[1], lines.step[1],
                                              n, CLEAVE_WIDE_F32, &buffer);
        guint8 *to = (guint8 *) y->data + lines.offset[0] + i * lines.step[0];

        for (gint64 j = 0; j < n; j++)
          cleave_quantized_store (CLEAVE_UINT8, to + j * lines.step[0], line[j] / scale, zero);
      }
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveView *x = &operands[0];
  Range range = find_range (x);
  float scale = range.high == range.low ? 1 : (range.high - range.low) / 255;
  guint8 zero;

  cleave_quantized_store (CLEAVE_UINT8, &zero, 0 - range.low / scale, 0);
  *(float *) results[Y_SCALE].data = scale;
  *(guint8 *) results[Y_ZERO].data = zero;
  quantize (x, &results[Y], scale, zero);
}

static CleaveKernel
kernel (const CleaveCall *call)
{
  return CLEAVE_KERNEL_CONVERT;
}

const CleaveOp cleave_op_dynamic_quantize_linear = {
  .name = "DynamicQuantizeLinear",
  .operands = (const char *const[]){ "x", NULL },
  .results = (const char *const[]){ "y", "y_scale", "y_zero_point", NULL },
  .min_operands = 1,
  .flags = CLEAVE_OP_ALL_RESULTS,
  .infer = infer,
  .work = cleave_work_once,
  .kernel = kernel,
  .compute = compute,
};
