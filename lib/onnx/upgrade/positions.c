/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Upgrades AffineGrid (opset 20) and TensorScatter (opset 24). AffineGrid becomes a sum of products
 * that broadcast; TensorScatter becomes a ScatterElements. */

#include "contrib.h"

#include "../../ops/reference.h"

/* The functions below upgrade AffineGrid. */

/* Returns the coordinate of element i of n, in the range from -1 to 1. The coordinate is the center
 * of the element. With align_corners, the coordinate is -1 for the first and 1 for the last
 * element. */
static double
find_position (gint64 i, gint64 n, gboolean align_corners)
{
  if (align_corners)
    return n == 1 ? 0 : -1 + 2 * (double) i / (double) (n - 1);
  return (2 * (double) i + 1) / (double) n - 1;
}

/* Returns the coordinates along dimension `d` of the grid, as a constant whose other dimensions
 * have extent 1. */
static CleaveOnnxValue *
make_positions (CleaveOnnxNode *node,
                const CleaveShape *grid,
                guint d,
                CleaveElement element,
                gboolean align_corners,
                GError **error)
{
  CleaveTensorType type = { element, { .rank = grid->rank } };
  CleaveOnnxValue *value;
  char *to;

  for (guint i = 0; i < grid->rank; i++)
    type.shape.dim[i] = i == d ? grid->dim[d] : 1;
  value = cleave_onnx_zeros (node, &type, error);
  to = value == NULL ? NULL : cleave_tensor_get_mutable_data (value->constant);
  for (gint64 i = 0; to != NULL && i < grid->dim[d]; i++, to += cleave_element_size (element))
    cleave_real_store (element, to, find_position (i, grid->dim[d], align_corners));
  return value;
}

/* Returns column `column` of theta in a shape that broadcasts to the grid. The last column of theta
 * is the constant term. Every other column is the factor of one coordinate. */
static CleaveOnnxValue *
take_column (CleaveOnnxNode *node, gint64 column, guint rank, GError **error)
{
  g_autofree char *name = g_strdup_printf (".theta.%d", (int) column),
                  *shaped = g_strconcat (name, ".shaped", NULL);
  CleaveOnnxValue *theta = cleave_onnx_node_operand (node, 0);
  const CleaveShape *is = cleave_onnx_value_shape (theta);
  CleaveShape shape = { .rank = rank, .dim = { is->dim[0] } };

  for (guint d = 1; d < rank; d++)
    shape.dim[d] = d + 1 == rank ? is->dim[1] : 1;
  theta = cleave_onnx_slice (node, theta, 2, (CleaveSpan){ column, column + 1 }, name, error);
  return cleave_onnx_reshape (node, theta, &shape, shaped, error);
}

/* Reads the shape of the grid from the operand `size`, [N, C, extents]. The grid has the shape [N,
 * extents, number of coordinates]. */
static gboolean
read_grid (CleaveOnnxNode *node, CleaveShape *grid, GError **error)
{
  g_autoptr (CleaveOnnxAttr) numbers = cleave_onnx_node_read_numbers (node, 1, "size", error);
  guint n;

  if (numbers == NULL)
    return FALSE;
  n = numbers->ints->len;
  if (n != 4 && n != 5)
    return cleave_onnx_node_fail (node, error, "size must have 4 or 5 entries, not %u", n);
  *grid = (CleaveShape){ .rank = n };
  grid->dim[0] = g_array_index (numbers->ints, gint64, 0);
  for (guint d = 2; d < n; d++)
    grid->dim[d - 1] = g_array_index (numbers->ints, gint64, d);
  grid->dim[n - 1] = n - 2;
  for (guint d = 0; d < n; d++)
    if (grid->dim[d] < 1)
      return cleave_onnx_node_fail (
          node, error, "size must have entries of at least 1, not %" G_GINT64_FORMAT, grid->dim[d]);
  return TRUE;
}

/* Upgrades AffineGrid. The grid is the last column of theta plus, for each spatial dimension, a
 * coordinate times another column. Column 0 is for the last spatial dimension. */
gboolean
cleave_onnx_upgrade_affine_grid (CleaveOnnxNode *node, GError **error)
{
  gboolean align_corners = cleave_onnx_node_take_int (node, "align_corners", 0) != 0;
  CleaveOnnxValue *theta, *sum;
  CleaveElement element;
  CleaveShape grid;
  guint n;

  if (!cleave_onnx_node_need (node, 2, error) || !cleave_onnx_node_check_no_attrs (node, error) ||
      !read_grid (node, &grid, error))
    return FALSE;
  theta = cleave_onnx_node_operand (node, 0);
  element = cleave_onnx_value_type (theta)->element;
  n = grid.rank - 2;
  if (!cleave_element_is_float (element))
    return cleave_onnx_node_fail (node, error, "theta must be of a float type");
  if (!cleave_onnx_expect (node, "theta", theta, &CLEAVE_SHAPE (grid.dim[0], n, n + 1), error))
    return FALSE;
  sum = take_column (node, n, grid.rank, error);
  for (guint d = 0; sum != NULL && d < n; d++)
    {
      g_autofree char *name = g_strdup_printf (".along.%u", d),
                      *to = d + 1 == n ? g_strdup ("") : g_strdup_printf (".sum.%u", d);
      CleaveOnnxValue *term = CLEAVE_ONNX_STEP (
          "Mul", name, NULL, make_positions (node, &grid, 1 + d, element, align_corners, error),
          take_column (node, n - 1 - d, grid.rank, error));

      sum = CLEAVE_ONNX_STEP ("Add", to, NULL, sum, term);
    }
  return cleave_onnx_finish (node, sum);
}

/* The functions below upgrade TensorScatter. */

/* Returns the index along `axis` to which each element of the update is written, in the shape of
 * the update. */
static CleaveOnnxValue *
find_rows (CleaveOnnxNode *node,
           const CleaveShape *update,
           gint64 axis,
           gint64 extent,
           gboolean is_circular,
           GError **error)
{
  const CleaveTensorType rank = CLEAVE_TYPE (CLEAVE_INT64, update->rank);
  CleaveOnnxValue *first = cleave_onnx_node_operand (node, 2), *rows;
  CleaveShape along = { .rank = update->rank }, each = along;

  for (guint d = 0; d < update->rank; d++)
    along.dim[d] = each.dim[d] = 1;
  along.dim[axis] = update->dim[axis];
  each.dim[0] = update->dim[0];
  rows = cleave_onnx_count (node, 0, &along, error);
  if (first != NULL)
    rows = CLEAVE_ONNX_STEP ("Add", ".rows", NULL, rows,
                             cleave_onnx_reshape (node, first, &each, ".first", error));
  if (is_circular)
    rows = CLEAVE_ONNX_STEP ("Mod", ".rows.around", NULL, rows,
                             cleave_onnx_count (node, extent, &CLEAVE_SHAPE (1), error));
  return CLEAVE_ONNX_STEP ("Expand", ".rows.all", NULL, rows,
                           cleave_onnx_constant (node, &rank, update->dim));
}

gboolean
cleave_onnx_upgrade_tensor_scatter (CleaveOnnxNode *node, GError **error)
{
  gint64 axis = cleave_onnx_node_take_int (node, "axis", -2);
  g_autoptr (CleaveOnnxAttr) mode = cleave_onnx_node_take (node, "mode");
  gboolean is_circular = mode != NULL && g_strcmp0 (mode->string, "circular") == 0;
  CleaveOnnxValue *cache, *update, *first = cleave_onnx_node_operand (node, 2), *rows;
  CleaveShape shape;

  if (!cleave_onnx_node_need (node, 2, error) || !cleave_onnx_node_check_no_attrs (node, error))
    return FALSE;
  if (mode != NULL && !is_circular && g_strcmp0 (mode->string, "linear") != 0)
    return cleave_onnx_node_fail (node, error, "mode '%s' is not known",
                                  mode->string == NULL ? "" : mode->string);
  cache = cleave_onnx_node_operand (node, 0);
  update = cleave_onnx_node_operand (node, 1);
  shape = *cleave_onnx_value_shape (cache);
  axis += axis < 0 ? shape.rank : 0;
  if (axis < 1 || axis >= shape.rank)
    return cleave_onnx_node_fail (
        node, error,
        "axis must be between 1 and %u, or negative, for rank %u, not %" G_GINT64_FORMAT,
        shape.rank - 1, shape.rank, axis < 0 ? axis - shape.rank : axis);
  shape.dim[axis] = CLEAVE_ONNX_ANY;
  if (!cleave_onnx_expect (node, "update", update, &shape, error) ||
      (first != NULL &&
       !cleave_onnx_expect (node, "write_indices", first, &CLEAVE_SHAPE (shape.dim[0]), error)))
    return FALSE;
  rows = find_rows (node, cleave_onnx_value_shape (update), axis,
                    cleave_onnx_value_shape (cache)->dim[axis], is_circular, error);
  return cleave_onnx_finish (node, CLEAVE_ONNX_STEP ("ScatterElements", "",
                                                     cleave_onnx_attr_new_int ("axis", axis), cache,
                                                     rows, update));
}
