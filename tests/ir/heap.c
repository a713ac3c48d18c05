/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the heap of numbers with random insertions and removals. */

#include "test.h"

#include "../../lib/ir/heap.h"

START_TEST (the_smallest_comes_first)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  g_autoptr (GArray) heap = g_array_new (FALSE, FALSE, sizeof (guint));
  guint held[100] = { 0 }, n = 0;

  ck_assert_uint_eq (cleave_heap_top (heap), G_MAXUINT);
  for (guint i = 0; i < 10000; i++)
    if (n == 0 || g_rand_int_range (rand, 0, 5000) > (gint32) i / 2)
      {
        guint number = (guint) g_rand_int_range (rand, 0, 100);

        cleave_heap_push (heap, number);
        held[number]++;
        n++;
      }
    else
      {
        guint least = 0;

        while (held[least] == 0)
          least++;
        ck_assert_uint_eq (cleave_heap_top (heap), least);
        ck_assert_uint_eq (cleave_heap_pop (heap), least);
        held[least]--;
        n--;
      }
  ck_assert_uint_eq (heap->len, n);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "heap", the_smallest_comes_first, NULL);
}

CLEAVE_TEST_SUITE ("heap", add_tests)
