/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>
#include <math.h>

/* The twiddle factors of one bin of a Fourier transform: cos and sin of 2 * pi * bin * sample /
 * length. They are rotated from one sample to the next, and computed from scratch every
 * CLEAVE_N_TURNS samples, so that errors stay small. */

#define CLEAVE_N_TURNS 32

typedef struct
{
  gint64 bin, length;
  double sign;           /* sign of the angle: -1 for the forward transform */
  double turn_c, turn_s; /* cos and sin of the angle from one sample to the next */
  double c, s;           /* cos and sin for the current sample */
} CleaveTurns;

static inline void
cleave_turns_init (CleaveTurns *turns, gint64 bin, gint64 length, double sign)
{
  double turn = sign * 2 * G_PI * (double) bin / (double) length;

  *turns = (CleaveTurns){ bin, length, sign, cos (turn), sin (turn), 1, 0 };
}

/* Moves to a sample. To be called for samples 0, 1, 2 … in order. */
static inline void
cleave_turns_go_to (CleaveTurns *turns, gint64 sample)
{
  double last = turns->c;

  if (sample % CLEAVE_N_TURNS == 0)
    {
      /* Reduce the angle to one full rotation with integers, which is exact. */
      gint64 rest = (gint64) ((guint64) sample * (guint64) turns->bin % (guint64) turns->length);
      double angle = turns->sign * 2 * G_PI * (double) rest / (double) turns->length;

      turns->c = cos (angle);
      turns->s = sin (angle);
      return;
    }
  turns->c = turns->c * turns->turn_c - turns->s * turns->turn_s;
  turns->s = last * turns->turn_s + turns->s * turns->turn_c;
}
