/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Fragments of buffers with laps: compared with the members at each step, byte by byte. */

#include "../../lib/memory/fragments.h"

#include "test.h"

#define N_BYTES 40
#define N_STEPS 30

static GArray *
make_members (GRand *rand)
{
  const guint n = (guint) g_rand_int_range (rand, 1, 7);
  GArray *members = g_array_new (FALSE, FALSE, sizeof (CleaveLapMember));

  for (guint i = 0; i < n; i++)
    {
      CleaveLapMember member = { .begin = g_rand_int_range (rand, 0, N_BYTES - 1),
                                 .first = (guint) g_rand_int_range (rand, 0, N_STEPS) };

      member.end = g_rand_int_range (rand, (gint32) member.begin + 1, N_BYTES + 1);
      member.last = (guint) g_rand_int_range (rand, (gint32) member.first, N_STEPS);
      g_array_append_val (members, member);
    }
  return members;
}

/* Counts the members that use a byte at a step. */
static guint
count_members (const GArray *members, gint64 byte, guint step)
{
  guint n = 0;

  for (guint i = 0; i < members->len; i++)
    {
      const CleaveLapMember *member = &g_array_index (members, CleaveLapMember, i);

      n += member->begin <= byte && byte < member->end && member->first <= step &&
           step <= member->last;
    }
  return n;
}

static guint
count_fragments (const GArray *fragments, gint64 byte, guint step)
{
  guint n = 0;

  for (guint i = 0; i < fragments->len; i++)
    {
      const CleaveFragment *fragment = &g_array_index (fragments, CleaveFragment, i);

      ck_assert_uint_eq (fragment->buffer, 5);
      n += fragment->begin <= byte && byte < fragment->begin + fragment->n_bytes &&
           fragment->first <= step && step <= fragment->last;
    }
  return n;
}

static int
compare_begins (gconstpointer a, gconstpointer b)
{
  gint64 x = ((const CleaveLapMember *) a)->begin, y = ((const CleaveLapMember *) b)->begin;

  return (x > y) - (x < y);
}

/* A byte is in one fragment at a step if a member uses it at this step, and in no fragment
 * otherwise. */
START_TEST (fragments_cover_what_members_use)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (19);

  for (guint trial = 0; trial < CLEAVE_TRIALS (200); trial++)
    {
      g_autoptr (GArray) members = make_members (rand);
      g_autoptr (GArray) fragments = g_array_new (FALSE, FALSE, sizeof (CleaveFragment));

      cleave_fragments_add (fragments, 5, (const CleaveLapMember *) (gpointer) members->data,
                            members->len);
      g_array_sort (members, compare_begins);
      for (guint step = 0; step < N_STEPS; step++)
        {
          gint64 n_bytes = 0;

          for (gint64 byte = 0; byte < N_BYTES; byte++)
            {
              const guint n = count_fragments (fragments, byte, step);

              cleave_assert (n == MIN (count_members (members, byte, step), 1));
              n_bytes += n;
            }
          ck_assert_int_eq (cleave_fragments_count_bytes (members, step), n_bytes);
        }
    }
}
END_TEST

/* The example of fragments.h. */
START_TEST (two_members_have_three_fragments)
{
  static const CleaveLapMember members[] = { { 0, 1, 5, 0, 5 }, { 0, 0, 4, 3, 8 } };
  static const CleaveFragment expected[] = { { 2, 0, 1, 3, 8 },
                                             { 2, 1, 3, 0, 8 },
                                             { 2, 4, 1, 0, 5 } };
  g_autoptr (GArray) fragments = g_array_new (FALSE, FALSE, sizeof (CleaveFragment));

  cleave_fragments_add (fragments, 2, members, G_N_ELEMENTS (members));
  ck_assert_uint_eq (fragments->len, G_N_ELEMENTS (expected));
  for (guint i = 0; i < fragments->len; i++)
    {
      const CleaveFragment *found = &g_array_index (fragments, CleaveFragment, i);

      ck_assert_uint_eq (found->buffer, expected[i].buffer);
      ck_assert_int_eq (found->begin, expected[i].begin);
      ck_assert_int_eq (found->n_bytes, expected[i].n_bytes);
      ck_assert_uint_eq (found->first, expected[i].first);
      ck_assert_uint_eq (found->last, expected[i].last);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "fragments", fragments_cover_what_members_use,
                   two_members_have_three_fragments, NULL);
}

CLEAVE_TEST_SUITE ("fragments", add_tests)
