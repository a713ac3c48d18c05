/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads the ops of com.microsoft.nchwc (nchwc.h) as the standard ops that they stand for:
 *
 *     ReorderInput -> Conv (weights in blocks, Sum) -> ReorderOutput
 *     =>  Conv -> Add -> activation
 *
 * In the Cleave graph, values have neither blocks nor the channels that are padding in the file. */

#include "nchwc.h"

#include "../../ir/align.h"
#include "../import/dynamic.h"
#include "contrib.h"

#include <string.h>

/* If `good`, records that the file stores the result of the node with channels in blocks, and with
 * `n_padded` channels including the padding. Returns `good`. */
static gboolean
mark (CleaveOnnxNode *node, gint64 n_padded, gboolean good)
{
  if (good)
    ((CleaveOnnxValue *) node->values->pdata[0])->n_padded = n_padded;
  return good;
}

/* Returns the first `n` channels of a value; NULL on error. */
static CleaveOnnxValue *
take_channels (
    CleaveOnnxNode *node, CleaveOnnxValue *x, gint64 n, const char *suffix, GError **error)
{
  const CleaveShape *shape = x == NULL ? NULL : cleave_onnx_value_shape (x);

  if (shape == NULL)
    return NULL;
  if (shape->rank != 4 || n < 1 || (x->n_padded == 0 && shape->dim[1] < n))
    return cleave_onnx_node_fail_null (
        node, error, "its operand must have rank 4 and at least %" G_GINT64_FORMAT " channels", n);
  return cleave_onnx_slice (node, x, 1, (CleaveSpan){ 0, MIN (n, shape->dim[1]) }, suffix, error);
}

/* The functions below read ReorderInput and ReorderOutput. */

static gboolean
reorder_input (CleaveOnnxNode *node, GError **error)
{
  gboolean is_last = cleave_onnx_node_take_int (node, "channels_last", 0) != 0;
  CleaveOnnxValue *x = cleave_onnx_node_operand (node, 0), *y;

  if (!cleave_onnx_node_check_no_attrs (node, error) || !cleave_onnx_node_need (node, 1, error))
    return FALSE;
  if (cleave_onnx_value_shape (x)->rank != 4)
    return cleave_onnx_node_fail (node, error, "its operand must have rank 4, not %u",
                                  cleave_onnx_value_shape (x)->rank);
  if (x->n_padded > 0)
    return cleave_onnx_node_fail (node, error, "its operand has channels in blocks already");
  if (is_last)
    x = cleave_onnx_permute (node, x, &CLEAVE_SHAPE (0, 3, 1, 2), "", error);
  if (x == NULL)
    return FALSE;
  y = cleave_onnx_value_new (node->import, NULL);
  y->result = x->result;
  y->constant = x->constant == NULL ? NULL : cleave_tensor_ref (x->constant);
  cleave_onnx_count_held (node->import, y->constant);
  return mark (node, cleave_align_up (cleave_onnx_value_shape (x)->dim[1], node->import->block),
               cleave_onnx_finish (node, y));
}

static gboolean
reorder_output (CleaveOnnxNode *node, GError **error)
{
  gboolean is_last = cleave_onnx_node_take_int (node, "channels_last", 0) != 0;
  gint64 n = cleave_onnx_node_take_int (node, "channels", 0);
  CleaveOnnxValue *x = cleave_onnx_node_operand (node, 0), *y;

  if (!cleave_onnx_node_check_no_attrs (node, error) || !cleave_onnx_node_need (node, 1, error))
    return FALSE;
  y = take_channels (node, x, n, is_last ? ".channels" : "", error);
  if (y != NULL && is_last)
    y = cleave_onnx_permute (node, y, &CLEAVE_SHAPE (0, 2, 3, 1), "", error);
  if (y == x && (y->result == NULL || cleave_node_is_input (cleave_result_get_node (y->result))))
    y = cleave_onnx_pass_on (node, y, error);
  if (y == x)
    {
      y = cleave_onnx_value_new (node->import, NULL);
      y->result = x->result;
    }
  return cleave_onnx_finish (node, y);
}

/* The functions below read a Conv with weights in blocks. */

/* Returns the weights of the first `n` result channels as [n, n_inputs, h, w], without blocks. */
static CleaveOnnxValue *
plain_weights (CleaveOnnxNode *node,
               const CleaveTensor *blocked,
               const CleaveOnnxFilter *f,
               gint64 n,
               gint64 n_inputs,
               GError **error)
{
  CleaveTensorType type = *cleave_tensor_get_type (blocked);
  const float *from = cleave_tensor_get_data (blocked);
  CleaveTensor *tensor;
  float *to;

  type.shape.dim[0] = n;
  type.shape.dim[1] = n_inputs;
  tensor = cleave_tensor_new (&type, error);
  if (tensor == NULL)
    return NULL;
  to = cleave_tensor_get_mutable_data (tensor);
  for (gint64 o = 0; o < n; o++)
    for (gint64 i = 0; i < n_inputs; i++)
      for (gint64 tap = 0; tap < f->n_taps; tap++)
        *to++ = from[cleave_onnx_filter_index (f, o, i, tap)];
  return cleave_onnx_value_new_constant (node->import, NULL, tensor);
}

static gboolean
check_filter (const CleaveOnnxNode *node, const CleaveOnnxFilter *f, gint64 group, GError **error)
{
  if (f->n_outputs % f->block == 0 && (!f->has_blocked_inputs || f->n_inputs % f->block == 0) &&
      group >= 1 && f->n_outputs % group == 0)
    return TRUE;
  return cleave_onnx_node_fail (node, error,
                                "weights of %" G_GINT64_FORMAT " outputs, %" G_GINT64_FORMAT
                                " inputs and %" G_GINT64_FORMAT
                                " groups do not fit blocks of %" G_GINT64_FORMAT " channels",
                                f->n_outputs, f->n_inputs, group, f->block);
}

/* Slices the bias and the operand Sum of a convolution to the first `n` channels. */
static gboolean
narrow_addends (CleaveOnnxNode *node, gint64 n, GError **error)
{
  CleaveOnnxValue *bias = cleave_onnx_node_operand (node, 2),
                  *sum = cleave_onnx_node_operand (node, 3);

  if (bias != NULL && !cleave_onnx_expect (node, "B", bias, &CLEAVE_SHAPE (CLEAVE_ONNX_ANY), error))
    return FALSE;
  if (bias != NULL && cleave_onnx_value_shape (bias)->dim[0] > n)
    bias = cleave_onnx_slice (node, bias, 0, (CleaveSpan){ 0, n }, ".bias", error);
  if (sum != NULL)
    sum = take_channels (node, sum, n, ".addend", error);
  if ((bias == NULL) != (cleave_onnx_node_operand (node, 2) == NULL) ||
      (sum == NULL) != (cleave_onnx_node_operand (node, 3) == NULL))
    return FALSE;
  cleave_onnx_node_set_operand (node, 2, bias);
  cleave_onnx_node_set_operand (node, 3, sum);
  return TRUE;
}

static gboolean
set_group (CleaveOnnxNode *node, gint64 group)
{
  cleave_onnx_node_take_int (node, "group", 1);
  g_ptr_array_add (node->attrs, cleave_onnx_attr_new_int ("group", group));
  return TRUE;
}

static gboolean
conv (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxValue *x = cleave_onnx_node_operand (node, 0), *w = cleave_onnx_node_operand (node, 1);
  gint64 group = cleave_onnx_node_get_int (node, "group", 1), n_padded, n, n_inputs;
  gboolean is_depthwise;
  CleaveOnnxFilter f;

  if (!cleave_onnx_node_need (node, 2, error))
    return FALSE;
  if (w->constant == NULL || !cleave_onnx_is_filter (w->constant))
    return cleave_onnx_node_fail (node, error, "W must be a constant of float32, of rank 4");
  n_padded = cleave_onnx_value_shape (w)->dim[0];
  n_inputs = cleave_onnx_value_shape (w)->dim[1];
  is_depthwise = group > 1 && n_inputs == 1;
  f = (CleaveOnnxFilter){ node->import->block, x->n_padded > 0 && !is_depthwise, n_padded, n_inputs,
                          cleave_onnx_value_shape (w)->dim[2] *
                              cleave_onnx_value_shape (w)->dim[3] };
  if (!check_filter (node, &f, group, error))
    return FALSE;
  n = MIN (n_padded, cleave_onnx_n_read (node->import->blocked, node->result));
  if (is_depthwise)
    x = take_channels (node, x, n, ".channels", error);
  else if (group == 1 && x->n_padded > 0)
    n_inputs = MIN (n_inputs, cleave_onnx_value_shape (x)->dim[1]);
  w = x == NULL ? NULL : plain_weights (node, w->constant, &f, n, n_inputs, error);
  if (w == NULL || !narrow_addends (node, n, error))
    return FALSE;
  cleave_onnx_node_set_operand (node, 0, x);
  cleave_onnx_node_set_operand (node, 1, w);
  return (!is_depthwise || set_group (node, n)) &&
         mark (node, n_padded, cleave_onnx_fused_conv (node, error));
}

/* The functions below read poolings and Upsample on values in blocks. */

static gboolean
window (CleaveOnnxNode *node, const char *op, GError **error)
{
  CleaveOnnxValue *x = cleave_onnx_node_operand (node, 0), *y;

  if (!cleave_onnx_node_need (node, 1, error))
    return FALSE;
  y = take_channels (node, x,
                     MIN (x->n_padded, cleave_onnx_n_read (node->import->blocked, node->result)),
                     ".channels", error);
  if (y == NULL)
    return FALSE;
  cleave_onnx_node_set_operand (node, 0, y);
  y = cleave_onnx_upgrade_step (node, op, "", (CleaveOnnxValue **) node->operands->pdata,
                                node->operands->len, error);
  return mark (node, x->n_padded, cleave_onnx_finish (node, y));
}

static gboolean
pool (CleaveOnnxNode *node, GError **error)
{
  return window (node, node->op, error);
}

/* Reads an Upsample by whole factors as a Resize. */
static gboolean
upsample (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveOnnxAttr) scales = cleave_onnx_node_take (node, "scales");
  float factors[4];

  if (scales == NULL || scales->ints->len != G_N_ELEMENTS (factors))
    return cleave_onnx_node_fail (node, error, "scales must be 4 integers");
  for (guint d = 0; d < G_N_ELEMENTS (factors); d++)
    factors[d] = (float) g_array_index (scales->ints, gint64, d);
  cleave_onnx_node_set_operand (node, 1, NULL);
  cleave_onnx_node_set_operand (
      node, 2, cleave_onnx_constant (node, &CLEAVE_TYPE (CLEAVE_FLOAT32, 4), factors));
  if (cleave_onnx_node_find (node, "coordinate_transformation_mode") == NULL)
    cleave_onnx_node_set_string (node, "coordinate_transformation_mode", "asymmetric");
  cleave_onnx_node_set_string (node, "nearest_mode", "floor");
  return window (node, "Resize", error);
}

static const CleaveOnnxContrib ops[] = {
  { "AveragePool", pool },
  { "Conv", conv },
  { "GlobalAveragePool", pool },
  { "GlobalMaxPool", pool },
  { "MaxPool", pool },
  { "ReorderInput", reorder_input },
  { "ReorderOutput", reorder_output },
  { "Upsample", upsample },
};

static const CleaveOnnxContrib *
find (const char *op)
{
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    if (strcmp (ops[i].op, op) == 0)
      return &ops[i];
  return NULL;
}

gboolean
cleave_onnx_is_nchwc (const char *domain, const char *op)
{
  return g_strcmp0 (domain, CLEAVE_ONNX_NCHWC) == 0 && find (op) != NULL;
}

gboolean
cleave_onnx_upgrade_nchwc (CleaveOnnxNode *node, GError **error)
{
  if (node->import->blocked == NULL)
    return cleave_onnx_node_fail (
        node, error,
        "channels in blocks are not supported here: save the model with the "
        "level 'extended' of ONNX Runtime's optimizations");
  return find (node->op)->upgrade (node, error);
}

/* The functions below are for element-wise ops whose operands have channels in blocks. */

/* Returns whether the operand has a single element, so that it needs no blocks. */
static gboolean
is_single (const CleaveOnnxValue *value)
{
  return value->items == NULL && cleave_shape_n_elements (cleave_onnx_value_shape (value)) == 1;
}

gboolean
cleave_onnx_narrow_blocked (CleaveOnnxNode *node, gint64 *n_padded, GError **error)
{
  gboolean joins = strcmp (node->op, "Concat") == 0, is_mixed = FALSE;
  gint64 n = node->import->blocked == NULL
                 ? G_MAXINT64
                 : cleave_onnx_n_read (node->import->blocked, node->result);

  *n_padded = 0;
  for (guint i = 0; i < node->operands->len; i++)
    {
      CleaveOnnxValue *x = node->operands->pdata[i];

      if (x != NULL && x->n_padded > 0)
        *n_padded = joins ? *n_padded + x->n_padded : x->n_padded;
    }
  for (guint i = 0; *n_padded > 0 && i < node->operands->len; i++)
    {
      CleaveOnnxValue *x = node->operands->pdata[i];

      if (x != NULL && (joins || !is_single (x)))
        is_mixed |=
            joins ? x->n_padded != cleave_onnx_value_shape (x)->dim[1] : x->n_padded != *n_padded;
      if (x != NULL && x->n_padded > 0 && !is_mixed && !joins)
        node->operands->pdata[i] =
            take_channels (node, x, MIN (n, x->n_padded), ".channels", error);
      if (x != NULL && node->operands->pdata[i] == NULL)
        return FALSE;
    }
  if (*n_padded == 0 || (cleave_onnx_keeps_blocks (node->op) && !is_mixed))
    return TRUE;
  return cleave_onnx_node_fail (
      node, error,
      "it reads channels in blocks, which only element-wise ops may: save the "
      "model with the level 'extended' of ONNX Runtime's optimizations");
}

gboolean
cleave_onnx_check_not_blocked (CleaveOnnxImport *import,
                               const Onnx__NodeProto *proto,
                               GError **error)
{
  gboolean is_blocked = g_strcmp0 (proto->domain, CLEAVE_ONNX_NCHWC) == 0;

  for (size_t i = 0; i < proto->n_input; i++)
    {
      const CleaveOnnxValue *value = cleave_onnx_lookup (import, proto->input[i]);

      is_blocked = is_blocked || (value != NULL && value->n_padded > 0);
    }
  return !is_blocked ||
         cleave_fail (error, CLEAVE_ERROR_MODEL,
                      "%s '%s': its shapes depend on data, and it has channels in blocks: save the "
                      "model with the level 'extended' of ONNX Runtime's optimizations",
                      proto->op_type, cleave_onnx_name_of_node (proto));
}
