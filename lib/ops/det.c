/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Det: the determinant of each matrix. All dimensions of the result can be split.
 *
 * Order of operations: Gaussian elimination with partial pivoting: the pivot is the element of a
 * column with the largest magnitude, the first one of several equal elements. The result is the
 * product of the pivots, from first to last. All operations are in double; the result is rounded
 * once at the end. */

#include <math.h>

#include "build.h"
#include "reference.h"

/* A matrix has at most this many rows. A kernel allocates nothing, so a matrix must fit on the
 * stack. */
#define MAX_ROWS 128

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveShape *x = &call->operands[0].shape;

  if (!cleave_call_check_element (call, 0, CLEAVE_ELEMENTS_FLOAT, error) ||
      !cleave_call_check_rank (call, 0, 2, CLEAVE_MAX_RANK, error))
    return FALSE;
  if (x->dim[x->rank - 1] != x->dim[x->rank - 2] || x->dim[x->rank - 1] > MAX_ROWS)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "X must have square matrices of at most %d rows, not %" G_GINT64_FORMAT
                        "x%" G_GINT64_FORMAT,
                        MAX_ROWS, x->dim[x->rank - 2], x->dim[x->rank - 1]);
  results[0] = call->operands[0];
  results[0].shape.rank -= 2;
  return TRUE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveShape *x = &call->operands[0].shape;

  for (guint d = 0; d < x->rank; d++)
    map[d] = d + 2 < x->rank ? cleave_dim_map_same (d) : cleave_dim_map_whole (x->dim[d]);
}

typedef double Matrix[MAX_ROWS][MAX_ROWS];

static gint64
find_pivot (Matrix m, gint64 column, gint64 n)
{
  gint64 pivot = column;

  for (gint64 row = column + 1; row < n; row++)
    if (fabs (m[row][column]) > fabs (m[pivot][column]))
      pivot = row;
  return pivot;
}

static double
eliminate (Matrix m, gint64 n)
{
  double product = 1;

  for (gint64 k = 0; k < n; k++)
    {
      gint64 pivot = find_pivot (m, k, n);

      for (gint64 i = k; i < n && pivot != k; i++)
        {
          double kept = m[k][i];

          m[k][i] = m[pivot][i];
          m[pivot][i] = kept;
        }
      product *= pivot != k ? -m[k][k] : m[k][k];
      for (gint64 row = k + 1; row < n && m[k][k] != 0; row++)
        {
          double factor = m[row][k] / m[k][k];

          for (gint64 i = k + 1; i < n; i++)
            m[row][i] -= factor * m[k][i];
        }
    }
  return product;
}

/* Returns the work of the elimination: for each of n rows, a multiple of the row is subtracted from
 * each row below it. */
static double
work (const CleaveCall *call)
{
  const CleaveShape *x = &call->operands[0].shape;

  return (double) cleave_shape_n_elements (x) * (double) x->dim[x->rank - 1];
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveView *x = &operands[0], *y = &results[0];
  guint rank = y->type.shape.rank;
  gint64 n = x->type.shape.dim[rank], i[CLEAVE_MAX_RANK];
  Matrix m;

  CLEAVE_EACH_INDEX (i, &y->type.shape)
    {
      for (i[rank] = 0; i[rank] < n; i[rank]++)
        for (i[rank + 1] = 0; i[rank + 1] < n; i[rank + 1]++)
          m[i[rank]][i[rank + 1]] = cleave_real_load (x->type.element, cleave_view_at (x, i));
      cleave_real_store (y->type.element, cleave_view_at (y, i), eliminate (m, n));
    }
}

const CleaveOp cleave_op_det = {
  .name = "Det",
  .operands = (const char *const[]){ "X", NULL },
  .results = (const char *const[]){ "Y", NULL },
  .min_operands = 1,
  .infer = infer,
  .maps = maps,
  .work = work,
  .compute = compute,
};
