/* SPDX-License-Identifier: GPL-2.0-or-later */

/* BatchNormalization (inference) and InstanceNormalization.
 *
 * Order of operations, for both ops: a = scale / sqrt (variance + epsilon), then y = fma (x - mean,
 * a, b). Each operation is rounded to float64 for float64 elements, else to float32; the result is
 * rounded once more at the end.
 *
 * For InstanceNormalization, the mean is the sum of a channel's elements divided by their number.
 * The variance is the sum of (x - mean) * (x - mean) divided by the same number. lanes.h states the
 * order of sums. */

#include "../ir/op.h"
#include "lanes.h"
#include "reference.h"

#include <math.h>

enum { X, SCALE, B, MEAN, VAR };

/* Checks that each operand except X is a vector with one element for each channel. */
static gboolean
check_vectors (const CleaveCall *call, GError **error)
{
  gint64 channels = call->operands[X].shape.dim[cleave_call_dims (call).c];

  for (guint i = 1; i < call->n_operands; i++)
    {
      if (!cleave_call_check_element (call, i, CLEAVE_ELEMENTS_FLOAT, error) ||
          !cleave_call_check_rank (call, i, 1, 1, error))
        return FALSE;
      if (call->operands[i].shape.dim[0] != channels)
        return cleave_fail (
            error, CLEAVE_ERROR_SHAPE,
            "%s has %" G_GINT64_FORMAT " elements, X has %" G_GINT64_FORMAT " channels",
            cleave_op_operand_name (call->op, i), call->operands[i].shape.dim[0], channels);
    }
  return TRUE;
}

static gboolean
infer_batch (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  if (!cleave_call_check_element (call, X, CLEAVE_ELEMENTS_FLOAT, error) ||
      !cleave_call_check_rank (call, X, 2, CLEAVE_MAX_RANK, error) || !check_vectors (call, error))
    return FALSE;
  results[0] = call->operands[X];
  return TRUE;
}

static gboolean
infer_instance (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  return cleave_call_check_rank (call, X, 3, CLEAVE_MAX_RANK, error) &&
         infer_batch (call, results, error);
}

static void
maps_batch (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  if (operand == X)
    cleave_maps_same (call, X, map);
  else
    map[0] = cleave_dim_map_same (cleave_call_dims (call).c);
}

/* Sets the maps of InstanceNormalization. The mean and the variance need all spatial dimensions. */
static void
maps_instance (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  CleaveDims dims = cleave_call_dims (call);

  maps_batch (call, operand, map);
  for (guint i = 0; operand == X && i < dims.n_spatial; i++)
    map[dims.h + i] = cleave_dim_map_whole (call->operands[X].shape.dim[dims.h + i]);
}

static CleaveKernel
kernel_batch (const CleaveCall *call)
{
  return cleave_kernel_of_floats (call, CLEAVE_KERNEL_BATCH_NORM);
}

static CleaveKernel
kernel_instance (const CleaveCall *call)
{
  return cleave_kernel_of_floats (call, CLEAVE_KERNEL_INSTANCE_NORM);
}

static double
load_channel (const CleaveView *vector, gint64 channel)
{
  return cleave_real_load (vector->type.element, cleave_view_at (vector, &channel));
}

/* The numbers by which a channel is normalized: y = (x - mean) * a + b. */
typedef struct
{
  double mean, a, b;
} Line;

static Line
line_of (
    CleaveElement element, double scale, double b, double mean, double variance, double epsilon)
{
  if (element == CLEAVE_FLOAT64)
    return (Line){ mean, scale / sqrt (variance + epsilon), b };
  return (Line){ (float) mean, (float) scale / sqrtf ((float) variance + (float) epsilon),
                 (float) b };
}

static void
normalize (const Line *line, CleaveElement element, gconstpointer x, gpointer y)
{
  double value = cleave_real_load (element, x);

  if (element == CLEAVE_FLOAT64)
    value = __builtin_fma (value - line->mean, line->a, line->b);
  else
    value = __builtin_fmaf ((float) value - (float) line->mean, (float) line->a, (float) line->b);
  cleave_real_store (element, y, value);
}

static void
compute_batch (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveNormAttrs *a = call->attrs;
  const CleaveView *x = &operands[X], *y = &results[0];
  CleaveElement element = x->type.element;
  guint c = cleave_call_dims (call).c;
  gint64 at[CLEAVE_MAX_RANK];

  CLEAVE_EACH_INDEX (at, &y->type.shape)
    {
      Line line = line_of (
          element, load_channel (&operands[SCALE], at[c]), load_channel (&operands[B], at[c]),
          load_channel (&operands[MEAN], at[c]), load_channel (&operands[VAR], at[c]), a->epsilon);

      normalize (&line, element, cleave_view_at (x, at), cleave_view_at (y, at));
    }
}

/* Normalizes one channel of one image. x and y have only the spatial dimensions. */
static void
normalize_plane (const CleaveView *x, const CleaveView *y, double scale, double b, double epsilon)
{
  CleaveElement element = x->type.element;
  double n = (double) cleave_shape_n_elements (&x->type.shape);
  double mean = cleave_real_round (element, cleave_lanes_sum (x, 0, FALSE) / n);
  double variance = cleave_real_round (element, cleave_lanes_sum (x, mean, TRUE) / n);
  Line line = line_of (element, scale, b, mean, variance, epsilon);
  gint64 at[CLEAVE_MAX_RANK];

  CLEAVE_EACH_INDEX (at, &x->type.shape)
    normalize (&line, element, cleave_view_at (x, at), cleave_view_at (y, at));
}

static void
compute_instance (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveNormAttrs *a = call->attrs;
  const CleaveView *x = &operands[X], *y = &results[0];
  CleaveDims dims = cleave_call_dims (call);
  CleaveView plane_x = cleave_lanes_plane (x, dims), plane_y = cleave_lanes_plane (y, dims);

  for (gint64 n = 0; n < x->type.shape.dim[dims.n]; n++)
    for (gint64 c = 0; c < x->type.shape.dim[dims.c]; c++)
      {
        plane_x.data = cleave_view_element (x, n * x->stride[dims.n] + c * x->stride[dims.c]);
        plane_y.data = cleave_view_element (y, n * y->stride[dims.n] + c * y->stride[dims.c]);
        normalize_plane (&plane_x, &plane_y, load_channel (&operands[SCALE], c),
                         load_channel (&operands[B], c), a->epsilon);
      }
}

static const CleaveAttr attrs_table[] = {
  CLEAVE_LAYOUT_ATTR (CleaveNormAttrs),
  { "epsilon", CLEAVE_ATTR_DOUBLE, CLEAVE_FIELD (CleaveNormAttrs, epsilon),
    .fallback = (double) 1e-5f },
  { 0 },
};

const CleaveOp cleave_op_batch_normalization = {
  .name = "BatchNormalization",
  .operands = (const char *const[]){ "X", "scale", "B", "input_mean", "input_var", NULL },
  .results = (const char *const[]){ "Y", NULL },
  .min_operands = 5,
  .flags = CLEAVE_OP_IN_PLACE,
  .attrs_size = sizeof (CleaveNormAttrs),
  .attrs = attrs_table,
  .infer = infer_batch,
  .maps = maps_batch,
  .layout = cleave_call_letters,
  .kernel = kernel_batch,
  .compute = compute_batch,
};

const CleaveOp cleave_op_instance_normalization = {
  .name = "InstanceNormalization",
  .operands = (const char *const[]){ "input", "scale", "B", NULL },
  .results = (const char *const[]){ "output", NULL },
  .min_operands = 3,
  .flags = CLEAVE_OP_IN_PLACE,
  .attrs_size = sizeof (CleaveNormAttrs),
  .attrs = attrs_table,
  .infer = infer_instance,
  .maps = maps_instance,
  .work = cleave_work_once,
  .layout = cleave_call_letters,
  .kernel = kernel_instance,
  .compute = compute_instance,
};
