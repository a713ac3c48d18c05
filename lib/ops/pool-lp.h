/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/op.h"
#include "window.h"

/* The reference kernel of LpPool, by the windows of the spatial dimensions: powers, sum and root in
 * float64, the taps of a window in row-major order, those in the padding skipped; rounded once. */
void cleave_pool_lp (const CleaveCall *call,
                     const CleaveWindow *windows,
                     const CleaveView *x,
                     const CleaveView *y);
