/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "fit-copies.h"

/* Large values that wait for readers while little else is there, as those that skip the middle of a
 * U-net, or that a projection reads when a squeeze is done, are made again for these, of values
 * that are smaller:
 *
 *      x ─ Conv ─ a ─┬─ (others) ─┐            x ─┬─ Conv ── a ── (others) ─┐
 *                    └────────────┴─ Join  =>     └─ Conv' ─ a' ────────────┴─ Join
 *
 * Values of at least so many bytes, the largest first, as long as no more MACs are added.  Returns
 * what was done (CleaveFitCopy), in order. */
GPtrArray *cleave_fit_late_copy (CleaveGraph *graph, gint64 min_bytes, double max_macs);
