/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "forwarding.h"

/* Gives element-wise nodes the parts of a join instead of the join, where those would have to be
 * copied to be joined.  It knows nodes by their address, as the slicer does. */
typedef struct _CleaveSpreader CleaveSpreader;

CleaveSpreader *cleave_spreader_new (CleaveGraph *graph, CleaveSlicer *slicer);
void cleave_spreader_free (CleaveSpreader *spreader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveSpreader, cleave_spreader_free)

/* The value that is the node's result, joined of what becomes of each part; NULL if it is not to be
 * spread, or cannot be.  Nodes that read the result of another come after it. */
CleaveResult *cleave_spreader_spread (CleaveSpreader *spreader, const CleaveNode *node);
