/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan.h"

/* Compares plans and graphs with the limits of a CleaveConstraint.  Limits on one node (memory of a
 * piece, number of pieces, predicate) are checked on its plan.  Limits on the graph (peak of the
 * schedule, peak of a subgraph) need a graph that was split. */

/* Returns whether a plan meets the limits that concern the node alone.  If not, appends the reason
 * to `why`.  A NULL constraint allows every plan. */
gboolean
cleave_constraint_allows (const CleaveConstraint *constraint, const CleavePlan *plan, GString *why);
/* Returns whether a halo may add `added` MACs to a graph of `macs` MACs.  If not, appends the
 * reason to `why`. */
gboolean cleave_constraint_allows_macs (const CleaveConstraint *constraint,
                                        gint64 macs,
                                        gint64 added,
                                        GString *why);
/* Returns whether the constraint limits the peak of the graph or of a subgraph. */
gboolean cleave_constraint_is_of_graph (const CleaveConstraint *constraint);

/* Peaks of a graph in bytes; 0 if no limit concerns that peak. */
typedef struct
{
  gint64 schedule, subgraph;
} CleavePeaks;

/* Measures the peaks of a graph for which there are limits.  Appends to `why` the limit that is not
 * met; if both are not met, the limit on the schedule. */
CleavePeaks cleave_constraint_measure (const CleaveConstraint *constraint,
                                       const CleaveGraph *graph,
                                       GString *why);
gboolean cleave_constraint_is_met (const CleaveConstraint *constraint, CleavePeaks peaks);
/* Returns whether `peaks` is nearer to the limits than `other`: the larger ratio of a peak to its
 * limit is smaller. */
gboolean cleave_constraint_prefers (const CleaveConstraint *constraint,
                                    CleavePeaks peaks,
                                    CleavePeaks other);
