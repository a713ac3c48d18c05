/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-dot.h>

/* Which strip each node is of, by id, counted in its band; G_MAXUINT: of none.  The strips of a
 * band end in the parts of a join, in their order; what several strips read is of the first, which
 * hands it on.  Where no strip hands on anything there are none.  `n_strips` is by band. */
void cleave_strips_find (const CleaveGraph *graph,
                         const GPtrArray *order,
                         const guint *band,
                         guint *strip,
                         guint *n_strips);

/* Nodes in no frame that follow each other get a number from `first` on in `of`, by id, where that
 * is G_MAXUINT yet; returns the next number. */
guint cleave_runs_find (const CleaveGraph *graph, const GPtrArray *order, guint first, guint *of);
