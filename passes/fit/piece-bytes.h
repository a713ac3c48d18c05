/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "required-regions.h"

/* Adds to the walk the memory that pieces of a value take, and the memory of its carried rows. Call
 * this function when the required region of the value is complete. */
void cleave_fit_add_piece_bytes (CleaveFitState *state, guint value);
/* Extends the segment to the buffers that begin at a step. A buffer that is live after the segment
 * counts whole. Any other buffer counts only the bytes of its pieces. */
void cleave_fit_add_buffers (CleaveFitState *state, guint step);
