/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-dot.h>

/* Groups the nodes of a graph into frames for drawings: parallel subgraphs, strips, and runs of the
 * remaining nodes. A detailed drawing shows subgraphs and strips as clusters; an overview has one
 * box for each frame. The public part is `CleaveFrames` in frames.c. */

/* Fills `strip`, by node id: the number of the node's strip in its band, or G_MAXUINT if the node
 * is in no strip. `n_strips`, by band, is the number of strips of the band. The strips of a band
 * end in the operands of a join, in order. A node that several strips read belongs to the first of
 * these strips. A band in which no strip passes rows to a later strip has no strips. */
void cleave_strips_find (const CleaveGraph *graph,
                         const GPtrArray *order,
                         const guint *band,
                         guint *strip,
                         guint *n_strips);

/* Numbers the runs: groups of consecutive nodes that are in no frame yet. `of` has the frame of
 * each node, by node id. For each node that has G_MAXUINT there, writes the number of its run, from
 * `first` on. Returns the number after the last run. */
guint cleave_runs_find (const CleaveGraph *graph, const GPtrArray *order, guint first, guint *of);
