/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The slab allocator, which takes memory of small items in blocks and reuses freed items. */

#include "test.h"

#include "../../lib/ir/slab.h"

#include <string.h>

typedef struct
{
  guint8 *bytes;
  gsize n;
  guint8 value;
} Item;

static void
take (CleaveSlab *slab, Item *item, gsize n, guint8 value)
{
  *item = (Item){ cleave_slab_take (slab, n), n, value };
  ck_assert_uint_eq ((gsize) item->bytes % sizeof (gpointer), 0);
  memset (item->bytes, value, n);
}

static void
give_back (CleaveSlab *slab, const Item *item)
{
  for (gsize b = 0; b < item->n; b++)
    cleave_assert (item->bytes[b] == item->value);
  cleave_slab_give_back (slab, item->bytes, item->n);
}

/* Returns a small size, the largest size that the slab serves, or a larger size. */
static gsize
choose_size (GRand *rand)
{
  return (gsize) g_rand_int_range (rand, 1, g_rand_int_range (rand, 0, 10) == 0 ? 2000 : 513);
}

START_TEST (items_never_overlap)
{
  CleaveSlab *slab = cleave_slab_new ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  g_autofree Item *items = g_new0 (Item, 2000);

  for (guint turn = 0; turn < 50000; turn++)
    {
      /* in alternating periods of 5,000 iterations, all 2,000 items or only the first 20 are in
       * use, so that blocks become empty */
      guint among = turn / 5000 % 2 == 0 ? 2000 : 20;
      Item *item = &items[g_rand_int_range (rand, 0, (gint) among)];

      if (turn % 5000 == 0)
        for (guint i = 20; i < 2000; i++)
          {
            if (items[i].bytes != NULL)
              give_back (slab, &items[i]);
            items[i].bytes = NULL;
          }
      if (item->bytes != NULL)
        give_back (slab, item);
      take (slab, item, choose_size (rand), (guint8) (turn % 251));
    }
  for (guint i = 0; i < 2000; i++)
    if (items[i].bytes != NULL)
      give_back (slab, &items[i]);
  cleave_slab_free (slab);
}
END_TEST

#if !CLEAVE_SANITIZED
START_TEST (freed_items_are_reused)
{
  CleaveSlab *slab = cleave_slab_new ();
  gpointer first = cleave_slab_take (slab, 100), second = cleave_slab_take (slab, 100);

  cleave_slab_give_back (slab, first, 100);
  ck_assert_ptr_eq (cleave_slab_take (slab, 98), first);
  cleave_slab_give_back (slab, second, 100);
  ck_assert_ptr_ne (cleave_slab_take (slab, 30), second);
  /* NULL: the item is not returned to a slab, since another thread may be using the slab. */
  cleave_slab_give_back (NULL, first, 100);
  ck_assert_ptr_ne (cleave_slab_take (slab, 100), first);
  cleave_slab_free (slab);
}
END_TEST
#endif

#if !CLEAVE_SANITIZED
static gpointer
find_block (gconstpointer item)
{
  return GUINT_TO_POINTER ((guint) ((guintptr) item >> 13));
}

/* Frees nine of ten items, so that each block keeps some items in use. */
START_TEST (free_items_of_all_blocks_are_reused)
{
  CleaveSlab *slab = cleave_slab_new ();
  g_autoptr (GHashTable) blocks = g_hash_table_new (NULL, NULL);
  g_autofree gpointer *items = g_new (gpointer, 10000);
  guint n_blocks;

  for (guint i = 0; i < 10000; i++)
    {
      items[i] = cleave_slab_take (slab, 200);
      g_hash_table_add (blocks, find_block (items[i]));
    }
  n_blocks = g_hash_table_size (blocks);
  ck_assert_uint_gt (n_blocks, 100);
  for (guint i = 0; i < 10000; i++)
    if (i % 10 != 0)
      cleave_slab_give_back (slab, items[i], 200);
  for (guint i = 0; i < 10000; i++)
    if (i % 10 != 0)
      g_hash_table_add (blocks, find_block (cleave_slab_take (slab, 200)));
  ck_assert_uint_le (g_hash_table_size (blocks), n_blocks + 2);
  cleave_slab_free (slab);
}
END_TEST

/* Takes and frees items for a long time in random order, with a constant number in use. */
START_TEST (memory_does_not_grow_under_churn)
{
  CleaveSlab *slab = cleave_slab_new ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (1);
  g_autoptr (GHashTable) blocks = g_hash_table_new (NULL, NULL);
  g_autofree Item *items = g_new0 (Item, 4000);
  guint n_first = 0;

  for (guint turn = 0; turn < 400000; turn++)
    {
      Item *item = &items[g_rand_int_range (rand, 0, 4000)];

      if (item->bytes != NULL)
        cleave_slab_give_back (slab, item->bytes, item->n);
      item->n = g_rand_boolean (rand) ? 256 : 48;
      item->bytes = cleave_slab_take (slab, item->n);
      g_hash_table_add (blocks, find_block (item->bytes));
      if (turn == 40000)
        n_first = g_hash_table_size (blocks);
    }
  ck_assert_msg (g_hash_table_size (blocks) <= n_first + n_first / 10, "%u blocks became %u",
                 n_first, g_hash_table_size (blocks));
  cleave_slab_free (slab);
}
END_TEST
#endif

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "slab", items_never_overlap,
#if !CLEAVE_SANITIZED
                   freed_items_are_reused, free_items_of_all_blocks_are_reused,
                   memory_does_not_grow_under_churn,
#endif
                   NULL);
}

CLEAVE_TEST_SUITE ("slab", add_tests)
