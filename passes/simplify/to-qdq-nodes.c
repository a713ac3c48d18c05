/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Nodes between DequantizeLinear and QuantizeLinear: constants, conversions, and clamps. */

#include "to-qdq-nodes.h"

#include "../../lib/ir/defaults.h"

#include <math.h>

gint64
cleave_to_qdq_lowest (CleaveElement element)
{
  return -((gint64) 1 << (8 * cleave_element_size (element) - 1));
}

static gint64
highest (CleaveElement element)
{
  return -(cleave_to_qdq_lowest (element) + 1);
}

double
cleave_to_qdq_factor (gint64 multiplier, gint64 shift)
{
  return ldexp ((double) multiplier, (int) shift - 31);
}

CleaveResult *
cleave_to_qdq_add (const CleaveNode *node,
                   const char *op,
                   CleaveResult *const *operands,
                   guint n_operands,
                   gconstpointer attrs)
{
  CleaveNode *added;

  for (guint i = 0; i < n_operands; i++)
    if (operands[i] == NULL)
      return NULL;
  added = cleave_graph_add (node->graph, cleave_op_lookup (op), node->name, operands, n_operands, 1,
                            attrs, NULL);
  return added == NULL ? NULL : &added->results[0];
}

CleaveResult *
cleave_to_qdq_unary (const CleaveNode *node, const char *op, CleaveResult *x, gconstpointer attrs)
{
  return cleave_to_qdq_add (node, op, &x, 1, attrs);
}

CleaveResult *
cleave_to_qdq_binary (const CleaveNode *node, const char *op, CleaveResult *a, CleaveResult *b)
{
  return cleave_to_qdq_add (node, op, (CleaveResult *[]){ a, b }, 2, NULL);
}

CleaveResult *
cleave_to_qdq_constant (const CleaveNode *node, CleaveElement element, gint64 n, gconstpointer data)
{
  CleaveTensorType type = { element, { n == 0 ? 0 : 1, { n } } };
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new_copy (&type, data, NULL);

  return tensor == NULL ? NULL : cleave_graph_add_constant (node->graph, NULL, tensor);
}

CleaveResult *
cleave_to_qdq_integer (const CleaveNode *node, CleaveElement element, gint64 value)
{
  gint8 byte = (gint8) value;
  gint16 word = (gint16) value;
  gint32 whole = (gint32) value;

  return cleave_to_qdq_constant (node, element, 0,
                                 element == CLEAVE_INT8    ? (gconstpointer) &byte
                                 : element == CLEAVE_INT16 ? (gconstpointer) &word
                                                           : &whole);
}

CleaveElement
cleave_to_qdq_element (const CleaveResult *x)
{
  return cleave_result_get_type (x)->element;
}

CleaveResult *
cleave_to_qdq_dequantize (const CleaveNode *node, CleaveResult *x, double scale, gint64 zero)
{
  float value = (float) scale;

  return cleave_to_qdq_add (
      node, "DequantizeLinear",
      (CleaveResult *[]){ x, cleave_to_qdq_constant (node, CLEAVE_FLOAT32, 0, &value),
                          cleave_to_qdq_integer (node, cleave_to_qdq_element (x), zero) },
      3, &(CleaveAxisAttrs){ 0 });
}

CleaveResult *
cleave_to_qdq_quantize (const CleaveNode *node, CleaveResult *y, double scale, gint64 zero)
{
  float value = (float) scale;

  return cleave_to_qdq_add (
      node, "QuantizeLinear",
      (CleaveResult *[]){ y, cleave_to_qdq_constant (node, CLEAVE_FLOAT32, 0, &value),
                          cleave_to_qdq_integer (node, node->results[0].type.element, zero) },
      3, &(CleaveAxisAttrs){ 0 });
}

CleaveResult *
cleave_to_qdq_finish (const CleaveNode *node, CleaveResult *y, gint64 zero, gint64 min, gint64 max)
{
  CleaveElement element = node->results[0].type.element;
  CleaveClipAttrs clip = { (double) (min - zero), (double) (max - zero) };

  if (min > cleave_to_qdq_lowest (element) || max < highest (element))
    y = cleave_to_qdq_unary (node, "Clip", y, &clip);
  return cleave_to_qdq_quantize (node, y, 1, zero);
}

CleaveTensor *
cleave_to_qdq_read (const CleaveNode *node, guint operand)
{
  CleaveTensor *value = cleave_node_get_final_constant (node->operands[operand].result->node);

  return value == NULL ? NULL : cleave_tensor_dup_dense (value);
}

gint64
cleave_to_qdq_load (const CleaveTensor *tensor, gint64 i)
{
  const CleaveTensorType *type = cleave_tensor_get_type (tensor);
  gconstpointer data = cleave_tensor_get_data (tensor);

  i = cleave_shape_n_elements (&type->shape) == 1 ? 0 : i;
  return type->element == CLEAVE_INT8    ? ((const gint8 *) data)[i]
         : type->element == CLEAVE_INT16 ? ((const gint16 *) data)[i]
         : type->element == CLEAVE_INT32 ? ((const gint32 *) data)[i]
                                         : ((const gint64 *) data)[i];
}
