/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>
#include <math.h>

/* The angles of one bin of a Fourier transform, sample by sample: turned on from one to the next,
 * and computed anew so often that errors stay small. */

#define CLEAVE_N_TURNS 32

typedef struct
{
  gint64 bin, length;
  double sign; /* of the angle */
  double turn_c, turn_s;
  double c, s; /* of the sample that it is at */
} CleaveTurns;

static inline void
cleave_turns_init (CleaveTurns *turns, gint64 bin, gint64 length, double sign)
{
  double turn = sign * 2 * G_PI * (double) bin / (double) length;

  *turns = (CleaveTurns){ bin, length, sign, cos (turn), sin (turn), 1, 0 };
}

/* Samples come one after the other, from 0 on. */
static inline void
cleave_turns_go_to (CleaveTurns *turns, gint64 sample)
{
  double last = turns->c;

  if (sample % CLEAVE_N_TURNS == 0)
    {
      /* Whole turns are taken off in integers, where nothing is lost. */
      gint64 rest = (gint64) ((guint64) sample * (guint64) turns->bin % (guint64) turns->length);
      double angle = turns->sign * 2 * G_PI * (double) rest / (double) turns->length;

      turns->c = cos (angle);
      turns->s = sin (angle);
      return;
    }
  turns->c = turns->c * turns->turn_c - turns->s * turns->turn_s;
  turns->s = last * turns->turn_s + turns->s * turns->turn_c;
}
