/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "strips.h"

/* Returns the number of rows of each strip but the last, at the given end of a segment whose
 * strips must be of equal size.  Returns 0 if the segment does not ask for equal strips
 * (`is_even`), or if one of its ends cannot be cut into that number of equal strips. */
gint64 cleave_segment_get_even_size (const CleaveSegment *segment, CleaveSegmentEnd end);
