/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/align.h"
#include "cuts.h"

/* The chunks of a cut of one dimension: their spans, whether they are legal, and their kinds. */

/* Largest extent for which every number of chunks is listed. */
#define CLEAVE_CUT_MAX_ALL 512
/* Largest number of chunks of a listed cut of which every chunk is checked; of finer cuts, a sample
 * is checked. Checking all of 512 chunks took half of the time of a search in a network of 100
 * nodes. */
#define CLEAVE_CUT_MAX_CHECKED 64
/* Number of chunks in a sample: at the ends, in the middle, and where the sizes change */
#define CLEAVE_CUT_N_SAMPLES 9

/* Fills `sample` with indices of chunks at the ends, in the middle, and where the sizes change.
 * Returns their number. */
guint cleave_cut_pick_samples (const CleaveCut *cut, gint64 extent, gint64 *sample);
/* Returns whether a sample of the chunks of a cut is legal, if all other dimensions are whole. */
gboolean cleave_cut_seems_legal (const CleaveCuts *cuts, guint d, const CleaveCut *cut);
