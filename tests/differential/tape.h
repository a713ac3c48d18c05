/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A tape records random choices. Each choice is a number from 0 to n - 1, and 0 is the simplest
 * one. trial.h and way.h draw all their choices from tapes. So the shrinker can replay a graph with
 * simpler choices: it changes numbers on the tape. */

#include <glib.h>

/* A copy of a tape's choices in shared memory. Other processes can read the copy after the process
 * that draws from the tape has crashed. */
typedef struct
{
  guint n;
  guint32 choices[8192];
} TapeCopy;

typedef struct
{
  GArray *choices; /* the choices so far, as guint32 */
  guint position;
  guint64 state;     /* state of the random generator, for new choices */
  gboolean replayed; /* the tape began with given choices; all further choices are 0 */
  TapeCopy *copy;    /* copy of the choices for other processes; NULL: no copy */
} Tape;

void tape_init (Tape *tape, guint64 seed);
void tape_init_replay (Tape *tape, const guint32 *choices, guint n);
void tape_clear (Tape *tape);
/* Returns the next choice: a number from 0 to n - 1. */
guint tape_draw (Tape *tape, guint n);
gboolean tape_chance (Tape *tape, guint percent);
/* Advances the random generator `state` by one step, and returns 64 random bits. */
guint64 tape_next_random (guint64 *state);
