/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "strips.h"

/* Returns the number of rows that each strip but the last has at an end of a segment with strips of
 * equal size. Returns 0 if the segment does not ask for equal strips (`is_even`), or if one of its
 * ends cannot be cut into that many equal strips. */
gint64 cleave_segment_get_even_size (const CleaveSegment *segment, CleaveSegmentEnd end);
