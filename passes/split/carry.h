/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cutter.h"

/* The halo policy "carry": a strip reads rows that earlier strips of its band computed and computes
 * only the rows that are new. */

/* Cuts the node into the pieces of the carry policy.  `wanted_boxes` is an array of CleaveWanted,
 * sorted by sequence and band.  From each box it subtracts what earlier strips of the same band
 * produce, which may leave nothing, and makes a piece of each box that remains. */
void cleave_cutter_carry (CleaveCutter *cutter, const GArray *wanted_boxes);
