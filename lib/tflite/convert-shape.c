/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts operators that reshape, permute or pad values. If the elements are integers with a
 * scale, the result has the same scale. */

#include "convert.h"

static gboolean
find_moved (CleaveTfliteImport *import, CleaveResult **x, GError **error)
{
  return cleave_tflite_check_same_scale (import, 0, error) &&
         cleave_tflite_find_result (import, 0, x, error);
}

/* Converts RESHAPE, SQUEEZE and EXPAND_DIMS to a Reshape to the shape of the output. */
gboolean
cleave_tflite_convert_reshape (CleaveTfliteImport *import, GError **error)
{
  const CleaveShape *y = &cleave_tflite_output (import, 0)->type.shape;
  CleaveResult *x;

  if (!find_moved (import, &x, error))
    return FALSE;
  if (cleave_shape_n_elements (&cleave_result_get_type (x)->shape) != cleave_shape_n_elements (y))
    return cleave_tflite_refuse (
        error, "input 0 has %" G_GINT64_FORMAT " elements, the output %" G_GINT64_FORMAT,
        cleave_shape_n_elements (&cleave_result_get_type (x)->shape), cleave_shape_n_elements (y));
  return cleave_tflite_set (import, 0, cleave_tflite_add_reshape (import, x, y, error), error);
}

gboolean
cleave_tflite_convert_transpose (CleaveTfliteImport *import, GError **error)
{
  CleaveInts perm;
  CleaveResult *x;

  return cleave_tflite_read_ints (import, 1, &perm, error) && find_moved (import, &x, error) &&
         cleave_tflite_set (import, 0, cleave_tflite_add_transpose (import, x, &perm, error),
                            error);
}

/* Reads the constant input of pads, [rank, 2], into `pads`: the pads at the begins of all
 * dimensions, then the pads at their ends. */
static gboolean
read_pads (CleaveTfliteImport *import, CleaveInts *pads, GError **error)
{
  guint rank = cleave_tflite_input_type (import, 0)->shape.rank;
  CleaveInts pairs;

  if (!cleave_tflite_read_ints (import, 1, &pairs, error))
    return FALSE;
  if (pairs.n != 2 * rank)
    return cleave_tflite_refuse (error, "input 1 has %u elements, it must have %u", pairs.n,
                                 2 * rank);
  pads->n = pairs.n;
  for (guint d = 0; d < rank; d++)
    {
      pads->v[d] = pairs.v[2 * d];
      pads->v[rank + d] = pairs.v[2 * d + 1];
      if (pairs.v[2 * d] < 0 || pairs.v[2 * d + 1] < 0)
        return cleave_tflite_refuse (error, "a pad is below 0");
    }
  return TRUE;
}

/* Sets `fill` to the value that a PAD writes around x, and `is_zero` to whether this value stands
 * for 0. PADV2 has this value as input 2. Without input 2, the value is 0, or the zero point of the
 * output. */
static gboolean
read_fill (CleaveTfliteImport *import, double *fill, gboolean *is_zero, GError **error)
{
  const CleaveTfliteTensor *y = cleave_tflite_output (import, 0);
  CleaveTfliteScale scale = { 0 };
  CleaveTensor *constant;
  gconstpointer data;
  CleaveElement element;

  if (cleave_tflite_is_quantized (y) && !cleave_tflite_read_scale (y, &scale, error))
    return FALSE;
  *fill = scale.zero;
  *is_zero = TRUE;
  if (cleave_tflite_input (import, 2) == NULL)
    return TRUE;
  if (!cleave_tflite_find_constant (import, 2, &constant, error))
    return FALSE;
  element = cleave_tflite_input_type (import, 2)->element;
  if (constant == NULL || element != y->type.element ||
      cleave_shape_n_elements (&cleave_tensor_get_type (constant)->shape) != 1)
    return cleave_tflite_refuse (error, "input 2 must be a constant of one element");
  data = cleave_tensor_get_data (constant);
  if (element == CLEAVE_FLOAT32)
    *fill = (double) *(const float *) data;
  else if (element == CLEAVE_INT8)
    *fill = *(const gint8 *) data;
  else if (element == CLEAVE_INT16)
    *fill = *(const gint16 *) data;
  else if (element == CLEAVE_INT32)
    *fill = *(const gint32 *) data;
  else
    return cleave_tflite_refuse (error, "input 2 has an unsupported element type");
  *is_zero = *fill == scale.zero;
  return TRUE;
}

/* Defers a Pad of zeros around H and W: stores it with the output, and adds no node. A convolution
 * that reads the output adds the zeros itself. */
static gboolean
defer_pad (CleaveTfliteImport *import, const CleaveInts *pads, GError **error)
{
  guint tensor = (guint) cleave_flat_integer (&import->op->outputs, 4, 0);
  CleaveTfliteValue *value = &import->values[tensor];

  if (value->result != NULL || value->constant != NULL || value->has_pads)
    return cleave_tflite_refuse (error, "the output has a value already");
  value->has_pads = TRUE;
  value->base = (guint) cleave_flat_integer (&import->op->inputs, 4, 0);
  for (guint i = 0; i < 2; i++)
    {
      value->pads_begin[i] = pads->v[1 + i];
      value->pads_end[i] = pads->v[5 + i];
    }
  return TRUE;
}

/* Returns whether the shape of the output in the file is the shape of input 0 plus the pads. */
static gboolean
is_declared (const CleaveTfliteImport *import, const CleaveInts *pads)
{
  const CleaveTensorType *x = cleave_tflite_input_type (import, 0);
  CleaveTensorType y = *x;

  for (guint d = 0; d < y.shape.rank; d++)
    if (__builtin_add_overflow (y.shape.dim[d], pads->v[d], &y.shape.dim[d]) ||
        __builtin_add_overflow (y.shape.dim[d], pads->v[y.shape.rank + d], &y.shape.dim[d]))
      return FALSE;
  return cleave_tensor_type_equal (&y, &cleave_tflite_output (import, 0)->type);
}

/* Converts PAD and PADV2, or defers them (defer_pad()). */
gboolean
cleave_tflite_convert_pad (CleaveTfliteImport *import, GError **error)
{
  CleavePadAttrs attrs = { .mode = CLEAVE_PAD_CONSTANT };
  const CleaveInts *p = &attrs.pads;
  gboolean is_zero;
  CleaveResult *x;

  if (!read_pads (import, &attrs.pads, error) ||
      !read_fill (import, &attrs.constant_value, &is_zero, error) ||
      !find_moved (import, &x, error))
    return FALSE;
  if (is_zero && p->n == 8 && p->v[0] + p->v[3] + p->v[4] + p->v[7] == 0 && is_declared (import, p))
    return defer_pad (import, p, error);
  return cleave_tflite_set (import, 0, cleave_tflite_add_unary (import, "Pad", x, &attrs, error),
                            error);
}

gboolean
cleave_tflite_convert_mirror_pad (CleaveTfliteImport *import, GError **error)
{
  CleavePadAttrs attrs = { .mode = CLEAVE_PAD_REFLECT };
  gint64 is_symmetric;
  CleaveResult *x;

  if (!cleave_tflite_option (import, 0, 1, 0, &is_symmetric, error))
    return FALSE;
  if (!read_pads (import, &attrs.pads, error) || !find_moved (import, &x, error))
    return FALSE;
  x = is_symmetric != 0 ? cleave_tflite_add_mirrored (import, x, &attrs.pads, error)
                        : cleave_tflite_add_unary (import, "Pad", x, &attrs, error);
  return cleave_tflite_set (import, 0, x, error);
}

gboolean
cleave_tflite_convert_tile (CleaveTfliteImport *import, GError **error)
{
  CleaveTileAttrs attrs;
  CleaveResult *x;

  return cleave_tflite_read_ints (import, 1, &attrs.repeats, error) &&
         find_moved (import, &x, error) &&
         cleave_tflite_set (import, 0, cleave_tflite_add_unary (import, "Tile", x, &attrs, error),
                            error);
}

gboolean
cleave_tflite_convert_broadcast_to (CleaveTfliteImport *import, GError **error)
{
  CleaveReshapeAttrs attrs = { .allowzero = TRUE };
  CleaveResult *x;

  return cleave_tflite_read_ints (import, 1, &attrs.shape, error) &&
         find_moved (import, &x, error) &&
         cleave_tflite_set (import, 0, cleave_tflite_add_unary (import, "Expand", x, &attrs, error),
                            error);
}

/* Sets `block` to the block size of the options, from 1 to G_MAXINT16, and `x` to input 0, which
 * must have 4 dimensions. */
static gboolean
read_block (CleaveTfliteImport *import, gint64 *block, CleaveResult **x, GError **error)
{
  if (!cleave_tflite_option (import, 0, 4, 0, block, error) || !find_moved (import, x, error))
    return FALSE;
  if (cleave_result_get_type (*x)->shape.rank != 4 || *block < 1 || *block > G_MAXINT16)
    return cleave_tflite_refuse (error, "input 0 must have 4 dimensions, the block size 1 to %d",
                                 G_MAXINT16);
  return TRUE;
}

/* Reshapes x to `shape`, permutes the dimensions by `perm`, and reshapes the value to the shape of
 * output 0. Makes the value output 0. */
static gboolean
set_permuted (CleaveTfliteImport *import,
              CleaveResult *x,
              const CleaveShape *shape,
              const CleaveInts *perm,
              GError **error)
{
  x = cleave_tflite_add_reshape (import, x, shape, error);
  x = cleave_tflite_add_transpose (import, x, perm, error);
  return cleave_tflite_set (
      import, 0,
      cleave_tflite_add_reshape (import, x, &cleave_tflite_output (import, 0)->type.shape, error),
      error);
}

/* Converts DEPTH_TO_SPACE: [N, H, W, B * B * C] is read as [N, H, W, B, B, C] and becomes [N, H, B,
 * W, B, C]. */
gboolean
cleave_tflite_convert_depth_to_space (CleaveTfliteImport *import, GError **error)
{
  CleaveInts perm = CLEAVE_INTS (0, 1, 3, 2, 4, 5);
  CleaveResult *x;
  CleaveShape s;
  gint64 b;

  if (!read_block (import, &b, &x, error))
    return FALSE;
  s = cleave_result_get_type (x)->shape;
  if (s.dim[3] % (b * b) != 0)
    return cleave_tflite_refuse (error, "the block size does not divide the channels");
  s = CLEAVE_SHAPE (s.dim[0], s.dim[1], s.dim[2], b, b, s.dim[3] / (b * b));
  return set_permuted (import, x, &s, &perm, error);
}

gboolean
cleave_tflite_convert_space_to_depth (CleaveTfliteImport *import, GError **error)
{
  CleaveInts perm = CLEAVE_INTS (0, 1, 3, 2, 4, 5);
  CleaveResult *x;
  CleaveShape s;
  gint64 b;

  if (!read_block (import, &b, &x, error))
    return FALSE;
  s = cleave_result_get_type (x)->shape;
  if (s.dim[1] % b != 0 || s.dim[2] % b != 0)
    return cleave_tflite_refuse (error, "the block size does not divide H and W");
  s = CLEAVE_SHAPE (s.dim[0], s.dim[1] / b, b, s.dim[2] / b, b, s.dim[3]);
  return set_permuted (import, x, &s, &perm, error);
}

/* Reads the block sizes of H and W into `b`, and the border or the crop, [2, 2], into `edges`. If
 * there is only a block size of H, x is [N, H, C] and is reshaped to [N, H, 1, C]. */
static gboolean
read_blocks (
    CleaveTfliteImport *import, CleaveInts *b, CleaveInts *edges, CleaveResult **x, GError **error)
{
  CleaveShape shape = cleave_tflite_input_type (import, 0)->shape;

  if (!cleave_tflite_read_ints (import, 1, b, error) ||
      !cleave_tflite_read_ints (import, 2, edges, error) || !find_moved (import, x, error))
    return FALSE;
  if (shape.rank == 3 && b->n == 1 && edges->n == 2)
    {
      *b = CLEAVE_INTS (b->v[0], 1);
      *edges = CLEAVE_INTS (edges->v[0], edges->v[1], 0, 0);
      shape = CLEAVE_SHAPE (shape.dim[0], shape.dim[1], 1, shape.dim[2]);
    }
  if (shape.rank != 4 || b->n != 2 || edges->n != 4 || MIN (b->v[0], b->v[1]) < 1 ||
      MAX (b->v[0], b->v[1]) > G_MAXINT16)
    return cleave_tflite_refuse (error,
                                 "only blocks of H and W of 4 dimensions, or of H of 3 dimensions, "
                                 "are supported");
  for (guint i = 0; i < 4; i++)
    if (edges->v[i] < 0 || edges->v[i] > G_MAXINT32)
      return cleave_tflite_refuse (error, "a border or crop is out of range");
  *x = cleave_tflite_add_reshape (import, *x, &shape, error);
  return *x != NULL;
}

/* Converts SPACE_TO_BATCH_ND: [N, H, W, C] with a border is read as [N, H, BH, W, BW, C] and
 * becomes [BH, BW, N, H, W, C]. */
gboolean
cleave_tflite_convert_space_to_batch (CleaveTfliteImport *import, GError **error)
{
  CleaveInts b, e, perm = CLEAVE_INTS (2, 4, 0, 1, 3, 5);
  CleavePadAttrs pad = { .mode = CLEAVE_PAD_CONSTANT };
  CleaveTfliteScale scale = { 0 };
  CleaveResult *x;
  CleaveShape s;

  if (!read_blocks (import, &b, &e, &x, error) ||
      (cleave_tflite_is_quantized (cleave_tflite_input (import, 0)) &&
       !cleave_tflite_read_scale (cleave_tflite_input (import, 0), &scale, error)))
    return FALSE;
  pad.constant_value = scale.zero;
  pad.pads = CLEAVE_INTS (0, e.v[0], e.v[2], 0, 0, e.v[1], e.v[3], 0);
  if (e.v[0] + e.v[1] + e.v[2] + e.v[3] > 0)
    x = cleave_tflite_add_unary (import, "Pad", x, &pad, error);
  if (x == NULL)
    return FALSE;
  s = cleave_result_get_type (x)->shape;
  if (s.dim[1] % b.v[0] != 0 || s.dim[2] % b.v[1] != 0)
    return cleave_tflite_refuse (error, "the blocks do not divide H and W");
  s = CLEAVE_SHAPE (s.dim[0], s.dim[1] / b.v[0], b.v[0], s.dim[2] / b.v[1], b.v[1], s.dim[3]);
  return set_permuted (import, x, &s, &perm, error);
}

/* Converts BATCH_TO_SPACE_ND: [BH * BW * N, H, W, C] is read as [BH, BW, N, H, W, C], becomes [N, H
 * * BH, W * BW, C], and is cropped. */
gboolean
cleave_tflite_convert_batch_to_space (CleaveTfliteImport *import, GError **error)
{
  CleaveInts b, e, perm = CLEAVE_INTS (2, 3, 0, 4, 1, 5);
  CleaveSliceAttrs crop = { .axes = CLEAVE_INTS (1, 2) };
  CleaveResult *x;
  CleaveShape s, whole;
  gint64 n;

  if (!read_blocks (import, &b, &e, &x, error))
    return FALSE;
  s = cleave_result_get_type (x)->shape;
  n = s.dim[0] / (b.v[0] * b.v[1]);
  if (s.dim[0] % (b.v[0] * b.v[1]) != 0)
    return cleave_tflite_refuse (error, "the blocks do not divide the batch");
  whole = CLEAVE_SHAPE (n, s.dim[1] * b.v[0], s.dim[2] * b.v[1], s.dim[3]);
  s = CLEAVE_SHAPE (b.v[0], b.v[1], n, s.dim[1], s.dim[2], s.dim[3]);
  x = cleave_tflite_add_reshape (import, x, &s, error);
  x = cleave_tflite_add_transpose (import, x, &perm, error);
  x = cleave_tflite_add_reshape (import, x, &whole, error);
  crop.starts = CLEAVE_INTS (e.v[0], e.v[2]);
  crop.ends = CLEAVE_INTS (whole.dim[1] - e.v[1], whole.dim[2] - e.v[3]);
  if (e.v[0] + e.v[1] + e.v[2] + e.v[3] > 0)
    x = cleave_tflite_add_unary (import, "Slice", x, &crop, error);
  if (cleave_tflite_input_type (import, 0)->shape.rank == 3)
    x = cleave_tflite_add_reshape (import, x, &cleave_tflite_output (import, 0)->type.shape, error);
  return cleave_tflite_set (import, 0, x, error);
}

/* Converts SHAPE to a constant, since shapes are static. */
gboolean
cleave_tflite_convert_shape (CleaveTfliteImport *import, GError **error)
{
  const CleaveShape *x = &cleave_tflite_input_type (import, 0)->shape;
  CleaveElement element = cleave_tflite_output (import, 0)->type.element;
  CleaveTensorType type = { element, { 1, { x->rank } } };
  CleaveTensor *tensor;

  if (element != CLEAVE_INT32 && element != CLEAVE_INT64)
    return cleave_tflite_refuse (error, "the output must be int32 or int64");
  tensor = cleave_tensor_new (&type, error);
  for (guint d = 0; tensor != NULL && d < x->rank; d++)
    if (element == CLEAVE_INT32)
      ((gint32 *) cleave_tensor_get_mutable_data (tensor))[d] = (gint32) x->dim[d];
    else
      ((gint64 *) cleave_tensor_get_mutable_data (tensor))[d] = x->dim[d];
  return cleave_tflite_set_constant (import, 0, tensor, error);
}
