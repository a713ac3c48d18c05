/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Shares an extent between chunks in proportion to weights. chunks.c calls cleave_share_out() for
 * tilings by weights. For example, an extent of 10 with the weights 1 and 4 gives the sizes 2 and
 * 8. */

/* Sets the `k` sizes in proportion to the weights, each at least `least`, so that they add up to
 * `n` (the rule of Glow's node splitting). `k * least` must not exceed `n`. */
void cleave_share_out (const double *weights, guint k, gint64 n, gint64 least, gint64 *sizes);
