/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "direct.h"

#define cleave_pairs_run CLEAVE_LEVELLED (cleave_pairs_run)

/* Computes pixels of y in pairs if the columns of one pixel (the channels of y) fill one and a half
 * vectors. A pair fills three vectors; the second vector has half-vectors of both pixels.
 * cleave_direct_run() calls this function first, and computes the pixels that are left. Returns the
 * number of computed pixels, which is even; 0 unless vectors have 16 lanes. The results have the
 * bits of direct.c. */
gint64 cleave_pairs_run (const CleaveDirect *direct);
