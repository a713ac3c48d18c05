/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of DFT and STFT of floats, computed in double in the order of the reference
 * kernel. A line is the samples of one transform. A run computes the twiddle factors of BINS bins
 * once for all lines, and transforms LINES lines at the same time. */

#include "level.h"
#include "vector.h"

#include "../../ops/dft-twiddles.h"
#include "../../ops/lines.h"

enum { X, WINDOW };

/* Number of bins in a vector (BINS), and number of lines that are processed at the same time
 * (LINES). Each bin of a line has two sums: real and imaginary. */
#define BINS (CLEAVE_VECTOR / 2)
#define LINES 4
/* Largest number of samples of a line; the twiddle factors of longer lines would not fit into the
 * caches. The family also does not serve lines without samples. */
#define MAX_SAMPLES (1 << 16)

typedef double Bins __attribute__ ((vector_size (BINS * sizeof (double))));

/* Twiddle factors of one sample: the cosines and sines for BINS bins. */
typedef struct
{
  Bins c, s;
} Angles;

typedef struct
{
  CleaveView x, y; /* for each line, the first element of x and of y */
  gint64 length, n_samples, n_bins;
  /* distances in elements: x_step of adjacent samples, y_step of adjacent bins. x_imaginary and
   * y_imaginary: distance from a real part to its imaginary part; 0: all numbers are real */
  gint64 x_step, x_imaginary, y_step, y_imaginary;
  double sign, scale;
} Transform;

/* Adds a dimension of lines to the views x and y. */
static void
add_dim (Transform *t, gint64 extent, gint64 x_step, gint64 y_step)
{
  guint d = t->y.type.shape.rank++;

  t->x.type.shape.rank++;
  t->x.type.shape.dim[d] = t->y.type.shape.dim[d] = extent;
  t->x.stride[d] = x_step;
  t->y.stride[d] = y_step;
}

static void
init_dft (Transform *t, const CleaveKernelInstance *instance)
{
  const CleaveDftAttrs *a = instance->call.attrs;
  const CleaveView *x = &instance->operands[X], *y = &instance->results[0];

  for (guint d = 0; d + 1 < y->type.shape.rank; d++)
    if (d != a->axis)
      add_dim (t, y->type.shape.dim[d], x->stride[d], y->stride[d]);
  t->length = a->dft_length;
  t->n_samples = MIN (x->type.shape.dim[a->axis], a->dft_length);
  t->n_bins = y->type.shape.dim[a->axis];
  t->x_step = x->stride[a->axis];
  t->y_step = y->stride[a->axis];
  t->sign = a->inverse ? 1 : -1;
  t->scale = a->inverse ? 1 / (double) a->dft_length : 1;
}

static void
init_stft (Transform *t, const CleaveKernelInstance *instance)
{
  const CleaveStftAttrs *a = instance->call.attrs;
  const CleaveView *x = &instance->operands[X], *y = &instance->results[0];

  add_dim (t, y->type.shape.dim[0], x->stride[0], y->stride[0]);
  add_dim (t, y->type.shape.dim[1], a->frame_step * x->stride[1], y->stride[1]);
  t->length = t->n_samples = a->frame_length;
  t->n_bins = y->type.shape.dim[2];
  t->x_step = x->stride[1];
  t->y_step = y->stride[2];
  t->sign = -1;
  t->scale = 1;
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  const CleaveView *x = &instance->operands[X], *y = &instance->results[0];
  guint parts = x->type.shape.rank - 1;
  Transform t = { .x = { .data = x->data, .type.element = x->type.element },
                  .y = { .data = y->data, .type.element = y->type.element },
                  .x_imaginary = x->type.shape.dim[parts] == 2 ? x->stride[parts] : 0,
                  .y_imaginary = y->stride[y->type.shape.rank - 1] };

  if (y->type.shape.rank >
      x->type.shape.rank) /* the result of an STFT has one more dimension, the frames */
    init_stft (&t, instance);
  else
    init_dft (&t, instance);
  if (t.n_samples > MAX_SAMPLES || t.length == 0)
    return FALSE;
  *state = g_memdup2 (&t, sizeof t);
  *n_scratch = (gsize) t.n_samples * sizeof (Angles) + sizeof (Bins);
  return TRUE;
}

/* Computes the twiddle factors of BINS bins, from `first_bin` on, for all samples. They have the
 * bits that cleave_twiddles_go_to() gives for each bin. Factors of bins after the last bin of the
 * transform are unused. */
static void
find_angles (const Transform *t, gint64 first_bin, Angles *angles)
{
  CleaveTwiddles twiddles[BINS];
  Bins c = { 0 }, s = { 0 }, step_c = { 0 }, step_s = { 0 };

  for (gint64 b = 0; b < BINS; b++)
    {
      cleave_twiddles_init (&twiddles[b], (first_bin + b) % t->length, t->length, t->sign);
      step_c[b] = twiddles[b].step_c;
      step_s[b] = twiddles[b].step_s;
    }
  for (gint64 i = 0; i < t->n_samples; i++)
    {
      const Bins last = c;

      c = c * step_c - s * step_s;
      s = last * step_s + s * step_c;
      for (gint64 b = 0; i % CLEAVE_N_TWIDDLES == 0 && b < BINS; b++)
        {
          cleave_twiddles_go_to (&twiddles[b], i);
          c[b] = twiddles[b].c;
          s[b] = twiddles[b].s;
        }
      angles[i] = (Angles){ c, s };
    }
}

/* Transforms LINES lines. `window` NULL: there is no window. If samples are real, skips the
 * products with imaginary parts: these products are zeros, which do not change a sum that begins
 * with +0. */
static CLEAVE_SPECIALISED void
add_up (const Transform *t,
        const float *const *x,
        const CleaveView *window,
        const Angles *angles,
        gboolean is_complex,
        Bins *re,
        Bins *im)
{
  Bins real[LINES], imaginary[LINES];
  const float *weight = window == NULL ? NULL : window->data;

  CLEAVE_EACH (l, LINES)
    real[l] = imaginary[l] = (Bins){ 0 };
  for (gint64 i = 0; i < t->n_samples; i++)
    {
      const Bins c = angles[i].c, s = angles[i].s;
      const double w = weight == NULL ? 1 : (double) weight[i * window->stride[0]];

      CLEAVE_EACH (l, LINES)
        {
          const double a = w * (double) x[l][i * t->x_step];
          const double b = is_complex ? w * (double) x[l][i * t->x_step + t->x_imaginary] : 0;

          real[l] += is_complex ? a * c - b * s : a * c;
          imaginary[l] += is_complex ? a * s + b * c : a * s;
        }
    }
  CLEAVE_EACH (l, LINES)
    {
      re[l] = real[l];
      im[l] = imaginary[l];
    }
}

/* Transforms n lines, from 1 to LINES. If n is less than LINES, transforms the last line several
 * times. */
static void
transform_lines (const Transform *t,
                 const float *x,
                 gint64 x_next,
                 float *y,
                 gint64 y_next,
                 gint64 n,
                 const CleaveView *window,
                 const Angles *angles,
                 gint64 n_bins)
{
  Bins re[LINES], im[LINES];
  const float *from[LINES];

  for (gint64 l = 0; l < LINES; l++)
    from[l] = x + MIN (l, n - 1) * x_next;
  if (t->x_imaginary != 0)
    add_up (t, from, window, angles, TRUE, re, im);
  else
    add_up (t, from, window, angles, FALSE, re, im);
  for (gint64 l = 0; l < n; l++)
    for (gint64 b = 0; b < n_bins; b++)
      {
        float *to = y + l * y_next + b * t->y_step;

        to[0] = (float) (re[l][b] * t->scale);
        to[t->y_imaginary] = (float) (im[l][b] * t->scale);
      }
}

static void
run_bins (const Transform *t, const CleaveView *window, gint64 first_bin, const Angles *angles)
{
  const CleaveView *views[] = { &t->y, &t->x };
  gint64 n_bins = MIN (BINS, t->n_bins - first_bin);
  CleaveLines lines;

  for (gboolean more = cleave_lines_init_dims (&lines, views, 2, ~0u); more;
       more = cleave_lines_next (&lines))
    for (gint64 i = 0; i < lines.length; i += LINES)
      transform_lines (
          t, (const float *) t->x.data + lines.offset[1] + i * lines.step[1], lines.step[1],
          (float *) t->y.data + lines.offset[0] + i * lines.step[0] + first_bin * t->y_step,
          lines.step[0], MIN (LINES, lines.length - i), window, angles, n_bins);
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Transform *t = state;
  const CleaveView *window =
      cleave_call_has (&instance->call, WINDOW) ? &instance->operands[WINDOW] : NULL;
  Transform bound = *t;
  gsize align = sizeof (Bins);
  Angles *angles = (gpointer) (((gsize) scratch + align - 1) / align * align);

  bound.x.data = instance->operands[X].data;
  bound.y.data = instance->results[0].data;
  for (gint64 bin = 0; bin < t->n_bins; bin += BINS)
    {
      find_angles (t, bin, angles);
      run_bins (&bound, window, bin, angles);
    }
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_dft);
const CleaveKernelFamily
    CLEAVE_LEVELLED (cleave_kernel_dft) = { .prepare = prepare, .run = run, .free = g_free };
