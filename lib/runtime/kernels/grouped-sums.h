/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "depthwise-rows.h"

#define cleave_grouped_sum CLEAVE_LEVELLED (cleave_grouped_sum)

/* Sums of convolutions with small groups. depthwise-rows.c calls this function for the pixels
 * without padding. */

/* Computes n_pixels pixels of a grouped convolution, whose groups have n_in (2, 4 or 8) channels in
 * x and n_in in y. A vector holds several groups. For each operand channel of a group, copies the
 * channel's value to all lanes of its group, and multiplies these lanes by their weights. */
void
cleave_grouped_sum (const CleaveDepthwiseRun *run, gint64 n_pixels, gint64 n_channels, gint64 n_in);
