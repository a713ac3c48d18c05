/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Upgrades ops of opsets 1 to 11 whose operands, attributes or results have other types or another
 * order than in opset 17. */

#include "contrib.h"

#include <math.h>

/* Upgrades Cast, whose attribute `to` is the name of an element type, such as "FLOAT16". */
gboolean
cleave_onnx_upgrade_cast_1 (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveOnnxAttr) to = cleave_onnx_node_take (node, "to");
  g_autofree char *name = NULL;
  const ProtobufCEnumValue *type;

  if (to == NULL || to->string == NULL)
    return cleave_onnx_node_fail (node, error,
                                  "its attribute 'to' must name an element type, such as FLOAT");
  name = g_ascii_strup (to->string, -1);
  type = protobuf_c_enum_descriptor_get_value_by_name (&onnx__tensor_proto__data_type__descriptor,
                                                       name);
  if (type == NULL)
    return cleave_onnx_node_fail (
        node, error, "its attribute 'to' does not name an element type: '%s'", to->string);
  g_ptr_array_add (node->attrs, cleave_onnx_attr_new_int ("to", type->value));
  return TRUE;
}

/* Upgrades Dropout. Before opset 10, its mask has the type of the operand. Before opset 12, ONNX
 * Runtime fills the mask with zeros. */
gboolean
cleave_onnx_upgrade_dropout_1 (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxValue *x = cleave_onnx_node_operand (node, 0), *values[2];
  CleaveElement element;
  CleaveTensorType shape;

  if (x == NULL || node->n_results < 2)
    return TRUE;
  cleave_onnx_node_take_real (node, "ratio", 0.5);
  if (!cleave_onnx_node_check_no_attrs (node, error))
    return FALSE;
  element = node->import->opset < 10 ? cleave_onnx_value_type (x)->element : CLEAVE_BOOL;
  shape = CLEAVE_TYPE (CLEAVE_INT64, cleave_onnx_value_shape (x)->rank);
  values[0] = CLEAVE_ONNX_STEP ("Identity", "", NULL, x);
  values[1] =
      CLEAVE_ONNX_STEP ("Expand", ".mask", NULL, cleave_onnx_real (node, element, 0),
                        cleave_onnx_constant (node, &shape, cleave_onnx_value_shape (x)->dim));
  return cleave_onnx_finish_all (node, values, 2);
}

/* Upgrades GlobalLpPool of opset 1, whose exponent p is a float. */
gboolean
cleave_onnx_upgrade_power_1 (CleaveOnnxNode *node, GError **error)
{
  double p = cleave_onnx_node_take_real (node, "p", 2);

  if (!(p == floor (p) && fabs (p) < 0x1p31))
    return cleave_onnx_node_fail (node, error, "p must be a whole number, not %g", p);
  g_ptr_array_add (node->attrs, cleave_onnx_attr_new_int ("p", (gint64) p));
  return TRUE;
}

gboolean
cleave_onnx_upgrade_lp_pool_1 (CleaveOnnxNode *node, GError **error)
{
  return cleave_onnx_upgrade_power_1 (node, error) && cleave_onnx_upgrade_pool (node, error);
}

/* Upgrades Selu of opset 1, whose default constants have only five digits. */
gboolean
cleave_onnx_upgrade_selu_1 (CleaveOnnxNode *node, GError **error)
{
  if (cleave_onnx_node_find (node, "alpha") == NULL)
    g_ptr_array_add (node->attrs, cleave_onnx_attr_new_real ("alpha", 1.6732f));
  if (cleave_onnx_node_find (node, "gamma") == NULL)
    g_ptr_array_add (node->attrs, cleave_onnx_attr_new_real ("gamma", 1.0507f));
  return TRUE;
}

/* Reads a constant operand of any number type as integers. Returns NULL on error; a number with a
 * fraction is an error. */
static CleaveOnnxAttr *
read_whole_numbers (CleaveOnnxNode *node, guint operand, const char *what, GError **error)
{
  g_autoptr (CleaveOnnxAttr) numbers = cleave_onnx_node_read_numbers (node, operand, what, error);

  for (guint i = 0; numbers != NULL && numbers->ints->len < numbers->floats->len; i++)
    {
      double number = g_array_index (numbers->floats, double, i);
      gint64 whole = (gint64) CLAMP (number, -0x1p62, 0x1p62);

      if ((double) whole != number)
        return cleave_onnx_node_fail_null (node, error, "%s must be whole numbers, not %g", what,
                                           number);
      g_array_append_val (numbers->ints, whole);
    }
  return g_steal_pointer (&numbers);
}

/* Upgrades Split of opset 1. Its sizes may be an operand, which then has the element type of the
 * data. */
gboolean
cleave_onnx_upgrade_split_1 (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveOnnxAttr) sizes = NULL;
  CleaveTensorType type;

  if (cleave_onnx_node_operand (node, 1) == NULL)
    return TRUE;
  sizes = read_whole_numbers (node, 1, "split", error);
  if (sizes == NULL)
    return FALSE;
  type = CLEAVE_TYPE (CLEAVE_INT64, sizes->ints->len);
  cleave_onnx_node_set_operand (node, 1, cleave_onnx_constant (node, &type, sizes->ints->data));
  return TRUE;
}

/* Upgrades Tile of opset 1, which repeats one axis. Operand 1 is the number of repetitions, operand
 * 2 the axis. */
gboolean
cleave_onnx_upgrade_tile_1 (CleaveOnnxNode *node, GError **error)
{
  gint64 repeats[CLEAVE_MAX_RANK] = { 1, 1, 1, 1, 1, 1, 1, 1 }, axis;
  const CleaveShape *x = cleave_onnx_node_operand_shape (node, 0);
  g_autoptr (CleaveOnnxAttr) tiles = NULL, along = NULL;
  CleaveTensorType type;

  if (!cleave_onnx_node_need (node, 3, error))
    return FALSE;
  if ((tiles = read_whole_numbers (node, 1, "tiles", error)) == NULL ||
      (along = read_whole_numbers (node, 2, "axis", error)) == NULL)
    return FALSE;
  if (tiles->ints->len != 1 || along->ints->len != 1)
    return cleave_onnx_node_fail (node, error, "tiles and axis must be one number each");
  axis = g_array_index (along->ints, gint64, 0);
  axis += axis < 0 ? x->rank : 0;
  if (axis < 0 || axis >= x->rank)
    return cleave_onnx_node_fail (node, error, "axis %" G_GINT64_FORMAT " does not fit rank %u",
                                  g_array_index (along->ints, gint64, 0), x->rank);
  repeats[axis] = g_array_index (tiles->ints, gint64, 0);
  type = CLEAVE_TYPE (CLEAVE_INT64, x->rank);
  cleave_onnx_node_set_operand (node, 1, cleave_onnx_constant (node, &type, repeats));
  g_ptr_array_set_size (node->operands, 2);
  return TRUE;
}

/* Upgrades Upsample of opset 1. Its scales are two attributes, one for height and one for width. */
gboolean
cleave_onnx_upgrade_upsample_1 (CleaveOnnxNode *node, GError **error)
{
  const char *const names[] = { "height_scale", "width_scale" };
  CleaveOnnxAttr *scales =
      cleave_onnx_attr_new ("scales", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS);
  const double one = 1;

  g_ptr_array_add (node->attrs, scales);
  g_array_append_val (scales->floats, one);
  g_array_append_val (scales->floats, one);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      double scale = cleave_onnx_node_take_real (node, names[i], NAN);

      if (isnan (scale))
        return cleave_onnx_node_fail (node, error, "it has no %s", names[i]);
      g_array_append_val (scales->floats, scale);
    }
  return cleave_onnx_upgrade_upsample (node, error);
}
