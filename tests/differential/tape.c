/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tapes of random choices, from a seed or from recorded choices. */

#include "tape.h"

guint64
tape_next_random (guint64 *state)
{
  guint64 z = (*state += G_GUINT64_CONSTANT (0x9e3779b97f4a7c15));

  z = (z ^ (z >> 30)) * G_GUINT64_CONSTANT (0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * G_GUINT64_CONSTANT (0x94d049bb133111eb);
  return z ^ (z >> 31);
}

void
tape_init (Tape *tape, guint64 seed)
{
  *tape = (Tape){ .choices = g_array_new (FALSE, FALSE, sizeof (guint32)), .state = seed };
  tape_next_random (&tape->state);
}

void
tape_init_replay (Tape *tape, const guint32 *choices, guint n)
{
  tape_init (tape, 0);
  g_array_append_vals (tape->choices, choices, n);
  tape->replayed = TRUE;
}

void
tape_clear (Tape *tape)
{
  g_array_unref (tape->choices);
}

guint
tape_draw (Tape *tape, guint n)
{
  guint32 choice = 0;

  if (tape->position < tape->choices->len)
    choice = MIN (g_array_index (tape->choices, guint32, tape->position), MAX (n, 1) - 1);
  else if (!tape->replayed && n > 1)
    choice = (guint32) (tape_next_random (&tape->state) % n);
  if (tape->position >= tape->choices->len)
    g_array_append_val (tape->choices, choice);
  tape->position++;
  if (tape->copy != NULL && tape->position <= G_N_ELEMENTS (tape->copy->choices))
    tape->copy->choices[(tape->copy->n = tape->position) - 1] = choice;
  return choice;
}

gboolean
tape_chance (Tape *tape, guint percent)
{
  return percent > 0 && tape_draw (tape, 100) >= 100 - percent;
}
