/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Compares the operations of word-vector.h with plain C. */

#include "word-operations.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../../lib/runtime/kernels/integers/word-vector.h"

#define N CLEAVE_LANES

static guint n_failed;
static guint32 state = 54321;

static guint32
draw (void)
{
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

static void
expect_words (const char *word, CleaveWords found, const guint16 *expected)
{
  guint16 values[CLEAVE_WORDS];

  memcpy (values, &found, sizeof values);
  for (int i = 0; i < CLEAVE_WORDS; i++)
    if (values[i] != expected[i] && n_failed++ < 20)
      printf ("%s: lane %d is %d, expected %d\n", word, i, values[i], expected[i]);
}

static void
expect_ints (const char *word, CleaveIntVector found, const gint32 *expected)
{
  gint32 values[N];

  cleave_ints_store (values, found);
  for (int i = 0; i < N; i++)
    if (values[i] != expected[i] && n_failed++ < 20)
      printf ("%s: lane %d is %d, expected %d\n", word, i, values[i], expected[i]);
}

/* Draws an integer of any size, so that each bound of 16 bits is crossed in both directions. */
static gint32
draw_any (void)
{
  return (gint32) (draw () << 8 ^ draw ()) >> draw () % 31;
}

#define EACH(formula)                                                                              \
  for (int i = 0; i < CLEAVE_WORDS; i++)                                                           \
  y[i] = (guint16) (formula)

static void
try_joins (void)
{
  gint32 x[CLEAVE_WORDS];
  guint16 y[CLEAVE_WORDS];
  CleaveIntVector low, high;

  for (int i = 0; i < CLEAVE_WORDS; i++)
    x[i] = draw_any ();
  low = cleave_ints_load (x);
  high = cleave_ints_load (x + N);
  EACH (x[i]);
  expect_words ("low_halves", cleave_words_of_low_halves (low, high), y);
  EACH (x[i] >> 16);
  expect_words ("high_halves", cleave_words_of_high_halves (low, high), y);
  EACH (CLAMP (x[i], 0, G_MAXUINT16));
  expect_words ("saturate", cleave_words_saturate (low, high), y);
}

static void
try_words (void)
{
  guint16 a[CLEAVE_WORDS], b[CLEAVE_WORDS], y[CLEAVE_WORDS], by = (guint16) draw_any ();
  guint8 bytes[CLEAVE_WORDS];
  CleaveWords va, vb;
  guint32 bits = 0;

  for (int i = 0; i < CLEAVE_WORDS; i++)
    {
      a[i] = draw () % 8 == 0 ? 0x8000 : (guint16) draw_any ();
      b[i] = draw () % 2 == 0 ? (guint16) ABS ((gint16) a[i]) : (guint16) draw_any ();
      bits |= ABS ((gint32) (gint16) a[i]) <= b[i] ? 1u << i : 0;
    }
  va = cleave_words_load (a);
  vb = cleave_words_load (b);
  EACH (MIN (a[i] + b[i], G_MAXUINT16));
  expect_words ("add", cleave_words_add (va, vb), y);
  EACH ((guint32) a[i] * by >> 16);
  expect_words ("multiply_high", cleave_words_multiply_high (va, by), y);
  if (cleave_words_within (va, vb) != bits && n_failed++ < 20)
    printf ("within: %x, expected %x\n", cleave_words_within (va, vb), bits);
  cleave_words_store_bytes (bytes, va);
  for (int i = 0; i < CLEAVE_WORDS; i++)
    if (bytes[i] != (guint8) a[i] && n_failed++ < 20)
      printf ("store_bytes: lane %d is %d, expected %d\n", i, bytes[i], (guint8) a[i]);
}

static void
try_ints (void)
{
  float x[N], least = -ldexpf (1, 20), most = ldexpf (1, 24) + 32768;
  gint32 sum[N], value[N], y[N];

  for (int i = 0; i < N; i++)
    {
      x[i] = (float) draw_any () / (float) (1 + draw () % 4);
      sum[i] = draw_any () / 2;
      value[i] = draw_any () / 4;
      y[i] = (gint32) rintf (CLAMP (x[i], least, most));
    }
  expect_ints ("of_floats_within",
               cleave_ints_of_floats_within (cleave_vector_load (x), least, most), y);
  for (int i = 0; i < N; i++)
    {
      x[i] = (float) (value[i] / 2) + 0.5f;
      y[i] = (gint32) rintf (x[i]);
    }
  expect_ints ("of_wide_floats", cleave_ints_of_wide_floats (cleave_vector_load (x)), y);
  for (int i = 0; i < N; i++)
    y[i] = (gint32) ((guint32) sum[i] + (guint32) ABS (value[i]));
  expect_ints ("add_magnitude",
               cleave_ints_add_magnitude (cleave_ints_load (sum), cleave_ints_load (value)), y);
}

guint
cleave_test_words (guint n_rounds)
{
  for (guint i = 0; i < n_rounds; i++)
    {
      try_joins ();
      try_words ();
      try_ints ();
    }
  return n_failed;
}
