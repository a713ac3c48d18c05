/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Says of each piece what it is a piece of, in the texts that a file has for nodes: the node, the
 * range, and of a plan's segments the strip, and the band or the tile of the strip.  The plan may
 * be NULL. */
void cleave_piece_docs_add (CleaveGraph *graph,
                            const CleaveSplitReport *report,
                            const CleaveFitPlan *plan);
