/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-dot.h>

/* Groups the nodes of a graph into frames for drawings: parallel subgraphs, strips, and runs of the
 * remaining nodes. frames.c makes the public type `CleaveFrames` with the functions below. A
 * detailed drawing (draw.c) shows subgraphs and strips as clusters; an overview (overview.c) has
 * one box for each frame. Example: a segment cut into 2 bands of 3 strips each has 6 frames. */

/* Fills `strip`, indexed by node id: number of the node's strip in its band; G_MAXUINT: the node is
 * in no strip. Fills `n_strips`, indexed by band: number of strips of the band. A join reads the
 * results of all strips of a band, and the function numbers the strips in the order of the join's
 * operands. The first operand that a node of the band computes is the result of strip 0. A node
 * that several strips read belongs to the first of these strips. If no strip of a band passes rows
 * to a later strip, the nodes of the band are in no strip. */
void cleave_strips_find (const CleaveGraph *graph,
                         const GPtrArray *order,
                         const guint *band,
                         guint *strip,
                         guint *n_strips);

/* Numbers the runs: groups of consecutive nodes that are in no frame yet. `of` is indexed by node
 * id: index of the node's frame, or G_MAXUINT. For each node with G_MAXUINT, writes the number of
 * its run, from `first` on. Returns `first` plus the number of runs. */
guint cleave_runs_find (const CleaveGraph *graph, const GPtrArray *order, guint first, guint *of);
