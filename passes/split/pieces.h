/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "region.h"

/* Makes a node's pieces of the demands on it; if others read all of it, of what is missing, too.
 * `widen`, unless NULL, is the node's call: demands that cannot be pieces become chunks that can.
 */
void cleave_pieces_cut (CleaveRegion *region, CleaveRegionNode *member, const CleaveCall *widen);
