/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the order of the layers of a bundle. */

#include <cleave/cleave-bundle.h>

#include "test.h"

/* Three branches of convolutions read the same value. In BRANCHES, each branch is listed before the
 * next one. In TURNS, the first nodes of all branches come first: if a bundle kept this order, the
 * wide results of all branches would be whole. */
#define BEGIN                                                                                      \
  "%x = Input : float32 1x4x16x16\n%w = Constant seed=1 : float32 16x4x3x3\n"                      \
  "%r = Constant seed=2 : float32 1x16x3x3\n"
#define END "%i = Add %f, %g\n%y = Add %i, %h\noutput %y\n"
#define BRANCHES                                                                                   \
  BEGIN                                                                                            \
  "%a = Conv %x, %w pads=1,1,1,1\n%f = Conv %a, %r pads=1,1,1,1\n%b = Sigmoid %x\n"                \
  "%d = Conv %b, %w pads=1,1,1,1\n%g = Conv %d, %r pads=1,1,1,1\n%c = Tanh %x\n"                   \
  "%e = Conv %c, %w pads=1,1,1,1\n%h = Conv %e, %r pads=1,1,1,1\n" END
#define TURNS                                                                                      \
  BEGIN                                                                                            \
  "%b = Sigmoid %x\n%c = Tanh %x\n%a = Conv %x, %w pads=1,1,1,1\n"                                 \
  "%d = Conv %b, %w pads=1,1,1,1\n%e = Conv %c, %w pads=1,1,1,1\n"                                 \
  "%f = Conv %a, %r pads=1,1,1,1\n%g = Conv %d, %r pads=1,1,1,1\n"                                 \
  "%h = Conv %e, %r pads=1,1,1,1\n" END

START_TEST (branches_may_be_listed_in_any_order)
{
  static const char *const texts[] = { BRANCHES, TURNS };
  CleaveBundleStats stats[2];

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveGraph) graph = cleave_graph_parse (texts[i], NULL, &error);
      CleaveBundleOptions o = { .max_added_macs = CLEAVE_NOTHING_ADDED };
      g_autoptr (CleaveBundle) bundle = NULL, same = NULL, less = NULL;

      cleave_assert_no_error (error);
      bundle = cleave_bundle_new (graph, &o, &error);
      cleave_assert_no_error (error);
      cleave_bundle_get_stats (bundle, &stats[i]);
      o.max_memory = stats[i].arena_bytes;
      same = cleave_bundle_new (graph, &o, &error);
      cleave_assert_no_error (error);
      o.max_memory--;
      less = cleave_bundle_new (graph, &o, &error);
      ck_assert_ptr_null (less);
      ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT));
    }
  ck_assert_int_eq (stats[1].arena_bytes, stats[0].arena_bytes);
}
END_TEST

/* As TURNS, but each branch has three convolutions. */
#define DEEP_TURNS                                                                                 \
  "%x = Input : float32 1x3x12x12\n%w = Constant seed=1 : float32 16x3x3x3\n"                      \
  "%v = Constant seed=3 : float32 16x16x3x3\n%r = Constant seed=2 : float32 1x16x3x3\n"            \
  "%b = Sigmoid %x\n%c = Tanh %x\n%a = Conv %x, %w pads=1,1,1,1\n"                                 \
  "%d = Conv %b, %w pads=1,1,1,1\n%e = Conv %c, %w pads=1,1,1,1\n"                                 \
  "%k = Conv %a, %v pads=1,1,1,1\n%l = Conv %d, %v pads=1,1,1,1\n"                                 \
  "%m = Conv %e, %v pads=1,1,1,1\n%f = Conv %k, %r pads=1,1,1,1\n"                                 \
  "%g = Conv %l, %r pads=1,1,1,1\n%h = Conv %m, %r pads=1,1,1,1\n" END

/* With more memory, a plan needs no more MACs, although the plans for several limits may have
 * different orders of layers. */
START_TEST (more_memory_needs_no_more_macs)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (DEEP_TURNS, NULL, &error);
  gint64 macs = G_MAXINT64;

  cleave_assert_no_error (error);
  for (gint64 limit = 2048; limit < 32768; limit += 512)
    {
      const CleaveBundleOptions o = { .max_memory = limit };
      g_autoptr (CleaveBundle) bundle = cleave_bundle_new (graph, &o, NULL);
      CleaveBundleStats stats;

      if (bundle == NULL)
        {
          ck_assert_int_eq (macs, G_MAXINT64);
          continue;
        }
      cleave_bundle_get_stats (bundle, &stats);
      ck_assert_int_le (stats.macs, macs);
      ck_assert_int_le (stats.arena_bytes, limit);
      macs = stats.macs;
    }
  ck_assert_int_lt (macs, G_MAXINT64);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "order", branches_may_be_listed_in_any_order,
                   more_memory_needs_no_more_macs, NULL);
}

CLEAVE_TEST_SUITE ("bundle-order", add_tests)
