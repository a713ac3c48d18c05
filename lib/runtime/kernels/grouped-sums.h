/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "depthwise-rows.h"

#define cleave_grouped_sum CLEAVE_LEVELLED (cleave_grouped_sum)

/* Convolutions of groups that make as many channels as they read, 2, 4 or 8, so that several groups
 * are in a vector, of x and of y alike: a channel of each group at once is multiplied, spread over
 * the lanes of its group. */
void
cleave_grouped_sum (const CleaveDepthwiseRun *run, gint64 n_pixels, gint64 n_channels, gint64 n_in);
