/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Folds a BatchNormalization with constant parameters into the weights and the bias of the Conv
 * that it reads. */

#include "../info.h"

#include "../../lib/ir/defaults.h"

#include <math.h>

#include "help.h"

/*    x   w                 x   w'
 *     \ /                   \ /
 *    Conv          =>      Conv with b'
 *     |
 * BatchNormalization
 *
 * w' is w with each result channel scaled by the factor of the normalization; b' is the shift.
 * Rounding differs in the last bits, so no pipeline of the library has this pass.
 *
 * Before: a valid graph.  After: no BatchNormalization with constant parameters follows a
 * convolution that has no other reader. */

enum { X, SCALE, BIAS, MEAN, VAR };

static const float *
find_floats (const CleaveNode *node, guint operand, GPtrArray *kept)
{
  CleaveTensor *value = cleave_node_get_final_constant (node->operands[operand].result->node),
               *dense;

  if (value == NULL || cleave_tensor_get_type (value)->element != CLEAVE_FLOAT32)
    return NULL;
  dense = cleave_tensor_dup_dense (value);
  g_ptr_array_add (kept, dense);
  return cleave_tensor_get_data (dense);
}

/* Factor and shift of each channel. The shift includes the bias of the convolution, if it has
 * one. */
typedef struct
{
  gint64 n;
  double *factor, *shift;
} Affine;

static gboolean
find_affine (const CleaveNode *norm, const CleaveNode *conv, Affine *affine)
{
  g_autoptr (GPtrArray) kept =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  const CleaveNormAttrs *a = norm->attrs;
  const float *scale = find_floats (norm, SCALE, kept), *bias = find_floats (norm, BIAS, kept);
  const float *mean = find_floats (norm, MEAN, kept), *var = find_floats (norm, VAR, kept);
  const float *b = NULL;
  gboolean has_bias = conv->n_operands > 2 && conv->operands[2].result != NULL;

  if (has_bias)
    b = find_floats (conv, 2, kept);
  if (scale == NULL || bias == NULL || mean == NULL || var == NULL || (has_bias && b == NULL))
    return FALSE;
  for (gint64 i = 0; i < affine->n; i++)
    {
      affine->factor[i] = (double) scale[i] / sqrt ((double) var[i] + a->epsilon);
      affine->shift[i] = (double) bias[i] +
                         ((b == NULL ? 0 : (double) b[i]) - (double) mean[i]) * affine->factor[i];
      if (!isfinite (affine->factor[i]) || !isfinite (affine->shift[i]))
        return FALSE;
    }
  return TRUE;
}

static CleaveTensor *
scale_weights (const CleaveNode *conv, const Affine *affine)
{
  g_autoptr (GPtrArray) kept =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  const float *w = find_floats (conv, 1, kept);
  const CleaveTensorType *type = &conv->operands[1].result->type;
  gint64 n = cleave_shape_n_elements (&type->shape);
  CleaveTensor *scaled = w == NULL ? NULL : cleave_tensor_new (type, NULL);
  float *to = scaled == NULL ? NULL : cleave_tensor_get_mutable_data (scaled);

  for (gint64 i = 0; to != NULL && i < n; i++)
    to[i] = (float) ((double) w[i] * affine->factor[i / (n / affine->n)]);
  return scaled;
}

static CleaveTensor *
make_bias (const Affine *affine)
{
  const CleaveTensorType type = { CLEAVE_FLOAT32, { 1, { affine->n } } };
  CleaveTensor *bias = cleave_tensor_new (&type, NULL);
  float *to = bias == NULL ? NULL : cleave_tensor_get_mutable_data (bias);

  for (gint64 i = 0; to != NULL && i < affine->n; i++)
    to[i] = (float) affine->shift[i];
  return bias;
}

static gboolean
replace (CleaveNode *norm, CleaveNode *conv, const Affine *affine)
{
  g_autoptr (CleaveTensor) w = scale_weights (conv, affine);
  g_autoptr (CleaveTensor) b = w == NULL ? NULL : make_bias (affine);
  guint first_new = norm->graph->n_ids;
  CleaveResult *scaled, *shift, *folded;

  if (b == NULL)
    return FALSE;
  scaled = cleave_graph_add_constant (norm->graph, conv->operands[1].result->node->name, w);
  shift = cleave_graph_add_constant (norm->graph, norm->operands[BIAS].result->node->name, b);
  folded = cleave_graph_add_conv (norm->graph, conv->name, conv->operands[0].result, scaled, shift,
                                  conv->attrs, NULL);
  return cleave_node_give_way (norm, folded, first_new);
}

static gboolean
visit (CleaveNode *node)
{
  const CleaveNormAttrs *a = node->attrs;
  CleaveNode *conv;
  Affine affine;
  gboolean changed;

  if (!cleave_node_is (node, CLEAVE_KNOWN_BATCH_NORMALIZATION) || node->n_results != 1)
    return FALSE;
  conv = node->operands[X].result->node;
  if (!cleave_node_is (conv, CLEAVE_KNOWN_CONV) || conv->results[0].n_uses != 1 ||
      conv->results[0].type.element != CLEAVE_FLOAT32 ||
      ((const CleaveConvAttrs *) conv->attrs)->layout != a->layout ||
      cleave_shape_n_elements (&conv->operands[1].result->type.shape) == 0)
    return FALSE;
  affine.n = conv->operands[1].result->type.shape.dim[0];
  affine.factor = g_new (double, (gsize) affine.n);
  affine.shift = g_new (double, (gsize) affine.n);
  changed = find_affine (node, conv, &affine) && replace (node, conv, &affine);
  g_free (affine.factor);
  g_free (affine.shift);
  return changed;
}

const CleavePassInfo cleave_pass_info_fold_batch_norms = {
  .name = "fold-batch-norms",
  .summary = "Folds a BatchNormalization into the Conv before it; changes the last bits.",
  .visit = visit,
};
