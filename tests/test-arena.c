/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "../lib/runtime/arena.h"

#include "test.h"

typedef struct
{
  gint64 n_bytes;
  guint first, last;
} Lifetime;

/* Buffers that one thread uses from one step to another. */
typedef struct
{
  CleaveArenaTask task;
  gint64 *n_bytes, *offsets;
  guint *time, *begin, *conflicts;
  gint64 bound;
} Case;

static gboolean
meet (const Lifetime *a, const Lifetime *b)
{
  return a->first <= b->last && b->first <= a->last;
}

static gint64
find_bound (const Lifetime *lifetimes, guint n)
{
  gint64 bound = 0;

  for (guint i = 0; i < n; i++)
    {
      gint64 live = 0;

      for (guint k = 0; k < n; k++)
        if (lifetimes[k].first <= lifetimes[i].first && lifetimes[k].last >= lifetimes[i].first)
          live += lifetimes[k].n_bytes;
      bound = MAX (bound, live);
    }
  return bound;
}

static void
case_init (Case *c, const Lifetime *lifetimes, guint n)
{
  guint n_conflicts = 0;

  c->n_bytes = g_new (gint64, n);
  c->offsets = g_new (gint64, n);
  c->time = g_new (guint, n);
  c->begin = g_new (guint, n + 1);
  c->conflicts = g_new (guint, n * n);
  for (guint i = 0; i < n; i++)
    {
      c->n_bytes[i] = lifetimes[i].n_bytes;
      c->time[i] = lifetimes[i].first;
      c->begin[i] = n_conflicts;
      for (guint k = 0; k < n; k++)
        if (k != i && meet (&lifetimes[i], &lifetimes[k]))
          c->conflicts[n_conflicts++] = k;
    }
  c->begin[n] = n_conflicts;
  c->bound = find_bound (lifetimes, n);
  c->task = (CleaveArenaTask){ n, c->n_bytes, c->time, c->begin, c->conflicts };
}

static void
case_clear (Case *c)
{
  g_free (c->n_bytes);
  g_free (c->offsets);
  g_free (c->time);
  g_free (c->begin);
  g_free (c->conflicts);
}

/* Places them, checks that those that meet are apart; returns the bytes beyond the bound. */
static gint64
place (const Lifetime *lifetimes, guint n, gint64 *bound)
{
  Case c;
  gint64 size;

  case_init (&c, lifetimes, n);
  size = cleave_arena_place (&c.task, c.bound, c.offsets);
  for (guint i = 0; i < n; i++)
    {
      ck_assert_int_ge (c.offsets[i], 0);
      ck_assert_int_le (c.offsets[i] + c.n_bytes[i], size);
      for (guint k = 0; k < i; k++)
        ck_assert (!meet (&lifetimes[i], &lifetimes[k]) ||
                   c.offsets[i] + c.n_bytes[i] <= c.offsets[k] ||
                   c.offsets[k] + c.n_bytes[k] <= c.offsets[i]);
    }
  *bound = c.bound;
  case_clear (&c);
  return size - *bound;
}

/* A chain: each value is made from the one before. */
START_TEST (chain_takes_two_neighbours)
{
  static const Lifetime chain[] = {
    { 64, 0, 1 }, { 128, 1, 2 }, { 256, 2, 3 }, { 64, 3, 4 }, { 192, 4, 5 }
  };
  gint64 bound;

  ck_assert_int_eq (place (chain, G_N_ELEMENTS (chain), &bound), 0);
  ck_assert_int_eq (bound, 384);
}
END_TEST

/* What first fit in order of time gets wrong: the long one must lie at an end. */
START_TEST (long_buffer_does_not_cut_the_arena)
{
  static const Lifetime lifetimes[] = { { 64, 0, 1 },  { 64, 1, 9 },  { 64, 2, 3 },
                                        { 192, 4, 5 }, { 128, 6, 7 }, { 128, 7, 8 } };
  gint64 bound;

  ck_assert_int_eq (place (lifetimes, G_N_ELEMENTS (lifetimes), &bound), 0);
}
END_TEST

START_TEST (empty_buffers_take_nothing)
{
  static const Lifetime lifetimes[] = { { 0, 0, 3 }, { 64, 1, 2 }, { 0, 1, 1 } };
  gint64 bound;

  ck_assert_int_eq (place (lifetimes, G_N_ELEMENTS (lifetimes), &bound), 0);
}
END_TEST

START_TEST (random_lifetimes_stay_near_the_bound)
{
  double sum = 0;
  const guint n_seeds = 200;

  for (guint32 seed = 0; seed < n_seeds; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      Lifetime lifetimes[60];
      gint64 bound, over;

      for (guint i = 0; i < G_N_ELEMENTS (lifetimes); i++)
        {
          guint first = (guint) g_rand_int_range (rand, 0, 60);

          lifetimes[i].first = first;
          lifetimes[i].last = first + (guint) g_rand_int_range (
                                          rand, 1, g_rand_int_range (rand, 0, 6) == 0 ? 40 : 5);
          lifetimes[i].n_bytes = 64 * g_rand_int_range (rand, 1, 60);
        }
      over = place (lifetimes, G_N_ELEMENTS (lifetimes), &bound);
      sum += (double) over / (double) bound;
      ck_assert_msg ((double) over <= 0.10 * (double) bound,
                     "seed %u: %" G_GINT64_FORMAT " over %" G_GINT64_FORMAT, seed, over, bound);
    }
  ck_assert_double_le (sum / n_seeds, 0.01);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "place", chain_takes_two_neighbours, long_buffer_does_not_cut_the_arena,
                   empty_buffers_take_nothing, random_lifetimes_stay_near_the_bound, NULL);
}

CLEAVE_TEST_MAIN ("arena", add_tests)
