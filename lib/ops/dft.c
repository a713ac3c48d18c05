/* SPDX-License-Identifier: GPL-2.0-or-later */

/* DFT and STFT of opset 17. Two dimensions cannot be split: the dimension of the transform, since a
 * sum needs all samples of a line, and the dimension of the real and imaginary parts. The frames of
 * an STFT can be split like the windows of a pooling.
 *
 * Order of operations: one sample after the other, in double. The twiddle factor is computed from
 * scratch every CLEAVE_N_TWIDDLES samples and rotated in between. The sum is rounded once. */

#include "build.h"
#include "dft-twiddles.h"
#include "lines.h"

/* A line of samples to transform. `offset`: offset of the first sample in x; `step`: distance of
 * adjacent samples. All offsets and distances are in elements. */
typedef struct
{
  const CleaveView *x, *window; /* x, and a window as long as the line; `window` NULL: there is no
                                 * window */
  /* imaginary: distance from a real part to its imaginary part; 0: samples are real */
  gint64 offset, step, imaginary;
  /* number of samples (`n`) and of points of the transform (`length`); missing samples are 0 */
  gint64 n, length;
  double sign; /* sign of the angle: -1 forward, 1 inverse */
} Line;

static double
load (const CleaveView *view, gint64 offset)
{
  return cleave_real_load (view->type.element, cleave_view_element (view, offset));
}

/* Computes one bin of the transform of a line: its real and its imaginary part. */
static void
transform (const Line *line, gint64 bin, double *real, double *imaginary)
{
  CleaveTwiddles twiddles;

  cleave_twiddles_init (&twiddles, bin, line->length, line->sign);
  *real = *imaginary = 0;
  for (gint64 i = 0; i < line->n; i++)
    {
      gint64 at = line->offset + i * line->step;
      double w = line->window == NULL ? 1 : load (line->window, i * line->window->stride[0]);
      double re = w * load (line->x, at);
      double im = line->imaginary == 0 ? 0 : w * load (line->x, at + line->imaginary);

      cleave_twiddles_go_to (&twiddles, i);
      *real += re * twiddles.c - im * twiddles.s;
      *imaginary += re * twiddles.s + im * twiddles.c;
    }
}

/* Computes all bins of a line, multiplies them by `scale`, and stores them from element `to` of y
 * on. */
static void
transform_line (
    const Line *line, const CleaveView *y, gint64 to, gint64 step, gint64 n_bins, double scale)
{
  gint64 imaginary = y->stride[y->type.shape.rank - 1];

  for (gint64 bin = 0; bin < n_bins; bin++, to += step)
    {
      double re, im;

      transform (line, bin, &re, &im);
      cleave_real_store (y->type.element, cleave_view_element (y, to), re * scale);
      cleave_real_store (y->type.element, cleave_view_element (y, to + imaginary), im * scale);
    }
}

/* Checks that the last dimension of the operand has extent 1 (real), or 2 (real and imaginary
 * parts). */
static gboolean
check_parts (const CleaveCall *call, gboolean onesided, GError **error)
{
  const CleaveShape *x = &call->operands[0].shape;
  gint64 parts = x->dim[x->rank - 1];

  if (parts != 1 && parts != 2)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "the last dimension must be 1 (real) or 2 (complex), not %" G_GINT64_FORMAT,
                        parts);
  if (parts == 2 && onesided)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "onesided needs a real %s, not a complex one", call->op->operands[0]);
  return TRUE;
}

static gint64
imaginary_of (const CleaveView *x)
{
  guint last = x->type.shape.rank - 1;

  return x->type.shape.dim[last] == 2 ? x->stride[last] : 0;
}

static CleaveKernel
kernel (const CleaveCall *call)
{
  return call->operands[0].element == CLEAVE_FLOAT32 ? CLEAVE_KERNEL_DFT : CLEAVE_KERNEL_REFERENCE;
}

/* The code below defines the op DFT. */

static const CleaveAttr dft_attrs[] = {
  { "dft_length", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveDftAttrs, dft_length), CLEAVE_AT_LEAST (0),
    .onnx_operand = 1, .flags = CLEAVE_ATTR_SCALAR },
  { "axis", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveDftAttrs, axis), .fallback = 1,
    .flags = CLEAVE_ATTR_AXIS | CLEAVE_ATTR_SCALAR },
  { "inverse", CLEAVE_ATTR_BOOL, CLEAVE_FIELD (CleaveDftAttrs, inverse) },
  { "onesided", CLEAVE_ATTR_BOOL, CLEAVE_FIELD (CleaveDftAttrs, onesided) },
  { 0 },
};

/* Replaces a dft_length of 0 by the extent of the axis, so that a node always stores its length. */
static gboolean
normalize_dft (const CleaveCall *call, gpointer attrs, GError **error)
{
  CleaveDftAttrs *a = attrs;

  if (a->dft_length == 0)
    a->dft_length = call->operands[0].shape.dim[a->axis];
  return TRUE;
}

static gboolean
infer_dft (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveDftAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[0].shape;

  if (!cleave_call_check_element (call, 0, CLEAVE_ELEMENTS_FLOAT, error) ||
      !cleave_call_check_rank (call, 0, 2, CLEAVE_MAX_RANK, error) ||
      !check_parts (call, a->onesided, error))
    return FALSE;
  if (a->axis == (gint64) x->rank - 1)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "axis must not be %" G_GINT64_FORMAT
                        ", the dimension of the real and imaginary parts",
                        a->axis);
  results[0] = call->operands[0];
  results[0].shape.dim[a->axis] = a->onesided ? a->dft_length / 2 + 1 : a->dft_length;
  results[0].shape.dim[x->rank - 1] = 2;
  return TRUE;
}

static void
maps_dft (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveDftAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[0].shape;

  for (guint d = 0; d < x->rank; d++)
    map[d] = d == a->axis || d == x->rank - 1 ? cleave_dim_map_whole (x->dim[d])
                                              : cleave_dim_map_same (d);
}

static gint64
macs_dft (const CleaveCall *call)
{
  const CleaveDftAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[0].shape;

  return cleave_saturated_mul (
      cleave_shape_n_elements (&call->results[0].shape),
      cleave_saturated_mul (MIN (x->dim[a->axis], a->dft_length), x->dim[x->rank - 1]));
}

static void
compute_dft (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveDftAttrs *a = call->attrs;
  const CleaveView *x = &operands[0], *y = &results[0], *views[] = { y, x };
  guint last = y->type.shape.rank - 1;
  gint64 length = a->dft_length, n_bins = y->type.shape.dim[a->axis];
  Line line = { .x = x,
                .step = x->stride[a->axis],
                .imaginary = imaginary_of (x),
                .n = MIN (x->type.shape.dim[a->axis], length),
                .length = length,
                .sign = a->inverse ? 1 : -1 };
  CleaveLines lines;

  for (gboolean more = cleave_lines_init_dims (&lines, views, 2, ~((1u << a->axis) | (1u << last)));
       more; more = cleave_lines_next (&lines))
    for (gint64 i = 0; i < lines.length; i++)
      {
        line.offset = lines.offset[1] + i * lines.step[1];
        transform_line (&line, y, lines.offset[0] + i * lines.step[0], y->stride[a->axis], n_bins,
                        a->inverse ? 1 / (double) length : 1);
      }
}

const CleaveOp cleave_op_dft = {
  .name = "DFT",
  .operands = (const char *const[]){ "input", NULL },
  .results = (const char *const[]){ "output", NULL },
  .min_operands = 1,
  .attrs_size = sizeof (CleaveDftAttrs),
  .attrs = dft_attrs,
  .normalize = normalize_dft,
  .infer = infer_dft,
  .maps = maps_dft,
  .macs = macs_dft,
  .kernel = kernel,
  .compute = compute_dft,
};

/* The code below defines the op STFT. */

enum { SIGNAL, WINDOW };

static const CleaveAttr stft_attrs[] = {
  { "frame_step", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveStftAttrs, frame_step), .fallback = -1,
    CLEAVE_AT_LEAST (1), .onnx_operand = 1, .flags = CLEAVE_ATTR_SCALAR },
  { "frame_length", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveStftAttrs, frame_length),
    CLEAVE_AT_LEAST (0), .onnx_operand = 3, .flags = CLEAVE_ATTR_SCALAR },
  { "onesided", CLEAVE_ATTR_BOOL, CLEAVE_FIELD (CleaveStftAttrs, onesided), .fallback = 1 },
  { 0 },
};

static gboolean
normalize_stft (const CleaveCall *call, gpointer attrs, GError **error)
{
  CleaveStftAttrs *a = attrs;

  if (cleave_call_has (call, WINDOW) && !cleave_call_check_rank (call, WINDOW, 1, 1, error))
    return FALSE;
  if (a->frame_length == 0 && cleave_call_has (call, WINDOW))
    a->frame_length = call->operands[WINDOW].shape.dim[0];
  return TRUE;
}

static gboolean
check_window (const CleaveCall *call, gint64 length, GError **error)
{
  gint64 window = length;

  if (length == 0)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "window or frame_length is needed");
  if (cleave_call_has (call, WINDOW))
    {
      if (!cleave_call_check_same_element (call, SIGNAL, WINDOW, error))
        return FALSE;
      window = call->operands[WINDOW].shape.dim[0];
    }
  if (window == length)
    return TRUE;
  return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                      "window has %" G_GINT64_FORMAT " elements, frame_length is %" G_GINT64_FORMAT,
                      window, length);
}

static gboolean
infer_stft (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveStftAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[SIGNAL].shape;
  gint64 length = a->frame_length;

  if (!cleave_call_check_element (call, SIGNAL, CLEAVE_ELEMENTS_FLOAT, error) ||
      !cleave_call_check_rank (call, SIGNAL, 3, 3, error) || !check_parts (call, FALSE, error) ||
      !check_window (call, length, error))
    return FALSE;
  if (x->dim[1] < length)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "the signal has %" G_GINT64_FORMAT
                        " samples, fewer than a frame of %" G_GINT64_FORMAT,
                        x->dim[1], length);
  results[0] = CLEAVE_TYPE (call->operands[SIGNAL].element, x->dim[0],
                            (x->dim[1] - length) / a->frame_step + 1,
                            a->onesided && x->dim[2] == 1 ? length / 2 + 1 : length, 2);
  return TRUE;
}

static void
maps_stft (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveStftAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[SIGNAL].shape;

  if (operand == WINDOW)
    {
      map[0] = cleave_dim_map_whole (call->operands[WINDOW].shape.dim[0]);
      return;
    }
  map[0] = cleave_dim_map_same (0);
  map[1] = cleave_dim_map_window (1, a->frame_step, 0, a->frame_length);
  map[2] = cleave_dim_map_whole (x->dim[2]);
}

static gint64
macs_stft (const CleaveCall *call)
{
  const CleaveStftAttrs *a = call->attrs;

  return cleave_saturated_mul (
      cleave_shape_n_elements (&call->results[0].shape),
      cleave_saturated_mul (a->frame_length, call->operands[SIGNAL].shape.dim[2]));
}

static void
compute_stft (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveStftAttrs *a = call->attrs;
  const CleaveView *x = &operands[SIGNAL], *y = &results[0];
  gint64 length = a->frame_length;
  Line line = { .x = x,
                .window = cleave_call_has (call, WINDOW) ? &operands[WINDOW] : NULL,
                .step = x->stride[1],
                .imaginary = imaginary_of (x),
                .n = length,
                .length = length,
                .sign = -1 };

  for (gint64 n = 0; n < y->type.shape.dim[0]; n++)
    for (gint64 frame = 0; frame < y->type.shape.dim[1]; frame++)
      {
        line.offset = n * x->stride[0] + frame * a->frame_step * x->stride[1];
        transform_line (&line, y, n * y->stride[0] + frame * y->stride[1], y->stride[2],
                        y->type.shape.dim[2], 1);
      }
}

const CleaveOp cleave_op_stft = {
  .name = "STFT",
  .operands = (const char *const[]){ "signal", "window", NULL },
  .results = (const char *const[]){ "output", NULL },
  .min_operands = 1,
  .attrs_size = sizeof (CleaveStftAttrs),
  .attrs = stft_attrs,
  .normalize = normalize_stft,
  .infer = infer_stft,
  .maps = maps_stft,
  .macs = macs_stft,
  .kernel = kernel,
  .compute = compute_stft,
};
