/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Shares an extent between chunks in proportion to weights. */

/* Sets the `k` sizes in proportion to the weights, each at least `least`, so that they add up to
 * `n` (the rule of Glow's node splitting). `k * least` must not exceed `n`. */
void cleave_share_out (const double *weights, guint k, gint64 n, gint64 least, gint64 *sizes);
