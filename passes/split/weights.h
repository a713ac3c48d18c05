/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Sizes in proportion to weights, each at least `least`, that add up to `n`: Glow's rule.  There is
 * room for k chunks. */
void cleave_share_out (const double *weights, guint k, gint64 n, gint64 least, gint64 *sizes);
