/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "rematerialize.h"

/* Rematerialization of values that idle: a large value is live for a late reader while few other
 * values are live. Examples are the skip connections of a U-Net, and a value that waits for the
 * gate of a squeeze-and-excitation block. Late readers read a copy recomputed from smaller values:
 *
 *      x ─ Conv ─ a ─┬─ (others) ─┐            x ─┬─ Conv ── a ── (others) ─┐
 *                    └────────────┴─ Join  =>     └─ Conv' ─ a' ────────────┴─ Join
 *
 * Recomputes values of at least `min_bytes` bytes, the largest first, as long as the copies add at
 * most `max_macs` MACs in total. Returns the copies (CleaveFitCopy) in the order in which they were
 * made. The array is empty if no value idles. variants.c tries this rewrite as a graph variant. */
GPtrArray *cleave_fit_rematerialize_idle (CleaveGraph *graph, gint64 min_bytes, double max_macs);
