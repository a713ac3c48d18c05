/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "depthwise-rows.h"

#define cleave_grouped_sum CLEAVE_LEVELLED (cleave_grouped_sum)

/* Computes n_pixels pixels of a grouped convolution with as many output as input channels in each
 * group: 2, 4 or 8. A vector holds several groups, in x and in y. For each input channel of a
 * group, the kernel copies its value to all lanes of the group and multiplies it by the weights of
 * these lanes. */
void
cleave_grouped_sum (const CleaveDepthwiseRun *run, gint64 n_pixels, gint64 n_channels, gint64 n_in);
