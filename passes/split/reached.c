/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "reached.h"

/* A limit of 0 is none, and a negative one nothing. */
static void
add (CleaveReached *reached, CleaveLimitKind kind, double limit, double value)
{
  CleaveSplitLimit *told = &reached->limits[kind];
  CleaveSplitLimit mine = { kind, MAX (limit, 0), value, value <= MAX (limit, 0) };
  gboolean is_worse = told->is_met != mine.is_met
                          ? told->is_met
                          : mine.reached - mine.asked > told->reached - told->asked;

  if (limit < 0 || limit > 0)
    {
      if (!reached->is_asked[kind] || is_worse)
        *told = mine;
      reached->is_asked[kind] = TRUE;
    }
}

/* What the pieces of a start add to the MACs of the graph. */
static double
added_macs (const CleaveStart *start)
{
  g_autoptr (CleavePlan) plan =
      start->ranges == NULL
          ? NULL
          : cleave_plan_new (start->node, (const CleaveRange *) start->ranges->data,
                             start->ranges->len, NULL);
  double added = -(double) cleave_node_get_macs (start->node);

  if (plan == NULL)
    return 0;
  for (guint i = 0; i < cleave_plan_get_n_chunks (plan); i++)
    added += (double) cleave_plan_get_macs (plan, i);
  return MAX (added, 0) / (double) MAX (cleave_graph_get_macs (start->node->graph), 1);
}

static gint64
most_bytes (const CleaveStart *start)
{
  gint64 n = start->most_bytes > 0 && start->ranges == NULL
                 ? start->most_bytes
                 : cleave_start_most_bytes (start->node, start->ranges);

  return n > 0 ? n : cleave_start_most_bytes (start->node, NULL);
}

void
cleave_reached_add_starts (CleaveReached *reached, const GArray *starts)
{
  for (guint i = 0; i < starts->len; i++)
    {
      const CleaveStart *start = &g_array_index (starts, CleaveStart, i);
      const CleaveConstraint *asked = start->constraint;

      if (asked == NULL)
        continue;
      if (asked->max_memory != 0)
        add (reached, CLEAVE_LIMIT_MEMORY, (double) asked->max_memory, (double) most_bytes (start));
      if (asked->max_added_macs < 0 || asked->max_added_macs > 0)
        add (reached, CLEAVE_LIMIT_ADDED_MACS, asked->max_added_macs, added_macs (start));
      add (reached, CLEAVE_LIMIT_PIECES, asked->max_pieces,
           start->ranges != NULL ? start->ranges->len : 1);
    }
}

void
cleave_reached_add_peaks (CleaveReached *reached, const CleaveConstraint *limits, CleavePeaks peaks)
{
  add (reached, CLEAVE_LIMIT_SUBGRAPH_MEMORY, (double) limits->max_subgraph_memory,
       (double) peaks.subgraph);
  add (reached, CLEAVE_LIMIT_SCHEDULE_MEMORY, (double) limits->max_schedule_memory,
       (double) peaks.schedule);
}

void
cleave_reached_tell (CleaveReached *reached, CleaveSplitReport *report)
{
  const CleaveSplitTotals *totals = cleave_split_report_get_totals (report);
  CleaveSplitLimit *macs = &reached->limits[CLEAVE_LIMIT_ADDED_MACS];

  /* What was split deeper adds more. */
  if (reached->is_asked[CLEAVE_LIMIT_ADDED_MACS])
    macs->reached = MAX (macs->reached, (double) (totals->macs_after - totals->macs_before) /
                                            (double) MAX (totals->macs_before, 1));
  for (guint i = 0; i < G_N_ELEMENTS (reached->limits); i++)
    if (reached->is_asked[i])
      cleave_split_report_add_limit (report, &reached->limits[i]);
}
