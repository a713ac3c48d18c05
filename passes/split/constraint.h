/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "plan.h"

/* Whether a node's plan meets what a constraint asks of each node by itself; if not, `why` is told.
 */
gboolean
cleave_constraint_allows (const CleaveConstraint *constraint, const CleavePlan *plan, GString *why);
/* Whether a halo that brings `added` to `macs` MACs is allowed. */
gboolean cleave_constraint_allows_macs (const CleaveConstraint *constraint,
                                        gint64 macs,
                                        gint64 added,
                                        GString *why);
/* Whether it asks something of the graph that comes of the split. */
gboolean cleave_constraint_is_of_graph (const CleaveConstraint *constraint);

/* Bytes that such a graph needs; 0: no limit asks for them. */
typedef struct
{
  gint64 schedule, subgraph;
} CleavePeaks;

/* What a graph needs, as far as there are limits; of the first that is not met, `why` is told. */
CleavePeaks cleave_constraint_measure (const CleaveConstraint *constraint,
                                       const CleaveGraph *graph,
                                       GString *why);
gboolean cleave_constraint_is_met (const CleaveConstraint *constraint, CleavePeaks peaks);
/* Whether these are nearer to the limits than others. */
gboolean cleave_constraint_prefers (const CleaveConstraint *constraint,
                                    CleavePeaks peaks,
                                    CleavePeaks other);
