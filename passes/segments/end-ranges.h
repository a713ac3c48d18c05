/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "strips.h"

/* The ranges of result 0 of an end node that the strips of a segment compute. strips.c cuts the end
 * node into these ranges. */

/* Returns the ranges of strips or tiles of the end node `end`, as CleaveRange. A range begins and
 * ends between blocks of the node (cleave_node_get_block()), since other chunks cannot be computed.
 * If the segment asks for equal strips (`is_even`), and each end node can be cut into equal strips,
 * all strips but the last have one size. The ONNX writer can then turn the strips into iterations
 * of one Loop. */
GArray *cleave_segment_list_ranges (const CleaveSegment *segment, CleaveSegmentEnd end);
