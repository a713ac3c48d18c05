/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The twiddle factors of one bin of a Fourier transform: cos and sin of 2 * pi * bin * sample /
 * length. A rotation of the factors for one sample gives the factors for the next sample. Every
 * CLEAVE_N_TWIDDLES samples, the factors are computed without a rotation, so that errors stay
 * small. The reference kernel (dft.c) and the fast kernel (lib/runtime/kernels/dft.c) use the same
 * factors. */

#include <glib.h>
#include <math.h>

#define CLEAVE_N_TWIDDLES 32

typedef struct
{
  gint64 bin, length;
  double sign;           /* sign of the angle: -1 for the forward transform */
  double step_c, step_s; /* cos and sin of the angle from one sample to the next */
  double c, s;           /* cos and sin for the current sample */
} CleaveTwiddles;

static inline void
cleave_twiddles_init (CleaveTwiddles *twiddles, gint64 bin, gint64 length, double sign)
{
  double step = sign * 2 * G_PI * (double) bin / (double) length;

  *twiddles = (CleaveTwiddles){ bin, length, sign, cos (step), sin (step), 1, 0 };
}

/* Computes the twiddle factors of a sample. Call this function for samples 0, 1, 2 … in order. */
static inline void
cleave_twiddles_go_to (CleaveTwiddles *twiddles, gint64 sample)
{
  double last = twiddles->c;

  if (sample % CLEAVE_N_TWIDDLES == 0)
    {
      /* Integer arithmetic reduces the angle to one full rotation exactly. */
      gint64 rest =
          (gint64) ((guint64) sample * (guint64) twiddles->bin % (guint64) twiddles->length);
      double angle = twiddles->sign * 2 * G_PI * (double) rest / (double) twiddles->length;

      twiddles->c = cos (angle);
      twiddles->s = sin (angle);
      return;
    }
  twiddles->c = twiddles->c * twiddles->step_c - twiddles->s * twiddles->step_s;
  twiddles->s = last * twiddles->step_s + twiddles->s * twiddles->step_c;
}
