/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "direct.h"

#define cleave_pairs_run CLEAVE_LEVELLED (cleave_pairs_run)

/* Columns that fill one vector and a half, two pixels at once: the halves of both are a vector.
 * As many pixels as there are pairs of, which it returns: none but with vectors of 16.  The bits
 * are those of cleave_direct_run. */
gint64 cleave_pairs_run (const CleaveDirect *direct);
