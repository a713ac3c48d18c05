/* SPDX-License-Identifier: GPL-2.0-or-later */

/* LayerNormalization in vectors of doubles, in the order of its reference kernel. */

#include "flat.h"
#include "level.h"
#include "loops.h"

#include "../../ops/axes.h"
#include "../../ops/elementwise-math.h"

enum { X, SCALE, B };
enum { Y, MEAN, INV_STD_DEV };

typedef struct
{
  CleaveLoops loops;          /* over the rows: of the results, then of x */
  CleaveLines x, y, scale, b; /* of one row */
  gint64 n;                   /* elements of a row */
  guint n_results;
} LayerNorm;

/* A view of what there is one of for each row. */
static CleaveView
one_of_each_row (const CleaveView *view, guint axes)
{
  CleaveView one = *view;

  for (guint d = 0; d < one.type.shape.rank; d++)
    if ((axes >> d & 1) != 0)
      one.type.shape.dim[d] = 1;
  return one;
}

/* A parameter along the elements of a row. */
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
  *n_scratch = 4 * (gsize) norm->n * sizeof (float);
  *state = norm;
  return TRUE;
}

/* The mean, as axes.h says. */
static double
mean_of (const float *x, gint64 n)
{
  double lane[CLEAVE_N_LANES] = { 0 };
  gint64 i = 0;

  for (; i + CLEAVE_N_LANES <= n; i += CLEAVE_N_LANES)
    for (gint64 j = 0; j < CLEAVE_N_LANES; j++)
      lane[j] += (double) x[i + j];
  for (gint64 j = 0; i < n; i++, j++)
    lane[j] += (double) x[i];
  return CLEAVE_LANES_JOIN (lane, cleave_f64_add) / (double) n;
}

static double
variance_of (const float *x, gint64 n, double mean)
{
  double lane[CLEAVE_N_LANES] = { 0 };
  gint64 i = 0;

  for (; i + CLEAVE_N_LANES <= n; i += CLEAVE_N_LANES)
    for (gint64 j = 0; j < CLEAVE_N_LANES; j++)
      lane[j] += ((double) x[i + j] - mean) * ((double) x[i + j] - mean);
  for (gint64 j = 0; i < n; i++, j++)
    lane[j] += ((double) x[i] - mean) * ((double) x[i] - mean);
  return CLEAVE_LANES_JOIN (lane, cleave_f64_add) / (double) n;
}

/* Without b, 0 is added. */
static void
normalise (const float *x,
           const float *scale,
           const float *b,
           float *y,
           gint64 n,
           double mean,
           double inverse)
{
  if (b == NULL)
    CLEAVE_INDEPENDENT
  for (gint64 i = 0; i < n; i++)
    y[i] = (float) (((double) x[i] - mean) * inverse * (double) scale[i] + 0);
  else CLEAVE_INDEPENDENT for (gint64 i = 0; i < n; i++) y[i] =
      (float) (((double) x[i] - mean) * inverse * (double) scale[i] + (double) b[i]);
}

/* What all rows have in common. */
typedef struct
{
  const LayerNorm *norm;
  const CleaveKernelInstance *instance;
  const float *scale, *b;
  float *x, *y; /* scratch */
} Rows;

static void
run_row (const Rows *rows, const gint64 *offset)
{
  const LayerNorm *norm = rows->norm;
  const CleaveLayerNormAttrs *a = rows->instance->call.attrs;
  const CleaveView *results = rows->instance->results;
  gboolean dense = cleave_flat_is_dense (&norm->y);
  float *to = (float *) results[Y].data + offset[Y], *y = dense ? to : rows->y;
  const float *x = cleave_flat_read (
      norm->x, (const float *) rows->instance->operands[X].data + offset[norm->n_results], rows->x);
  double mean = mean_of (x, norm->n);
  double inverse = 1 / sqrt (variance_of (x, norm->n, mean) + a->epsilon);

  normalise (x, rows->scale, rows->b, y, norm->n, mean, inverse);
  if (!dense)
    cleave_flat_write (norm->y, y, to);
  if (norm->n_results > MEAN)
    ((float *) results[MEAN].data)[offset[MEAN]] = (float) mean;
  if (norm->n_results > INV_STD_DEV)
    ((float *) results[INV_STD_DEV].data)[offset[INV_STD_DEV]] = (float) inverse;
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const LayerNorm *norm = state;
  const CleaveLoops *loops = &norm->loops;
  gboolean has_b = cleave_call_has (&instance->call, B);
  float *at = scratch;
  Rows rows = { norm,
                instance,
                cleave_flat_read (norm->scale, instance->operands[SCALE].data, at + 2 * norm->n),
                has_b ? cleave_flat_read (norm->b, instance->operands[B].data, at + 3 * norm->n)
                      : NULL,
                at,
                at + norm->n };
  CleaveLine line;

  for (gboolean more = cleave_line_first (loops, &line); more;
       more = cleave_line_next (loops, &line))
    for (gint64 i = 0; i < loops->length; i++)
      {
        gint64 offset[4] = { 0 };

        for (guint v = 0; v < loops->n_views; v++)
          offset[v] = line.offset[v] + i * loops->step[v];
        run_row (&rows, offset);
      }
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_layer_norm); /* for levels.h */
const CleaveKernelFamily
    CLEAVE_LEVELLED (cleave_kernel_layer_norm) = { .prepare = prepare, .run = run, .free = g_free };
