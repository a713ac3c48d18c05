/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts ops of the later opsets 18 to 26 back to opset 17, since our op records describe the ops
 * as in opset 17. */

#include <cleave/cleave-frameworks.h>

#include "contrib.h"

/* Reductions, and the element-wise op that replaces each of them if it reduces no dimension. A node
 * with the attribute noop_with_empty_axes and without axes reduces no dimension: each element of
 * the result is the reduction of a single element of the operand. */
static const struct
{
  const char *op, *element_wise;
} without_axes[] = {
  { "ReduceL1", "Abs" },
  { "ReduceL2", "Abs" }, /* |x| is the root of x squared */
  { "ReduceSumSquare", "Mul" },
  { "ReduceLogSum", "Log" },
};

/* Computes the logarithm of integers: converts them to double, and rounds the result toward zero.
 */
static gboolean
take_integer_log (CleaveOnnxNode *node, CleaveOnnxValue *x, GError **error)
{
  CleaveOnnxValue *y = cleave_onnx_cast (node, x, CLEAVE_FLOAT64, ".real", error);

  y = CLEAVE_ONNX_STEP ("Log", ".log", NULL, y);
  return cleave_onnx_finish (
      node, y == NULL ? NULL
                      : cleave_onnx_cast (node, y, cleave_onnx_value_type (x)->element, "", error));
}

/* Replaces a reduction that reduces no dimension by the element-wise op in `without_axes`, or by
 * Identity. */
static gboolean
reduce_nothing (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxValue *x = cleave_onnx_node_operand (node, 0);
  const char *op = "Identity";

  cleave_onnx_node_take_int (node, "keepdims", 1);
  for (guint i = 0; i < G_N_ELEMENTS (without_axes); i++)
    if (g_str_equal (node->op, without_axes[i].op))
      op = without_axes[i].element_wise;
  if (g_str_equal (op, "Mul"))
    cleave_onnx_node_set_operand (node, 1, x);
  else if (g_str_equal (op, "Log") && x != NULL &&
           !cleave_element_is_float (cleave_onnx_value_type (x)->element))
    return take_integer_log (node, x, error);
  node->op = op;
  return TRUE;
}

/* Converts a reduction of opset 18 or later, whose axes are an operand. In our op record, the axes
 * are an attribute. */
gboolean
cleave_onnx_upgrade_reduce (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveOnnxAttr) axes = NULL;
  gboolean has_axes = cleave_onnx_node_operand (node, 1) != NULL, is_noop;

  if (node->import->opset < 18)
    return TRUE;
  is_noop = cleave_onnx_node_take_int (node, "noop_with_empty_axes", 0) != 0;
  if (has_axes && (axes = cleave_onnx_node_read_numbers (node, 1, "axes", error)) == NULL)
    return FALSE;
  g_ptr_array_set_size (node->operands, (gint) MIN (node->operands->len, 1));
  if (axes != NULL && axes->ints->len > 0)
    g_ptr_array_add (node->attrs, g_steal_pointer (&axes));
  else if (is_noop)
    return reduce_nothing (node, error);
  return TRUE;
}

/* Converts a Split with the attribute num_outputs: computes the sizes of the results, and adds them
 * as the operand `split`. All sizes are equal, but the last size may be smaller. */
gboolean
cleave_onnx_upgrade_split (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveOnnxAttr) number = NULL;
  const CleaveOnnxAttr *axis = cleave_onnx_node_find (node, "axis");
  CleaveOnnxValue *x = cleave_onnx_node_operand (node, 0);
  CleaveSplitOnnx call = { .opset = (guint) node->import->opset, .n_outputs = node->n_results };
  CleaveTensorType type;
  CleaveSplitAttrs *sizes;

  if (node->import->opset < 18)
    return TRUE;
  number = cleave_onnx_node_take (node, "num_outputs");
  if (number == NULL || number->ints->len != 1 || x == NULL)
    return TRUE;
  if (cleave_onnx_node_operand (node, 1) != NULL)
    return cleave_onnx_node_fail (node, error, "it has both split and num_outputs");
  call.num_outputs = &g_array_index (number->ints, gint64, 0);
  if (axis != NULL && axis->ints->len == 1)
    call.axis = &g_array_index (axis->ints, gint64, 0);
  sizes = cleave_split_op_from_onnx (cleave_onnx_value_type (x), &call, error);
  if (sizes == NULL)
    {
      g_prefix_error (error, "%s '%s': ", node->op, node->name);
      return FALSE;
    }
  type = CLEAVE_TYPE (CLEAVE_INT64, sizes->sizes->len);
  cleave_onnx_node_set_operand (node, 1, cleave_onnx_constant (node, &type, sizes->sizes->data));
  cleave_split_attrs_free (sizes);
  return TRUE;
}

GArray *
cleave_onnx_find_axes (CleaveOnnxNode *node, const CleaveOnnxAttr *list, guint rank, GError **error)
{
  g_autoptr (GArray) axes = g_array_new (FALSE, FALSE, sizeof (gint64));

  for (gint64 d = 0; list == NULL && d < rank; d++)
    g_array_append_val (axes, d);
  for (guint i = 0; list != NULL && i < list->ints->len; i++)
    {
      gint64 axis = g_array_index (list->ints, gint64, i);

      axis += axis < 0 ? rank : 0;
      if (axis < 0 || axis >= rank)
        return cleave_onnx_node_fail_null (node, error,
                                           "axis %" G_GINT64_FORMAT " does not fit rank %u",
                                           g_array_index (list->ints, gint64, i), rank);
      g_array_append_val (axes, axis);
    }
  return g_steal_pointer (&axes);
}

/* Removes the operand `axes` of a Pad: replaces the pads of the axes in `axes` by pads of all axes,
 * with 0 for each axis that is not in `axes`. */
static gboolean
spread_pads (CleaveOnnxNode *node, const CleaveShape *x, GError **error)
{
  g_autoptr (CleaveOnnxAttr) given = NULL, which = NULL;
  g_autoptr (GArray) axes = NULL;
  gint64 all[2 * CLEAVE_MAX_RANK] = { 0 };
  CleaveTensorType type;

  if (cleave_onnx_node_operand (node, 3) == NULL)
    return TRUE;
  if ((which = cleave_onnx_node_read_numbers (node, 3, "axes", error)) == NULL ||
      (given = cleave_onnx_node_read_numbers (node, 1, "pads", error)) == NULL ||
      (axes = cleave_onnx_find_axes (node, which, x->rank, error)) == NULL)
    return FALSE;
  if (given->ints->len != 2 * axes->len)
    return cleave_onnx_node_fail (node, error, "it has %u pads for %u axes", given->ints->len,
                                  axes->len);
  for (guint i = 0; i < axes->len; i++)
    {
      gint64 axis = g_array_index (axes, gint64, i);

      all[axis] = g_array_index (given->ints, gint64, i);
      all[x->rank + axis] = g_array_index (given->ints, gint64, axes->len + i);
    }
  type = CLEAVE_TYPE (CLEAVE_INT64, 2 * x->rank);
  cleave_onnx_node_set_operand (node, 1, cleave_onnx_constant (node, &type, all));
  g_ptr_array_set_size (node->operands, 3);
  return TRUE;
}

/* Adds a Gather that pads axis `d` of `x` with the mode wrap: the indices of the Gather repeat the
 * elements of the axis. A negative pad first removes elements. Returns the result of the Gather. */
static CleaveOnnxValue *
wrap_axis (
    CleaveOnnxNode *node, CleaveOnnxValue *x, guint d, gint64 before, gint64 after, GError **error)
{
  gint64 n = cleave_onnx_value_shape (x)->dim[d], to, kept, first;
  g_autofree gint64 *indices = NULL;
  CleaveTensorType type;

  if (__builtin_add_overflow (n, MIN (before, 0), &kept) ||
      __builtin_add_overflow (kept, MIN (after, 0), &kept) || kept < 0 ||
      __builtin_add_overflow (n, before, &to) || __builtin_add_overflow (to, after, &to) ||
      (kept == 0 && to > 0))
    return cleave_onnx_node_fail_null (
        node, error, "dimension %u of %" G_GINT64_FORMAT " cannot be padded", d, n);
  if (!cleave_onnx_spend (node->import, (double) to))
    return cleave_onnx_node_fail_null (node, error, "dimension %u " CLEAVE_ONNX_TOO_COSTLY, d);
  first = -MIN (before, 0);
  indices = g_new (gint64, (gsize) to + 1);
  for (gint64 i = 0; i < to; i++)
    indices[i] = first + ((i - MAX (before, 0)) % kept + kept) % kept;
  type = CLEAVE_TYPE (CLEAVE_INT64, to);
  return CLEAVE_ONNX_STEP ("Gather", ".wrapped", cleave_onnx_attr_new_int ("axis", d), x,
                           cleave_onnx_constant (node, &type, indices));
}

static gboolean
wrap (CleaveOnnxNode *node, guint rank, GError **error)
{
  CleaveOnnxValue *x = cleave_onnx_node_operand (node, 0);
  g_autoptr (CleaveOnnxAttr) pads = cleave_onnx_node_read_numbers (node, 1, "pads", error);
  gboolean any = FALSE;

  if (pads == NULL)
    return FALSE;
  if (pads->ints->len != 2 * rank)
    return cleave_onnx_node_fail (node, error, "it has %u pads for %u axes", pads->ints->len, rank);
  for (guint d = 0; d < rank && x != NULL; d++)
    {
      gint64 before = g_array_index (pads->ints, gint64, d),
             after = g_array_index (pads->ints, gint64, rank + d);

      if (before == 0 && after == 0)
        continue;
      x = wrap_axis (node, x, d, before, after, error);
      any = TRUE;
    }
  if (any)
    return cleave_onnx_finish (node, x);
  cleave_onnx_node_set_string (node, "mode", "constant"); /* all pads are 0: no mode matters */
  return TRUE;
}

gboolean
cleave_onnx_upgrade_pad_18 (CleaveOnnxNode *node, GError **error)
{
  const CleaveShape *x = cleave_onnx_node_operand_shape (node, 0);
  const CleaveOnnxAttr *mode = cleave_onnx_node_find (node, "mode");

  if (x == NULL || cleave_onnx_node_operand (node, 1) == NULL)
    return TRUE;
  if (!spread_pads (node, x, error))
    return FALSE;
  if (node->import->opset < 19 || mode == NULL || g_strcmp0 (mode->string, "wrap") != 0)
    return TRUE;
  return wrap (node, x->rank, error);
}

/* Converts a DFT of opset 20 or later, whose axis is an operand. In our op record, the axis is an
 * attribute. */
gboolean
cleave_onnx_upgrade_dft_20 (CleaveOnnxNode *node, GError **error)
{
  gboolean has_axis = cleave_onnx_node_operand (node, 2) != NULL;
  g_autoptr (CleaveOnnxAttr) number = NULL;

  if (node->import->opset < 20)
    return TRUE;
  if (has_axis && (number = cleave_onnx_node_read_numbers (node, 2, "axis", error)) == NULL)
    return FALSE;
  if (number != NULL && number->ints->len != 1)
    return cleave_onnx_node_fail (node, error, "axis is not one number");
  if (node->operands->len > 2)
    g_ptr_array_set_size (node->operands, 2);
  g_ptr_array_add (node->attrs,
                   cleave_onnx_attr_new_int (
                       "axis", number == NULL ? -2 : g_array_index (number->ints, gint64, 0)));
  return TRUE;
}

/* Adds the last dimension of extent 1 to a real signal of rank 2 that an STFT reads. ONNX requires
 * this dimension, but ONNX Runtime accepts a signal without it, and PyTorch exported such signals
 * until 2026. */
gboolean
cleave_onnx_upgrade_stft (CleaveOnnxNode *node, GError **error)
{
  const CleaveShape *signal = cleave_onnx_node_operand_shape (node, 0);
  CleaveOnnxValue *value;

  if (signal == NULL || signal->rank != 2)
    return TRUE;
  value = cleave_onnx_reshape (node, cleave_onnx_node_operand (node, 0),
                               &CLEAVE_SHAPE (signal->dim[0], signal->dim[1], 1), ".signal", error);
  if (value != NULL)
    cleave_onnx_node_set_operand (node, 0, value);
  return value != NULL;
}

/* Converts GridSample of opset 20 or later to opset 17: renames the mode "linear" to "bilinear",
 * and the mode "cubic" to "bicubic". */
gboolean
cleave_onnx_upgrade_grid_sample_20 (CleaveOnnxNode *node, GError **error)
{
  const CleaveOnnxAttr *mode = cleave_onnx_node_find (node, "mode");
  const char *word = mode == NULL ? NULL : mode->string;

  if (node->import->opset >= 20 && g_strcmp0 (word, "linear") == 0)
    cleave_onnx_node_set_string (node, "mode", "bilinear");
  else if (node->import->opset >= 20 && g_strcmp0 (word, "cubic") == 0)
    cleave_onnx_node_set_string (node, "mode", "bicubic");
  return TRUE;
}

/* Removes the attributes of a Cast that concern only 8-bit floats. */
gboolean
cleave_onnx_upgrade_cast_19 (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveOnnxAttr) mode = NULL;

  cleave_onnx_node_take_int (node, "saturate", 1);
  mode = cleave_onnx_node_take (node, "round_mode");
  return TRUE;
}
