/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The reductions of ScatterElements and ScatterND: how an update is combined with an element. */

#include "../ir/op.h"

/* Combines `length` elements of `update` with elements of `to`, each at an address of its own.
 * Offsets and steps are in elements. The reduction is not CLEAVE_SCATTER_NONE. */
void cleave_scatter_join_line (const CleaveView *to,
                               gint64 to_offset,
                               gint64 to_step,
                               const CleaveView *update,
                               gint64 offset,
                               gint64 step,
                               gint64 length,
                               CleaveScatterReduction reduction);
