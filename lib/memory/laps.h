/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "lap-table.h"

/* The search for laps: overlays of values that are computed strip by strip. cleave_storage_lap()
 * (lap-moves.c) moves values as the search says. */

typedef struct
{
  GArray *edges;   /* CleaveLapEdge: pairs of steps that must keep their order because of laps */
  GArray *buffers; /* CleaveLapBuffer: the buffers of the table, with the laps that were found */
} CleaveLaps;

/* Finds the laps with the lowest peak. Several targets (LapSearch) may give this peak. Prefers the
 * target that equals the peak, since it often needs the fewest laps. Each lap fixes the distance
 * between two values, so with fewer laps, the arena has fewer gaps: the arena of a fitted BERT base
 * takes 918,016 bytes in place of 1,033,472. Returns FALSE if no lap lowers the peak. */
gboolean cleave_laps_find (CleaveLaps *laps, const CleaveLapTable *table);
void cleave_laps_clear (CleaveLaps *laps);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveLaps, cleave_laps_clear)
