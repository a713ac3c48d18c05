/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes an upper bound of the bytes of results whose shapes depend on data. The bound follows
 * from the shapes of the operands. For example, NonZero of 1x4x5 returns at most 20 columns of 3
 * indices: 480 bytes. */

#include "dynamic.h"

#include <string.h>

/* Types of a node's operands. NULL stands for an operand that is absent or of unknown type. */
typedef struct
{
  const CleaveTensorType *operand[4];
  CleaveTensor *count; /* constant operand 2 of NonMaxSuppression, the largest number of boxes
                        * per class; NULL: not constant or absent */
} Known;

static double
count_elements (const CleaveTensorType *type)
{
  return (double) cleave_shape_n_elements (&type->shape);
}

static double
bound_non_zero (const Known *known)
{
  return count_elements (known->operand[0]) * known->operand[0]->shape.rank * sizeof (gint64);
}

static double
bound_operand (const Known *known)
{
  return (double) cleave_tensor_type_n_bytes (known->operand[0]);
}

/* Returns an upper bound of the bytes of the results of Unique: as many values as the operand has,
 * and at most three indices for each value. */
static double
bound_unique (const Known *known)
{
  return bound_operand (known) + 3 * count_elements (known->operand[0]) * sizeof (gint64);
}

/* Returns an upper bound of the bytes of the result of NonMaxSuppression. The result has rows of
 * three indices. For each batch and class, the result has at most one row for each box, and at most
 * as many rows as operand 2 allows. */
static double
bound_nms (const Known *known)
{
  const CleaveTensorType *boxes = known->operand[0], *scores = known->operand[1];
  double rows;

  if (scores == NULL || boxes->shape.rank != 3 || scores->shape.rank != 3)
    return -1;
  rows = (double) boxes->shape.dim[1];
  if (known->count != NULL && cleave_tensor_get_type (known->count)->element == CLEAVE_INT64 &&
      cleave_shape_n_elements (&cleave_tensor_get_type (known->count)->shape) == 1)
    rows = CLAMP ((double) *(const gint64 *) cleave_tensor_get_data (known->count), 0, rows);
  return (double) scores->shape.dim[0] * (double) scores->shape.dim[1] * rows * 3 * sizeof (gint64);
}

static const struct
{
  const char *op;
  double (*bound) (const Known *known);
} bounds[] = {
  { "Compress", bound_operand },
  { "NonMaxSuppression", bound_nms },
  { "NonZero", bound_non_zero },
  { "Unique", bound_unique },
};

gint64
cleave_onnx_bound_results (CleaveOnnxImport *import, const Onnx__NodeProto *proto)
{
  Known known = { 0 };
  double n_bytes;

  for (size_t i = 0; i < proto->n_input && i < G_N_ELEMENTS (known.operand); i++)
    {
      const CleaveOnnxValue *value = cleave_onnx_lookup (import, proto->input[i]);

      if (value == NULL || value->items != NULL)
        continue;
      known.operand[i] = cleave_onnx_value_type (value);
      if (i == 2)
        known.count = value->constant;
    }
  for (guint i = 0; i < G_N_ELEMENTS (bounds) && known.operand[0] != NULL; i++)
    if (strcmp (proto->op_type, bounds[i].op) == 0 && cleave_onnx_is_default_domain (proto->domain))
      {
        n_bytes = bounds[i].bound (&known);
        return n_bytes >= 0 && n_bytes < (double) G_MAXINT64 ? (gint64) n_bytes : -1;
      }
  return -1;
}
