/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "direct.h"

#define cleave_pairs_run CLEAVE_LEVELLED (cleave_pairs_run)

/* Computes two pixels at once if the columns of a pixel fill one vector and a half: the halves of
 * both pixels share a vector. Returns the number of pixels computed: all but an odd one, or 0
 * unless vectors have 16 lanes. cleave_direct_run() computes the same bits. */
gint64 cleave_pairs_run (const CleaveDirect *direct);
