/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Selects functions of CMSIS-NN (cmsis.h). Each row of the table `functions` has the conditions
 * under which the result of a function has the bits of `cleave run`. CMSIS-NN scales sums as the
 * reference kernels of TensorFlow Lite do, by a multiplier and a shift with two roundings. So
 * layers with float scales, such as QLinearConv, keep Cleave's kernels.
 *
 * Some functions need a context buffer. Its size depends on the processor. The formulas here give
 * the largest size over the processors. */

#include <cleave/cleave-tflite.h>

#include "cmsis-parts.h"

typedef struct
{
  const char *op;
  /* file and function of the kernel that calls CMSIS-NN, and the struct of its constants */
  const char *file, *kernel, *type;
  /* Returns whether the CMSIS-NN function computes the same bits as the reference code of the
   * node's op. Sets `context_bytes`. */
  gboolean (*check) (CleaveBundleCmsisCall *call, CleaveBundleLayer *layer);
  void (*print) (const CleaveBundleCmsisCall *call, CleaveBundleLayer *layer, GString *fields);
} Function;

/* The functions below check and print element-wise sums and products. */

static gboolean
is_right_shift (gint64 shift)
{
  return shift <= 0 && shift >= -CLEAVE_BUNDLE_CMSIS_MAX_SHIFT;
}

/* Returns whether both operands are computed at run time and have the shape of the result. Then the
 * result may overwrite each operand. */
static gboolean
check_binary (CleaveBundleCmsisCall *call, CleaveBundleLayer *layer)
{
  const CleaveTfliteBinaryAttrs *a = call->node->attrs;

  for (guint i = 0; i < 2; i++)
    {
      const CleaveResult *x = call->node->operands[i].result;

      if (cleave_node_is_fixed (x->node) ||
          !cleave_shape_equal (&x->type.shape, &call->node->results[0].type.shape))
        return FALSE;
    }
  if (!is_right_shift (a->shift) || a->multiplier < 0)
    return FALSE;
  cleave_bundle_layer_set_in_place (layer, 0);
  cleave_bundle_layer_set_in_place (layer, 1);
  return TRUE;
}

/* Returns whether arm_elementwise_add_s8() can compute the layer. The function's code for DSP
 * instructions needs a left shift of 20 bits, the shift that TensorFlow Lite has for int8. */
static gboolean
check_add (CleaveBundleCmsisCall *call, CleaveBundleLayer *layer)
{
  const CleaveTfliteBinaryAttrs *a = call->node->attrs;

  return a->left_shift == 20 && is_right_shift (a->a_shift) && is_right_shift (a->b_shift) &&
         a->a_multiplier >= 0 && a->b_multiplier >= 0 && check_binary (call, layer);
}

static void
print_binary (const CleaveBundleCmsisCall *call, CleaveBundleLayer *layer, GString *fields)
{
  const CleaveTfliteBinaryAttrs *a = call->node->attrs;

  g_string_append_printf (fields,
                          ".x_offsets = { %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                          " }, .y_offset = %" G_GINT64_FORMAT ", .multiplier = %" G_GINT64_FORMAT
                          ", .shift = %" G_GINT64_FORMAT ", .low = %" G_GINT64_FORMAT
                          ", .high = %" G_GINT64_FORMAT ", .n = %" G_GINT64_FORMAT
                          ", .x_multipliers = { %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                          " }, .x_shifts = { %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                          " }, .left_shift = %" G_GINT64_FORMAT,
                          -a->a_zero, -a->b_zero, a->y_zero, a->multiplier, a->shift, a->min,
                          a->max, call->y.rows * call->y.columns * call->y.channels,
                          a->a_multiplier, a->b_multiplier, a->a_shift, a->b_shift, a->left_shift);
}

/* The first row whose conditions are met describes the layer. */
static const Function functions[] = {
  { "TfliteConv", "cmsis-product-s8", "cleave_cmsis_product_s8", "CleaveCmsisProduct",
    cleave_bundle_cmsis_check_product, cleave_bundle_cmsis_print_product },
  { "TfliteConv", "cmsis-conv-s8", "cleave_cmsis_conv_s8", "CleaveCmsisConv",
    cleave_bundle_cmsis_check_conv, cleave_bundle_cmsis_print_conv },
  { "TfliteConv", "cmsis-depthwise-s8", "cleave_cmsis_depthwise_s8", "CleaveCmsisDepthwise",
    cleave_bundle_cmsis_check_depthwise, cleave_bundle_cmsis_print_depthwise },
  { "MaxPool", "cmsis-max-pool-s8", "cleave_cmsis_max_pool_s8", "CleaveCmsisPool",
    cleave_bundle_cmsis_check_max_pool, cleave_bundle_cmsis_print_max_pool },
  { "TfliteAveragePool", "cmsis-average-pool-s8", "cleave_cmsis_average_pool_s8", "CleaveCmsisPool",
    cleave_bundle_cmsis_check_average_pool, cleave_bundle_cmsis_print_average_pool },
  { "TfliteAdd", "cmsis-add-s8", "cleave_cmsis_add_s8", "CleaveCmsisBinary", check_add,
    print_binary },
  { "TfliteMul", "cmsis-mul-s8", "cleave_cmsis_mul_s8", "CleaveCmsisBinary", check_binary,
    print_binary },
};

/* Returns the bytes that the call uses in the arena: an image of each variable operand, an image of
 * the result, and the context buffer. */
static gint64
count_bytes (const CleaveBundleCmsisCall *call)
{
  gint64 n = call->context_bytes + call->y.rows * call->y.columns * call->y.channels;

  for (guint i = 0; i < call->node->n_operands; i++)
    {
      const CleaveResult *x = call->node->operands[i].result;
      CleaveBundleImage image;

      if (x == NULL || cleave_node_is_fixed (x->node))
        continue;
      image = cleave_bundle_image (x);
      n += image.rows * image.columns * (gint64) image.pixel_bytes;
    }
  return n;
}

static void
clear (CleaveBundleCmsisCall *call)
{
  cleave_bundle_conv_clear (&call->conv);
  g_free (call->shifts);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveBundleCmsisCall, clear)

/* Returns whether all pixels of an image can form one row: a row has at most
 * CLEAVE_BUNDLE_MAX_EXTENT columns. */
static gboolean
can_be_row (const CleaveBundleImage *image)
{
  return image->rows * image->columns <= CLEAVE_BUNDLE_MAX_EXTENT;
}

/* Describes a layer that calls `function`, an entry of the table `functions`. Returns FALSE if the
 * call would compute other bits than the node, or needs more than `max_bytes`. */
static gboolean
describe (const Function *function,
          const CleaveNode *node,
          gint64 max_bytes,
          CleaveBundleLayer *layer)
{
  g_auto (CleaveBundleCmsisCall) call = { .node = node,
                                          .x = cleave_bundle_image (node->operands[0].result),
                                          .y = cleave_bundle_image (&node->results[0]) };
  g_autoptr (GString) fields = g_string_new (NULL);

  if (!can_be_row (&call.x) || !can_be_row (&call.y) || !function->check (&call, layer))
    return FALSE;
  layer->call_bytes = count_bytes (&call);
  if (layer->call_bytes > max_bytes)
    return FALSE;
  function->print (&call, layer, fields);
  layer->calls_cmsis = TRUE;
  layer->context_bytes = call.context_bytes;
  cleave_bundle_layer_set_kernel (layer, function->file, function->kernel);
  cleave_bundle_layer_set_params (layer, function->type, fields->str);
  cleave_bundle_layer_set_flat (layer);
  return TRUE;
}

gboolean
cleave_bundle_describe_cmsis (const CleaveNode *node, gint64 max_bytes, CleaveBundleLayer *layer)
{
  if (max_bytes < 0 || node->n_operands == 0 || node->operands[0].result == NULL ||
      node->operands[0].result->type.element != CLEAVE_INT8 ||
      node->results[0].type.element != CLEAVE_INT8)
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (functions); i++)
    if (g_str_equal (functions[i].op, node->op->name) &&
        describe (&functions[i], node, max_bytes, layer))
      return TRUE;
  return FALSE;
}
