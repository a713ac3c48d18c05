/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "required-regions.h"

/* The second half of a walk (walk.h): the bytes that the pieces of a segment take in memory.
 * required-regions.c finds the ranges that pieces compute, and then calls
 * cleave_fit_add_piece_bytes() for each value. After each step, walk.c calls
 * cleave_fit_add_buffers(). */

/* Adds to the walk the memory that pieces of a value take, and the memory of its carried rows. Call
 * this function when the required region of the value is complete. */
void cleave_fit_add_piece_bytes (CleaveFitState *state, guint value);
/* Adds the buffers that begin at a step to the memory of the segment. If a buffer is live after the
 * segment, adds the whole buffer; if not, adds only the bytes of its pieces. */
void cleave_fit_add_buffers (CleaveFitState *state, guint step);
