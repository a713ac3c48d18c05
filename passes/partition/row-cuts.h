/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "parts.h"
#include "row.h"

/* Finds the cuts of a row of nodes (row.h) that the fewest bytes cross, by dynamic programming. The
 * functions return a GArray of positions (guint): 0, the cuts, and the number of nodes. row-parts.c
 * cuts a row into a number of parts, and row-bytes.c into parts within a limit of memory. */

/* Cuts the row into `n_parts` parts. Considers all cuts whose slowest part is fast enough: its
 * estimated time is at most 1.25 times the shortest possible time. Among these cuts, returns the
 * cut that the fewest bytes cross. If several cuts have equally few bytes, returns the cut whose
 * slowest part is the fastest, within a small tolerance. Returns NULL if the row has fewer nodes
 * than parts. */
GArray *cleave_row_cut_into (const CleaveRow *row, guint n_parts);

/* Cuts the row at some of `positions`. A part that begins at position number i must end at position
 * number `reach[i]` or earlier; `reach` never decreases. Returns NULL if no cut satisfies
 * `reach`. */
GArray *cleave_row_cut_within (const CleaveRow *row, const GArray *positions, const guint *reach);

/* Returns a partition whose parts lie between the positions `ends`, a result of
 * cleave_row_cut_into() or cleave_row_cut_within(). */
CleavePartition *cleave_row_build (const CleaveRow *row, const GArray *ends);
