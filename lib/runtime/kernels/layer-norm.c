/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of LayerNormalization, with the order of operations of the reference kernel. If
 * rows are contiguous, several rows are normalized at once: their additions are independent, and
 * they share the loads of scale and bias. */

#include "flat.h"
#include "level.h"
#include "loops.h"
#include "moments.h"
#include "vector.h"

#include "../../ops/elementwise-math.h"

enum { X, SCALE, B };
enum { Y, MEAN, INV_STD_DEV };

typedef struct
{
  CleaveLoops loops; /* loops over the rows; the first views are the results, the last view is x */
  CleaveLines x, y, scale, b; /* layout of the elements of one row */
  gint64 n;                   /* number of elements of a row */
  guint n_results;
  gboolean has_b;
} LayerNorm;

/* Returns a view of the first elements of all rows of `view`. The extents of the normalized axes
 * are 1. */
static CleaveView
one_of_each_row (const CleaveView *view, guint axes)
{
  CleaveView one = *view;

  for (guint d = 0; d < one.type.shape.rank; d++)
    if ((axes >> d & 1) != 0)
      one.type.shape.dim[d] = 1;
  return one;
}

/* Initializes `lines`, a loop over the elements of operand `operand` (scale or B) that belong to
 * one row. */
static void
init_parameter (const CleaveKernelInstance *instance, guint operand, guint axes, CleaveLines *lines)
{
  const CleaveShape *shape = &instance->operands[X].type.shape;
  CleaveView view = { .type = { CLEAVE_FLOAT32, *shape } };
  const CleaveView *views[] = { &view };

  if (!cleave_call_has (&instance->call, operand))
    return;
  cleave_view_broadcast_strides (&instance->operands[operand], shape->rank, view.stride);
  cleave_lines_init_dims (lines, views, 1, axes);
}

/* Returns the number of rows of floats that scratch holds:
 *
 * - a copy of scale, if its elements are strided
 * - a copy of B if its elements are strided, or zeros if there is no B
 * - the elements of a row of x and y, if x or y is strided */
static gsize
count_rows_of_scratch (const LayerNorm *norm)
{
  gsize n = 0;

  n += cleave_flat_is_dense (&norm->scale) ? 0 : 1;
  n += norm->has_b && cleave_flat_is_dense (&norm->b) ? 0 : 1;
  n += cleave_flat_is_dense (&norm->x) && cleave_flat_is_dense (&norm->y) ? 0 : 1;
  return n;
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  const CleaveLayerNormAttrs *a = instance->call.attrs;
  const CleaveView *x = &instance->operands[X], *y = &instance->results[Y];
  guint axes = (~0u << a->axis) & ((1u << x->type.shape.rank) - 1);
  CleaveView outer[4] = { one_of_each_row (y, axes) };
  LayerNorm *norm;

  if (cleave_shape_n_elements (&x->type.shape) == 0)
    return FALSE;
  norm = g_new0 (LayerNorm, 1);
  norm->n = 1;
  for (guint d = (guint) a->axis; d < x->type.shape.rank; d++)
    norm->n *= x->type.shape.dim[d];
  norm->n_results = instance->call.n_results;
  for (guint r = MEAN; r < norm->n_results; r++)
    outer[r] = instance->results[r];
  outer[norm->n_results] = one_of_each_row (x, axes);
  cleave_loops_init (&norm->loops, &outer[0], outer + 1, norm->n_results);
  cleave_lines_init_dims (&norm->x, &x, 1, axes);
  cleave_lines_init_dims (&norm->y, &y, 1, axes);
  init_parameter (instance, SCALE, axes, &norm->scale);
  init_parameter (instance, B, axes, &norm->b);
  norm->has_b = cleave_call_has (&instance->call, B);
  *n_scratch = count_rows_of_scratch (norm) * (gsize) norm->n * sizeof (float);
  *state = norm;
  return TRUE;
}

/* The operands and parameters that all rows of a run share. */
typedef struct
{
  const LayerNorm *norm;
  const CleaveKernelInstance *instance;
  /* contiguous scale and bias; the bias is zeros if there is no operand B */
  const float *scale, *b;
  gboolean x_dense, y_dense;
  float *row; /* row in scratch, for rows that are not contiguous */
} Rows;

/* One row, or several rows that are normalized at once. Each row has a mean and a factor. */
typedef struct
{
  const float *x[CLEAVE_MOMENTS_ROWS];
  float *y[CLEAVE_MOMENTS_ROWS];
  float mean[CLEAVE_MOMENTS_ROWS], inverse[CLEAVE_MOMENTS_ROWS];
} Some;

static CLEAVE_SPECIALISED void
normalize (const Rows *rows, const Some *some, int n_rows)
{
  const float *scale = rows->scale, *b = rows->b;
  gint64 n = rows->norm->n, i = 0;

  for (; i + CLEAVE_VECTOR <= n; i += CLEAVE_VECTOR)
    {
      CleaveVector by = cleave_vector_load (scale + i), and = cleave_vector_load (b + i);

      CLEAVE_EACH (r, n_rows)
        {
          CleaveVector x = cleave_vector_load (some->x[r] + i) - cleave_vector_all (some->mean[r]);

          cleave_vector_store (some->y[r] + i, x * cleave_vector_all (some->inverse[r]) * by + and);
        }
    }
  for (; i < n; i++)
    CLEAVE_EACH (r, n_rows)
      some->y[r][i] = (some->x[r][i] - some->mean[r]) * some->inverse[r] * scale[i] + b[i];
}

/* Normalizes n_rows rows. `offset[r][v]`: offset of row r in view v of the loops over the rows.
 * View v belongs to result v; the view after the results belongs to x. */
static CLEAVE_SPECIALISED void
run_some (const Rows *rows, gint64 (*offset)[4], int n_rows)
{
  const LayerNorm *norm = rows->norm;
  const CleaveLayerNormAttrs *a = rows->instance->call.attrs;
  const CleaveView *results = rows->instance->results;
  const float *x = rows->instance->operands[X].data;
  double sum[CLEAVE_MOMENTS_ROWS];
  Some some = { 0 };

  CLEAVE_EACH (r, n_rows)
    {
      some.x[r] = x + offset[r][norm->n_results];
      if (!rows->x_dense)
        some.x[r] = cleave_flat_read (&norm->x, norm->n, some.x[r], rows->row);
      some.mean[r] = some.x[r][0];
      some.y[r] = rows->y_dense ? (float *) results[Y].data + offset[r][Y] : rows->row;
    }
  cleave_moments_sum (some.x, norm->n, some.mean, FALSE, n_rows, sum);
  CLEAVE_EACH (r, n_rows)
    some.mean[r] = (float) ((double) some.mean[r] + sum[r] / (double) norm->n);
  cleave_moments_sum (some.x, norm->n, some.mean, TRUE, n_rows, sum);
  CLEAVE_EACH (r, n_rows)
    some.inverse[r] = (float) (1 / sqrt (sum[r] / (double) norm->n + a->epsilon));
  normalize (rows, &some, n_rows);
  if (!rows->y_dense)
    cleave_flat_write (&norm->y, norm->n, rows->row, (float *) results[Y].data + offset[0][Y]);
  CLEAVE_EACH (r, n_rows)
    {
      if (norm->n_results > MEAN)
        ((float *) results[MEAN].data)[offset[r][MEAN]] = some.mean[r];
      if (norm->n_results > INV_STD_DEV)
        ((float *) results[INV_STD_DEV].data)[offset[r][INV_STD_DEV]] = some.inverse[r];
    }
}

/* Normalizes the rows of one line of the loops. If rows are contiguous, normalizes several rows at
 * once. */
static void
run_line (const Rows *rows, const CleaveLine *line)
{
  const CleaveLoops *loops = &rows->norm->loops;
  gint64 n_some = rows->x_dense && rows->y_dense ? CLEAVE_MOMENTS_ROWS : 1;

  for (gint64 i = 0; i < loops->length; i += n_some)
    {
      gint64 offset[CLEAVE_MOMENTS_ROWS][4] = { { 0 } };

      n_some = n_some <= loops->length - i ? n_some : 1;
      for (gint64 r = 0; r < n_some; r++)
        for (guint v = 0; v < loops->n_views; v++)
          offset[r][v] = line->offset[v] + (i + r) * loops->step[v];
      if (n_some > 1)
        run_some (rows, offset, CLEAVE_MOMENTS_ROWS);
      else
        run_some (rows, offset, 1);
    }
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const LayerNorm *norm = state;
  float *scale = scratch, *b = scale + (cleave_flat_is_dense (&norm->scale) ? 0 : norm->n);
  Rows rows = { .norm = norm,
                .instance = instance,
                .scale =
                    cleave_flat_read (&norm->scale, norm->n, instance->operands[SCALE].data, scale),
                .b = norm->has_b
                         ? cleave_flat_read (&norm->b, norm->n, instance->operands[B].data, b)
                         : memset (b, 0, (gsize) norm->n * sizeof *b),
                .x_dense = cleave_flat_is_dense (&norm->x),
                .y_dense = cleave_flat_is_dense (&norm->y) };
  CleaveLine line;

  rows.row = rows.b == b ? b + norm->n : b;
  for (gboolean more = cleave_line_first (&norm->loops, &line); more;
       more = cleave_line_next (&norm->loops, &line))
    run_line (&rows, &line);
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_layer_norm);
const CleaveKernelFamily
    CLEAVE_LEVELLED (cleave_kernel_layer_norm) = { .prepare = prepare, .run = run, .free = g_free };
