/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "constraint.h"
#include "report.h"

/* What the limits of a split came to: those of each kind together, of which the one that is
 * furthest from being met is told. */
typedef struct
{
  CleaveSplitLimit limits[CLEAVE_LIMIT_PIECES + 1];
  gboolean is_asked[CLEAVE_LIMIT_PIECES + 1];
} CleaveReached;

/* Of the pieces of each root; before the graph is judged, which may leave them whole. */
void cleave_reached_add_roots (CleaveReached *reached, const GArray *roots);
void cleave_reached_add_peaks (CleaveReached *reached,
                               const CleaveConstraint *limits,
                               CleavePeaks peaks);
/* Tells a report that is finished. */
void cleave_reached_tell (CleaveReached *reached, CleaveSplitReport *report);
