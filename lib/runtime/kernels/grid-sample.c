/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of GridSample of floats. For each position of the result, a run computes the
 * source position once for all channels, then interpolates the channels in blocks. */

#include "level.h"
#include "loops.h"
#include "vector.h"

#include "../../ops/grid-taps.h"

enum { X, GRID };
enum { N, C, H, W };

/* BLOCK: number of channels that are computed together. MAX_TAPS: largest number of operand
 * elements from which one result element is interpolated. */
#define BLOCK 32
#define MAX_TAPS 16

/* The `n` taps (operand positions with weights) from which one position of the result is
 * interpolated. All channels share them. */
typedef struct
{
  guint n;
  gint64 at[MAX_TAPS];
  float weight[MAX_TAPS];
} Place;

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  *state = NULL;
  return instance->operands[X].type.element == CLEAVE_FLOAT32 &&
         instance->operands[GRID].type.element == CLEAVE_FLOAT32;
}

static inline void
find_place (const CleaveGridSampleAttrs *attrs,
            const CleaveView *x,
            double row,
            double column,
            Place *place)
{
  const gint64 *n = x->type.shape.dim;
  CleaveGridTaps rows, columns;
  guint n_taps = 0;

  cleave_grid_taps (attrs, row, n[H], &rows);
  cleave_grid_taps (attrs, column, n[W], &columns);
  for (guint i = 0; i < rows.n; i++)
    for (guint j = 0; j < columns.n; j++)
      {
        /* `&` instead of `&&` avoids a branch, since a processor cannot predict whether a tap lies
         * outside the image */
        gboolean is_inside =
            cleave_grid_is_inside (rows.at[i], n[H]) & cleave_grid_is_inside (columns.at[j], n[W]);

        place->at[n_taps] = rows.at[i] * x->stride[H] + columns.at[j] * x->stride[W];
        place->weight[n_taps] = (float) (rows.weight[i] * columns.weight[j]);
        n_taps += is_inside ? 1 : 0;
      }
  place->n = n_taps;
}

/* Computes BLOCK contiguous channels at one position, in vectors. */
static void
run_block (const Place *place, const float *x, float *y, gint64 y_step)
{
  CleaveVector sum[BLOCK / CLEAVE_VECTOR];

  CLEAVE_EACH (v, BLOCK / CLEAVE_VECTOR)
    sum[v] = cleave_vector_all (0);
  for (guint t = 0; t < place->n; t++)
    {
      const CleaveVector weight = cleave_vector_all (place->weight[t]);

      CLEAVE_EACH (v, BLOCK / CLEAVE_VECTOR)
        sum[v] += weight * cleave_vector_load (x + place->at[t] + v * CLEAVE_VECTOR);
    }
  CLEAVE_EACH (v, BLOCK / CLEAVE_VECTOR)
    if (y_step == 1)
      cleave_vector_store (y + v * CLEAVE_VECTOR, sum[v]);
    else
      for (int i = 0; i < CLEAVE_VECTOR; i++)
        y[(v * CLEAVE_VECTOR + i) * y_step] = sum[v][i];
}

static void
run_channels (const Place *place, const float *x, gint64 x_step, float *y, gint64 y_step, gint64 n)
{
  for (gint64 c = 0; c < n; c++)
    {
      float sum = 0;

      for (guint t = 0; t < place->n; t++)
        sum += place->weight[t] * x[place->at[t] + c * x_step];
      y[c * y_step] = sum;
    }
}

static void
run_place (const Place *place, const CleaveView *views, const float *x, float *y)
{
  gint64 x_step = views[0].stride[C], y_step = views[1].stride[C], n = views[0].type.shape.dim[C];
  gint64 c = 0;

  for (; x_step == 1 && c + BLOCK <= n; c += BLOCK)
    run_block (place, x + c, y + c * y_step, y_step);
  run_channels (place, x + c * x_step, x_step, y + c * y_step, y_step, n - c);
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const CleaveView *grid = &instance->operands[GRID];
  const CleaveView views[] = { instance->operands[X], instance->results[0] };
  const gint64 *x = views[0].stride, *y = views[1].stride, *g = grid->stride;
  const gint64 *n = views[1].type.shape.dim;

  for (gint64 i = 0; i < n[N]; i++)
    for (gint64 h = 0; h < n[H]; h++)
      for (gint64 w = 0; w < n[W]; w++)
        {
          const float *at = (const float *) grid->data + i * g[0] + h * g[1] + w * g[2];
          Place place;

          find_place (instance->call.attrs, &views[0], (double) at[g[3]], (double) at[0], &place);
          run_place (&place, views, (const float *) views[0].data + i * x[N],
                     (float *) views[1].data + i * y[N] + h * y[H] + w * y[W]);
        }
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_grid_sample);
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_grid_sample) = { .prepare = prepare,
                                                                         .run = run };
