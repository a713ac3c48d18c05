/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What is scattered to one place and what is there become one. */

#include "../ir/op.h"

/* The `length` elements of `update` from an offset on, `step` apart, join those of `to`, none of
 * which comes twice.  The reduction is any but CLEAVE_SCATTER_NONE. */
void cleave_scatter_join_line (const CleaveView *to,
                               gint64 to_offset,
                               gint64 to_step,
                               const CleaveView *update,
                               gint64 offset,
                               gint64 step,
                               gint64 length,
                               CleaveScatterReduction reduction);
