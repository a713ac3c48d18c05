/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Records of poolings: TfliteAveragePool and MaxPool. */

#include <cleave/cleave-tflite.h>

#include "op-help.h"
#include "ops.h"

/* Sets the constants of a pooling. `low` and `high` are the bounds of the result. */
static gboolean
set_pool (const CleaveNode *node,
          const CleavePoolAttrs *a,
          gint64 low,
          gint64 high,
          CleaveBundleLayer *layer,
          GError **error)
{
  g_autoptr (GString) fields = g_string_new (NULL);

  if (!cleave_bundle_print_slide (node, a->kernel_shape.v, &a->strides, &a->dilations, &a->pads,
                                  layer, fields, error))
    return FALSE;
  g_string_append_printf (fields,
                          ", .channels = %" G_GINT64_FORMAT ", .low = %" G_GINT64_FORMAT
                          ", .high = %" G_GINT64_FORMAT,
                          cleave_bundle_image (node->operands[0].result).channels, low, high);
  cleave_bundle_layer_set_params (layer, "CleavePool", fields->str);
  return TRUE;
}

static gboolean
describe_average (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveTflitePoolAttrs *a = node->attrs;

  if (!cleave_bundle_need_element (node, 0, CLEAVE_INT8, error))
    return FALSE;
  if (cleave_bundle_pool_has_all_rows (node, &a->pool))
    {
      CleaveBundleImage y = cleave_bundle_image (&node->results[0]);

      cleave_bundle_layer_set_kernel (layer, "average-pool-rows-s8", "cleave_average_pool_end_s8");
      cleave_bundle_layer_set_sums (layer, "cleave_average_pool_row_s8", y.columns,
                                    4 * (gsize) y.channels);
    }
  else
    cleave_bundle_layer_set_kernel (layer, "average-pool-s8", "cleave_average_pool_s8");
  return set_pool (node, &a->pool, a->min, a->max, layer, error);
}

static gboolean
describe_max (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  CleaveElement element = node->operands[0].result->type.element;

  if (element == CLEAVE_FLOAT32)
    return cleave_bundle_describe_float_pool (node, "max-pool-f32", "cleave_max_pool_f32", layer,
                                              error);
  if (element == CLEAVE_UINT8)
    cleave_bundle_layer_set_kernel (layer, "max-pool-bytes", "cleave_max_pool_u8");
  else
    {
      if (!cleave_bundle_need_element (node, 0, CLEAVE_INT8, error))
        return FALSE;
      cleave_bundle_layer_set_kernel (layer, "max-pool-bytes", "cleave_max_pool_s8");
    }
  return set_pool (node, node->attrs, 0, 0, layer, error);
}

const CleaveBundleOp cleave_bundle_op_tflite_average_pool = { "TfliteAveragePool",
                                                              describe_average };
const CleaveBundleOp cleave_bundle_op_max_pool = { "MaxPool", describe_max };
