/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Sets the doc string of each piece's ONNX node: the name of the split node and the range that the
 * piece computes. For pieces of a plan's segments, adds the number of the strip and of the band or
 * tile. `plan` NULL: the split is no fit. */
void cleave_piece_docs_add (CleaveGraph *graph,
                            const CleaveSplitReport *report,
                            const CleaveFitPlan *plan);
