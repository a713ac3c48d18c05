/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "required-regions.h"

/* Adds to the walk the memory that strips take for a value, and the memory of its carried rows.
 * Call it when the required regions of the value are complete. */
void cleave_fit_add_piece_bytes (CleaveFitState *state, guint value);
/* Extends the segment to the buffers that begin at a step.  A buffer that is live after the segment
 * is counted whole; any other takes only the bytes of its strips. */
void cleave_fit_add_buffers (CleaveFitState *state, guint step);
