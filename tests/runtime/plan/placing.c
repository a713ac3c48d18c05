/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The placement of buffers with fragments: of two buffers, only fragments that are in use at the
 * same time must not overlap. */

#include "../../../lib/runtime/plan/placing.h"

#include "../../../lib/runtime/plan/liveness.h"

#include "test.h"

#define N_BUFFERS 50
#define N_MANY 1500 /* more buffers are in use at once than the search places */
#define N_POSITIONS 60
#define MAX_FRAGMENTS 4

static CleaveFragment
make_fragment (GRand *rand, gint32 longest, guint buffer, gint64 begin)
{
  const guint first = (guint) g_rand_int_range (rand, 0, N_POSITIONS);
  const guint last = first + (guint) g_rand_int_range (rand, 0, longest);
  const gint32 most = 1 << g_rand_int_range (rand, 0, 10);

  return (CleaveFragment){ buffer, begin, 64 * g_rand_int_range (rand, 1, most + 1), first,
                           MIN (last, N_POSITIONS - 1) };
}

/* Makes `n_buffers` buffers; every third one has several fragments. A fragment is in use at most at
 * `longest` positions. `spans` gets the fragments of all buffers, where a buffer without laps is
 * one fragment. */
static void
make_lifetimes (CleaveLifetimes *l, GArray *spans, GRand *rand, guint n_buffers, gint32 longest)
{
  *l = (CleaveLifetimes){ .n_buffers = n_buffers,
                          .n_bytes = g_new0 (gint64, n_buffers),
                          .first = g_new (guint, n_buffers),
                          .gone = g_new0 (guint, n_buffers),
                          .fragments = g_array_new (FALSE, FALSE, sizeof (CleaveFragment)),
                          .fragment_begin = g_new (guint, n_buffers + 1) };
  for (guint b = 0; b < n_buffers; b++)
    {
      const gint32 n = b % 3 == 0 ? g_rand_int_range (rand, 2, MAX_FRAGMENTS + 1) : 1;

      l->fragment_begin[b] = l->fragments->len;
      l->first[b] = G_MAXUINT;
      for (gint32 i = 0; i < n; i++)
        {
          const CleaveFragment fragment = make_fragment (rand, longest, b, l->n_bytes[b]);

          l->n_bytes[b] += fragment.n_bytes;
          l->first[b] = MIN (l->first[b], fragment.first);
          l->gone[b] = MAX (l->gone[b], fragment.last + 1);
          g_array_append_val (spans, fragment);
          if (n > 1)
            g_array_append_val (l->fragments, fragment);
        }
    }
  l->fragment_begin[n_buffers] = l->fragments->len;
  l->late = g_memdup2 (l->gone, n_buffers * sizeof (guint));
}

static gint64
find_bound (const GArray *spans)
{
  gint64 bound = 0;

  for (guint at = 0; at < N_POSITIONS; at++)
    {
      gint64 live = 0;

      for (guint i = 0; i < spans->len; i++)
        {
          const CleaveFragment *span = &g_array_index (spans, CleaveFragment, i);

          live += span->first <= at && at <= span->last ? span->n_bytes : 0;
        }
      bound = MAX (bound, live);
    }
  return bound;
}

static gboolean
share (const CleaveFragment *a, const CleaveFragment *b, const gint64 *offsets)
{
  const gint64 x = offsets[a->buffer] + a->begin, y = offsets[b->buffer] + b->begin;

  return a->first <= b->last && b->first <= a->last && x < y + b->n_bytes && y < x + a->n_bytes;
}

static void
assert_placed (const GArray *spans, const gint64 *offsets, gint64 size)
{
  for (guint i = 0; i < spans->len; i++)
    {
      const CleaveFragment *span = &g_array_index (spans, CleaveFragment, i);

      cleave_assert (offsets[span->buffer] >= 0);
      cleave_assert (offsets[span->buffer] + span->begin + span->n_bytes <= size);
      for (guint k = 0; k < i; k++)
        {
          const CleaveFragment *other = &g_array_index (spans, CleaveFragment, k);

          cleave_assert (span->buffer == other->buffer || !share (span, other, offsets));
        }
    }
}

/* Places the buffers. If `has_fragments` is FALSE, each buffer is in use as a whole. */
static gint64
place (const CleaveLifetimes *l, gboolean has_fragments, gint64 bound, gint64 *offsets)
{
  CleaveLifetimes copy = *l;
  g_autofree guint *order = cleave_lifetimes_sort (l->first, l->n_buffers);

  if (!has_fragments)
    copy.fragments = NULL;
  return cleave_placing_place (offsets, &copy, order, bound);
}

START_TEST (fragments_in_use_do_not_overlap)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (23);
  double saved = 0;
  const guint n = CLEAVE_TRIALS (100);

  for (guint trial = 0; trial < n; trial++)
    {
      g_auto (CleaveLifetimes) l = { 0 };
      g_autoptr (GArray) spans = g_array_new (FALSE, FALSE, sizeof (CleaveFragment));
      gint64 offsets[N_BUFFERS], bound, size, whole;

      make_lifetimes (&l, spans, rand, N_BUFFERS, 12);
      bound = find_bound (spans);
      whole = place (&l, FALSE, bound, offsets);
      assert_placed (spans, offsets, whole);
      size = place (&l, TRUE, bound, offsets);
      assert_placed (spans, offsets, size);
      ck_assert_int_ge (size, bound);
      saved += 1 - (double) size / (double) whole;
    }
  ck_assert_double_gt (saved / n, 0.05);
}
END_TEST

/* If too many buffers are in use at once, only the large ones are placed by the search. The others
 * fill the gaps, and fragments still do not overlap. */
START_TEST (many_buffers_do_not_overlap)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (29);

  for (guint trial = 0; trial < CLEAVE_TRIALS (2); trial++)
    {
      g_auto (CleaveLifetimes) l = { 0 };
      g_autoptr (GArray) spans = g_array_new (FALSE, FALSE, sizeof (CleaveFragment));
      gint64 offsets[N_MANY], bound, size;
      g_autofree guint *order = NULL;

      make_lifetimes (&l, spans, rand, N_MANY, N_POSITIONS);
      order = cleave_lifetimes_sort (l.first, N_MANY);
      bound = find_bound (spans);
      ck_assert_int_eq (cleave_placing_pack (offsets, &l, order, N_MANY, bound, FALSE), -1);
      size = place (&l, TRUE, bound, offsets);
      assert_placed (spans, offsets, size);
      ck_assert_int_ge (size, bound);
      ck_assert_double_lt ((double) size, 1.2 * (double) bound);
    }
}
END_TEST

/* A buffer has two fragments, which are in use one after the other. Another buffer is in use
 * together with each fragment, and fits into the memory of the other fragment. */
START_TEST (a_buffer_fits_beside_a_fragment)
{
  static const CleaveArenaSpan spans[] = {
    { .n_bytes = 256, .first = 0, .gone = 2, .buffer = 0, .begin = 0 },
    { .n_bytes = 64, .first = 0, .gone = 2, .buffer = 1, .begin = 0 },
    { .n_bytes = 64, .first = 2, .gone = 4, .buffer = 0, .begin = 256 },
    { .n_bytes = 256, .first = 2, .gone = 4, .buffer = 2, .begin = 0 },
  };

  ck_assert_int_eq (cleave_arena_place_spans (spans, G_N_ELEMENTS (spans), 320), 320);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "fragments", fragments_in_use_do_not_overlap, many_buffers_do_not_overlap,
                   a_buffer_fits_beside_a_fragment, NULL);
}

CLEAVE_TEST_SUITE ("placing", add_tests)
