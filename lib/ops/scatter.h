/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The reductions of ScatterElements and ScatterND: how an update is combined with an element.
 * scatter.c defines them, and Col2Im adds overlapping blocks with these functions. */

#include "../ir/op.h"

/* Combines `length` elements of `update` with `length` different elements of `to`. `to_offset` and
 * `offset`: offsets of the first elements in the two views. `to_step` and `step`: distances of
 * adjacent elements. All are in elements. The reduction must not be CLEAVE_SCATTER_NONE. */
void cleave_scatter_join_line (const CleaveView *to,
                               gint64 to_offset,
                               gint64 to_step,
                               const CleaveView *update,
                               gint64 offset,
                               gint64 step,
                               gint64 length,
                               CleaveScatterReduction reduction);
