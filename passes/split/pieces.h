/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "region.h"

/* Makes a part's pieces of what is needed of it; if others read all of it, of what is missing, too.
 * `widen`, unless NULL, is the node's call: needs that cannot be pieces become chunks that can. */
void cleave_pieces_cut (CleaveRegion *region, CleavePart *part, const CleaveCall *widen);
