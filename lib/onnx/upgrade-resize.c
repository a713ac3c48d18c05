/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Resize, which was Upsample. */

#include "import.h"

static void
set_old_coordinates (CleaveOnnxNode *node)
{
  g_ptr_array_add (node->attrs,
                   cleave_onnx_attr_new_string ("coordinate_transformation_mode", "asymmetric"));
  g_ptr_array_add (node->attrs, cleave_onnx_attr_new_string ("nearest_mode", "floor"));
}

gboolean
cleave_onnx_upgrade_resize (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxValue *scales = cleave_onnx_node_operand (node, 1);

  cleave_onnx_node_set_operand (node, 1, NULL);
  cleave_onnx_node_set_operand (node, 2, scales);
  set_old_coordinates (node);
  return TRUE;
}

/* Opsets 11 and 12 have coordinates that are half an element more than those of half_pixel: what is
 * nearest to them is what a half_pixel rounds to in another way. */
static gboolean
shift_half_pixel (CleaveOnnxNode *node, GError **error)
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

/* The region is for one kind of coordinates alone; files give it all the same, and then too much of
 * it. */
gboolean
cleave_onnx_upgrade_resize_11 (CleaveOnnxNode *node, GError **error)
{
  const CleaveOnnxAttr *coordinates =
      cleave_onnx_node_find (node, "coordinate_transformation_mode");
  const char *mode = coordinates == NULL ? NULL : coordinates->string;

  if (g_strcmp0 (mode, "tf_crop_and_resize") != 0)
    cleave_onnx_node_set_operand (node, 1, NULL);
  if (g_strcmp0 (mode, "tf_half_pixel_for_nn") == 0 && node->import->opset < 13)
    return shift_half_pixel (node, error);
  return TRUE;
}

gboolean
cleave_onnx_upgrade_upsample (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveOnnxAttr) scales = cleave_onnx_node_take (node, "scales");
  CleaveOnnxAttr *mode = cleave_onnx_node_find (node, "mode");
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
    {
      g_free (mode->string);
      mode->string = g_strdup ("linear");
    }
  node->op = "Resize";
  return cleave_onnx_upgrade_resize (node, error);
}
