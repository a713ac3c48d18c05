/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Functions that upgrades use to add nodes (steps), to make constants, and to read operands and
 * attributes. import/node.h declares these functions. */

#include "upgrades.h"

#include "../../ops/move.h"
#include "../../ops/reference.h"

CleaveOnnxValue *
cleave_onnx_step (CleaveOnnxNode *node,
                  const char *op,
                  const char *suffix,
                  CleaveOnnxValue *const *operands,
                  guint n_operands,
                  CleaveOnnxAttr *attr,
                  GError **error)
{
  g_autofree char *name = g_strconcat (node->name, suffix, NULL);
  g_autoptr (CleaveOnnxNode) made = cleave_onnx_node_new (node->import, op, name, 1);

  if (attr != NULL)
    g_ptr_array_add (made->attrs, attr);
  if (error != NULL && *error != NULL) /* an earlier step has failed and has set the error */
    return NULL;
  for (guint i = 0; i < n_operands; i++)
    {
      if (operands[i] == NULL)
        return NULL;
      cleave_onnx_node_set_operand (made, i, operands[i]);
    }
  return cleave_onnx_node_make (made, error) ? made->values->pdata[0] : NULL;
}

CleaveOnnxValue *
cleave_onnx_real (CleaveOnnxNode *node, CleaveElement element, double number)
{
  CleaveTensor *tensor = cleave_tensor_new (&CLEAVE_SCALAR (element), NULL);

  cleave_real_store (element, cleave_tensor_get_mutable_data (tensor), number);
  return cleave_onnx_value_new_constant (node->import, NULL, tensor);
}

CleaveOnnxValue *
cleave_onnx_constant (CleaveOnnxNode *node, const CleaveTensorType *type, gconstpointer data)
{
  return cleave_onnx_value_new_constant (node->import, NULL,
                                         cleave_tensor_new_copy (type, data, NULL));
}

CleaveOnnxValue *
cleave_onnx_node_reshape (CleaveOnnxNode *node,
                          CleaveOnnxValue *value,
                          const CleaveShape *shape,
                          const char *suffix,
                          GError **error)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT64, shape->rank);

  return CLEAVE_ONNX_STEP ("Reshape", suffix, cleave_onnx_attr_new_int ("allowzero", 1), value,
                           cleave_onnx_constant (node, &type, shape->dim));
}

void
cleave_onnx_fill (CleaveTensor *tensor, double number)
{
  CleaveView view = cleave_view_tensor (tensor);
  guint64 bytes;

  cleave_move_from_double (view.type.element, number, &bytes);
  cleave_move_fill (&view, &bytes);
}

gboolean
cleave_onnx_finish (CleaveOnnxNode *node, CleaveOnnxValue *value)
{
  node->values = g_ptr_array_new ();
  g_ptr_array_add (node->values, value);
  return value != NULL;
}

gboolean
cleave_onnx_finish_all (CleaveOnnxNode *node, CleaveOnnxValue *const *values, guint n_values)
{
  gboolean all = cleave_onnx_finish (node, values[0]);

  for (guint i = 1; all && i < MIN (n_values, node->n_results); i++)
    {
      g_ptr_array_add (node->values, values[i]);
      all = values[i] != NULL;
    }
  return all;
}

static gint64
int_of (const CleaveOnnxAttr *value, gint64 fallback)
{
  return value == NULL || value->ints->len != 1 ? fallback : g_array_index (value->ints, gint64, 0);
}

gint64
cleave_onnx_node_get_int (const CleaveOnnxNode *node, const char *attr, gint64 fallback)
{
  return int_of (cleave_onnx_node_find (node, attr), fallback);
}

gint64
cleave_onnx_node_take_int (CleaveOnnxNode *node, const char *attr, gint64 fallback)
{
  g_autoptr (CleaveOnnxAttr) value = cleave_onnx_node_take (node, attr);

  return int_of (value, fallback);
}

double
cleave_onnx_node_take_real (CleaveOnnxNode *node, const char *attr, double fallback)
{
  g_autoptr (CleaveOnnxAttr) value = cleave_onnx_node_take (node, attr);

  if (value != NULL && value->ints->len == 1) /* some files have an integer for a float attribute */
    return (double) g_array_index (value->ints, gint64, 0);
  return value == NULL || value->floats->len != 1 ? fallback
                                                  : g_array_index (value->floats, double, 0);
}

CleaveOnnxAttr *
cleave_onnx_node_read_numbers (CleaveOnnxNode *node,
                               guint operand,
                               const char *what,
                               GError **error)
{
  CleaveOnnxValue *value = cleave_onnx_node_operand (node, operand);

  if (cleave_onnx_value_constant (node->import, value) != NULL)
    return cleave_onnx_attr_of_tensor (what, value->constant);
  return cleave_onnx_node_fail_null (node, error, "%s %s", what,
                                     cleave_onnx_why_unknown (node->import, value));
}

float *
cleave_onnx_attr_dup_floats (const CleaveOnnxAttr *attr)
{
  float *floats = g_new (float, attr->floats->len + 1);

  for (guint i = 0; i < attr->floats->len; i++)
    floats[i] = (float) g_array_index (attr->floats, double, i);
  return floats;
}

void
cleave_onnx_node_set_string (CleaveOnnxNode *node, const char *attr, const char *value)
{
  cleave_onnx_attr_free (cleave_onnx_node_take (node, attr));
  g_ptr_array_add (node->attrs, cleave_onnx_attr_new_string (attr, value));
}

CleaveOnnxValue *
cleave_onnx_pass_on (CleaveOnnxNode *node, CleaveOnnxValue *value, GError **error)
{
  return CLEAVE_ONNX_STEP ("Identity", "", NULL, value);
}
