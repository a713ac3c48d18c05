/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Compares each operation of the vector headers with plain C, at the level that this file is
 * compiled for. Exits with 77 if the processor does not have the level. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../../../lib/runtime/kernels/eight-bytes.h"
#include "../../../lib/runtime/kernels/integers/int-vector.h"
#include "../../../lib/runtime/kernels/vector-compare.h"
#include "../../../lib/runtime/kernels/vector-float16.h"
#include "../../../lib/runtime/kernels/vector-moves.h"
#include "emulate-vnni.h"
#include "word-operations.h"

#define N CLEAVE_VECTOR
#define N_ROUNDS 2000

static guint n_failed;
static guint32 state = 12345;

static guint32
draw (void)
{
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

/* Draws a number, at times a special number. Draws NaNs only if `nan`. */
static float
draw_float (gboolean nan)
{
  static const float special[] = {
    0, -0.0f, 1, -1, 0.5f, -0.5f, 1.5f, 2.5f, -2.5f, 1e-40f, -1e-40f
  };
  guint kind = draw () % 8;

  if (kind == 0)
    return special[draw () % G_N_ELEMENTS (special)];
  if (nan && kind == 1)
    return draw () % 2 == 0 ? (float) NAN : draw () % 2 == 0 ? INFINITY : -INFINITY;
  return ((float) draw () - 8388608) * ldexpf (1, (int) (draw () % 12) - 20);
}

static guint32
bits_of (float value)
{
  guint32 bits;

  memcpy (&bits, &value, sizeof bits);
  return value != value ? 0x7fc00000 : bits;
}

static void
expect (const char *word, const float *found, const float *expected, int n)
{
  for (int i = 0; i < n; i++)
    if (bits_of (found[i]) != bits_of (expected[i]))
      {
        if (n_failed++ < 20)
          printf ("%s: lane %d is %a, expected %a\n", word, i, (double) found[i],
                  (double) expected[i]);
        return;
      }
}

static void
expect_vector (const char *word, CleaveVector found, const float *expected)
{
  float values[N];

  cleave_vector_store (values, found);
  expect (word, values, expected, N);
}

static void
expect_int (const char *word, gint64 found, gint64 expected)
{
  if (found != expected && n_failed++ < 20)
    printf ("%s is %d, expected %d\n", word, (int) found, (int) expected);
}

static void
expect_ints (const char *word, CleaveIntVector found, const gint32 *expected)
{
  gint32 values[N];

  cleave_ints_store (values, found);
  for (int i = 0; i < N; i++)
    expect_int (word, values[i], expected[i]);
}

#define EACH(formula)                                                                              \
  for (int i = 0; i < N; i++)                                                                      \
  y[i] = (formula)

static void
try_arithmetic (void)
{
  float a[N], b[N], c[N], y[N];
  guint bits = 0;

  for (int i = 0; i < N; i++)
    {
      a[i] = draw_float (TRUE);
      b[i] = draw () % 4 == 0 ? a[i] : draw_float (TRUE);
      c[i] = draw_float (TRUE);
    }
  CleaveVector va = cleave_vector_load (a), vb = cleave_vector_load (b),
               vc = cleave_vector_load (c);

  EACH (fmaf (a[i], b[i], c[i]));
  expect_vector ("fma", cleave_vector_fma (va, vb, vc), y);
  EACH (fmaf (c[N - 1], a[i], b[i]));
  expect_vector ("factor_fma", cleave_factor_fma (cleave_factor_load (&c[N - 1]), va, vb), y);
  EACH (b[i] > a[i] ? b[i] : a[i]);
  expect_vector ("at_least", cleave_vector_at_least (va, vb), y);
  EACH (b[i] < a[i] ? b[i] : a[i]);
  expect_vector ("at_most", cleave_vector_at_most (va, vb), y);
  EACH (a[i] < b[i] ? b[i] : c[i]);
  expect_vector ("select", cleave_vector_select (va < vb, vb, vc), y);
  EACH (a[i] < b[i] ? b[i] : c[i]);
  expect_vector ("less", cleave_lanes_select (cleave_lanes_less (va, vb), vb, vc), y);
  EACH (!(a[i] >= b[i]) ? b[i] : c[i]);
  expect_vector ("not_at_least", cleave_lanes_select (cleave_lanes_not_at_least (va, vb), vb, vc),
                 y);
  EACH (!(a[i] <= b[i]) && c[i] == c[i] ? b[i] : c[i]);
  expect_vector (
      "not_at_most",
      cleave_lanes_select (cleave_lanes_of_numbers (cleave_lanes_not_at_most (va, vb), vc), vb, vc),
      y);
  for (int i = 0; i < N; i++)
    bits |= a[i] < b[i] ? 1u << i : 0;
  expect_int ("bits", cleave_vector_bits (va < vb), bits);
  expect_int ("lanes_bits", cleave_lanes_bits (cleave_lanes_less (va, vb)), bits);
  y[0] = a[draw () % N];
  for (int i = 1; i < N; i++)
    y[i] = y[0];
  expect_vector ("all", cleave_vector_all (y[0]), y);
}

static void
try_memory (void)
{
  float a[2 * N], to[N], y[N];
  int n = (int) (draw () % (N + 1));

  for (int i = 0; i < 2 * N; i++)
    a[i] = draw_float (TRUE);
  EACH (i < n ? a[i + 1] : 0);
  expect_vector ("load_some", cleave_vector_load_some (a + 1, n), y);
  memset (to, 0, sizeof to);
  cleave_vector_store_some (to, cleave_vector_load (a + 1), n);
  expect ("store_some", to, y, N);
  EACH (i < N / 2 ? a[i] : a[i + 3 - N / 2]);
  expect_vector ("load_halves", cleave_vector_load_halves (a, a + 3), y);
}

static void
try_moves (void)
{
  float a[N], b[N], y[N], square[CLEAVE_SQUARE * (CLEAVE_SQUARE + 1)], turned[sizeof square / 4];
  CleaveMask index = cleave_vector_indices ();
  const int step = CLEAVE_SQUARE + 1;

  for (int i = 0; i < N; i++)
    {
      a[i] = draw_float (TRUE);
      b[i] = draw_float (TRUE);
    }
  CleaveVector va = cleave_vector_load (a), vb = cleave_vector_load (b);

  EACH (i % 2 == 0 ? a[i / 4 * 4 + i % 4 / 2] : b[i / 4 * 4 + i % 4 / 2]);
  expect_vector ("interleave_low", cleave_vector_interleave_low (va, vb), y);
  EACH (i % 2 == 0 ? a[i / 4 * 4 + i % 4 / 2 + 2] : b[i / 4 * 4 + i % 4 / 2 + 2]);
  expect_vector ("interleave_high", cleave_vector_interleave_high (va, vb), y);
  EACH (i % 4 < 2 ? a[i] : b[i - 2]);
  expect_vector ("join_low", cleave_vector_join_low (va, vb), y);
  EACH (i % 4 < 2 ? a[i + 2] : b[i]);
  expect_vector ("join_high", cleave_vector_join_high (va, vb), y);
  EACH (a[(i * 3 + 1) % N]);
  expect_vector ("permute", cleave_vector_permute (va, (index * 3 + 1) & (N - 1)), y);
  EACH (a[i / 4 * 4 + (i * 3 + 1) % 4]);
  expect_vector ("permute_in_fours",
                 cleave_vector_permute_in_fours (va, (index & ~3) | ((index * 3 + 1) & 3)), y);
  for (gsize i = 0; i < G_N_ELEMENTS (square); i++)
    square[i] = draw_float (TRUE);
  cleave_vector_transpose (square, step, step, turned);
  for (int i = 0; i < CLEAVE_SQUARE; i++)
    for (int j = 0; j < CLEAVE_SQUARE; j++)
      expect ("transpose", &turned[i * step + j], &square[j * step + i], 1);
}

static void
try_rounding (void)
{
  float a[N], b[N], y[N];
  gint32 ints[N];
  const float sure = 0.25f;
  gboolean is_whole = TRUE;

  for (int i = 0; i < N; i++)
    {
      float size = draw_float (FALSE);

      a[i] = fmodf (size, 4e6f);
      b[i] = draw () % 2 == 0 ? rintf (a[i]) : rintf (a[i]) + 0.125f;
      is_whole &= fabsf (b[i] - rintf (b[i])) < sure;
    }
  CleaveVector va = cleave_vector_load (a), vb = cleave_vector_load (b);

  EACH (floorf (a[i]) + 0.0f);
  expect_vector ("floor", cleave_vector_floor (va) + 0.0f, y);
  for (int i = 0; i < N; i++)
    ints[i] = (gint32) rintf (a[i]);
  expect_ints ("of_floats", cleave_ints_of_floats (va), ints);
  for (int i = 0; i < N; i++)
    ints[i] = CLAMP (ints[i], -1000, 77);
  expect_ints ("clamp", cleave_ints_clamp (cleave_ints_of_floats (va), -1000, 77), ints);
  expect_int ("are_whole", cleave_vectors_are_whole (vb, vb, sure), is_whole);
  is_whole = TRUE;
  for (int i = 0; i < N; i++)
    is_whole &= b[i] == rintf (b[i]);
  expect_int ("are_whole", cleave_vectors_are_whole (vb, vb, 0.0625f), is_whole);
  a[draw () % N] = (float) NAN;
  a[draw () % N] = INFINITY;
  EACH (a[i] != a[i] ? 0 : MAX (MIN (a[i], 500), -700));
  expect_vector ("within",
                 cleave_vector_at_least (cleave_vector_within (cleave_vector_load (a),
                                                               cleave_vector_all (-700),
                                                               cleave_vector_all (500)),
                                         cleave_vector_all (-700)),
                 y);
}

static void
try_integers (void)
{
  gint32 sum[N], y[N], unit;
  gint16 x16[2 * N];
  gint8 w[4 * N], x8[4 * N];
  guint8 bytes[2 * N], expected[2 * N];
  float scale[2 * N], floats[N];
  gint32 low[N], high[N], zero = (gint32) (draw () % 511) - 255;
  CleaveIntVector v;

  for (int i = 0; i < 2 * N; i++)
    {
      x16[i] = (gint16) (draw () % 511 - 255);
      scale[i] = (float) (draw () % 1000) * 1e-4f;
    }
  for (int i = 0; i < 4 * N; i++)
    {
      w[i] = (gint8) draw ();
      x8[i] = (gint8) draw ();
    }
  for (int i = 0; i < N; i++)
    {
      sum[i] = (gint32) (draw () << 8);
      low[i] = (gint32) draw () % 4096 - 2048;
      high[i] = (gint32) draw () % 100000 * (draw () % 2 == 0 ? 1 : -1);
    }
  memcpy (&v, x16, sizeof v);
  for (int i = 0; i < N; i++)
    y[i] = (gint32) ((guint32) sum[i] +
                     (guint32) (x16[2 * i] * w[2 * i] + x16[2 * i + 1] * w[2 * i + 1]));
  expect_ints ("add_pairs",
               cleave_ints_add_dot2 (cleave_ints_load (sum), v, cleave_ints_load_dot2 (w)), y);
  for (int i = 0; i < N; i++)
    y[i] = (gint32) ((guint32) sum[i] + (guint32) low[i]);
  expect_ints ("add", cleave_ints_add (cleave_ints_load (sum), cleave_ints_load (low)), y);
  for (int i = 0; i < N; i++)
    y[i] = (guint8) x8[i];
  expect_ints ("load_bytes", cleave_ints_load_bytes ((const guint8 *) x8, FALSE), y);
  for (int i = 0; i < N; i++)
    y[i] = x8[i] - zero;
  expect_ints ("subtract",
               cleave_ints_subtract (cleave_ints_load_bytes ((const guint8 *) x8, TRUE),
                                     cleave_ints_all (zero)),
               y);
  for (int i = 0; i < N; i++)
    floats[i] = (float) y[i];
  expect_vector ("to_floats", cleave_ints_to_floats (cleave_ints_load (y)), floats);
  for (int i = 0; i < N; i++)
    y[i] = (guint8) x8[i] ^ 0x80;
  expect_ints ("flipped_bytes", cleave_ints_load_flipped_bytes ((const guint8 *) x8, 0x80), y);
  memcpy (&unit, x8, sizeof unit);
  for (int i = 0; i < N; i++)
    y[i] = unit;
  expect_ints ("unit", cleave_ints_unit ((const char *) x8), y);
  for (int i = 0; i < N; i++)
    y[i] = (gint32) rintf (MIN ((float) low[i] * scale[i], 1024));
  expect_ints ("round", cleave_ints_round (cleave_ints_load (low), scale, FALSE), y);
  for (gboolean is_signed = FALSE; is_signed <= TRUE; is_signed++)
    {
      for (int i = 0; i < 2 * N; i++)
        expected[i] = (guint8) CLAMP ((i < N ? low[i] : high[i - N]) + zero, is_signed ? -128 : 0,
                                      is_signed ? 127 : 255);
      cleave_ints_narrow (cleave_ints_load (low), cleave_ints_load (high), zero, is_signed, bytes);
      expect_int ("narrow", memcmp (bytes, expected, sizeof bytes), 0);
    }
#if defined(CLEAVE_DOT)
  memcpy (&v, x8, sizeof v);
  for (int i = 0; i < N; i++)
    {
      guint32 s = (guint32) sum[i];

      for (int e = 0; e < 4; e++)
#if defined(CLEAVE_NEON) && !defined(CLEAVE_I8MM)
        s += (guint32) (x8[4 * i + e] * w[4 * i + e]);
#else
        s += (guint32) ((guint8) x8[4 * i + e] * w[4 * i + e]);
#endif
      y[i] = (gint32) s;
    }
  expect_ints ("add_dot4",
               cleave_ints_add_dot4 (cleave_ints_load (sum), v,
                                     cleave_ints_load ((const gint32 *) (gconstpointer) w)),
               y);
#endif
#if defined(CLEAVE_NEON) && defined(CLEAVE_DOT)
  for (int lane = 0; lane < N; lane++)
    {
      CleaveIntVector all = cleave_ints_all (v[lane]);
      CleaveIntVector by = cleave_ints_load ((const gint32 *) (gconstpointer) w);

      cleave_ints_store (y, cleave_ints_add_dot4 (cleave_ints_load (sum), all, by));
      expect_ints ("add_dot4_of_lane",
                   cleave_ints_add_dot4_of_lane (cleave_ints_load (sum), v, lane, by), y);
    }
#endif
  {
    char to[8] = { 0 };

    cleave_bytes_store_fours (
        to, to + 4,
        cleave_bytes_max (cleave_bytes_load_fours ((const char *) x8, (const char *) x8 + 5),
                          cleave_bytes_all (99)));
    for (int i = 0; i < 8; i++)
      expect_int ("bytes_max", (guint8) to[i], MAX ((guint8) x8[i < 4 ? i : i + 1], 99));
  }
}

static void
try_doubles (void)
{
  float a[N], y[CLEAVE_LANE_VECTOR];
  CleaveDoubleVector v;
  CleaveLaneVector lanes, other;

  for (int i = 0; i < N; i++)
    a[i] = draw_float (TRUE);
  v = cleave_double_vector_of_floats (a);
  for (int i = 0; i < CLEAVE_DOUBLE_VECTOR; i++)
    expect_int ("doubles", v[i] == (double) a[i] || a[i] != a[i], TRUE);
  v = cleave_double_vector_fma (v, v, v);
  for (int i = 0; i < CLEAVE_DOUBLE_VECTOR; i++)
    expect_int ("fma of doubles",
                v[i] == fma ((double) a[i], (double) a[i], (double) a[i]) || v[i] != v[i], TRUE);
  lanes = cleave_lane_vector_load (a);
  other = lanes * lanes;
  for (int i = 0; i < CLEAVE_LANE_VECTOR; i++)
    y[i] = other[i] > a[i] ? other[i] : a[i];
  lanes = cleave_lane_vector_at_least (lanes, other);
  for (int i = 0; i < CLEAVE_LANE_VECTOR; i++)
    expect ("lane_at_least", &y[i], (float[]){ lanes[i] }, 1);
#if defined(CLEAVE_HAS_FLOAT16)
  {
    guint16 halves[8], back[8];
    float wide[8];

    for (int i = 0; i < 8; i++)
      halves[i] = (guint16) (draw () % 0x7c00 + (draw () % 2) * 0x8000);
    cleave_float16_widen_8 (halves, wide);
    cleave_float16_narrow_8 (wide, back);
    for (int i = 0; i < 8; i++)
      {
        expect_int ("float16", back[i], halves[i]);
        expect_int ("float16", bits_of (wide[i]), bits_of (cleave_half_to_float (halves[i])));
        expect_int ("float16", cleave_float16_narrow (wide[i] * 1.0003f),
                    cleave_half_from_float (wide[i] * 1.0003f));
      }
  }
#endif
}

int
main (void)
{
  const char *level = G_STRINGIFY (CLEAVE_LEVEL);

  if (!cleave_kernel_level_runs (level) && !cleave_test_emulate_level (level))
    return 77;
  for (guint i = 0; i < N_ROUNDS; i++)
    {
      try_arithmetic ();
      try_memory ();
      try_moves ();
      try_rounding ();
      try_integers ();
      try_doubles ();
    }
  n_failed += cleave_test_words (N_ROUNDS);
  printf ("vectors of %d: %u failed\n", N, n_failed);
  return n_failed > 0 ? 1 : 0;
}
