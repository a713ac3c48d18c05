/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Upgrades Resize from opset 18 on. Scales, sizes and region may be given for some axes only, sizes
 * may keep the aspect ratio, and a dimension that shrinks may be antialiased. */

#include "resize.h"

#include <math.h>
#include <string.h>

enum { X, REGION, SCALES, SIZES };

/* The functions below complete operands that list only some axes. */

/* Returns a constant with numbers for all dimensions of `x`, in place of an operand with numbers
 * for `axes` only. */
static CleaveOnnxValue *
spread_list (
    CleaveOnnxNode *node, guint operand, const GArray *axes, const CleaveShape *x, GError **error)
{
  const CleaveOnnxValue *value = cleave_onnx_node_operand (node, operand);
  g_autoptr (CleaveOnnxAttr) list = cleave_onnx_attr_of_tensor ("list", value->constant);
  gboolean is_region = operand == REGION, is_sizes = operand == SIZES;
  guint n = is_sizes ? list->ints->len : list->floats->len, rank = x->rank;
  float all[2 * CLEAVE_MAX_RANK];
  gint64 sizes[CLEAVE_MAX_RANK];
  CleaveTensorType type =
      CLEAVE_TYPE (is_sizes ? CLEAVE_INT64 : CLEAVE_FLOAT32, is_region ? 2 * rank : rank);

  if (n != (is_region ? 2 * axes->len : axes->len))
    return cleave_onnx_node_fail_null (node, error, "operand %u has %u entries for %u axes",
                                       operand, n, axes->len);
  for (guint d = 0; d < rank; d++)
    {
      all[d] = is_region ? 0 : 1;
      all[rank + d] = 1;
      sizes[d] = x->dim[d];
    }
  for (guint i = 0; i < n; i++)
    {
      gint64 axis = g_array_index (axes, gint64, i % axes->len);

      if (is_sizes)
        sizes[axis] = g_array_index (list->ints, gint64, i);
      else
        all[axis + (i < axes->len ? 0 : rank)] = (float) g_array_index (list->floats, double, i);
    }
  return cleave_onnx_constant (node, &type, is_sizes ? (gconstpointer) sizes : all);
}

static gboolean
spread_lists (CleaveOnnxNode *node, const GArray *axes, const CleaveShape *x, GError **error)
{
  for (guint i = REGION; i <= SIZES; i++)
    {
      CleaveOnnxValue *value = cleave_onnx_node_operand (node, i), *all;

      if (value == NULL || cleave_onnx_value_constant (node->import, value) == NULL ||
          cleave_shape_n_elements (cleave_onnx_value_shape (value)) == 0)
        continue;
      all = spread_list (node, i, axes, x, error);
      if (all == NULL)
        return FALSE;
      cleave_onnx_node_set_operand (node, i, all);
    }
  return TRUE;
}

/* The functions below find the scales and the extents of the result. */

static CleaveOnnxAttr *
read_list (CleaveOnnxNode *node, guint operand, const char *what)
{
  CleaveOnnxValue *value = cleave_onnx_node_operand (node, operand);

  return value == NULL || cleave_onnx_value_constant (node->import, value) == NULL
             ? NULL
             : cleave_onnx_attr_of_tensor (what, value->constant);
}

/* Returns the fraction of dimension d that the region of tf_crop_and_resize covers. Returns 1 for
 * other modes. */
static float
part_of (CleaveOnnxNode *node, guint rank, guint d)
{
  const CleaveOnnxAttr *mode = cleave_onnx_node_find (node, "coordinate_transformation_mode");
  gboolean is_crop = mode != NULL && g_strcmp0 (mode->string, "tf_crop_and_resize") == 0;
  g_autoptr (CleaveOnnxAttr) region = is_crop ? read_list (node, REGION, "roi") : NULL;

  if (region == NULL || region->floats->len != 2 * rank)
    return 1;
  return (float) (g_array_index (region->floats, double, rank + d) -
                  g_array_index (region->floats, double, d));
}

static CleaveOnnxResizeTarget
read_target (CleaveOnnxNode *node, const CleaveShape *x)
{
  g_autoptr (CleaveOnnxAttr) scales = read_list (node, SCALES, "scales"),
                             sizes = read_list (node, SIZES, "sizes");
  gboolean has_scales = scales != NULL && scales->floats->len == x->rank,
           has_sizes = sizes != NULL && sizes->ints->len == x->rank;
  CleaveOnnxResizeTarget target = { .rank = x->rank,
                                    .is_known = has_scales != has_sizes,
                                    .has_sizes = has_sizes };

  for (guint d = 0; d < x->rank && target.is_known; d++)
    {
      target.from[d] = x->dim[d];
      if (has_sizes)
        target.to[d] = g_array_index (sizes->ints, gint64, d);
      target.scale[d] = has_scales ? (float) g_array_index (scales->floats, double, d)
                                   : (float) target.to[d] / (float) x->dim[d];
      target.is_known = target.scale[d] > 0 && (float) x->dim[d] * target.scale[d] < 0x1p31f;
      if (has_scales && target.is_known)
        target.to[d] = (gint64) ((float) x->dim[d] * target.scale[d] * part_of (node, x->rank, d));
    }
  return target;
}

/* Gives all axes in `axes` the same scale, the smallest or the largest of their scales, as `policy`
 * says. Rounds extents to the nearest integer; a fraction of 0.5 is rounded up. */
static gboolean
keep_proportions (CleaveOnnxNode *node,
                  const char *policy,
                  const GArray *axes,
                  CleaveOnnxResizeTarget *target,
                  GError **error)
{
  gboolean larger = g_strcmp0 (policy, "not_smaller") == 0;
  float scale = 0;

  if (!larger && g_strcmp0 (policy, "not_larger") != 0)
    return cleave_onnx_node_fail (node, error,
                                  "keep_aspect_ratio_policy '%s' is not known: it must be stretch, "
                                  "not_larger or not_smaller",
                                  policy);
  for (guint i = 0; i < axes->len; i++)
    {
      float own = target->scale[g_array_index (axes, gint64, i)];

      if (i == 0 || (larger ? own > scale : own < scale))
        scale = own;
    }
  for (guint i = 0; i < axes->len; i++)
    {
      gint64 axis = g_array_index (axes, gint64, i);
      float extent = scale * (float) target->from[axis];

      target->scale[axis] = scale;
      target->to[axis] = (gint64) floorf (extent + 0.5f);
      target->is_rounded = target->is_rounded || target->to[axis] != (gint64) extent;
    }
  return TRUE;
}

/* Sets the operand `scales` of the node, and removes the operand `sizes`. */
static void
set_scales (CleaveOnnxNode *node, const CleaveOnnxResizeTarget *target)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, target->rank);

  cleave_onnx_node_set_operand (node, SCALES, cleave_onnx_constant (node, &type, target->scale));
  cleave_onnx_node_set_operand (node, SIZES, NULL);
}

/* The functions below read the attributes. */

static gboolean
store_setting (const CleaveOnnxNode *node,
               const CleaveOnnxAttr *value,
               CleaveOnnxResize *settings,
               GError **error)
{
  const CleaveAttr *attr = cleave_op_lookup ("Resize")->attrs;

  settings->is_symmetric =
      settings->is_symmetric || (strcmp (value->name, "coordinate_transformation_mode") == 0 &&
                                 g_strcmp0 (value->string, "half_pixel_symmetric") == 0);
  if (settings->is_symmetric && strcmp (value->name, "coordinate_transformation_mode") == 0)
    return TRUE;
  while (attr->name != NULL && strcmp (attr->name, value->name) != 0)
    attr++;
  if (attr->name == NULL || (attr->flags & CLEAVE_ATTR_NOT_ONNX) != 0 || attr->onnx_operand != 0)
    return cleave_onnx_node_fail_attr (node, value, error);
  if (cleave_onnx_attr_store (value, attr, &settings->attrs, error))
    return TRUE;
  g_prefix_error (error, "%s '%s': ", node->op, node->name);
  return FALSE;
}

/* Reads the attributes of a Resize and its operand `roi` into `settings`. The attributes also stay
 * in the node. */
static gboolean
read_settings (CleaveOnnxNode *node, guint rank, CleaveOnnxResize *settings, GError **error)
{
  CleaveResizeAttrs *a = &settings->attrs;
  g_autoptr (CleaveOnnxAttr) region = read_list (node, REGION, "roi");

  cleave_attrs_init (cleave_op_lookup ("Resize"), a);
  for (guint i = 0; i < node->attrs->len; i++)
    if (!store_setting (node, node->attrs->pdata[i], settings, error))
      return FALSE;
  if (a->coordinate_transformation_mode != CLEAVE_RESIZE_TF_CROP_AND_RESIZE)
    return TRUE;
  a->roi.n = region == NULL ? 0 : region->floats->len;
  if (a->roi.n != 2 * rank)
    return cleave_onnx_node_fail (
        node, error, "tf_crop_and_resize needs a constant roi of %u entries", 2 * rank);
  for (guint i = 0; i < a->roi.n; i++)
    a->roi.v[i] = g_array_index (region->floats, double, i);
  return TRUE;
}

/* Returns whether an extent times its scale has a fraction. Only then does half_pixel_symmetric
 * differ from half_pixel. */
static gboolean
is_fractional (const CleaveOnnxResizeTarget *target)
{
  for (guint d = 0; d < target->rank; d++)
    if ((float) target->to[d] != target->scale[d] * (float) target->from[d])
      return TRUE;
  return FALSE;
}

static gboolean
shrinks (const CleaveOnnxResizeTarget *target)
{
  for (guint d = 0; d < target->rank; d++)
    if (target->scale[d] < 1)
      return TRUE;
  return FALSE;
}

/* Upgrades a node whose scales and extents are known. If our op record can express the node, adapts
 * the node's attributes. If not, replaces the node by Gathers, Muls with weights, and sums. */
static gboolean
use_target (CleaveOnnxNode *node,
            const char *policy,
            gboolean is_smooth,
            const GArray *axes,
            CleaveOnnxResizeTarget *target,
            GError **error)
{
  CleaveOnnxResize settings = { .is_smooth = is_smooth };
  gboolean has_sizes = target->has_sizes, by_weights;

  if (has_sizes && policy != NULL && strcmp (policy, "stretch") != 0)
    {
      if (!keep_proportions (node, policy, axes, target, error))
        return FALSE;
      set_scales (node, target);
    }
  if (!read_settings (node, target->rank, &settings, error))
    return FALSE;
  by_weights = target->is_rounded || (settings.is_symmetric && is_fractional (target)) ||
               (is_smooth && settings.attrs.mode != CLEAVE_RESIZE_NEAREST && shrinks (target));
  if (by_weights)
    return cleave_onnx_resample (node, &settings, target, error);
  if (settings.is_symmetric)
    cleave_onnx_node_set_string (node, "coordinate_transformation_mode", "half_pixel");
  return TRUE;
}

gboolean
cleave_onnx_upgrade_resize_18 (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveOnnxAttr) list = cleave_onnx_node_take (node, "axes"),
                             policy = cleave_onnx_node_take (node, "keep_aspect_ratio_policy");
  gboolean is_smooth = cleave_onnx_node_take_int (node, "antialias", 0) != 0;
  const CleaveShape *x = cleave_onnx_node_operand_shape (node, X);
  g_autoptr (GArray) axes = x == NULL ? NULL : cleave_onnx_find_axes (node, list, x->rank, error);
  CleaveOnnxResizeTarget target;

  if (axes == NULL)
    return x == NULL;
  if (list != NULL && !spread_lists (node, axes, x, error))
    return FALSE;
  target = read_target (node, x);
  if (target.is_known &&
      !use_target (node, policy == NULL ? NULL : policy->string, is_smooth, axes, &target, error))
    return FALSE;
  return node->values != NULL || cleave_onnx_upgrade_resize_11 (node, error);
}
