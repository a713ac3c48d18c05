/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests that `fit` cuts every axis that dimension maps allow. The letter of the axis, such as H,
 * and its position among the dimensions do not matter. */

#include "graphs.h"
#include "run-help.h"

/* Returns the smallest arena that `fit` finds for a graph, as a fraction of the unsplit arena. */
static double
find_part (const CleaveGraph *graph, double max_added_macs)
{
  const CleaveFitOptions options = { .max_added_macs = max_added_macs, .exclude_inputs = TRUE };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = cleave_fit_plan_new (graph, &options, &error);
  const CleaveFitTotals *totals;

  cleave_assert_no_error (error);
  totals = cleave_fit_plan_get_totals (plan);
  return (double) totals->arena_after / (double) totals->arena_before;
}

/* Makes five consecutive convolutions that are dilated along the time. `before` has the extents of
 * the dimensions before the channels, and `after` the extents after the channels. If `after` has
 * two extents, `time_is_last` says which of them is the time: the last one or the first one. */
static CleaveGraph *
make_sequence (const char *before, const char *after, gboolean time_is_last)
{
  const char *kernel = g_str_equal (after, "x256") ? "x3" : time_is_last ? "x1x3" : "x3x1";
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph;

  g_string_append_printf (text, "%%v0 = Input : float32 %sx1%s\n", before, after);
  for (guint i = 0; i < 5; i++)
    {
      const int dilation = 1 << i;

      g_string_append_printf (text, "%%w%u = Constant seed=%u : float32 %dx%d%s\n", i, i,
                              i == 4 ? 4 : 24, i == 0 ? 1 : 24, kernel);
      if (g_str_equal (after, "x256"))
        g_string_append_printf (text, "%%c%u = Conv %%v%u, %%w%u dilations=%d pads=%d,%d\n", i, i,
                                i, dilation, dilation, dilation);
      else if (time_is_last)
        g_string_append_printf (text, "%%c%u = Conv %%v%u, %%w%u dilations=1,%d pads=0,%d,0,%d\n",
                                i, i, i, dilation, dilation, dilation);
      else
        g_string_append_printf (text, "%%c%u = Conv %%v%u, %%w%u dilations=%d,1 pads=%d,0,%d,0\n",
                                i, i, i, dilation, dilation, dilation);
      g_string_append_printf (text, "%%v%u = Relu %%c%u\n", i + 1, i);
    }
  g_string_append (text, "output %v5\n");
  graph = cleave_graph_parse (text->str, NULL, &error);
  cleave_assert_no_error (error);
  return graph;
}

/* Asserts that strips carry few time steps to the next strip. The carried steps of all layers
 * together are less than a third of the time steps of one value. */
START_TEST (time_is_cut_wherever_it_stands)
{
  static const struct
  {
    const char *before, *after;
    gboolean time_is_last;
  } forms[] = {
    { "1", "x256", TRUE },   { "2", "x256", TRUE },    { "1", "x1x256", TRUE },
    { "2", "x1x256", TRUE }, { "1", "x256x1", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (forms); i++)
    {
      g_autoptr (CleaveGraph) graph =
          make_sequence (forms[i].before, forms[i].after, forms[i].time_is_last);
      double part = find_part (graph, -1);

      ck_assert_msg (part < 0.4, "%sxCx%s: %g of the memory", forms[i].before, forms[i].after,
                     part);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "axes", time_is_cut_wherever_it_stands, NULL);
}

CLEAVE_TEST_SUITE ("axes", add_tests)
