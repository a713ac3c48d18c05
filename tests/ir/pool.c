/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The pool allocator, whose memory is freed at once. */

#include "test.h"

#include "../../lib/ir/pool.h"

#include <string.h>

START_TEST (allocations_do_not_overlap_or_move)
{
  g_autoptr (CleavePool) pool = cleave_pool_new ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  guint8 *taken[500];
  gsize sizes[500];

  for (guint i = 0; i < G_N_ELEMENTS (taken); i++)
    {
      sizes[i] = (gsize) g_rand_int_range (rand, 1, i % 50 == 0 ? 200000 : 300);
      taken[i] = cleave_pool_alloc (pool, sizes[i]);
      ck_assert_uint_eq ((gsize) taken[i] % sizeof (gpointer), 0);
      for (gsize b = 0; b < sizes[i]; b++)
        cleave_assert (taken[i][b] == 0);
      memset (taken[i], (int) (i % 251) + 1, sizes[i]);
      cleave_pool_strdup (pool, "odd");
    }
  for (guint i = 0; i < G_N_ELEMENTS (taken); i++)
    for (gsize b = 0; b < sizes[i]; b++)
      cleave_assert (taken[i][b] == i % 251 + 1);
}
END_TEST

START_TEST (a_list_grows)
{
  g_autoptr (CleavePool) pool = cleave_pool_new ();
  guint *items = NULL;

  for (guint i = 0; i < 1000; i++)
    {
      items = cleave_pool_grow (pool, items, i, sizeof *items);
      items[i] = i;
      cleave_pool_alloc (pool, 8);
    }
  for (guint i = 0; i < 1000; i++)
    ck_assert_uint_eq (items[i], i);
}
END_TEST

START_TEST (copies_are_equal)
{
  g_autoptr (CleavePool) pool = cleave_pool_new ();
  const guint64 from[] = { 1, 2, 3 };

  ck_assert_mem_eq (cleave_pool_copy (pool, from, sizeof from), from, sizeof from);
  ck_assert_str_eq (cleave_pool_strdup (pool, "conv.0"), "conv.0");
  ck_assert_ptr_nonnull (cleave_pool_copy (pool, NULL, 0));
}
END_TEST
static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "pool", allocations_do_not_overlap_or_move, a_list_grows,
                   copies_are_equal, NULL);
}

CLEAVE_TEST_SUITE ("pool", add_tests)
