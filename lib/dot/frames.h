/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-dot.h>

/* Groups the nodes of a graph into frames for drawings: parallel subgraphs, strips, and runs of the
 * remaining nodes. A detailed drawing shows subgraphs and strips as clusters; an overview has one
 * box for each frame. The public part is `CleaveFrames` in frames.c. */

/* Fills `strip`, by node id: the number of the node's strip in its band, or G_MAXUINT if it is in
 * none. `n_strips` is the number of strips by band.
 * The strips of a band end in the operands of a join, in order. A node that several strips read
 * belongs to the first of them. A band in which no strip passes rows to a later one has no
 * strips. */
void cleave_strips_find (const CleaveGraph *graph,
                         const GPtrArray *order,
                         const guint *band,
                         guint *strip,
                         guint *n_strips);

/* Numbers the runs: groups of consecutive nodes that are in no frame yet. Writes the number of its
 * run, from `first` on, to `of` (by node id) for each node that has G_MAXUINT there. Returns the
 * number after the last run. */
guint cleave_runs_find (const CleaveGraph *graph, const GPtrArray *order, guint first, guint *of);
