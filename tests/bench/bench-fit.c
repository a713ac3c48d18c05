/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Compares the memory of fitted chains of convolutions with the figures of the paper "msf-CNN"
 * (NeurIPS 2025, table of peak memory and MACs). msf-CNN counts one byte per element, and does not
 * count the network's input and the network's last result. Cleave's figure is the arena of a
 * program, divided by four since elements are float32.
 *
 * A point of msf-CNN's table is a peak memory with a number of MACs. For each point, prints the
 * least arena of all plans of the frontier that have at most the MACs of the point. If that arena
 * is larger than msf-CNN's, `fit` also runs with the limits of the point. If the argument is the
 * name of a chain, measures that chain alone. */

#include <stdio.h>

#include "chains.h"

typedef struct
{
  double kilobytes, factor;
} Point;

static const struct
{
  const char *name;
  double unsplit;
  guint n_points;
  Point points[9];
} published[] = {
  { "mbv2-w035-r144",
    194.4,
    9,
    { { 181.4, 1 },
      { 83.1, 1.019 },
      { 68.0, 1.097 },
      { 63.6, 1.230 },
      { 25.8, 1.253 },
      { 21.4, 1.298 },
      { 15.2, 1.382 },
      { 14.1, 1.563 },
      { 8.56, 1.679 } } },
  { "vww-r80",
    96.0,
    6,
    { { 89.6, 1 },
      { 45.3, 1.023 },
      { 26.2, 1.113 },
      { 20.6, 1.296 },
      { 17.9, 1.345 },
      { 15.4, 1.957 } } },
  { "320kb-r176",
    309.8,
    6,
    { { 247.8, 1 },
      { 217.9, 1.041 },
      { 156.9, 1.369 },
      { 94.2, 1.455 },
      { 63.5, 2.019 },
      { 51.2, 2.695 } } },
};

static double
get_factor (const CleaveFitTotals *totals, gint64 last_macs)
{
  return (double) (totals->macs_after + last_macs) / (double) (totals->macs_before + last_macs);
}

/* Returns the plan with the least memory among the plans whose MACs are at most `factor` times the
 * MACs of the unsplit graph. */
static const CleaveFitTotals *
find_point (const GPtrArray *plans, double factor, gint64 last_macs)
{
  const CleaveFitTotals *best = NULL;

  for (guint i = 0; i < plans->len; i++)
    {
      const CleaveFitTotals *totals = cleave_fit_plan_get_totals (plans->pdata[i]);

      if (get_factor (totals, last_macs) <= factor &&
          (best == NULL || totals->arena_after < best->arena_after))
        best = totals;
    }
  return best;
}

static void
add_frontier (GPtrArray *plans, const CleaveGraph *graph, double max_added_macs)
{
  const CleaveFitOptions options = { .max_added_macs = max_added_macs, .exclude_inputs = TRUE };
  g_autoptr (GPtrArray) found = cleave_fit_plan_new_frontier (graph, &options, NULL);

  g_ptr_array_extend_and_steal (plans, g_steal_pointer (&found));
}

/* The bytes of a float32 arena that correspond to one kilobyte in the tables of msf-CNN. msf-CNN
 * counts one byte per element, so a kilobyte is 1000 elements. */
#define BYTES_PER_KILOBYTE (1000 * sizeof (float))

static void
add_asked (GPtrArray *plans, const CleaveGraph *graph, const Point *point, gint64 last_macs)
{
  const double macs = (double) cleave_graph_get_macs (graph);
  const CleaveFitOptions options = { .max_memory =
                                         (gint64) (point->kilobytes * BYTES_PER_KILOBYTE) - 1,
                                     .max_added_macs =
                                         (point->factor - 1) * (macs + (double) last_macs) / macs,
                                     .exclude_inputs = TRUE };
  CleaveFitPlan *plan = cleave_fit_plan_new (graph, &options, NULL);

  if (plan != NULL)
    g_ptr_array_add (plans, plan);
}

/* Returns the plan with the least memory among the plans that have at most the MACs of `point`, a
 * row of msf-CNN's table. If that plan does not have less memory than `point`, first adds a plan
 * that is fitted to the memory and the MACs of `point`. */
static const CleaveFitTotals *
meet_point (GPtrArray *plans, const CleaveGraph *graph, const Point *point, gint64 last_macs)
{
  const CleaveFitTotals *found = find_point (plans, point->factor, last_macs);

  if ((double) found->arena_after < point->kilobytes * BYTES_PER_KILOBYTE)
    return found;
  add_asked (plans, graph, point, last_macs);
  return find_point (plans, point->factor, last_macs);
}

static guint
print_chain (guint index)
{
  gint64 last_macs = 0;
  g_autoptr (CleaveGraph) graph = chain_new (published[index].name, &last_macs);
  g_autoptr (GPtrArray) plans =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_fit_plan_unref);
  guint n_below = 0;

  add_frontier (plans, graph, -1);
  add_frontier (plans, graph, 2);
  for (guint i = 0; i < published[index].n_points; i++)
    {
      const Point *point = &published[index].points[i];
      const CleaveFitTotals *ours = meet_point (plans, graph, point, last_macs);
      double kilobytes = (double) ours->arena_after / BYTES_PER_KILOBYTE;

      n_below += kilobytes < point->kilobytes ? 1 : 0;
      printf ("%-16s %8.2f kB at %.3f %8.2f kB at %.3f %7.2f %s\n", published[index].name,
              point->kilobytes, point->factor, kilobytes, get_factor (ours, last_macs),
              kilobytes / point->kilobytes, kilobytes < point->kilobytes ? "below" : "above");
    }
  return n_below;
}

int
main (int argc, char **argv)
{
  guint n_below = 0, n = 0;

  printf ("%-16s %-19s %-19s %7s\n", "chain", "msf-CNN", "here", "ratio");
  for (guint i = 0; i < G_N_ELEMENTS (published); i++)
    if (argc < 2 || g_str_equal (argv[1], published[i].name))
      {
        n_below += print_chain (i);
        n += published[i].n_points;
      }
  printf ("below at %u of %u\n", n_below, n);
  return 0;
}
