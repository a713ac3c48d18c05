/* SPDX-License-Identifier: GPL-2.0-or-later */

/* BatchNormalization of any view: y = fma (x - mean, scale / sqrt (variance + epsilon), b), the
 * factor made once for each channel and run. */

#include "level.h"
#include "loops.h"

#include "../../ops/elementwise-math.h"

#include <math.h>

enum { X, SCALE, B, MEAN, VAR };
enum { AT_Y, AT_X, AT_FACTOR, AT_B, AT_MEAN, N_VIEWS };

/* A vector with an element for each channel, as a view of the rank of x. */
static CleaveView
spread (const CleaveView *vector, const CleaveView *x, guint c)
{
  CleaveView view = { .type = { CLEAVE_FLOAT32, { .rank = x->type.shape.rank } } };

  for (guint d = 0; d < view.type.shape.rank; d++)
    view.type.shape.dim[d] = d == c ? x->type.shape.dim[c] : 1;
  view.stride[c] = vector->stride[0];
  return view;
}

static gboolean
prepare (const CleaveSite *site, CleaveWeights *weights, gpointer *state, gsize *n_scratch)
{
  const CleaveNormAttrs *attrs = site->call.attrs;
  const CleaveView *x = &site->operands[X];
  CleaveView views[N_VIEWS - 1] = { *x };
  CleaveView factor = { .stride = { 1 } };
  guint c = cleave_layout_dims (attrs->layout, x->type.shape.rank).c;
  CleaveLoops *loops;

  for (guint i = 0; i < site->call.n_operands; i++)
    if (site->operands[i].type.element != CLEAVE_FLOAT32)
      return FALSE;
  views[AT_FACTOR - 1] = spread (&factor, x, c);
  views[AT_B - 1] = spread (&site->operands[B], x, c);
  views[AT_MEAN - 1] = spread (&site->operands[MEAN], x, c);
  loops = g_new (CleaveLoops, 1);
  cleave_loops_init (loops, &site->results[0], views, N_VIEWS - 1);
  *n_scratch = (gsize) x->type.shape.dim[c] * sizeof (float);
  *state = loops;
  return TRUE;
}

static void
make_factors (const CleaveSite *site, float *factor)
{
  const CleaveNormAttrs *attrs = site->call.attrs;
  const CleaveView *scale = &site->operands[SCALE];
  const CleaveView *var = &site->operands[VAR];

  for (gint64 c = 0; c < scale->type.shape.dim[0]; c++)
    factor[c] = ((const float *) scale->data)[c * scale->stride[0]] /
                sqrtf (((const float *) var->data)[c * var->stride[0]] + (float) attrs->epsilon);
}

/* Of two NaNs either may be the result, as the compiler likes: not the same one in a vector and in
 * what is left over.  So it is neither. */
static inline float
normalise (float distance, float factor, float b)
{
  float y = __builtin_fmaf (distance, factor, b);

  return cleave_f32_select (y != y, NAN, y);
}

/* clang-format off */
#define EACH(X_AT, C_AT, Y_AT)                                                                     \
  CLEAVE_INDEPENDENT                                                                               \
  for (gint64 i = 0; i < n; i++)                                                                   \
    y[Y_AT] = normalise (x[X_AT] - mean[C_AT], factor[C_AT], b[C_AT]);

/* `c_steps`: those of the vectors, in the order of their views. */
static void
run_line (float *y, gint64 y_step, const float *x, gint64 x_step, const float *factor, const float *b,
          const float *mean, const gint64 *c_steps, gint64 n)
{
  if (y_step == 1 && x_step == 1 && c_steps[0] == 1 && c_steps[1] == 1 && c_steps[2] == 1)
    EACH (i, i, i)
  else if (y_step == 1 && x_step == 1 && c_steps[0] == 0)
    EACH (i, 0, i)
  else
    for (gint64 i = 0; i < n; i++)
      y[i * y_step] = normalise (x[i * x_step] - mean[i * c_steps[2]], factor[i * c_steps[0]], b[i * c_steps[1]]);
}
/* clang-format on */

static void
run (gconstpointer state, const CleaveSite *site, gpointer scratch)
{
  const CleaveLoops *loops = state;
  const float *factor = scratch;
  CleaveLine line;

  make_factors (site, scratch);
  for (gboolean more = cleave_line_first (loops, &line); more;
       more = cleave_line_next (loops, &line))
    run_line ((float *) site->results[0].data + line.offset[AT_Y], loops->step[AT_Y],
              (const float *) site->operands[X].data + line.offset[AT_X], loops->step[AT_X],
              factor + line.offset[AT_FACTOR],
              (const float *) site->operands[B].data + line.offset[AT_B],
              (const float *) site->operands[MEAN].data + line.offset[AT_MEAN],
              loops->step + AT_FACTOR, loops->length);
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_batch_norm); /* for levels.h */
const CleaveKernelFamily
    CLEAVE_LEVELLED (cleave_kernel_batch_norm) = { .prepare = prepare, .run = run, .free = g_free };
