/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the pass that moves buffers of a placed arena, so that each thread reuses the memory that
 * it used before. */

#include "../../../lib/runtime/plan/arena-threads.h"

#include "run-help.h"

#define KIB 1024
#define MAX_BUFFERS 40
#define N_SEEDS CLEAVE_TRIALS (200)

/* A buffer. It is live from step `first` to step `last`. `written[t]` is the range of bytes that
 * thread t uses. */
typedef struct
{
  guint first, last;
  gint64 n_bytes, offset;
  CleaveArenaReach written[2];
} Buffer;

static gboolean
meet (const Buffer *a, const Buffer *b)
{
  return a->first <= b->last && b->first <= a->last;
}

static gboolean
overlap (const Buffer *a, const Buffer *b)
{
  return a->offset < b->offset + b->n_bytes && b->offset < a->offset + a->n_bytes;
}

/* Moves buffers to memory that the same thread used before. The test treats each access as a
 * write. */
static void
move (Buffer *buffers, guint n, gint64 size)
{
  gint64 n_bytes[MAX_BUFFERS], offsets[MAX_BUFFERS];
  guint time[MAX_BUFFERS], begin[MAX_BUFFERS + 1], conflicts[MAX_BUFFERS * MAX_BUFFERS], end = 0;
  CleaveArenaShare shares[MAX_BUFFERS * 2];
  guint shares_begin[MAX_BUFFERS + 1];
  const CleaveArenaTask task = {
    .n_buffers = n, .n_bytes = n_bytes, .time = time, .begin = begin, .conflicts = conflicts
  };
  const CleaveArenaThreads threads = { shares_begin, shares };

  for (guint i = 0; i < n; i++)
    {
      n_bytes[i] = buffers[i].n_bytes;
      offsets[i] = buffers[i].offset;
      time[i] = i;
      begin[i] = end;
      shares_begin[i] = 2 * i;
      for (guint t = 0; t < 2; t++)
        shares[2 * i + t] = (CleaveArenaShare){ t, buffers[i].written[t], buffers[i].written[t] };
      for (guint k = 0; k < n; k++)
        if (k != i && meet (&buffers[i], &buffers[k]))
          conflicts[end++] = k;
    }
  begin[n] = end;
  shares_begin[n] = 2 * n;
  cleave_arena_move_to_threads (&task, &threads, size, offsets);
  for (guint i = 0; i < n; i++)
    buffers[i].offset = offsets[i];
}

#define OF(thread, first, last, kib, at)                                                           \
  {                                                                                                \
    first, last, (kib) *KIB, (at) *KIB,                                                            \
    {                                                                                              \
      [thread] = { 0, (kib) *KIB }                                                                 \
    }                                                                                              \
  }

/* Thread 0 and thread 1 each use one value, and then another value. The second values swap their
 * offsets, so that each thread uses the memory of its first value again. */
START_TEST (buffers_of_two_threads_swap_places)
{
  Buffer buffers[] = { OF (0, 0, 1, 32, 0), OF (1, 0, 1, 32, 32), OF (0, 2, 3, 32, 32),
                       OF (1, 2, 3, 32, 0) };

  move (buffers, G_N_ELEMENTS (buffers), 64 * KIB);
  ck_assert_int_eq (buffers[0].offset, buffers[2].offset);
  ck_assert_int_eq (buffers[1].offset, buffers[3].offset);
}
END_TEST

START_TEST (a_buffer_moves_to_a_free_place)
{
  Buffer buffers[] = { OF (0, 0, 1, 32, 0), OF (1, 0, 1, 48, 32), OF (1, 2, 3, 32, 0) };

  move (buffers, G_N_ELEMENTS (buffers), 80 * KIB);
  ck_assert_int_ge (buffers[2].offset, 32 * KIB);
}
END_TEST

/* Each of two threads writes one half of a value, and then one half of the next value. Both values
 * get the same offset, so a thread writes the same memory twice. */
START_TEST (bands_overlap_the_bands_of_the_previous_value)
{
  Buffer buffers[] = {
    { 0, 1, 64 * KIB, 0, { { 0, 32 * KIB }, { 32 * KIB, 64 * KIB } } },
    { 2, 3, 64 * KIB, 32 * KIB, { { 0, 32 * KIB }, { 32 * KIB, 64 * KIB } } },
  };

  move (buffers, G_N_ELEMENTS (buffers), 96 * KIB);
  ck_assert_int_eq (buffers[0].offset, buffers[1].offset);
}
END_TEST

/* Asserts that buffers do not overlap, and that no buffer ends beyond the end of the arena. */
START_TEST (random_buffers_do_not_overlap)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      guint n = (guint) g_rand_int_range (rand, 2, MAX_BUFFERS);
      Buffer buffers[MAX_BUFFERS] = { 0 };
      gint64 size = 0;

      for (guint i = 0; i < n; i++)
        {
          Buffer *b = &buffers[i];

          b->first = i;
          b->last = i + (guint) g_rand_int_range (rand, 0, 6);
          b->n_bytes = g_rand_int_range (rand, 1, 9) * 8 * KIB;
          b->written[g_rand_int_range (rand, 0, 2)] = (CleaveArenaReach){ 0, b->n_bytes };
          for (guint k = 0; k < i; k++)
            if (meet (b, &buffers[k]))
              b->offset = MAX (b->offset, buffers[k].offset + buffers[k].n_bytes);
          size = MAX (size, b->offset + b->n_bytes);
        }
      move (buffers, n, size);
      for (guint i = 0; i < n; i++)
        {
          ck_assert_int_ge (buffers[i].offset, 0);
          ck_assert_int_le (buffers[i].offset + buffers[i].n_bytes, size);
          for (guint k = 0; k < i; k++)
            ck_assert (!meet (&buffers[i], &buffers[k]) || !overlap (&buffers[i], &buffers[k]));
        }
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "move", buffers_of_two_threads_swap_places,
                   a_buffer_moves_to_a_free_place, bands_overlap_the_bands_of_the_previous_value,
                   random_buffers_do_not_overlap, NULL);
}

CLEAVE_TEST_SUITE ("arena-threads", add_tests)
