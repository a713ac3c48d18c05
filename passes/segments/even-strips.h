/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "strips.h"

/* Equal strips: all strips of a segment but the last have the same number of rows, so that the ONNX
 * writer can turn them into iterations of one Loop. strips.c cuts segments accordingly. */

/* For equal strips of the result of `end`, an end node of the segment: returns the rows of each
 * strip but the last. Returns 0 if the segment does not ask for equal strips (`is_even`), or if an
 * end node cannot be cut into `n_strips` equal strips. */
gint64 cleave_segment_get_even_size (const CleaveSegment *segment, CleaveSegmentEnd end);
