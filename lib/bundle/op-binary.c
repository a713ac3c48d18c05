/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Records of element-wise ops with two operands: TfliteAdd, TfliteSub and TfliteMul of int8 and
 * int16. */

#include <cleave/cleave-tflite.h>

#include "op-help.h"
#include "ops.h"

static gboolean
describe (const CleaveNode *node,
          const char *file,
          const char *kernel,
          gint sign,
          CleaveBundleLayer *layer,
          GError **error)
{
  const CleaveTfliteBinaryAttrs *a = node->attrs;
  gboolean is_short = node->operands[0].result->type.element == CLEAVE_INT16;
  gint64 multipliers[] = { a->a_multiplier, a->b_multiplier, a->multiplier };
  gint64 channels = cleave_bundle_image (&node->results[0]).channels;
  gint64 low = a->min - a->y_zero, high = a->max - a->y_zero;
  g_autoptr (GString) fields = g_string_new (".operands = { ");

  if (!(is_short || cleave_bundle_need_element (node, 0, CLEAVE_INT8, error)) ||
      !cleave_bundle_print_operand (node, 0, layer, fields, error))
    return FALSE;
  g_string_append (fields, ", ");
  if (!cleave_bundle_print_operand (node, 1, layer, fields, error))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (multipliers); i++)
    if (!cleave_bundle_check_multiplier (node, multipliers[i], error))
      return FALSE;
  g_string_append_printf (
      fields,
      " }, .channels = %" G_GINT64_FORMAT ", .multipliers = { %" G_GINT64_FORMAT
      ", %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT " }, .zeros = { %" G_GINT64_FORMAT
      ", %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
      " }, .shifts = { %d, %d, %d }, .low = %" G_GINT64_FORMAT ", .high = %" G_GINT64_FORMAT
      ", .left_shift = %" G_GINT64_FORMAT ", .sign = %d",
      channels, a->a_multiplier, a->b_multiplier, a->multiplier, a->a_zero, a->b_zero, a->y_zero,
      cleave_bundle_shift (a->a_shift), cleave_bundle_shift (a->b_shift),
      cleave_bundle_shift (a->shift), low, high, a->left_shift, sign);
  if (channels > G_MAXUINT16 || low < G_MININT16 || high > G_MAXINT16)
    cleave_bundle_layer_set_wide (layer);
  cleave_bundle_layer_set_kernel (layer, is_short ? "binary-s16" : file,
                                  is_short ? "cleave_binary_s16" : kernel);
  cleave_bundle_layer_set_params (layer, "CleaveBinaryS8", fields->str);
  cleave_bundle_set_in_place_if_same (node, layer);
  return TRUE;
}

static gboolean
describe_add (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe (node, "add-s8", "cleave_add_s8", 1, layer, error);
}

static gboolean
describe_sub (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe (node, "add-s8", "cleave_add_s8", -1, layer, error);
}

static gboolean
describe_mul (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe (node, "mul-s8", "cleave_mul_s8", 0, layer, error);
}

const CleaveBundleOp cleave_bundle_op_tflite_add = { "TfliteAdd", describe_add };
const CleaveBundleOp cleave_bundle_op_tflite_sub = { "TfliteSub", describe_sub };
const CleaveBundleOp cleave_bundle_op_tflite_mul = { "TfliteMul", describe_mul };
