/* SPDX-License-Identifier: GPL-2.0-or-later */

/* LayerNormalization and MeanVarianceNormalization. The normalized dimensions cannot be split; all
 * other dimensions can.
 *
 * Order of operations: moments.h. LayerNormalization computes float64 in double, all other floats
 * in float32, and rounds each operation. MeanVarianceNormalization computes in double and rounds
 * once, since it divides by almost 0 if all elements are equal. */

#include "../ir/op.h"
#include "moments.h"

#include <math.h>

enum { X, SCALE, B };
enum { Y, MEAN, INV_STD_DEV };

/* Returns the dimensions from the axis on, as a bit mask. */
static guint
axes_of (const CleaveCall *call)
{
  const CleaveLayerNormAttrs *a = call->attrs;

  return (~0u << a->axis) & ((1u << call->operands[X].shape.rank) - 1);
}

/* Checks that Scale or B (operand number `operand`) can be broadcast to the dimensions of X from
 * the axis on. */
static gboolean
check_parameter (const CleaveCall *call, guint operand, GError **error)
{
  const CleaveLayerNormAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[X].shape, *own = &call->operands[operand].shape;
  CleaveShape both;

  if (!cleave_call_check_same_element (call, X, operand, error))
    return FALSE;
  if (own->rank > x->rank - (guint) a->axis || !cleave_shape_broadcast (x, own, &both) ||
      !cleave_shape_equal (x, &both))
    {
      g_autofree char *shape = cleave_shape_to_string (own);

      return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                          "%s with %s does not fit the dimensions of X from axis %d on",
                          cleave_op_operand_name (call->op, operand), shape, (int) a->axis);
    }
  return TRUE;
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveLayerNormAttrs *a = call->attrs;

  if (!cleave_call_check_element (call, X, CLEAVE_ELEMENTS_FLOAT, error) ||
      !cleave_call_check_rank (call, X, 1, CLEAVE_MAX_RANK, error))
    return FALSE;
  if (a->stash_type != 1)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "stash_type must be 1, float32");
  if (call->n_results > 3)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "has 3 results, not %u", call->n_results);
  for (guint k = SCALE; k < call->n_operands; k++)
    if (cleave_call_has (call, k) && !check_parameter (call, k, error))
      return FALSE;
  results[Y] = call->operands[X];
  for (guint r = MEAN; r < call->n_results; r++)
    results[r] = (CleaveTensorType){ CLEAVE_FLOAT32,
                                     cleave_axes_shape (&results[Y].shape, axes_of (call), TRUE) };
  return TRUE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveShape *own = &call->operands[operand].shape;

  if (operand == X)
    cleave_axes_maps (own, axes_of (call), TRUE, map);
  else
    for (guint d = 0; d < own->rank; d++)
      map[d] = cleave_dim_map_whole (own->dim[d]);
}

/* Sets the maps of Mean and InvStdDev, which have extent 1 in the normalized dimensions. */
static void
result_maps (const CleaveCall *call, guint result, CleaveDimMap *map)
{
  guint axes = axes_of (call);

  for (guint d = 0; d < call->results[result].shape.rank; d++)
    map[d] = (axes >> d & 1) != 0 ? cleave_dim_map_whole (1) : cleave_dim_map_same (d);
}

/* The functions below are the reference kernel of LayerNormalization. */

/* Computes n elements of Y: (x - mean) * inverse * Scale + B. The views are Y, X, Scale and B; B
 * may be NULL. */
static void
write_line (const CleaveView *const *views,
            const gint64 *offset,
            const gint64 *step,
            gint64 n,
            double mean,
            double inverse)
{
  CleaveWide wide = cleave_wide_of (views[0]->type.element);
  CleaveLineBuffer buffers[4] = { 0 };
  gconstpointer of[4] = { NULL, NULL, NULL, &buffers[3] };

  for (guint k = 1; k < 4; k++)
    if (views[k] != NULL)
      of[k] = cleave_line_read (views[k], offset[k], step[k], n, wide, &buffers[k]);
  if (wide == CLEAVE_WIDE_F32)
    for (gint64 i = 0; i < n; i++)
      {
        const float *x = of[1], *scale = of[2], *b = of[3];

        buffers[0].f32[i] = (x[i] - (float) mean) * (float) inverse * scale[i] + b[i];
      }
  else
    for (gint64 i = 0; i < n; i++)
      {
        const double *x = of[1], *scale = of[2], *b = of[3];

        buffers[0].f64[i] = (x[i] - mean) * inverse * scale[i] + b[i];
      }
  cleave_line_write (views[0], offset[0], step[0], n, wide, &buffers[0]);
}

static void
write_lines (CleaveLines *lines,
             const CleaveView *const *views,
             gint64 to,
             gint64 from,
             double mean,
             double inverse)
{
  do
    for (gint64 at = 0; at < lines->length; at += CLEAVE_LINE)
      {
        gint64 offset[CLEAVE_LINES_MAX_VIEWS];

        for (guint k = 0; k < lines->n_views; k++)
          offset[k] = lines->offset[k] + at * lines->step[k] + (k == 0 ? to : k == 1 ? from : 0);
        write_line (views, offset, lines->step, MIN (lines->length - at, CLEAVE_LINE), mean,
                    inverse);
      }
  while (cleave_lines_next (lines));
}

/* Returns a view of a parameter (Scale or B) that is broadcast to the shape of X. */
static CleaveView
spread (const CleaveView *parameter, const CleaveView *x)
{
  CleaveView view = { .data = parameter->data, .type = { parameter->type.element, x->type.shape } };

  cleave_view_broadcast_strides (parameter, x->type.shape.rank, view.stride);
  return view;
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveLayerNormAttrs *a = call->attrs;
  const CleaveView *x = &operands[X];
  guint axes = axes_of (call), n_inner = cleave_call_has (call, B) ? 4 : 3;
  CleaveView scale = spread (&operands[SCALE], x),
             b = n_inner == 4 ? spread (&operands[B], x) : (CleaveView){ 0 };
  const CleaveView *outer_views[] = { &results[Y], x, &results[MEAN], &results[INV_STD_DEV] };
  const CleaveView *inner_views[] = { &results[Y], x, &scale, n_inner == 4 ? &b : NULL };
  CleaveLines outer, inner, elements;
  gint64 n = 1;
  gboolean any = cleave_lines_init_dims (&inner, inner_views, n_inner, axes);

  for (guint d = (guint) a->axis; d < x->type.shape.rank; d++)
    n *= x->type.shape.dim[d];
  cleave_lines_init_dims (&elements, &x, 1, axes);
  for (gboolean more = cleave_lines_init_dims (&outer, outer_views, 1 + call->n_results, ~axes);
       more; more = cleave_lines_next (&outer))
    for (gint64 i = 0; i < outer.length; i++)
      {
        gint64 at[CLEAVE_LINES_MAX_VIEWS];
        double mean = (double) NAN, inverse = (double) NAN; /* a mean of no elements is NaN */

        for (guint k = 0; k < outer.n_views; k++)
          at[k] = outer.offset[k] + i * outer.step[k];
        if (any)
          {
            CleaveMoments moments =
                cleave_moments_of (x, at[1], &elements, n, cleave_wide_of (x->type.element));

            mean = moments.mean;
            inverse = 1 / sqrt (moments.variance + a->epsilon);
            write_lines (&inner, inner_views, at[0], at[1], mean, inverse);
          }
        if (call->n_results > MEAN)
          cleave_real_store (results[MEAN].type.element,
                             cleave_view_element (&results[MEAN], at[2]), mean);
        if (call->n_results > INV_STD_DEV)
          cleave_real_store (results[INV_STD_DEV].type.element,
                             cleave_view_element (&results[INV_STD_DEV], at[3]), inverse);
      }
}

static CleaveKernel
kernel (const CleaveCall *call)
{
  return cleave_kernel_of_floats (call, CLEAVE_KERNEL_LAYER_NORM);
}

static const CleaveAttr layer_norm_attrs[] = {
  { "axis", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveLayerNormAttrs, axis), .fallback = -1,
    .flags = CLEAVE_ATTR_AXIS },
  { "epsilon", CLEAVE_ATTR_DOUBLE, CLEAVE_FIELD (CleaveLayerNormAttrs, epsilon),
    .fallback = (double) 1e-5f },
  { "stash_type", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveLayerNormAttrs, stash_type), .fallback = 1,
    CLEAVE_AT_LEAST (1) },
  { 0 },
};

const CleaveOp cleave_op_layer_normalization = {
  .name = "LayerNormalization",
  .operands = (const char *const[]){ "X", "Scale", "B", NULL },
  .results = (const char *const[]){ "Y", "Mean", "InvStdDev", NULL },
  .min_operands = 2,
  .flags = CLEAVE_OP_IN_PLACE,
  .attrs_size = sizeof (CleaveLayerNormAttrs),
  .attrs = layer_norm_attrs,
  .infer = infer,
  .maps = maps,
  .result_maps = result_maps,
  .work = cleave_work_once,
  .kernel = kernel,
  .compute = compute,
};

/* The code below defines the op MeanVarianceNormalization. */

/* MeanVarianceNormalization of ONNX divides by the standard deviation plus this number, so that no
 * divisor is 0. LayerNormalization instead adds its `epsilon` to the variance. */
#define MVN_EPSILON 1e-9

static const CleaveAttr mvn_attrs[] = {
  { "axes", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveAxesAttrs, axes), .flags = CLEAVE_ATTR_AXIS },
  { 0 },
};

static guint
mvn_axes_of (const CleaveCall *call)
{
  const CleaveAxesAttrs *a = call->attrs;
  guint axes = 0;

  for (guint i = 0; i < a->axes.n; i++)
    axes |= 1u << a->axes.v[i];
  return axes;
}

static gboolean
mvn_normalize (const CleaveCall *call, gpointer attrs, GError **error)
{
  CleaveAxesAttrs *a = attrs;

  if (a->axes.n == 0)
    a->axes = CLEAVE_INTS (0, 2, 3);
  return TRUE;
}

static gboolean
mvn_infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  guint rank = call->operands[X].shape.rank;

  if (!cleave_call_check_element (call, X, CLEAVE_ELEMENTS_FLOAT, error) ||
      !cleave_call_check_rank (call, X, 1, CLEAVE_MAX_RANK, error))
    return FALSE;
  if (mvn_axes_of (call) >> rank != 0)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "axes are 0, 2 and 3, but X has rank %u",
                        rank);
  return cleave_infer_same (call, results, error);
}

static void
mvn_maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  cleave_axes_maps (&call->operands[X].shape, mvn_axes_of (call), TRUE, map);
}

static void
mvn_write (CleaveLines *lines,
           const CleaveView *const *views,
           gint64 to,
           gint64 from,
           const CleaveMoments *moments)
{
  double factor = 1 / (sqrt (moments->variance) + MVN_EPSILON);

  do
    for (gint64 at = 0; at < lines->length; at += CLEAVE_LINE)
      {
        gint64 n = MIN (lines->length - at, CLEAVE_LINE);
        CleaveLineBuffer buffer;
        const double *x = cleave_line_read (views[1], from + lines->offset[1] + at * lines->step[1],
                                            lines->step[1], n, CLEAVE_WIDE_F64, &buffer);
        double y[CLEAVE_LINE];

        for (gint64 i = 0; i < n; i++)
          y[i] = (x[i] - moments->mean) * factor;
        cleave_line_write (views[0], to + lines->offset[0] + at * lines->step[0], lines->step[0], n,
                           CLEAVE_WIDE_F64, y);
      }
  while (cleave_lines_next (lines));
}

static void
mvn_compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveView *x = &operands[X], *views[] = { &results[Y], x };
  guint axes = mvn_axes_of (call);
  CleaveLines outer, inner, elements;
  gint64 n = 1;

  for (guint d = 0; d < x->type.shape.rank; d++)
    n *= (axes >> d & 1) != 0 ? x->type.shape.dim[d] : 1;
  if (!cleave_lines_init_dims (&inner, views, 2, axes))
    return;
  cleave_lines_init_dims (&elements, &x, 1, axes);
  for (gboolean more = cleave_lines_init_dims (&outer, views, 2, ~axes); more;
       more = cleave_lines_next (&outer))
    for (gint64 i = 0; i < outer.length; i++)
      {
        gint64 to = outer.offset[0] + i * outer.step[0], from = outer.offset[1] + i * outer.step[1];
        CleaveMoments moments = cleave_moments_of (x, from, &elements, n, CLEAVE_WIDE_F64);

        mvn_write (&inner, views, to, from, &moments);
      }
}

const CleaveOp cleave_op_mean_variance_normalization = {
  .name = "MeanVarianceNormalization",
  .operands = (const char *const[]){ "X", NULL },
  .results = (const char *const[]){ "Y", NULL },
  .min_operands = 1,
  .flags = CLEAVE_OP_IN_PLACE,
  .attrs_size = sizeof (CleaveAxesAttrs),
  .attrs = mvn_attrs,
  .normalize = mvn_normalize,
  .infer = mvn_infer,
  .maps = mvn_maps,
  .work = cleave_work_once,
  .compute = mvn_compute,
};
