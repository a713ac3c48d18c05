/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Upgrades QuantizeLinear and DequantizeLinear of opsets 19 to 24. Opset 17 lacks their blocks,
 * 16-bit scales, and the attribute for the result type. */

#include "contrib.h"

enum { X, SCALE, ZERO, N_OPERANDS };

/* Adds a zero point of 0 if the node has none. The zero point has the result type, whose ONNX
 * number is `number`. */
static gboolean
make_zero (CleaveOnnxNode *node, gint64 number, GError **error)
{
  const CleaveOnnxValue *scale = cleave_onnx_node_operand (node, SCALE);
  CleaveElement element;
  CleaveTensorType type;

  if (number == 0 || cleave_onnx_node_operand (node, ZERO) != NULL)
    return TRUE;
  if (!cleave_onnx_element (number, &element, error))
    return FALSE;
  type = (CleaveTensorType){ element, cleave_onnx_value_type (scale)->shape };
  cleave_onnx_node_set_operand (
      node, ZERO,
      cleave_onnx_value_new_constant (node->import, NULL, cleave_tensor_new (&type, NULL)));
  return TRUE;
}

/* Converts an operand of 16-bit floats to float32, since QuantizeLinear and DequantizeLinear
 * compute in float32. */
static gboolean
widen (CleaveOnnxNode *node, guint operand, const char *suffix, GError **error)
{
  CleaveOnnxValue *value = cleave_onnx_node_operand (node, operand);
  CleaveElement element = cleave_onnx_value_type (value)->element;

  if (element != CLEAVE_FLOAT16 && element != CLEAVE_BFLOAT16)
    return TRUE;
  value = cleave_onnx_cast (node, value, CLEAVE_FLOAT32, suffix, error);
  if (value != NULL)
    cleave_onnx_node_set_operand (node, operand, value);
  return value != NULL;
}

/* The functions below add a QuantizeLinear or DequantizeLinear with one scale for each block. */

/* Returns an operand reshaped to `rows`, after its blocked axis was moved to the end. So the data
 * gets one row for each block, and scales and zero points get one number for each block. */
static CleaveOnnxValue *
permute_blocks (CleaveOnnxNode *node,
                guint operand,
                const CleaveShape *order,
                const CleaveShape *rows,
                const char *suffix,
                GError **error)
{
  g_autofree char *name = g_strconcat (suffix, ".turned", NULL);
  CleaveOnnxValue *x = cleave_onnx_node_operand (node, operand);

  if (x != NULL)
    x = cleave_onnx_permute (node, x, order, name, error);
  return cleave_onnx_reshape (node, x, rows, suffix, error);
}

/* Computes the shape that the scales must have, and checks scales and zero points. The last block
 * may be shorter. */
static gboolean
check_blocks (CleaveOnnxNode *node, gint64 axis, gint64 block, CleaveShape *scales, GError **error)
{
  gint64 extent;

  *scales = *cleave_onnx_node_operand_shape (node, X);
  if (axis < 0 || axis >= scales->rank || block < 1)
    return cleave_onnx_node_fail (
        node, error, "block_size must be at least 1, and its axis within rank %u", scales->rank);
  extent = scales->dim[axis];
  scales->dim[axis] = extent / block + (extent % block != 0 ? 1 : 0);
  return cleave_onnx_expect (node, "the scale", cleave_onnx_node_operand (node, SCALE), scales,
                             error) &&
         (cleave_onnx_node_operand (node, ZERO) == NULL ||
          cleave_onnx_expect (node, "the zero point", cleave_onnx_node_operand (node, ZERO), scales,
                              error));
}

/* Pads `axis` with `missing` zeros, so that the last block has its full length. */
static gboolean
fill_block (CleaveOnnxNode *node, gint64 axis, gint64 missing, GError **error)
{
  const CleaveShape *x = cleave_onnx_node_operand_shape (node, X);
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT64, 2 * x->rank);
  gint64 pads[2 * CLEAVE_MAX_RANK] = { 0 };
  CleaveOnnxValue *filled;

  pads[x->rank + axis] = missing;
  filled = CLEAVE_ONNX_STEP ("Pad", ".filled", NULL, cleave_onnx_node_operand (node, X),
                             cleave_onnx_constant (node, &type, pads));
  if (filled != NULL)
    cleave_onnx_node_set_operand (node, X, filled);
  return filled != NULL;
}

/* Adds a node of the same op, QuantizeLinear or DequantizeLinear, for a node with blocks. The data
 * becomes a matrix with a row for each block and a scale for each row. Returns the result in the
 * original shape, or NULL on error. */
static CleaveOnnxValue *
do_blocks (CleaveOnnxNode *node, gint64 axis, gint64 block, GError **error)
{
  CleaveShape x = *cleave_onnx_node_operand_shape (node, X), scales, order = { .rank = x.rank },
              back = order, shape = x;
  gint64 extent, missing;
  gboolean has_zeros = cleave_onnx_node_operand (node, ZERO) != NULL;
  CleaveOnnxValue *operands[N_OPERANDS];
  gint64 n;

  axis += axis < 0 ? x.rank : 0;
  if (!check_blocks (node, axis, block, &scales, error))
    return NULL;
  extent = x.dim[axis];
  missing = scales.dim[axis] * block - extent;
  if (missing > 0 && !fill_block (node, axis, missing, error))
    return NULL;
  x.dim[axis] += missing;
  for (guint d = 0, to = 0; d < x.rank; d++)
    order.dim[d == axis ? x.rank - 1 : to++] = d;
  for (guint d = 0; d < x.rank; d++)
    {
      shape.dim[d] = x.dim[order.dim[d]];
      back.dim[order.dim[d]] = d;
    }
  n = cleave_shape_n_elements (&scales);
  operands[X] = permute_blocks (node, X, &order, &CLEAVE_SHAPE (n, block), ".blocks", error);
  operands[SCALE] = permute_blocks (node, SCALE, &order, &CLEAVE_SHAPE (n), ".scales", error);
  operands[ZERO] = permute_blocks (node, ZERO, &order, &CLEAVE_SHAPE (n), ".zeros", error);
  operands[X] = cleave_onnx_step (node, node->op, ".rows", operands, has_zeros ? 3 : 2,
                                  cleave_onnx_attr_new_int ("axis", 0), error);
  operands[X] = cleave_onnx_reshape (node, operands[X], &shape, ".shaped", error);
  operands[X] = cleave_onnx_permute (node, operands[X], &back, "", error);
  if (missing == 0 || operands[X] == NULL)
    return operands[X];
  return cleave_onnx_slice (node, operands[X], axis, (CleaveSpan){ 0, extent }, ".cut", error);
}

/* The functions below upgrade QuantizeLinear, DequantizeLinear and QLinearMatMul. */

gboolean
cleave_onnx_upgrade_quantize_21 (CleaveOnnxNode *node, GError **error)
{
  gint64 number = cleave_onnx_node_take_int (node, "output_dtype", 0),
         precision = cleave_onnx_node_take_int (node, "precision", 0),
         block = cleave_onnx_node_take_int (node, "block_size", 0);
  const CleaveOnnxValue *scale = cleave_onnx_node_operand (node, SCALE);

  cleave_onnx_node_take_int (node, "saturate", 1); /* ignored: concerns only 8-bit floats */
  if (!cleave_onnx_node_need (node, 2, error))
    return FALSE;
  if (precision != 0 &&
      precision != cleave_onnx_element_number (cleave_onnx_value_type (scale)->element))
    return cleave_onnx_node_fail (node, error, "precision must be the type of the scale");
  if (!make_zero (node, number, error) || !widen (node, X, ".x.float", error) ||
      !widen (node, SCALE, ".scale.float", error))
    return FALSE;
  return block == 0 ||
         cleave_onnx_finish (
             node, do_blocks (node, cleave_onnx_node_take_int (node, "axis", 1), block, error));
}

/* Adds a DequantizeLinear with a result of 16-bit floats: computes in float32, and rounds. */
static gboolean
dequantize_short (CleaveOnnxNode *node, CleaveElement element, gint64 block, GError **error)
{
  gint64 axis = cleave_onnx_node_take_int (node, "axis", 1);
  CleaveOnnxValue *y;

  if (!widen (node, SCALE, ".scale.float", error))
    return FALSE;
  if (block != 0)
    y = do_blocks (node, axis, block, error);
  else
    y = cleave_onnx_step (node, node->op, ".float", (CleaveOnnxValue **) node->operands->pdata,
                          cleave_onnx_node_operand (node, ZERO) == NULL ? ZERO : N_OPERANDS,
                          cleave_onnx_attr_new_int ("axis", axis), error);
  return cleave_onnx_finish (node,
                             y == NULL ? NULL : cleave_onnx_cast (node, y, element, ".y", error));
}

/* Checks that the zero point of an op on 8-bit floats is absent or all 0. Sets the error if not. */
static gboolean
check_zero (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveOnnxAttr) zero = NULL;

  if (cleave_onnx_node_operand (node, ZERO) == NULL)
    return TRUE;
  zero = cleave_onnx_node_read_numbers (node, ZERO, "the zero point", error);
  if (zero == NULL)
    return FALSE;
  for (guint i = 0; i < zero->floats->len; i++)
    if (g_array_index (zero->floats, double, i) != 0)
      return cleave_onnx_node_fail (node, error, "the zero point of floats must be 0");
  return TRUE;
}

/* Upgrades a DequantizeLinear of 8-bit floats, which are 32-bit floats in the graph: multiplies
 * them by the scale. */
static gboolean
dequantize_float8 (CleaveOnnxNode *node, CleaveElement element, gint64 block, GError **error)
{
  gint64 axis = cleave_onnx_node_take_int (node, "axis", 1);
  CleaveOnnxValue *x = cleave_onnx_node_operand (node, X);
  CleaveOnnxValue *scale = cleave_onnx_node_operand (node, SCALE);
  const CleaveShape *data = cleave_onnx_value_shape (x), *numbers = cleave_onnx_value_shape (scale);
  CleaveShape shape = { .rank = data->rank };

  if (block != 0)
    return cleave_onnx_node_fail (node, error, "blocks of 8-bit floats are not supported");
  if (!check_zero (node, error) || !cleave_onnx_node_check_no_attrs (node, error))
    return FALSE;
  axis += axis < 0 ? data->rank : 0;
  if (numbers->rank == 1 &&
      (axis < 0 || axis >= (gint64) data->rank || numbers->dim[0] != data->dim[axis]))
    return cleave_onnx_node_fail (node, error, "its scales do not fit its axis");
  if (numbers->rank > 1)
    return cleave_onnx_node_fail (node, error, "its scale has rank %u, not 0 or 1", numbers->rank);
  for (guint d = 0; d < shape.rank; d++)
    shape.dim[d] = d == (guint) axis ? numbers->dim[0] : 1;
  if (element != CLEAVE_FLOAT32)
    x = cleave_onnx_cast (node, x, element, ".float", error);
  if (x != NULL && numbers->rank == 1)
    scale = cleave_onnx_reshape (node, scale, &shape, ".scale", error);
  return cleave_onnx_finish (node, CLEAVE_ONNX_STEP ("Mul", "", NULL, x, scale));
}

gboolean
cleave_onnx_upgrade_dequantize_21 (CleaveOnnxNode *node, GError **error)
{
  gint64 number = cleave_onnx_node_take_int (node, "output_dtype", 0),
         block = cleave_onnx_node_take_int (node, "block_size", 0);
  CleaveElement element;

  if (!cleave_onnx_node_need (node, 2, error))
    return FALSE;
  element = cleave_onnx_value_type (cleave_onnx_node_operand (node, SCALE))->element;
  if (number != 0 && number != cleave_onnx_element_number (element))
    return cleave_onnx_node_fail (node, error, "output_dtype must be the type of the scale");
  if (((CleaveOnnxValue *) cleave_onnx_node_operand (node, X))->form == CLEAVE_ONNX_FORM_FLOAT8)
    return dequantize_float8 (node, element, block, error);
  if (element == CLEAVE_FLOAT16 || element == CLEAVE_BFLOAT16)
    return dequantize_short (node, element, block, error);
  return block == 0 ||
         cleave_onnx_finish (
             node, do_blocks (node, cleave_onnx_node_take_int (node, "axis", 1), block, error));
}

/* Upgrades QLinearMatMul of opset 21: converts 16-bit scales to float32. */
gboolean
cleave_onnx_upgrade_qlinear_matmul_21 (CleaveOnnxNode *node, GError **error)
{
  static const struct
  {
    guint operand;
    const char *suffix;
  } scales[] = { { 1, ".a.float" }, { 4, ".b.float" }, { 6, ".y.float" } };

  for (guint i = 0; i < G_N_ELEMENTS (scales); i++)
    if (cleave_onnx_node_operand (node, scales[i].operand) != NULL &&
        !widen (node, scales[i].operand, scales[i].suffix, error))
      return FALSE;
  return TRUE;
}
