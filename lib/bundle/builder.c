/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Adds values and steps to the model of a bundle (model-parts.h). */

#include "model-parts.h"

guint
cleave_bundle_add_value (CleaveBundleBuilder *b, const CleaveResult *result)
{
  guint index = b->model->values->len;
  CleaveBundleValue value = { .result = result,
                              .image = cleave_bundle_image (result),
                              .base = index,
                              .producer = CLEAVE_BUNDLE_NONE };

  g_array_append_val (b->model->values, value);
  g_hash_table_insert (b->values, (gpointer) result, GUINT_TO_POINTER (index + 1));
  return index;
}

guint
cleave_bundle_find_value (CleaveBundleBuilder *b, const CleaveResult *result)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (b->values, result)) - 1;
}

void
cleave_bundle_append_step (CleaveBundleBuilder *b, CleaveBundleStep *step, guint result)
{
  step->result = result;
  cleave_bundle_value (b->model, result)->producer = b->model->steps->len;
  g_array_append_val (b->model->steps, *step);
}

guint
cleave_bundle_add_image (CleaveBundleBuilder *b,
                         const CleaveResult *result,
                         guint x,
                         const CleaveBundleImage *image)
{
  guint y = cleave_bundle_add_value (b, result);
  CleaveBundleValue *value = cleave_bundle_value (b->model, y);

  value->image = *image;
  value->base = cleave_bundle_value (b->model, x)->base;
  value->producer = cleave_bundle_value (b->model, x)->producer;
  return y;
}

void
cleave_bundle_set_value (CleaveBundleBuilder *b, const CleaveResult *result, guint value)
{
  g_hash_table_insert (b->values, (gpointer) result, GUINT_TO_POINTER (value + 1));
}

void
cleave_bundle_add_context (CleaveBundleBuilder *b, const CleaveNode *node, CleaveBundleStep *step)
{
  CleaveBundleStep context = { .node = node, .layer = cleave_bundle_layer_new (b->model->pool) };
  guint index = cleave_bundle_add_value (b, &node->results[0]);
  CleaveBundleImage *image = &cleave_bundle_value (b->model, index)->image;
  guint i = step->n_operands++;

  image->rows = image->columns = 1;
  image->channels = step->layer->context_bytes;
  image->pixel_bytes = (gsize) step->layer->context_bytes;
  cleave_bundle_layer_set_kernel (context.layer, "cmsis-context", CLEAVE_BUNDLE_CONTEXT);
  context.kernel = context.layer->kernel;
  cleave_bundle_append_step (b, &context, index);
  step->operands[i] = index;
  step->rows[i] = step->columns[i] = cleave_dim_map_whole (1);
}
