/* SPDX-License-Identifier: GPL-2.0-or-later */

/* ConstantOfShape, Range and Shape: ops that read no values, only attributes or a type. */

#include <math.h>
#include <string.h>

#include "move.h"

/* The code below defines the op ConstantOfShape. */

static const CleaveAttr fill_attrs[] = {
  { "shape", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveFillAttrs, shape), CLEAVE_AT_LEAST (0),
    .flags = CLEAVE_ATTR_OPERAND_0 | CLEAVE_ATTR_NO_DEFAULT },
  { "value", CLEAVE_ATTR_TENSOR, CLEAVE_FIELD (CleaveFillAttrs, value) },
  { 0 },
};

static gboolean
infer_fill (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveFillAttrs *a = call->attrs;
  const CleaveTensorType *value = a->value == NULL ? NULL : cleave_tensor_get_type (a->value);

  if (value != NULL && cleave_shape_n_elements (&value->shape) != 1)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "value must have one element, not %" G_GINT64_FORMAT,
                        cleave_shape_n_elements (&value->shape));
  if (a->shape.n > CLEAVE_MAX_RANK)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "shape has rank %u, more than %d",
                        a->shape.n, CLEAVE_MAX_RANK);
  results[0] = CLEAVE_SCALAR (value == NULL ? CLEAVE_FLOAT32 : value->element);
  results[0].shape.rank = a->shape.n;
  for (guint d = 0; d < a->shape.n; d++)
    results[0].shape.dim[d] = a->shape.v[d];
  return TRUE;
}

/* Does nothing, since the op has no operand. The record needs this function: an op whose `maps` is
 * NULL cannot be split. */
static void
maps_fill (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
}

static gboolean
narrow_fill (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why)
{
  CleaveFillAttrs *a = attrs;

  for (guint d = 0; d < chunk->range.rank; d++)
    a->shape.v[d] = chunk->range.dim[d].end - chunk->range.dim[d].begin;
  return TRUE;
}

static void
compute_fill (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveFillAttrs *a = call->attrs;
  const guint64 zero = 0;

  cleave_move_fill (&results[0], a->value == NULL ? &zero : cleave_tensor_get_data (a->value));
}

const CleaveOp cleave_op_constant_of_shape = {
  .name = "ConstantOfShape",
  .operands = (const char *const[]){ NULL },
  .results = (const char *const[]){ "output", NULL },
  .attrs_size = sizeof (CleaveFillAttrs),
  .attrs = fill_attrs,
  .infer = infer_fill,
  .maps = maps_fill,
  .narrow = narrow_fill,
  .compute = compute_fill,
};

/* The code below defines the op Range. */

static const CleaveAttr range_attrs[] = {
  { "start", CLEAVE_ATTR_TENSOR, CLEAVE_FIELD (CleaveRangeAttrs, start),
    .flags = CLEAVE_ATTR_OPERAND_0 },
  { "limit", CLEAVE_ATTR_TENSOR, CLEAVE_FIELD (CleaveRangeAttrs, limit), .onnx_operand = 1 },
  { "delta", CLEAVE_ATTR_TENSOR, CLEAVE_FIELD (CleaveRangeAttrs, delta), .onnx_operand = 2 },
  { 0 },
};

#define RANGE_ELEMENTS                                                                             \
  (CLEAVE_ELEMENT_BIT (CLEAVE_FLOAT32) | CLEAVE_ELEMENT_BIT (CLEAVE_FLOAT64) |                     \
   CLEAVE_ELEMENT_BIT (CLEAVE_INT16) | CLEAVE_ELEMENT_BIT (CLEAVE_INT32) |                         \
   CLEAVE_ELEMENT_BIT (CLEAVE_INT64))

static gint64
integer_of (const CleaveTensor *tensor)
{
  return cleave_integer_load (cleave_tensor_get_type (tensor)->element,
                              cleave_tensor_get_data (tensor));
}

static double
real_of (const CleaveTensor *tensor)
{
  return cleave_real_load (cleave_tensor_get_type (tensor)->element,
                           cleave_tensor_get_data (tensor));
}

/* Returns the number of integers in start, start + delta, start + 2 * delta … before the limit.
 * Computes in more than 64 bits: the difference of two 64-bit numbers may need 65 bits. */
static gint64
count_integers (gint64 start, gint64 limit, gint64 delta)
{
  __extension__ typedef __int128 Wide;
  Wide way = delta > 0 ? (Wide) limit - start : (Wide) start - limit;
  Wide step = delta > 0 ? (Wide) delta : -(Wide) delta;

  return way <= 0 ? 0 : (gint64) MIN ((way + step - 1) / step, (Wide) G_MAXINT64);
}

static gboolean
check_range_attr (const CleaveTensor *tensor,
                  const char *name,
                  CleaveElement element,
                  GError **error)
{
  const CleaveTensorType *type;

  if (tensor == NULL)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%s is missing", name);
  type = cleave_tensor_get_type (tensor);
  if (cleave_shape_n_elements (&type->shape) != 1)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "%s must have one element, not %" G_GINT64_FORMAT, name,
                        cleave_shape_n_elements (&type->shape));
  if (type->element != element)
    return cleave_fail (error, CLEAVE_ERROR_ELEMENT_TYPE, "%s must be %s as start is, not %s", name,
                        cleave_element_get_name (element), cleave_element_get_name (type->element));
  if ((CLEAVE_ELEMENT_BIT (element) & RANGE_ELEMENTS) == 0)
    return cleave_fail (error, CLEAVE_ERROR_ELEMENT_TYPE, "%s cannot be %s", name,
                        cleave_element_get_name (element));
  return TRUE;
}

static gboolean
infer_range (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveRangeAttrs *a = call->attrs;
  CleaveElement element =
      a->start == NULL ? CLEAVE_NONE : cleave_tensor_get_type (a->start)->element;
  double count;

  if (!check_range_attr (a->start, "start", element, error) ||
      !check_range_attr (a->limit, "limit", element, error) ||
      !check_range_attr (a->delta, "delta", element, error))
    return FALSE;
  results[0] = CLEAVE_TYPE (element, 0);
  if (real_of (a->delta) == 0)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "delta is 0");
  if (!cleave_element_is_float (element))
    {
      results[0].shape.dim[0] =
          count_integers (integer_of (a->start), integer_of (a->limit), integer_of (a->delta));
      return TRUE;
    }
  count = ceil ((real_of (a->limit) - real_of (a->start)) / real_of (a->delta));
  if (!(count < 0x1p62)) /* this negated comparison is also TRUE for a NaN */
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "start, limit and delta do not give a finite range");
  results[0].shape.dim[0] = count > 0 ? (gint64) count : 0;
  return TRUE;
}

/* Computes a Range: element i is start + i * delta, not a sum of deltas. */
static void
compute_range (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveRangeAttrs *a = call->attrs;
  const CleaveView *y = &results[0];

  for (gint64 i = 0; i < y->type.shape.dim[0]; i++)
    {
      gpointer at = cleave_view_element (y, i * y->stride[0]);

      if (cleave_element_is_float (y->type.element))
        cleave_real_store (y->type.element, at,
                           real_of (a->start) + (double) i * real_of (a->delta));
      else
        {
          gint64 value = integer_of (a->start) + i * integer_of (a->delta);

          memcpy (at, &value, cleave_element_size (y->type.element)); /* the element is in the low
                                                                       * bytes of `value` */
        }
    }
}

const CleaveOp cleave_op_range = {
  .name = "Range",
  .operands = (const char *const[]){ NULL },
  .results = (const char *const[]){ "output", NULL },
  .attrs_size = sizeof (CleaveRangeAttrs),
  .attrs = range_attrs,
  .infer = infer_range,
  .compute = compute_range,
};

/* The code below defines the op Shape. */

static const CleaveAttr shape_attrs[] = {
  { "start", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveShapeAttrs, start) },
  { "end", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveShapeAttrs, end), .fallback = CLEAVE_SHAPE_END },
  { 0 },
};

static gint64
clip (gint64 at, gint64 rank)
{
  return CLAMP (at < 0 ? at + rank : at, 0, rank);
}

static gboolean
normalize_shape (const CleaveCall *call, gpointer attrs, GError **error)
{
  CleaveShapeAttrs *a = attrs;
  gint64 rank = call->operands[0].shape.rank;

  a->start = clip (a->start, rank);
  a->end = clip (a->end, rank);
  if (a->end == rank)
    a->end = CLEAVE_SHAPE_END;
  return TRUE;
}

static gboolean
infer_shape (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveShapeAttrs *a = call->attrs;
  gint64 end = clip (a->end, call->operands[0].shape.rank);

  results[0] = CLEAVE_TYPE (CLEAVE_INT64, MAX (end - a->start, 0));
  return TRUE;
}

static void
compute_shape (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveShapeAttrs *a = call->attrs;

  for (gint64 i = 0; i < results[0].type.shape.dim[0]; i++)
    ((gint64 *) results[0].data)[i * results[0].stride[0]] =
        operands[0].type.shape.dim[a->start + i];
}

const CleaveOp cleave_op_shape = {
  .name = "Shape",
  .operands = (const char *const[]){ "data", NULL },
  .results = (const char *const[]){ "shape", NULL },
  .min_operands = 1,
  .flags = CLEAVE_OP_OF_TYPES,
  .attrs_size = sizeof (CleaveShapeAttrs),
  .attrs = shape_attrs,
  .normalize = normalize_shape,
  .infer = infer_shape,
  .compute = compute_shape,
};
