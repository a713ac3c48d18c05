/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Describes the pieces of a fitted graph in its ONNX file. cmd-fit.c calls this function after it
 * applied the plan and before it writes the model. Viewers such as Netron show the doc string of a
 * node. */

#include <cleave/cleave.h>

/* Sets the doc string of each piece's ONNX node: the name of the split node and the range that the
 * piece computes. For pieces of a plan's segments, adds the number of the strip and of the band or
 * tile. `plan` NULL: the graph was split without a plan of the fit. */
void cleave_piece_docs_add (CleaveGraph *graph,
                            const CleaveSplitReport *report,
                            const CleaveFitPlan *plan);
