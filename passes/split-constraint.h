/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "split-plan.h"

/* Whether a node's plan meets what a constraint asks of each node by itself; if not, `why` is told.
 */
gboolean
cleave_constraint_allows (const CleaveConstraint *constraint, const CleavePlan *plan, GString *why);
/* Whether a halo that brings `added` to `macs` MACs is allowed. */
gboolean cleave_constraint_allows_macs (const CleaveConstraint *constraint,
                                        gint64 macs,
                                        gint64 added,
                                        GString *why);
/* Whether it asks something of the graph that comes of the split, and whether that graph meets it.
 */
gboolean cleave_constraint_is_of_graph (const CleaveConstraint *constraint);
gboolean cleave_constraint_allows_graph (const CleaveConstraint *constraint,
                                         const CleaveGraph *graph,
                                         GString *why);
