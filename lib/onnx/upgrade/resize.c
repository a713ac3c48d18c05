/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Upgrades Resize before opset 18 and Upsample before opset 10. Also upgrades RoiAlign before opset
 * 16: positions of opset 16 are shifted by half a pixel. */

#include "upgrades.h"

#include <math.h>
#include <string.h>

/* The scales of a Resize before opset 11. The specification of these opsets does not define the
 * nearest element, so models rely on the choice of ONNX Runtime. ONNX Runtime takes the floor where
 * a dimension grows and the ceiling where it shrinks, and copies the operand if the shape stays the
 * same. */

typedef struct
{
  guint n;
  gboolean shrinks, enlarges; /* whether a dimension shrinks; whether a dimension grows */
  gboolean stays;             /* whether the result has the extents of the operand */
  float scale[CLEAVE_MAX_RANK];
} Scales;

/* Reads the scales. Returns FALSE if the scales are not constant, or if there is not one scale for
 * each dimension. Sets no error: the importer reports the error later, when it reads the node as a
 * Resize. */
static gboolean
read_scales (const CleaveOnnxNode *node, Scales *scales)
{
  const CleaveOnnxValue *value = cleave_onnx_node_operand (node, 1);
  const CleaveShape *x = cleave_onnx_node_operand_shape (node, 0);
  g_autoptr (CleaveOnnxAttr) numbers = NULL;

  if (x == NULL || value == NULL || value->constant == NULL ||
      cleave_onnx_value_type (value)->element != CLEAVE_FLOAT32)
    return FALSE;
  numbers = cleave_onnx_attr_of_tensor ("scales", value->constant);
  *scales = (Scales){ .n = x->rank, .stays = TRUE };
  for (guint d = 0; d < x->rank && numbers->floats->len == x->rank; d++)
    {
      scales->scale[d] = (float) g_array_index (numbers->floats, double, d);
      scales->shrinks = scales->shrinks || scales->scale[d] < 1;
      scales->enlarges = scales->enlarges || scales->scale[d] > 1;
      scales->stays = scales->stays && (gint64) ((float) x->dim[d] * scales->scale[d]) == x->dim[d];
    }
  return numbers->floats->len == x->rank;
}

static void
set_old_coordinates (CleaveOnnxNode *node, const char *nearest)
{
  CleaveOnnxValue *scales = cleave_onnx_node_operand (node, 1);

  cleave_onnx_node_set_operand (node, 1, NULL);
  cleave_onnx_node_set_operand (node, 2, scales);
  g_ptr_array_add (node->attrs,
                   cleave_onnx_attr_new_string ("coordinate_transformation_mode", "asymmetric"));
  g_ptr_array_add (node->attrs, cleave_onnx_attr_new_string ("nearest_mode", nearest));
}

/* If some dimensions shrink and others grow, adds a Resize for the dimensions that shrink. One
 * Resize rounds all positions in one way, but ONNX Runtime rounds up only where a dimension
 * shrinks. */
static gboolean
shrink_first (CleaveOnnxNode *node, Scales *scales, GError **error)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, scales->n);
  g_autofree char *name = g_strconcat (node->name, ".shrunk", NULL);
  g_autoptr (CleaveOnnxNode) made = cleave_onnx_node_new (node->import, node->op, name, 1);
  Scales down = *scales, up = *scales;

  for (guint d = 0; d < scales->n; d++)
    if (scales->scale[d] < 1)
      up.scale[d] = 1;
    else
      down.scale[d] = 1;
  cleave_onnx_node_set_operand (made, 0, cleave_onnx_node_operand (node, 0));
  cleave_onnx_node_set_operand (made, 1, cleave_onnx_constant (node, &type, down.scale));
  set_old_coordinates (made, "ceil");
  if (!cleave_onnx_node_make (made, error))
    return FALSE;
  cleave_onnx_node_set_operand (node, 0, made->values->pdata[0]);
  cleave_onnx_node_set_operand (node, 1, cleave_onnx_constant (node, &type, up.scale));
  return TRUE;
}

gboolean
cleave_onnx_upgrade_resize (CleaveOnnxNode *node, GError **error)
{
  const CleaveOnnxAttr *mode = cleave_onnx_node_find (node, "mode");
  gboolean is_nearest = mode == NULL || g_strcmp0 (mode->string, "nearest") == 0;
  gboolean is_known;
  Scales scales;

  is_known = read_scales (node, &scales);
  if (is_known && scales.stays)
    {
      node->op = "Identity";
      g_ptr_array_set_size (node->attrs, 0);
      g_ptr_array_set_size (node->operands, 1);
      return TRUE;
    }
  if (is_known && is_nearest && scales.shrinks && scales.enlarges &&
      !shrink_first (node, &scales, error))
    return FALSE;
  set_old_coordinates (node, is_known && scales.shrinks && !scales.enlarges ? "ceil" : "floor");
  return TRUE;
}

/* The functions below replace the mode tf_half_pixel_for_nn of opsets 11 and 12. Its positions are
 * half an element above the positions of half_pixel. */

/* For a Resize of the mode nearest: replaces the coordinates tf_half_pixel_for_nn by half_pixel,
 * and changes the rounding (nearest_mode) so that the result is the same. */
static gboolean
shift_nearest (CleaveOnnxNode *node, GError **error)
{
  const CleaveOnnxAttr *nearest = cleave_onnx_node_find (node, "nearest_mode");
  const char *mode = nearest == NULL ? "round_prefer_floor" : nearest->string;

  if (g_strcmp0 (mode, "round_prefer_floor") == 0)
    cleave_onnx_node_set_string (node, "nearest_mode", "ceil");
  else if (g_strcmp0 (mode, "floor") == 0)
    cleave_onnx_node_set_string (node, "nearest_mode", "round_prefer_ceil");
  else
    return cleave_onnx_node_fail (node, error,
                                  "tf_half_pixel_for_nn with nearest_mode '%s' is not supported",
                                  mode == NULL ? "" : mode);
  cleave_onnx_node_set_string (node, "coordinate_transformation_mode", "half_pixel");
  return TRUE;
}

/* Pad the operand by this many elements on each side: an element of the result reads at most this
 * far beyond the border. */
#define BORDER 3

/* Returns the constant scales (`operand` 2) or sizes (`operand` 3), one for each dimension. Returns
 * NULL if the operand is absent, not constant, or has another length. */
static CleaveOnnxAttr *
read_list (const CleaveOnnxNode *node, guint operand, guint rank)
{
  const CleaveOnnxValue *value = cleave_onnx_node_operand (node, operand);
  g_autoptr (CleaveOnnxAttr) list =
      value == NULL || value->constant == NULL
          ? NULL
          : cleave_onnx_attr_of_tensor (operand == 2 ? "scales" : "sizes", value->constant);
  const GArray *numbers = list == NULL ? NULL : operand == 2 ? list->floats : list->ints;

  return numbers == NULL || numbers->len != rank ? NULL : g_steal_pointer (&list);
}

/* A Resize with tf_half_pixel_for_nn, expressed with tf_crop_and_resize: the pads of the operand,
 * the operand `roi`, and the extents of the result. */
typedef struct
{
  gint64 pads[2 * CLEAVE_MAX_RANK], sizes[CLEAVE_MAX_RANK];
  float region[2 * CLEAVE_MAX_RANK];
} Crop;

static void
crop_dimension (Crop *crop, guint rank, guint d, gint64 from, float scale)
{
  double last = (double) (from + 2 * BORDER - 1), begin, step = 1 / (double) scale;

  if (scale == 1)
    {
      crop->region[rank + d] = 1;
      return;
    }
  crop->pads[d] = crop->pads[rank + d] = BORDER;
  begin = BORDER + 0.5 * step;
  crop->region[d] = (float) (begin / last);
  crop->region[rank + d] = (float) ((begin + (double) (crop->sizes[d] - 1) * step) / last);
}

static gboolean
read_crop (const CleaveOnnxNode *node, Crop *crop, GError **error)
{
  const CleaveShape *x = cleave_onnx_node_operand_shape (node, 0);
  g_autoptr (CleaveOnnxAttr) scales = x == NULL ? NULL : read_list (node, 2, x->rank);
  g_autoptr (CleaveOnnxAttr) sizes = x == NULL ? NULL : read_list (node, 3, x->rank);

  *crop = (Crop){ 0 };
  if ((scales == NULL) == (sizes == NULL))
    return cleave_onnx_node_fail (node, error,
                                  "it must have scales or sizes, one for each dimension");
  for (guint d = 0; d < x->rank; d++)
    {
      float scale = scales != NULL
                        ? (float) g_array_index (scales->floats, double, d)
                        : (float) g_array_index (sizes->ints, gint64, d) / (float) x->dim[d];

      if (!(scale > 0 && (float) x->dim[d] * scale < 0x1p31f))
        return cleave_onnx_node_fail (node, error, "dimension %u cannot be scaled by %g", d,
                                      (double) scale);
      crop->sizes[d] = sizes != NULL ? g_array_index (sizes->ints, gint64, d)
                                     : (gint64) ((float) x->dim[d] * scale);
      crop_dimension (crop, x->rank, d, x->dim[d], scale);
    }
  return TRUE;
}

/* For a Resize of mode linear or cubic, replaces the coordinates tf_half_pixel_for_nn by
 * tf_crop_and_resize. An operand `roi` shifts the positions as tf_half_pixel_for_nn does. Pads
 * repeat the border of the operand, so that the region `roi` lies inside the padded operand. */
static gboolean
shift_interpolated (CleaveOnnxNode *node, GError **error)
{
  const CleaveShape *x = cleave_onnx_node_operand_shape (node, 0);
  CleaveTensorType type;
  CleaveOnnxValue *padded;
  Crop crop;

  if (cleave_onnx_node_get_int (node, "exclude_outside", 0) != 0)
    return cleave_onnx_node_fail (node, error,
                                  "tf_half_pixel_for_nn with exclude_outside is not supported");
  if (!read_crop (node, &crop, error))
    return FALSE;
  type = CLEAVE_TYPE (CLEAVE_INT64, 2 * x->rank);
  padded = CLEAVE_ONNX_STEP ("Pad", ".padded", cleave_onnx_attr_new_string ("mode", "edge"),
                             cleave_onnx_node_operand (node, 0),
                             cleave_onnx_constant (node, &type, crop.pads));
  if (padded == NULL)
    return FALSE;
  cleave_onnx_node_set_operand (node, 0, padded);
  cleave_onnx_node_set_operand (node, 2, NULL);
  type.shape.dim[0] /= 2;
  cleave_onnx_node_set_operand (node, 3, cleave_onnx_constant (node, &type, crop.sizes));
  type = CLEAVE_TYPE (CLEAVE_FLOAT32, 2 * type.shape.dim[0]);
  cleave_onnx_node_set_operand (node, 1, cleave_onnx_constant (node, &type, crop.region));
  cleave_onnx_node_set_string (node, "coordinate_transformation_mode", "tf_crop_and_resize");
  return TRUE;
}

/* Removes the operand `roi` unless the mode is tf_crop_and_resize, the only mode that uses it.
 * Files also have a `roi` for other modes, sometimes with a wrong length. Before opset 13, also
 * replaces tf_half_pixel_for_nn. */
gboolean
cleave_onnx_upgrade_resize_11 (CleaveOnnxNode *node, GError **error)
{
  const CleaveOnnxAttr *coordinates =
      cleave_onnx_node_find (node, "coordinate_transformation_mode");
  const CleaveOnnxAttr *how = cleave_onnx_node_find (node, "mode");
  const char *mode = coordinates == NULL ? NULL : coordinates->string;
  gboolean is_nearest = how == NULL || g_strcmp0 (how->string, "nearest") == 0;

  if (g_strcmp0 (mode, "tf_crop_and_resize") != 0)
    cleave_onnx_node_set_operand (node, 1, NULL);
  if (g_strcmp0 (mode, "tf_half_pixel_for_nn") != 0 || node->import->opset >= 13)
    return TRUE;
  return is_nearest ? shift_nearest (node, error) : shift_interpolated (node, error);
}

/* Upgrades RoiAlign before opset 16, whose coordinates are not shifted by half a pixel. */
gboolean
cleave_onnx_upgrade_roi_align (CleaveOnnxNode *node, GError **error)
{
  if (cleave_onnx_node_find (node, "coordinate_transformation_mode") == NULL)
    cleave_onnx_node_set_string (node, "coordinate_transformation_mode", "output_half_pixel");
  return TRUE;
}

gboolean
cleave_onnx_upgrade_upsample (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveOnnxAttr) scales = cleave_onnx_node_take (node, "scales");
  const CleaveOnnxAttr *mode = cleave_onnx_node_find (node, "mode");
  g_autofree float *floats = NULL;
  CleaveTensorType type;

  if (node->import->opset >= 10)
    return cleave_onnx_node_fail_op (node, error);
  if (scales != NULL)
    {
      floats = cleave_onnx_attr_dup_floats (scales);
      type = CLEAVE_TYPE (CLEAVE_FLOAT32, scales->floats->len);
      cleave_onnx_node_set_operand (node, 1, cleave_onnx_constant (node, &type, floats));
    }
  if (mode != NULL && g_strcmp0 (mode->string, "bilinear") == 0)
    cleave_onnx_node_set_string (node, "mode", "linear");
  node->op = "Resize";
  return cleave_onnx_upgrade_resize (node, error);
}
