/* SPDX-License-Identifier: GPL-2.0-or-later */

/* For each kind of limit, keeps the limit that the split misses by most, and adds these limits to a
 * report. */

#include "limit-report.h"

/* Records a limit and the value that the split reached. If a limit of the same kind is recorded
 * already, keeps only one of the two limits. A limit that is not met replaces a limit that is met.
 * If both limits are met, or if neither is met, keeps the limit with the larger difference: value
 * minus limit. `limit` 0: there is no limit, and the function does nothing. A negative limit is
 * recorded as 0, since it allows no positive value. */
static void
add (CleaveLimitReport *limit_report, CleaveLimitKind kind, double limit, double value)
{
  CleaveSplitLimit *worst = &limit_report->limits[kind];
  CleaveSplitLimit mine = { kind, MAX (limit, 0), value, value <= MAX (limit, 0) };
  gboolean is_worse = worst->is_met != mine.is_met
                          ? worst->is_met
                          : mine.reached - mine.asked > worst->reached - worst->asked;

  if (limit < 0 || limit > 0)
    {
      if (!limit_report->is_asked[kind] || is_worse)
        *worst = mine;
      limit_report->is_asked[kind] = TRUE;
    }
}

/* Returns the MACs that the pieces of a root add, as a fraction of the MACs of the graph. */
static double
added_macs (const CleaveRoot *root)
{
  g_autoptr (CleavePlan) plan =
      root->ranges == NULL ? NULL
                           : cleave_plan_new (root->node, (const CleaveRange *) root->ranges->data,
                                              root->ranges->len, NULL);
  double added = -(double) cleave_node_get_macs (root->node);

  if (plan == NULL)
    return 0;
  for (guint i = 0; i < cleave_plan_get_n_chunks (plan); i++)
    added += (double) cleave_plan_get_macs (plan, i);
  return MAX (added, 0) / (double) MAX (cleave_graph_get_macs (root->node->graph), 1);
}

static gint64
most_bytes (const CleaveRoot *root)
{
  gint64 n = root->most_bytes > 0 && root->ranges == NULL
                 ? root->most_bytes
                 : cleave_root_most_bytes (root->node, root->ranges);

  return n > 0 ? n : cleave_root_most_bytes (root->node, NULL);
}

void
cleave_limit_report_add_roots (CleaveLimitReport *limit_report, const GArray *roots)
{
  for (guint i = 0; i < roots->len; i++)
    {
      const CleaveRoot *root = &g_array_index (roots, CleaveRoot, i);
      const CleaveConstraint *asked = root->constraint;

      if (asked == NULL)
        continue;
      if (asked->max_memory != 0)
        add (limit_report, CLEAVE_LIMIT_MEMORY, (double) asked->max_memory,
             (double) most_bytes (root));
      if (asked->max_added_macs < 0 || asked->max_added_macs > 0)
        add (limit_report, CLEAVE_LIMIT_ADDED_MACS, asked->max_added_macs, added_macs (root));
      add (limit_report, CLEAVE_LIMIT_PIECES, asked->max_pieces,
           root->ranges != NULL ? root->ranges->len : 1);
    }
}

void
cleave_limit_report_add_peaks (CleaveLimitReport *limit_report,
                               const CleaveConstraint *limits,
                               CleavePeaks peaks)
{
  add (limit_report, CLEAVE_LIMIT_SUBGRAPH_MEMORY, (double) limits->max_subgraph_memory,
       (double) peaks.subgraph);
  add (limit_report, CLEAVE_LIMIT_SCHEDULE_MEMORY, (double) limits->max_schedule_memory,
       (double) peaks.schedule);
}

void
cleave_limit_report_add_to (CleaveLimitReport *limit_report, CleaveSplitReport *report)
{
  const CleaveSplitTotals *totals = cleave_split_report_get_totals (report);
  CleaveSplitLimit *macs = &limit_report->limits[CLEAVE_LIMIT_ADDED_MACS];

  /* the totals also include the MACs that pieces of other nodes than the roots recompute */
  if (limit_report->is_asked[CLEAVE_LIMIT_ADDED_MACS])
    macs->reached = MAX (macs->reached, (double) (totals->macs_after - totals->macs_before) /
                                            (double) MAX (totals->macs_before, 1));
  for (guint i = 0; i < G_N_ELEMENTS (limit_report->limits); i++)
    if (limit_report->is_asked[i])
      cleave_split_report_add_limit (report, &limit_report->limits[i]);
}
