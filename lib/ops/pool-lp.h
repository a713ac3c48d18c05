/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/op.h"
#include "window.h"

/* The reference kernel of LpPool. Powers, sum and root are double; the taps of a window are added
 * in row-major order without those in the padding; the result is rounded once. `windows` has one
 * entry for each spatial dimension. */
void cleave_pool_lp (const CleaveCall *call,
                     const CleaveWindow *windows,
                     const CleaveView *x,
                     const CleaveView *y);
