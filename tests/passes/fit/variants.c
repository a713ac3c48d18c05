/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests which variants of a graph the search for plans makes. */

#include "../../../passes/fit/variants.h"

#include "run-help.h"

/* A U-net. A skip connection keeps the value `s` for a late reader, and a few MACs recompute `s`.
 * The join `j` has parts, which may have buffers of their own. */
#define UNET                                                                                       \
  "graph unet\n%x = Input : float32 1x1x96x1\n%w = Constant seed=1 : float32 16x1x3x1\n"           \
  "%a = Conv %x, %w pads=1,0,1,0\n%s = Relu %a\n%p = MaxPool %s kernel_shape=8,1 strides=8,1\n"    \
  "%v = Constant seed=2 : float32 16x16x3x1\n%c = Conv %p, %v pads=1,0,1,0\n%r = Relu %c\n"        \
  "%d = Conv %r, %v pads=1,0,1,0\n%u = Resize %d scales=1,1,8,1\n%j = Concat %u, %s axis=1\n"      \
  "%z = Constant seed=3 : float32 1x32x3x1\n%y = Conv %j, %z pads=1,0,1,0\noutput %y\n"

/* A limit on MACs may forbid recomputed values. So after a variant with recomputed values, the
 * search also makes variants without these values. */
START_TEST (later_variants_may_recompute_nothing)
{
  const CleaveFitOptions options = { .n_threads = 1 };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (UNET, NULL, &error);
  g_autoptr (GPtrArray) variants = NULL;
  gboolean is_recomputed = FALSE;
  guint n_with = 0, n_without = 0;

  cleave_assert_no_error (error);
  variants = cleave_fit_search_variants (graph, &options, &error);
  cleave_assert_no_error (error);
  for (guint v = 0; v < variants->len; v++)
    {
      const CleaveFitVariant *variant = variants->pdata[v];

      if (is_recomputed && variant->rewrite.idle == NULL)
        n_without++;
      else if (is_recomputed)
        n_with++;
      /* only a variant with measured plans is the base of later variants */
      is_recomputed |= variant->rewrite.idle != NULL && variant->measurements->len > 1;
    }
  ck_assert (is_recomputed);
  ck_assert_uint_gt (n_with, 0);
  ck_assert_uint_gt (n_without, 0);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "variants", later_variants_may_recompute_nothing, NULL);
}

CLEAVE_TEST_SUITE ("variants", add_tests)
