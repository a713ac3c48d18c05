/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "direct.h"

#define cleave_pairs_run CLEAVE_LEVELLED (cleave_pairs_run)

/* Computes two pixels at once if the columns of a pixel fill one vector and a half: the halves of
 * both pixels share a vector. Returns the number of pixels computed, which is even; 0 unless
 * vectors have 16 lanes. Gives the bits of cleave_direct_run(). */
gint64 cleave_pairs_run (const CleaveDirect *direct);
