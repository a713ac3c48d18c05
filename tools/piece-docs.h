/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Adds to each piece, as the doc string of its ONNX node, which node and range it is a piece of.
 * For the segments of a plan, it adds the number of the strip and of the band or tile. The plan may
 * be NULL. */
void cleave_piece_docs_add (CleaveGraph *graph,
                            const CleaveSplitReport *report,
                            const CleaveFitPlan *plan);
