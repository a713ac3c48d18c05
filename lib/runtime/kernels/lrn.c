/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of LRN of floats. A run computes all channels of a pixel at once. The squares
 * of the channels are stored as doubles, with zeros before the first and after the last channel.
 * The windows at the ends read these zeros, which do not change a sum. */

#include "level.h"
#include "loops.h"

#include "../../ops/lrn-power.h"

typedef struct
{
  CleaveLoops loops; /* loops over the pixels; view 0 is y, view 1 is x */
  gint64 n, x_step, y_step;
  gint64 before; /* number of channels of a window that come before its center */
  gint64 size;
} Lrn;

enum { Y_AT, X_AT };

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  const CleaveLrnAttrs *a = instance->call.attrs;
  CleaveView x = instance->operands[0], y = instance->results[0];
  Lrn *lrn;
  gint64 n;
  guint c;

  if (cleave_shape_n_elements (&x.type.shape) == 0)
    return FALSE;
  c = cleave_layout_dims (a->layout, x.type.shape.rank).c;
  n = x.type.shape.dim[c];
  lrn = g_new0 (Lrn, 1);
  lrn->n = n;
  lrn->x_step = n == 1 ? 1 : x.stride[c];
  lrn->y_step = n == 1 ? 1 : y.stride[c];
  /* limit the window to n channels on each side of the center, since positions outside add zeros */
  lrn->before = MIN ((a->size - 1) / 2, n);
  lrn->size = lrn->before + 1 + MIN (a->size - 1 - (a->size - 1) / 2, n);
  x.type.shape.dim[c] = y.type.shape.dim[c] = 1;
  cleave_loops_init (&lrn->loops, &y, &x, 1);
  *n_scratch = (gsize) (2 * n + lrn->size) * sizeof (double);
  *state = lrn;
  return TRUE;
}

/* Normalizes the channels of one pixel. `squares` has zeros before and after the channels, for the
 * windows that go beyond them. */
static void
run_pixel (const Lrn *lrn, const CleaveLrnAttrs *a, const float *x, double *squares, float *y)
{
  const double factor = a->alpha / (double) a->size;
  double *sums = squares + lrn->n + lrn->size;
  const gint64 n = lrn->n;

  for (gint64 c = 0; c < n; c++)
    squares[lrn->before + c] = (double) x[c * lrn->x_step] * (double) x[c * lrn->x_step];
  memset (sums, 0, (gsize) n * sizeof *sums);
  for (gint64 j = 0; j < lrn->size; j++)
    for (gint64 c = 0; c < n; c++)
      sums[c] += squares[j + c];
  for (gint64 c = 0; c < n; c++)
    sums[c] = a->bias + factor * sums[c];
  cleave_lrn_powers (sums, n, a->beta);
  CLEAVE_INDEPENDENT
  for (gint64 c = 0; c < n; c++)
    y[c * lrn->y_step] = (float) ((double) x[c * lrn->x_step] / sums[c]);
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Lrn *lrn = state;
  const CleaveLoops *loops = &lrn->loops;
  CleaveLine line;

  memset (scratch, 0, (gsize) (lrn->n + lrn->size) * sizeof (double));
  for (gboolean more = cleave_line_first (loops, &line); more;
       more = cleave_line_next (loops, &line))
    for (gint64 i = 0; i < loops->length; i++)
      run_pixel (
          lrn, instance->call.attrs,
          (const float *) instance->operands[0].data + line.offset[X_AT] + i * loops->step[X_AT],
          scratch, (float *) instance->results[0].data + line.offset[Y_AT] + i * loops->step[Y_AT]);
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_lrn);
const CleaveKernelFamily
    CLEAVE_LEVELLED (cleave_kernel_lrn) = { .prepare = prepare, .run = run, .free = g_free };
