/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "strips.h"

/* Rows of each strip but the last at an end of a segment, if they are to be even; 0: they are not
 * to be, or its ends cannot be cut into as many such strips. */
gint64 cleave_segment_get_even_size (const CleaveSegment *segment, CleaveSegmentEnd end);
