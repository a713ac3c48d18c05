/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/align.h"
#include "cuts.h"

/* The chunks of a cut of one dimension: their spans, whether they are legal, and their kinds.
 * cuts.c leaves out cuts with illegal chunks. With 8 rows in 3 chunks, the spans are [0, 3), [3, 6)
 * and [6, 8). */

/* The largest extent of a dimension for which every number of chunks is listed. */
#define CLEAVE_CUT_MAX_ALL 512
/* If a listed cut has at most this many chunks, every chunk is checked. If the cut has more chunks,
 * only a sample is checked. Checking all of 512 chunks took half of the time of a search in a
 * network of 100 nodes. */
#define CLEAVE_CUT_MAX_CHECKED 64
/* largest number of chunks that cleave_cut_pick_samples() picks from a cut */
#define CLEAVE_CUT_N_SAMPLES 9

/* Fills `sample` with indices of chunks at the ends, in the middle, and where the sizes change.
 * Returns the number of these chunks. */
guint cleave_cut_pick_samples (const CleaveCut *cut, gint64 extent, gint64 *sample);
/* Returns whether a sample of the chunks of a cut is legal, if all other dimensions are whole. */
gboolean cleave_cut_seems_legal (const CleaveCuts *cuts, guint d, const CleaveCut *cut);
