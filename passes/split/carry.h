/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cutter.h"

/* The halo policy carry: a strip reads rows that earlier strips of its band computed, and computes
 * only the remaining rows. pieces.c calls cleave_cutter_carry() for all policies but recompute. */

/* Cuts a node into the pieces of the carry policy. `demand_boxes` has the boxes that strips need
 * (CleaveDemandBox), sorted by the strip's `sequence` and then by its `band`. Subtracts from each
 * box the parts that earlier strips of its band compute, and makes a piece of each box that
 * remains. */
void cleave_cutter_carry (CleaveCutter *cutter, const GArray *demand_boxes);
