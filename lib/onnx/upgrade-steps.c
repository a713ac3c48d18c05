/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Steps: the nodes of which an upgrade makes what one node of the file says. */

#include "import.h"

#include "../ops/reference.h"

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
