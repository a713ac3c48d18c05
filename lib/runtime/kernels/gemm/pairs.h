/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "direct.h"

#define cleave_pairs_run CLEAVE_LEVELLED (cleave_pairs_run)

/* Computes two pixels at once if the columns of a pixel fill one and a half vectors: the half
 * vectors of both pixels share a vector. cleave_direct_run() calls this function first, and
 * computes the pixels that are left. Returns the number of pixels computed, which is even; 0 unless
 * vectors have 16 lanes. The results have the bits of direct.c. */
gint64 cleave_pairs_run (const CleaveDirect *direct);
