/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Choices that were made, so that they can be made again, or simpler: what a shrinker works on. */

#include <glib.h>

/* The choices so far, where another process can read them even if this one dies. */
typedef struct
{
  guint n;
  guint32 choices[8192];
} TapeCopy;

typedef struct
{
  GArray *choices; /* guint32 */
  guint position;
  guint64 state;     /* of the random numbers past the end */
  gboolean replayed; /* past the end every choice is 0 */
  TapeCopy *copy;    /* NULL: none */
} Tape;

void tape_init (Tape *tape, guint64 seed);
void tape_init_replay (Tape *tape, const guint32 *choices, guint n);
void tape_clear (Tape *tape);
/* From 0 to n - 1. */
guint tape_draw (Tape *tape, guint n);
gboolean tape_chance (Tape *tape, guint percent);
/* Any 64 bits, by one choice. */
guint64 tape_next_random (guint64 *state);
