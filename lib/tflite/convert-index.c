/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts operators that select or place elements by indices, and operators whose result depends
 * only on shapes. If the elements are integers with a scale, the result has the same scale. */

#include <math.h>
#include <string.h>

#include "convert.h"

static gboolean
find_moved (CleaveTfliteImport *import, CleaveResult **x, GError **error)
{
  return cleave_tflite_check_same_scale (import, 0, error) &&
         cleave_tflite_find_result (import, 0, x, error);
}

/* Converts REVERSE_V2 to a Slice with step -1. */
gboolean
cleave_tflite_convert_reverse (CleaveTfliteImport *import, GError **error)
{
  CleaveSliceAttrs attrs = { 0 };
  CleaveResult *x;

  if (!cleave_tflite_read_ints (import, 1, &attrs.axes, error) || !find_moved (import, &x, error))
    return FALSE;
  attrs.starts.n = attrs.ends.n = attrs.steps.n = attrs.axes.n;
  for (guint i = 0; i < attrs.axes.n; i++)
    {
      attrs.starts.v[i] = attrs.steps.v[i] = -1;
      attrs.ends.v[i] = -G_MAXINT32;
    }
  return cleave_tflite_set (import, 0, cleave_tflite_add_unary (import, "Slice", x, &attrs, error),
                            error);
}

/* Returns x with dimension `d` extended by a Gather: `begin` elements before x, and `end` elements
 * after x. The new elements mirror x at its edges; the mirror image begins with the edge element
 * itself. */
static CleaveResult *
mirror (
    CleaveTfliteImport *import, CleaveResult *x, guint d, gint64 begin, gint64 end, GError **error)
{
  gint64 extent = cleave_result_get_type (x)->shape.dim[d], n;
  CleaveAxisAttrs attrs = { d };
  g_autofree gint64 *indices = NULL;

  if (begin > extent || end > extent)
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL,
                             "a border of dimension %u is wider than its extent %" G_GINT64_FORMAT,
                             d, extent);
  n = begin + extent + end;
  if (!cleave_tflite_take_bytes (import, n * (gint64) sizeof (gint64), error))
    return NULL;
  indices = g_new (gint64, (gsize) n + 1);
  for (gint64 i = 0; i < n; i++)
    indices[i] = i < begin            ? begin - 1 - i
                 : i < begin + extent ? i - begin
                                      : 2 * extent - 1 - (i - begin);
  return cleave_tflite_add (
      import, "Gather",
      (CleaveResult *[]){ x, cleave_tflite_add_data (import, CLEAVE_INT64, n, indices) }, 2, &attrs,
      error);
}

CleaveResult *
cleave_tflite_add_mirrored (CleaveTfliteImport *import,
                            CleaveResult *x,
                            const CleaveInts *pads,
                            GError **error)
{
  guint rank = pads->n / 2;

  for (guint d = 0; d < rank && x != NULL; d++)
    if (pads->v[d] + pads->v[rank + d] > 0)
      x = mirror (import, x, d, pads->v[d], pads->v[rank + d], error);
  return x;
}

gboolean
cleave_tflite_convert_reverse_sequence (CleaveTfliteImport *import, GError **error)
{
  CleaveReverseSequenceAttrs attrs;
  CleaveCastAttrs cast = { CLEAVE_INT64 };
  CleaveResult *x, *lengths;

  if (!cleave_tflite_option (import, 0, 4, 0, &attrs.time_axis, error) ||
      !cleave_tflite_option (import, 1, 4, 0, &attrs.batch_axis, error) ||
      !find_moved (import, &x, error) || !cleave_tflite_find_result (import, 1, &lengths, error))
    return FALSE;
  if (cleave_result_get_type (lengths)->element != CLEAVE_INT64)
    lengths = cleave_tflite_fold (
        import, cleave_tflite_add_unary (import, "Cast", lengths, &cast, error), error);
  if (lengths == NULL)
    return FALSE;
  return cleave_tflite_set (import, 0,
                            cleave_tflite_add (import, "ReverseSequence",
                                               (CleaveResult *[]){ x, lengths }, 2, &attrs, error),
                            error);
}

/* Converts EMBEDDING_LOOKUP: a Gather of rows of input 1. Input 1 may be weights of int8, which are
 * dequantized. */
gboolean
cleave_tflite_convert_embedding_lookup (CleaveTfliteImport *import, GError **error)
{
  CleaveAxisAttrs attrs = { 0 };
  CleaveResult *rows, *table;

  if (!cleave_tflite_find_result (import, 0, &rows, error) ||
      !cleave_tflite_find_result (import, 1, &table, error))
    return FALSE;
  if (cleave_element_is_float (cleave_tflite_output (import, 0)->type.element))
    table = cleave_tflite_float_weights (import, 1, table, error);
  else if (!cleave_tflite_check_same_scale (import, 1, error))
    return FALSE;
  if (table == NULL)
    return FALSE;
  return cleave_tflite_set (
      import, 0,
      cleave_tflite_add (import, "Gather", (CleaveResult *[]){ table, rows }, 2, &attrs, error),
      error);
}

gboolean
cleave_tflite_convert_gather_nd (CleaveTfliteImport *import, GError **error)
{
  CleaveResult *x, *indices;

  return find_moved (import, &x, error) && cleave_tflite_find_result (import, 1, &indices, error) &&
         cleave_tflite_set (
             import, 0, cleave_tflite_add_binary (import, "GatherND", x, indices, error), error);
}

CleaveResult *
cleave_tflite_add_zeros (CleaveTfliteImport *import, const CleaveTensorType *type, GError **error)
{
  CleaveTensor *zeros;

  if (!cleave_tflite_take_bytes (import, cleave_tensor_type_n_bytes (type), error) ||
      (zeros = cleave_tensor_new (type, error)) == NULL)
    return NULL;
  memset (cleave_tensor_get_mutable_data (zeros), 0, (gsize) cleave_tensor_type_n_bytes (type));
  return cleave_tflite_add_constant (import, zeros);
}

/* Converts SCATTER_ND, which adds all updates of the same position. */
gboolean
cleave_tflite_convert_scatter_nd (CleaveTfliteImport *import, GError **error)
{
  CleaveScatterAttrs attrs = { .reduction = CLEAVE_SCATTER_ADD };
  CleaveResult *operands[3];

  if (!cleave_tflite_find_result (import, 0, &operands[1], error) ||
      !cleave_tflite_find_result (import, 1, &operands[2], error))
    return FALSE;
  operands[0] = cleave_tflite_add_zeros (import, &cleave_tflite_output (import, 0)->type, error);
  if (operands[0] == NULL)
    return FALSE;
  return cleave_tflite_set (
      import, 0, cleave_tflite_add (import, "ScatterND", operands, 3, &attrs, error), error);
}

gboolean
cleave_tflite_convert_zeros_like (CleaveTfliteImport *import, GError **error)
{
  return cleave_tflite_set (
      import, 0, cleave_tflite_add_zeros (import, &cleave_tflite_output (import, 0)->type, error),
      error);
}

/* Converts FILL. Input 0 is the shape of the output. */
gboolean
cleave_tflite_convert_fill (CleaveTfliteImport *import, GError **error)
{
  const CleaveShape *y = &cleave_tflite_output (import, 0)->type.shape;
  CleaveReshapeAttrs attrs = { .shape.n = y->rank, .allowzero = TRUE };
  CleaveResult *value;

  if (!cleave_tflite_check_same_scale (import, 1, error) ||
      !cleave_tflite_find_result (import, 1, &value, error))
    return FALSE;
  for (guint d = 0; d < y->rank; d++)
    attrs.shape.v[d] = y->dim[d];
  return cleave_tflite_set (
      import, 0, cleave_tflite_add_unary (import, "Expand", value, &attrs, error), error);
}

gboolean
cleave_tflite_convert_rank (CleaveTfliteImport *import, GError **error)
{
  gint32 rank = (gint32) cleave_tflite_input_type (import, 0)->shape.rank;

  return cleave_tflite_set_constant (
      import, 0, cleave_tensor_new_copy (&CLEAVE_SCALAR (CLEAVE_INT32), &rank, error), error);
}

/* Reads a scalar constant of int32, int64 or float32 into `value`. */
static gboolean
read_number (CleaveTfliteImport *import, guint i, double *value, GError **error)
{
  CleaveElement element = cleave_tflite_input_type (import, i)->element;
  CleaveTensor *constant;
  gconstpointer data;

  if (!cleave_tflite_find_constant (import, i, &constant, error))
    return FALSE;
  if (constant == NULL || cleave_shape_n_elements (&cleave_tensor_get_type (constant)->shape) != 1)
    return cleave_tflite_refuse (error, "input %u must be a constant of one element", i);
  data = cleave_tensor_get_data (constant);
  if (element == CLEAVE_FLOAT32)
    *value = (double) *(const float *) data;
  else if (element == CLEAVE_INT32)
    *value = *(const gint32 *) data;
  else if (element == CLEAVE_INT64)
    *value = (double) *(const gint64 *) data;
  else
    return cleave_tflite_refuse (error, "input %u must be int32, int64 or float32", i);
  return TRUE;
}

/* Converts RANGE of constants: element i is start + i * step. */
gboolean
cleave_tflite_convert_range (CleaveTfliteImport *import, GError **error)
{
  CleaveTensorType type = cleave_tflite_output (import, 0)->type;
  double start, limit, step, n;
  CleaveTensor *range;
  gpointer to;

  if (!read_number (import, 0, &start, error) || !read_number (import, 1, &limit, error) ||
      !read_number (import, 2, &step, error))
    return FALSE;
  n = step == 0 ? -1 : MAX (ceil ((limit - start) / step), 0);
  if (!(n >= 0 && n < 0x1p31))
    return cleave_tflite_refuse (error, "it has %g elements", n);
  type.shape = CLEAVE_SHAPE ((gint64) n);
  if (!cleave_tflite_take_bytes (import, cleave_tensor_type_n_bytes (&type), error) ||
      (range = cleave_tensor_new (&type, error)) == NULL)
    return FALSE;
  to = cleave_tensor_get_mutable_data (range);
  for (gint64 i = 0; i < (gint64) n; i++)
    if (type.element == CLEAVE_FLOAT32)
      ((float *) to)[i] = (float) (start + (double) i * step);
    else if (type.element == CLEAVE_INT32)
      ((gint32 *) to)[i] = (gint32) (start + (double) i * step);
    else if (type.element == CLEAVE_INT64)
      ((gint64 *) to)[i] = (gint64) (start + (double) i * step);
  return cleave_tflite_set_constant (import, 0, range, error);
}

/* Converts ONE_HOT: compares each index with all positions along the new dimension. An index that
 * is negative, or not less than the depth, equals no position. */
gboolean
cleave_tflite_convert_one_hot (CleaveTfliteImport *import, GError **error)
{
  CleaveElement element = cleave_tflite_input_type (import, 0)->element;
  CleaveShape line = { 0 }, shape = cleave_tflite_input_type (import, 0)->shape;
  g_autofree gint32 *numbers = NULL;
  CleaveResult *indices, *places, *on, *off;
  CleaveInts depth;
  gint64 axis;

  if (!cleave_tflite_option (import, 0, 4, -1, &axis, error) ||
      !cleave_tflite_read_ints (import, 1, &depth, error) ||
      !cleave_tflite_find_result (import, 0, &indices, error) ||
      !cleave_tflite_find_result (import, 2, &on, error) ||
      !cleave_tflite_find_result (import, 3, &off, error))
    return FALSE;
  axis += axis < 0 ? shape.rank + 1 : 0;
  if (axis < 0 || axis > shape.rank || shape.rank >= CLEAVE_MAX_RANK || depth.n != 1 ||
      depth.v[0] < 1 || depth.v[0] > G_MAXINT16 || element != CLEAVE_INT32)
    return cleave_tflite_refuse (error,
                                 "indices must be int32, the depth 1 to %d, and the axis at most "
                                 "the number of dimensions",
                                 G_MAXINT16);
  numbers = g_new (gint32, (gsize) depth.v[0]);
  for (gint32 i = 0; i < depth.v[0]; i++)
    numbers[i] = i;
  for (guint d = ++shape.rank; --d > axis;)
    shape.dim[d] = shape.dim[d - 1];
  shape.dim[axis] = 1;
  line.rank = shape.rank - (guint) axis;
  for (guint d = 0; d < line.rank; d++)
    line.dim[d] = d == 0 ? depth.v[0] : 1;
  places = cleave_tflite_add_data (import, CLEAVE_INT32, depth.v[0], numbers);
  places =
      cleave_tflite_fold (import, cleave_tflite_add_reshape (import, places, &line, error), error);
  places = cleave_tflite_add_binary (
      import, "Equal", cleave_tflite_add_reshape (import, indices, &shape, error), places, error);
  if (places == NULL)
    return FALSE;
  return cleave_tflite_set (
      import, 0,
      cleave_tflite_add (import, "Where", (CleaveResult *[]){ places, on, off }, 3, NULL, error),
      error);
}

/* Converts TOPK_V2. Its outputs are the k largest elements along the last dimension, and their
 * indices. */
gboolean
cleave_tflite_convert_top_k (CleaveTfliteImport *import, GError **error)
{
  CleaveTopkAttrs attrs = { .axis = -1, .largest = TRUE, .sorted = TRUE };
  CleaveCastAttrs cast = { CLEAVE_INT32 };
  CleaveResult *x, *indices;
  CleaveNode *node;
  CleaveInts k;

  if (!cleave_tflite_read_ints (import, 1, &k, error) || !find_moved (import, &x, error))
    return FALSE;
  if (k.n != 1 || import->op->outputs.n != 2)
    return cleave_tflite_refuse (error, "input 1 must be one number, and there must be 2 outputs");
  attrs.k = k.v[0];
  node = cleave_graph_add (import->graph, cleave_op_lookup ("TopK"), NULL, &x, 1, 2, &attrs, error);
  if (node == NULL)
    return FALSE;
  indices =
      cleave_tflite_add_unary (import, "Cast", cleave_node_get_result (node, 1), &cast, error);
  return cleave_tflite_set (import, 0, cleave_node_get_result (node, 0), error) &&
         cleave_tflite_set (import, 1, indices, error);
}
