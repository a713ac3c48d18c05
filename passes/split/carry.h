/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "cutter.h"

/* Carries: each strip's box, of CleaveWanted by sequence and band, loses what strips of its band
 * before it produce, maybe all of it. */
void cleave_cutter_carry (CleaveCutter *cutter, const GArray *wanted_boxes);
