/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads SplitToSequence: adds a Split, whose results are the tensors of the sequence. */

#include "node.h"
#include "sequences.h"

/* Returns the extents (gint64) of the tensors along the axis: the sizes in the operand; or equal
 * sizes and a remainder; or 1 for each tensor if there is no operand. */
static GArray *
read_sizes (CleaveOnnxNode *node, gint64 extent, GError **error)
{
  CleaveOnnxValue *split = cleave_onnx_node_operand (node, 1);
  g_autoptr (CleaveOnnxAttr) numbers = NULL;
  GArray *sizes = g_array_new (FALSE, FALSE, sizeof (gint64));
  gint64 size = 1;

  if (split != NULL)
    {
      numbers = cleave_onnx_check_tensor (node, 1, error)
                    ? cleave_onnx_node_read_numbers (node, 1, "split", error)
                    : NULL;
      if (numbers == NULL || numbers->ints->len != numbers->floats->len)
        {
          g_array_unref (sizes);
          return cleave_onnx_node_fail_null (node, error, "split must be integers");
        }
      if (cleave_onnx_value_shape (split)->rank > 0)
        {
          g_array_append_vals (sizes, numbers->ints->data, numbers->ints->len);
          return sizes;
        }
      size = g_array_index (numbers->ints, gint64, 0);
    }
  if (size <= 0 || !cleave_onnx_unroll (node, (gsize) (extent / size), error))
    {
      g_array_unref (sizes);
      return cleave_onnx_node_fail_null (node, error, "split must be more than 0");
    }
  for (gint64 at = 0; at < extent; at += size)
    {
      gint64 n = MIN (size, extent - at);

      g_array_append_val (sizes, n);
    }
  return sizes;
}

static gboolean
check_sizes (const CleaveOnnxNode *node, const GArray *sizes, gint64 extent, GError **error)
{
  gint64 left = extent;

  for (guint i = 0; i < sizes->len; i++)
    {
      gint64 size = g_array_index (sizes, gint64, i);

      if (size < 0 || size > left)
        return cleave_onnx_node_fail (node, error,
                                      "size %u must be between 0 and %" G_GINT64_FORMAT
                                      ", the elements that are left, not %" G_GINT64_FORMAT,
                                      i, left, size);
      left -= size;
    }
  return left == 0 || cleave_onnx_node_fail (node, error,
                                             "its sizes add up to %" G_GINT64_FORMAT
                                             ", not to %" G_GINT64_FORMAT,
                                             extent - left, extent);
}

/* Adds a Split of operand 0, and returns its results (CleaveOnnxValue). */
static GPtrArray *
split (CleaveOnnxNode *node, guint axis, const GArray *sizes, GError **error)
{
  CleaveOnnxValue *x = cleave_onnx_node_operand (node, 0);
  g_autoptr (CleaveOnnxNode) made = NULL;
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT64, sizes->len);
  GPtrArray *items = g_ptr_array_new ();

  if (sizes->len == 0)
    return items;
  made = cleave_onnx_node_new (node->import, "Split", node->name, sizes->len);
  cleave_onnx_node_set_operand (made, 0, x);
  cleave_onnx_node_set_operand (made, 1, cleave_onnx_constant (node, &type, sizes->data));
  g_ptr_array_add (made->attrs, cleave_onnx_attr_new_int ("axis", axis));
  if (!cleave_onnx_node_make (made, error))
    {
      g_ptr_array_unref (items);
      return NULL;
    }
  for (guint i = 0; i < sizes->len; i++)
    g_ptr_array_add (items, made->values->pdata[i]);
  return items;
}

/* Removes the dimension `axis`, of extent 1, from each tensor. */
static gboolean
squeeze (CleaveOnnxNode *node, GPtrArray *items, guint axis, GError **error)
{
  for (guint i = 0; i < items->len; i++)
    {
      g_autofree char *suffix = g_strdup_printf (".%u", i);
      CleaveShape shape = *cleave_onnx_value_shape (items->pdata[i]);

      for (guint d = axis; d + 1 < shape.rank; d++)
        shape.dim[d] = shape.dim[d + 1];
      shape.dim[--shape.rank] = 0;
      items->pdata[i] = cleave_onnx_node_reshape (node, items->pdata[i], &shape, suffix, error);
      if (items->pdata[i] == NULL)
        return FALSE;
    }
  return TRUE;
}

gboolean
cleave_onnx_read_split_to_sequence (CleaveOnnxNode *node, GError **error)
{
  gint64 axis = cleave_onnx_node_take_int (node, "axis", 0);
  gboolean keeps = cleave_onnx_node_take_int (node, "keepdims", 1) != 0;
  const CleaveShape *shape;
  g_autoptr (GArray) sizes = NULL;
  g_autoptr (GPtrArray) items = NULL;

  if (!cleave_onnx_check_tensor (node, 0, error) || !cleave_onnx_node_check_no_attrs (node, error))
    return FALSE;
  shape = cleave_onnx_node_operand_shape (node, 0);
  if (axis < -(gint64) shape->rank || axis >= (gint64) shape->rank)
    return cleave_onnx_node_fail (node, error, "axis %" G_GINT64_FORMAT " is not one of %u", axis,
                                  shape->rank);
  axis += axis < 0 ? shape->rank : 0;
  sizes = read_sizes (node, shape->dim[axis], error);
  if (sizes == NULL || !check_sizes (node, sizes, shape->dim[axis], error))
    return FALSE;
  items = split (node, (guint) axis, sizes, error);
  if (items == NULL || (!keeps && cleave_onnx_node_operand (node, 1) == NULL &&
                        !squeeze (node, items, (guint) axis, error)))
    return FALSE;
  return cleave_onnx_finish_sequence (node, g_steal_pointer (&items));
}
