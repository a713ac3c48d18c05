/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Upgrades ops of later opsets that opset 17 can express by several ops: activations,
 * normalizations, and CenterCropPad. */

#include "contrib.h"

#include <string.h>

#define SQRT_2 1.4142135623730951
#define SQRT_2_OVER_PI 0.7978845608028654

static CleaveElement
element_of (const CleaveOnnxValue *value)
{
  return cleave_onnx_value_type (value)->element;
}

static CleaveOnnxValue *
with_real (CleaveOnnxNode *node,
           const char *op,
           const char *suffix,
           CleaveOnnxValue *x,
           double number,
           GError **error)
{
  return x == NULL ? NULL
                   : CLEAVE_ONNX_STEP (op, suffix, NULL, x,
                                       cleave_onnx_real (node, element_of (x), number));
}

static CleaveOnnxValue *
need (const CleaveOnnxNode *node, guint operand, GError **error)
{
  CleaveOnnxValue *value = cleave_onnx_node_operand (node, operand);

  if (value == NULL)
    cleave_onnx_node_fail (node, error, "operand %u is missing", operand);
  return value;
}

/* The functions below upgrade activations that opset 17 lacks. */

gboolean
cleave_onnx_upgrade_mish (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxValue *x = need (node, 0, error), *y;

  y = x == NULL ? NULL : CLEAVE_ONNX_STEP ("Softplus", ".softplus", NULL, x);
  y = CLEAVE_ONNX_STEP ("Tanh", ".tanh", NULL, y);
  return cleave_onnx_finish (node, CLEAVE_ONNX_STEP ("Mul", "", NULL, x, y));
}

gboolean
cleave_onnx_upgrade_swish (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxValue *x = need (node, 0, error), *y = x;
  double alpha = cleave_onnx_node_take_real (node, "alpha", 1);

  if (alpha != 1)
    y = with_real (node, "Mul", ".alpha", x, alpha, error);
  y = CLEAVE_ONNX_STEP ("Sigmoid", ".sigmoid", NULL, y);
  return cleave_onnx_finish (node, CLEAVE_ONNX_STEP ("Mul", "", NULL, x, y));
}

/* Returns (x + 0.044715 x³) · √(2 / π), the argument of tanh in Gelu. */
static CleaveOnnxValue *
add_cube (CleaveOnnxNode *node, CleaveOnnxValue *x, GError **error)
{
  CleaveOnnxValue *y = CLEAVE_ONNX_STEP ("Mul", ".square", NULL, x, x);

  y = CLEAVE_ONNX_STEP ("Mul", ".cube", NULL, y, x);
  y = with_real (node, "Mul", ".part", y, 0.044715, error);
  y = CLEAVE_ONNX_STEP ("Add", ".sum", NULL, x, y);
  return with_real (node, "Mul", ".scaled", y, SQRT_2_OVER_PI, error);
}

CleaveOnnxValue *
cleave_onnx_gelu (CleaveOnnxNode *node, CleaveOnnxValue *x, gboolean by_tanh, GError **error)
{
  CleaveOnnxValue *y;

  if (x == NULL)
    return NULL;
  y = by_tanh ? add_cube (node, x, error) : with_real (node, "Div", ".scaled", x, SQRT_2, error);
  y = CLEAVE_ONNX_STEP (by_tanh ? "Tanh" : "Erf", by_tanh ? ".tanh" : ".erf", NULL, y);
  y = with_real (node, "Add", ".plus", y, 1, error);
  y = CLEAVE_ONNX_STEP ("Mul", ".twice", NULL, x, y);
  return with_real (node, "Mul", "", y, 0.5, error);
}

gboolean
cleave_onnx_upgrade_gelu (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveOnnxAttr) kind = cleave_onnx_node_take (node, "approximate");
  gboolean by_tanh = kind != NULL && g_strcmp0 (kind->string, "tanh") == 0;

  if (kind != NULL && !by_tanh && g_strcmp0 (kind->string, "none") != 0)
    return cleave_onnx_node_fail (node, error, "approximate is neither none nor tanh");
  return cleave_onnx_finish (node, cleave_onnx_gelu (node, need (node, 0, error), by_tanh, error));
}

/* The functions below upgrade normalizations that opset 17 lacks. */

/* Returns the result of the op `op` on `x` and an operand that has one element for each channel.
 * Broadcasts the operand over the dimensions after the channels. */
static CleaveOnnxValue *
by_channel (CleaveOnnxNode *node,
            const char *op,
            const char *suffix,
            CleaveOnnxValue *x,
            guint operand,
            GError **error)
{
  CleaveOnnxValue *value = need (node, operand, error);
  CleaveShape shape = { .dim = { 1, 1, 1, 1, 1, 1, 1, 1 } };
  g_autofree char *name = g_strconcat (suffix, ".shaped", NULL);

  if (x == NULL || value == NULL)
    return NULL;
  shape.rank = cleave_onnx_value_type (x)->shape.rank - 1;
  shape.dim[0] = cleave_onnx_value_type (x)->shape.dim[1];
  value = cleave_onnx_node_reshape (node, value, &shape, name, error);
  return CLEAVE_ONNX_STEP (op, suffix, NULL, x, value);
}

static CleaveOnnxValue *
list_of (CleaveOnnxNode *node, CleaveElement element, gint64 n, double number)
{
  CleaveTensor *tensor = cleave_tensor_new (&CLEAVE_TYPE (element, n), NULL);

  cleave_onnx_fill (tensor, number);
  return cleave_onnx_value_new_constant (node->import, NULL, tensor);
}

/* Upgrades GroupNormalization to an InstanceNormalization in which each group is a channel. Since
 * opset 21, scale and bias have an element for each channel, not for each group, and are applied
 * after the normalization. */
gboolean
cleave_onnx_upgrade_group_norm (CleaveOnnxNode *node, GError **error)
{
  gint64 n_groups = cleave_onnx_node_take_int (node, "num_groups", 0);
  CleaveOnnxAttr *epsilon = cleave_onnx_node_take (node, "epsilon");
  CleaveOnnxValue *x = need (node, 0, error), *y, *scale, *bias;
  gboolean by_group = node->import->opset < 21;
  CleaveShape shape, grouped;

  cleave_onnx_node_take_int (node, "stash_type", 1);
  if (x == NULL || n_groups < 1 || cleave_onnx_value_type (x)->shape.rank < 3 ||
      cleave_onnx_value_type (x)->shape.dim[1] % n_groups != 0 ||
      n_groups > cleave_onnx_value_type (x)->shape.dim[1])
    {
      cleave_onnx_attr_free (epsilon);
      return cleave_onnx_node_fail (node, error, "its channels are not a multiple of num_groups");
    }
  shape = cleave_onnx_value_type (x)->shape;
  grouped = CLEAVE_SHAPE (shape.dim[0], n_groups, shape.dim[1] / n_groups);
  for (guint d = 2; d < shape.rank; d++)
    grouped.dim[2] *= shape.dim[d];
  scale = by_group ? need (node, 1, error) : list_of (node, element_of (x), n_groups, 1);
  bias = by_group ? need (node, 2, error) : list_of (node, element_of (x), n_groups, 0);
  y = cleave_onnx_node_reshape (node, x, &grouped, ".grouped", error);
  y = CLEAVE_ONNX_STEP ("InstanceNormalization", ".normalized", epsilon, y, scale, bias);
  y = y == NULL ? NULL
                : cleave_onnx_node_reshape (node, y, &shape, by_group ? "" : ".channels", error);
  if (!by_group)
    y = by_channel (node, "Mul", ".scaled", y, 1, error);
  if (!by_group)
    y = by_channel (node, "Add", "", y, 2, error);
  return cleave_onnx_finish (node, y);
}

CleaveOnnxValue *
cleave_onnx_rms_norm (CleaveOnnxNode *node,
                      CleaveOnnxValue *x,
                      CleaveOnnxValue *scale,
                      gint64 axis,
                      double epsilon,
                      GError **error)
{
  CleaveElement element = element_of (x),
                stash = element == CLEAVE_FLOAT64 ? element : CLEAVE_FLOAT32;
  gint64 rank = cleave_onnx_value_type (x)->shape.rank;
  g_autoptr (GArray) axes = g_array_new (FALSE, FALSE, sizeof (gint64));
  CleaveOnnxValue *wide, *y;

  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis >= rank)
    return cleave_onnx_node_fail_null (node, error,
                                       "axis %" G_GINT64_FORMAT " does not fit rank %d",
                                       axis < 0 ? axis - rank : axis, (int) rank);
  for (; axis < rank; axis++)
    g_array_append_val (axes, axis);
  wide = cleave_onnx_cast (node, x, stash, ".wide", error);
  y = CLEAVE_ONNX_STEP ("Mul", ".square", NULL, wide, wide);
  y = CLEAVE_ONNX_STEP (
      "ReduceMean", ".mean",
      cleave_onnx_attr_new_ints ("axes", (const gint64 *) (gpointer) axes->data, axes->len), y);
  y = with_real (node, "Add", ".epsilon", y, epsilon, error);
  y = CLEAVE_ONNX_STEP ("Sqrt", ".root", NULL, y);
  y = CLEAVE_ONNX_STEP ("Div", ".normalized", NULL, wide, y);
  y = cleave_onnx_cast (node, y, element, ".narrow", error);
  return CLEAVE_ONNX_STEP ("Mul", "", NULL, y, scale);
}

gboolean
cleave_onnx_upgrade_rms_norm (CleaveOnnxNode *node, GError **error)
{
  gint64 axis = cleave_onnx_node_take_int (node, "axis", -1);
  double epsilon = cleave_onnx_node_take_real (node, "epsilon", (double) 1e-5f);
  CleaveOnnxValue *x = need (node, 0, error), *scale = x == NULL ? NULL : need (node, 1, error);

  if (cleave_onnx_node_take_int (node, "stash_type", 1) != 1)
    return cleave_onnx_node_fail (node, error, "stash_type must be 1, float32");
  return scale != NULL &&
         cleave_onnx_finish (node, cleave_onnx_rms_norm (node, x, scale, axis, epsilon, error));
}

/* CenterCropPad keeps the middle elements of each axis, or pads the axis with zeros at both ends.
 */

typedef struct
{
  gint64 starts[CLEAVE_MAX_RANK], ends[CLEAVE_MAX_RANK], pads[2 * CLEAVE_MAX_RANK];
} Center;

static gboolean
center_axis (CleaveOnnxNode *node, Center *center, gint64 axis, gint64 extent, GError **error)
{
  const CleaveShape *x = cleave_onnx_node_operand_shape (node, 0);
  gint64 before;

  axis += axis < 0 ? x->rank : 0;
  if (axis < 0 || axis >= x->rank || extent < 0)
    return cleave_onnx_node_fail (node, error, "its axes and its shape do not fit rank %u",
                                  x->rank);
  if (extent <= x->dim[axis])
    {
      center->starts[axis] = (x->dim[axis] - extent) / 2;
      center->ends[axis] = center->starts[axis] + extent;
      return TRUE;
    }
  before = (extent - x->dim[axis]) / 2;
  center->pads[axis] = before;
  center->pads[x->rank + axis] = extent - x->dim[axis] - before;
  return TRUE;
}

gboolean
cleave_onnx_upgrade_center_crop_pad (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveOnnxAttr) axes = cleave_onnx_node_take (node, "axes"), wanted = NULL;
  CleaveOnnxValue *x = need (node, 0, error), *shape = x == NULL ? NULL : need (node, 1, error), *y;
  CleaveTensorType type = { .element = CLEAVE_INT64 };
  const CleaveShape *from;
  Center center = { 0 };

  if (shape == NULL)
    return FALSE;
  wanted = cleave_onnx_node_read_numbers (node, 1, "shape", error);
  if (wanted == NULL)
    return FALSE;
  from = &cleave_onnx_value_type (x)->shape;
  if (wanted->ints->len != (axes == NULL ? from->rank : axes->ints->len))
    return cleave_onnx_node_fail (node, error, "shape has %u entries", wanted->ints->len);
  memcpy (center.ends, from->dim, sizeof from->dim);
  for (guint i = 0; i < wanted->ints->len; i++)
    if (!center_axis (node, &center, axes == NULL ? i : g_array_index (axes->ints, gint64, i),
                      g_array_index (wanted->ints, gint64, i), error))
      return FALSE;
  type.shape = CLEAVE_SHAPE (from->rank);
  y = CLEAVE_ONNX_STEP ("Slice", ".cropped", NULL, x,
                        cleave_onnx_constant (node, &type, center.starts),
                        cleave_onnx_constant (node, &type, center.ends));
  type.shape.dim[0] *= 2;
  y = CLEAVE_ONNX_STEP ("Pad", "", NULL, y, cleave_onnx_constant (node, &type, center.pads));
  return cleave_onnx_finish (node, y);
}
