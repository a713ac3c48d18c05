/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "strips.h"

/* Lists the nodes that a cut of a segment may reach, each after those that it reads: the nodes of
 * the segment, what they read, and what lies before that beyond views and element-wise nodes. Cost:
 * O(n log n) in these, however large the graph is. */
GPtrArray *cleave_segment_list_reach (const CleaveSegment *segment);
