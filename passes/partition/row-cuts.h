/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "parts.h"
#include "row.h"

/* Finds the cuts of a row that the fewest bytes cross, by dynamic programming over positions. The
 * functions return the positions where parts begin and end (guint): 0, the cuts, the number of
 * nodes. */

/* Cuts the row into `n_parts` parts. The estimated time of the largest part is at most 1.25 times
 * its time in the most even cut. Among cuts with equal bytes between parts, it takes the most even
 * one. Returns NULL if the row has fewer nodes than parts. */
GArray *cleave_row_cut_into (const CleaveRow *row, guint n_parts);

/* Cuts the row at some of `positions`. `reach[i]` is the index of the last position at which a part
 * that begins at position i may end; it never decreases with i. Returns NULL if no cut is allowed
 * by that. */
GArray *cleave_row_cut_within (const CleaveRow *row, const GArray *positions, const guint *reach);

/* Makes a partition whose parts lie between the positions that one of these functions returned. */
CleavePartition *cleave_row_build (const CleaveRow *row, const GArray *ends);
