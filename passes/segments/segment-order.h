/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "strips.h"

/* Lists the nodes that strips of a segment may reach. strips.c plans the cut of a segment among
 * these nodes only, so that the time of a cut does not grow with the graph. */

/* Returns the nodes that a cut of a segment may reach, in topological order. A cut may reach the
 * nodes of the segment, and the nodes that compute their operands. From a view or an in-place node,
 * the cut may continue to the nodes that compute the operands of this node. Takes O(n log n) time,
 * where n is the number of nodes returned, whatever the size of the graph. */
GPtrArray *cleave_segment_list_reach (const CleaveSegment *segment);
