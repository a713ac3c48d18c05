/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Builds a Resize from weights, for the forms that our op record does not have. Each dimension
 * takes a Gather, a product and a sum:
 *
 *   [.., from, ..]  Gather  [.., to, taps, ..]  Mul by [to, taps, 1, ..]  ReduceSum  [.., to, ..]
 *
 * A tap is an operand element that a result element reads, with its weight. The weights are the
 * same as in ONNX Runtime. With antialias, the filter is stretched by the factor by which the
 * dimension shrinks. */

#include "resize.h"

#include <math.h>

static gboolean
is_cropped (const CleaveOnnxResize *settings, guint d)
{
  const CleaveDoubles *roi = &settings->attrs.roi;

  return roi->n != 0 && (roi->v[d] != 0 || roi->v[roi->n / 2 + d] != 1);
}

static gboolean
is_changed (const CleaveOnnxResize *settings, const CleaveOnnxResizeTarget *target, guint d)
{
  return target->scale[d] != 1 || target->to[d] != target->from[d] || is_cropped (settings, d);
}

/* Returns the position in the operand to which element i of the result corresponds, along dimension
 * d. Computes in float32, as ONNX Runtime does. */
static float
find_position (const CleaveOnnxResize *settings,
               const CleaveOnnxResizeTarget *target,
               guint d,
               gint64 i)
{
  const CleaveDoubles *roi = &settings->attrs.roi;
  float at = (float) i, scale = target->scale[d], to = (float) target->to[d],
        from = (float) target->from[d], start, end;

  if (settings->is_symmetric)
    return from / 2 * (1 - to / (scale * from)) + (at + 0.5f) / scale - 0.5f;
  if (!is_changed (settings, target, d))
    return at;
  switch (settings->attrs.coordinate_transformation_mode)
    {
    case CLEAVE_RESIZE_PYTORCH_HALF_PIXEL:
      return to > 1 ? (at + 0.5f) / scale - 0.5f : 0;
    case CLEAVE_RESIZE_ALIGN_CORNERS:
      return to > 1 ? at * (from - 1) / (to - 1) : 0;
    case CLEAVE_RESIZE_ASYMMETRIC:
      return at / scale;
    case CLEAVE_RESIZE_TF_CROP_AND_RESIZE:
      start = (float) roi->v[d];
      end = (float) roi->v[roi->n / 2 + d];
      return to > 1 ? start * (from - 1) + at * (end - start) * (from - 1) / (to - 1)
                    : 0.5f * (start + end) * (from - 1);
    case CLEAVE_RESIZE_HALF_PIXEL:
      break;
    }
  return (at + 0.5f) / scale - 0.5f;
}

static gboolean
is_outside (const CleaveOnnxResize *settings,
            const CleaveOnnxResizeTarget *target,
            guint d,
            gint64 i)
{
  float at = find_position (settings, target, d, i);

  return settings->attrs.roi.n != 0 && !(at >= 0 && at <= (float) (target->from[d] - 1));
}

static gint64
find_nearest (const CleaveOnnxResize *settings,
              const CleaveOnnxResizeTarget *target,
              guint d,
              gint64 i)
{
  float at = find_position (settings, target, d, i), whole = 0;

  switch (settings->attrs.nearest_mode)
    {
    case CLEAVE_RESIZE_ROUND_PREFER_FLOOR:
      whole = ceilf (at - 0.5f);
      break;
    case CLEAVE_RESIZE_ROUND_PREFER_CEIL:
      whole = floorf (at + 0.5f);
      break;
    case CLEAVE_RESIZE_FLOOR:
      whole = floorf (at);
      break;
    case CLEAVE_RESIZE_CEIL:
      whole = ceilf (at);
      break;
    }
  return (gint64) CLAMP (whole, 0, (float) (target->from[d] - 1));
}

/* Returns the value of the filter at distance x. The value is 0 from distance 1 (linear) or 2
 * (cubic) on. */
static float
filter_at (const CleaveOnnxResize *settings, float x)
{
  float a = (float) settings->attrs.cubic_coeff_a;

  x = fabsf (x);
  if (settings->attrs.mode == CLEAVE_RESIZE_LINEAR)
    return x < 1 ? 1 - x : 0;
  if (x < 1)
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
}

/* Returns the factor by which antialias stretches the filter along dimension d. Returns 1 if the
 * dimension does not shrink. */
static float
find_stretch (const CleaveOnnxResize *settings, const CleaveOnnxResizeTarget *target, guint d)
{
  return settings->is_smooth && target->scale[d] < 1 ? 1 / target->scale[d] : 1;
}

static float
find_support (const CleaveOnnxResize *settings, const CleaveOnnxResizeTarget *target, guint d)
{
  return (settings->attrs.mode == CLEAVE_RESIZE_LINEAR ? 1.f : 2.f) *
         find_stretch (settings, target, d);
}

/* Taps: the operand elements that result elements read, and their weights. */
typedef struct
{
  GArray *at;     /* gint64: indices of the operand elements */
  GArray *weight; /* float: weights of the operand elements */
} Taps;

static void
taps_init (Taps *taps)
{
  taps->at = g_array_new (FALSE, FALSE, sizeof (gint64));
  taps->weight = g_array_new (FALSE, FALSE, sizeof (float));
}

static void
taps_clear (Taps *taps)
{
  g_clear_pointer (&taps->at, g_array_unref);
  g_clear_pointer (&taps->weight, g_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Taps, taps_clear)

/* Sets `taps` to the taps of result element i along dimension d. Leaves out taps of weight 0. The
 * weights sum to 1. */
static void
find_taps (Taps *taps,
           const CleaveOnnxResize *settings,
           const CleaveOnnxResizeTarget *target,
           guint d,
           gint64 i)
{
  float center = find_position (settings, target, d, i) + 0.5f, sum = 0,
        support = find_support (settings, target, d), step = 1 / find_stretch (settings, target, d);
  gint64 last = target->from[d] - 1, begin, end;

  center = CLAMP (center, -support - 2,
                  (float) last + support + 3); /* beyond this position, the filter's window lies
                                                * outside the operand */
  begin = (gint64) floorf (center - support + 0.5f);
  end = (gint64) floorf (center + support + 0.5f);
  g_array_set_size (taps->at, 0);
  g_array_set_size (taps->weight, 0);
  for (gint64 x = begin; x < end; x++)
    {
      float weight = filter_at (settings, ((float) x - center + 0.5f) * step);
      gint64 at = CLAMP (x, 0, last);

      if (weight == 0 || (settings->attrs.exclude_outside && at != x))
        continue;
      sum += weight;
      g_array_append_val (taps->at, at);
      g_array_append_val (taps->weight, weight);
    }
  for (guint k = 0; k < taps->weight->len && sum != 0; k++)
    g_array_index (taps->weight, float, k) *= 1 / sum;
}

/* Appends the taps of one result element to `all`, then more taps if there are fewer than `n` taps.
 * Each additional tap reads the same operand element as the tap before it, and takes half of the
 * weight of that tap. Halving is exact. With the weight 0, an infinite element would give NaN. */
static void
append_row (Taps *all, const Taps *taps, gint64 n)
{
  guint n_taps = taps->at->len;
  gint64 at = n_taps == 0 ? 0 : g_array_index (taps->at, gint64, n_taps - 1);
  float half = n_taps == 0 ? 0 : g_array_index (taps->weight, float, n_taps - 1);

  g_array_append_vals (all->at, taps->at->data, n_taps);
  g_array_append_vals (all->weight, taps->weight->data, n_taps);
  for (gint64 k = n_taps; k < n; k++)
    {
      half /= 2;
      if (n_taps > 0)
        g_array_index (all->weight, float, all->weight->len - 1) = half;
      g_array_append_val (all->at, at);
      g_array_append_val (all->weight, half);
    }
}

/* Finds the taps of all result elements of dimension d. Each element gets the same number of taps.
 * Returns the number of taps of each element. */
static gint64
find_all_taps (Taps *all,
               const CleaveOnnxResize *settings,
               const CleaveOnnxResizeTarget *target,
               guint d)
{
  g_auto (Taps) taps = { 0 };
  gint64 n = 1;

  taps_init (&taps);
  for (gint64 i = 0; i < target->to[d]; i++)
    {
      find_taps (&taps, settings, target, d, i);
      n = MAX (n, (gint64) taps.at->len);
    }
  for (gint64 i = 0; i < target->to[d]; i++)
    {
      find_taps (&taps, settings, target, d, i);
      append_row (all, &taps, n);
    }
  return n;
}

/* Returns the type of a tensor with n numbers for each index of dimension d of the result: the
 * shape [target->to[d], n, 1, …]. If n is 0, the shape is [target->to[d], 1, …]. */
static CleaveTensorType
type_along (const CleaveOnnxResizeTarget *target, CleaveElement element, guint d, gint64 n)
{
  CleaveTensorType type = { element, { 1, { target->to[d] } } };

  if (n != 0)
    type.shape.dim[type.shape.rank++] = n;
  for (guint inner = d + 1; inner < target->rank; inner++)
    type.shape.dim[type.shape.rank++] = 1;
  return type;
}

/* Returns `x` with dimension d resized: gathers the operand elements, multiplies them by their
 * weights, and adds the products. */
static CleaveOnnxValue *
weigh_axis (CleaveOnnxNode *node,
            const CleaveOnnxResize *settings,
            const CleaveOnnxResizeTarget *target,
            guint d,
            CleaveOnnxValue *x,
            GError **error)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT64, target->to[d], 0);
  CleaveOnnxValue *indices, *weights, *axes;
  g_auto (Taps) all = { 0 };

  taps_init (&all);
  type.shape.dim[1] = find_all_taps (&all, settings, target, d);
  indices = cleave_onnx_constant (node, &type, all.at->data);
  type = type_along (target, CLEAVE_FLOAT32, d, type.shape.dim[1]);
  weights = cleave_onnx_cast (node, cleave_onnx_constant (node, &type, all.weight->data),
                              cleave_onnx_value_type (x)->element, ".weights", error);
  axes = cleave_onnx_constant (node, &CLEAVE_TYPE (CLEAVE_INT64, 1), &(gint64){ d + 1 });
  x = CLEAVE_ONNX_STEP ("Gather", ".taps", cleave_onnx_attr_new_int ("axis", d), x, indices);
  x = CLEAVE_ONNX_STEP ("Mul", ".weighted", NULL, x, weights);
  return CLEAVE_ONNX_STEP ("ReduceSum", ".sum", cleave_onnx_attr_new_int ("keepdims", 0), x, axes);
}

static CleaveOnnxValue *
pick_axis (CleaveOnnxNode *node,
           const CleaveOnnxResize *settings,
           const CleaveOnnxResizeTarget *target,
           guint d,
           CleaveOnnxValue *x,
           GError **error)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT64, target->to[d]);
  g_autofree gint64 *indices = g_new (gint64, (gsize) target->to[d] + 1);

  for (gint64 i = 0; i < target->to[d]; i++)
    indices[i] = find_nearest (settings, target, d, i);
  return CLEAVE_ONNX_STEP ("Gather", ".nearest", cleave_onnx_attr_new_int ("axis", d), x,
                           cleave_onnx_constant (node, &type, indices));
}

/* Returns `x` with each element replaced by the extrapolation value if its position along dimension
 * d lies outside the operand. */
static CleaveOnnxValue *
extrapolate_axis (CleaveOnnxNode *node,
                  const CleaveOnnxResize *settings,
                  const CleaveOnnxResizeTarget *target,
                  guint d,
                  CleaveOnnxValue *x,
                  GError **error)
{
  CleaveTensorType type = type_along (target, CLEAVE_BOOL, d, 0);
  g_autofree guint8 *mask = g_new (guint8, (gsize) target->to[d] + 1);
  gboolean any = FALSE;

  for (gint64 i = 0; i < target->to[d]; i++)
    {
      mask[i] = is_outside (settings, target, d, i) ? 1 : 0;
      any = any || mask[i];
    }
  if (!any || x == NULL)
    return x;
  return CLEAVE_ONNX_STEP ("Where", ".inside", NULL, cleave_onnx_constant (node, &type, mask),
                           cleave_onnx_real (node, cleave_onnx_value_type (x)->element,
                                             settings->attrs.extrapolation_value),
                           x);
}

/* Converts to an integer type, and clamps to the range of an 8-bit type. If `is_rounded`, rounds to
 * the nearest integer, as ONNX Runtime does with antialias. If not, truncates. */
static CleaveOnnxValue *
to_integers (CleaveOnnxNode *node,
             CleaveOnnxValue *x,
             CleaveElement element,
             gboolean is_rounded,
             GError **error)
{
  double least = element == CLEAVE_INT8 ? G_MININT8 : 0,
         most = element == CLEAVE_INT8 ? G_MAXINT8 : G_MAXUINT8;

  if (is_rounded)
    x = CLEAVE_ONNX_STEP ("Round", ".round", NULL, x);
  if (element == CLEAVE_INT8 || element == CLEAVE_UINT8)
    {
      x = CLEAVE_ONNX_STEP ("Max", ".least", NULL, x,
                            cleave_onnx_real (node, CLEAVE_FLOAT32, least));
      x = CLEAVE_ONNX_STEP ("Min", ".most", NULL, x, cleave_onnx_real (node, CLEAVE_FLOAT32, most));
    }
  return x == NULL ? NULL : cleave_onnx_cast (node, x, element, ".integer", error);
}

static gboolean
check_resampling (CleaveOnnxNode *node,
                  const CleaveOnnxResize *settings,
                  const CleaveOnnxResizeTarget *target,
                  GError **error)
{
  CleaveElement element = cleave_onnx_value_type (cleave_onnx_node_operand (node, 0))->element;
  gboolean is_nearest = settings->attrs.mode == CLEAVE_RESIZE_NEAREST;

  if (!is_nearest && element != CLEAVE_INT8 && element != CLEAVE_UINT8 && element != CLEAVE_INT32 &&
      !cleave_element_is_float (element))
    return cleave_onnx_node_fail (node, error, "its weights are not supported for %s",
                                  cleave_element_get_name (element));
  if (!is_nearest && target->rank == CLEAVE_MAX_RANK)
    return cleave_onnx_node_fail (node, error, "its weights are not supported for rank %u",
                                  target->rank);
  for (guint d = 0; d < target->rank; d++)
    if (target->from[d] == 0 ||
        !cleave_onnx_spend (node->import, 4 * (double) find_support (settings, target, d) *
                                              (double) target->to[d]))
      return cleave_onnx_node_fail (node, error, "dimension %u " CLEAVE_ONNX_TOO_COSTLY, d);
  return TRUE;
}

/* Resizes the last dimension first. With antialias, rounds integers after each dimension, as ONNX
 * Runtime does. */
gboolean
cleave_onnx_resample (CleaveOnnxNode *node,
                      const CleaveOnnxResize *settings,
                      const CleaveOnnxResizeTarget *target,
                      GError **error)
{
  CleaveOnnxValue *x = cleave_onnx_node_operand (node, 0);
  CleaveElement element = cleave_onnx_value_type (x)->element;
  gboolean is_nearest = settings->attrs.mode == CLEAVE_RESIZE_NEAREST,
           is_real = cleave_element_is_float (element);
  CleaveElement wide = is_nearest || element == CLEAVE_FLOAT64 ? element : CLEAVE_FLOAT32;

  if (!check_resampling (node, settings, target, error))
    return FALSE;
  for (guint d = target->rank; d-- > 0 && x != NULL;)
    {
      if (!is_changed (settings, target, d))
        continue;
      x = cleave_onnx_cast (node, x, wide, ".float", error);
      if (x != NULL)
        x = (is_nearest ? pick_axis : weigh_axis) (node, settings, target, d, x, error);
      if (!is_real && !is_nearest && settings->is_smooth)
        x = to_integers (node, x, element, TRUE, error);
    }
  if (x != NULL && !is_real && cleave_onnx_value_type (x)->element != element)
    x = to_integers (node, x, element, FALSE, error);
  x = x == NULL ? NULL : cleave_onnx_cast (node, x, element, ".y", error);
  for (guint d = 0; d < target->rank; d++)
    x = extrapolate_axis (node, settings, target, d, x, error);
  return cleave_onnx_finish (node, x);
}
