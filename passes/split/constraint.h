/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan.h"

/* Compares plans and graphs with the limits of a CleaveConstraint. Limits on one node (memory of a
 * piece, number of pieces, predicate) are checked on its plan. Limits on the graph (peak of the
 * schedule, peak of a subgraph) are checked on a graph that was split. */

/* Returns whether a plan meets the limits that concern its node alone. If not, appends the reason
 * to `why`. `constraint` NULL: there are no limits. */
gboolean
cleave_constraint_allows (const CleaveConstraint *constraint, const CleavePlan *plan, GString *why);
/* Returns whether a halo may add `added` MACs to a graph with `macs` MACs. If not, appends the
 * reason to `why`. */
gboolean cleave_constraint_allows_macs (const CleaveConstraint *constraint,
                                        gint64 macs,
                                        gint64 added,
                                        GString *why);
/* Returns whether the constraint limits the peak of the graph or of a subgraph. */
gboolean cleave_constraint_is_of_graph (const CleaveConstraint *constraint);

/* Peaks of a graph in bytes. A peak is 0 if no limit concerns it. */
typedef struct
{
  gint64 schedule, subgraph;
} CleavePeaks;

/* Measures and returns the peaks of a graph for which `constraint` has a limit. If a peak exceeds
 * its limit, appends a message about this limit to `why`. If both peaks exceed their limits, the
 * message is about the limit of the schedule. */
CleavePeaks cleave_constraint_measure (const CleaveConstraint *constraint,
                                       const CleaveGraph *graph,
                                       GString *why);
gboolean cleave_constraint_is_met (const CleaveConstraint *constraint, CleavePeaks peaks);
/* Returns whether the peaks of one split (`peaks`) are better than the peaks of another split
 * (`other`). A split has two ratios: the peak of the schedule divided by its limit, and the peak of
 * a subgraph divided by its limit. A ratio without a limit is 0. Compares the larger ratio of each
 * split; the smaller of the two is better. */
gboolean cleave_constraint_prefers (const CleaveConstraint *constraint,
                                    CleavePeaks peaks,
                                    CleavePeaks other);
