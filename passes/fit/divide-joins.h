/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "steps.h"

#include "../../lib/memory/buffers.h"

/* Divides the buffers of some joins by the steps in which the parts are written. steps.c makes one
 * buffer for each join and all parts of the join. Other values may use the bytes of a part until a
 * node writes the part (lib/memory/laps.c):
 *
 *     a    │■■■■■■■■■│            a and b are parts of a join; a is written in step 1, b in
 *     b    │    ■■■■■│            step 5. So the table has two buffers, which end together.
 *     step  1 … 5 … 9 */

/* For each buffer of `storage`, `buffers` has a CleaveFitBuffer with the same index. If the buffer
 * of a join is live at the end of a run, shortens it, and appends buffers for the parts that are
 * written later. Parts that are interleaved, such as channels in the memory order NHWC, are in use
 * from the first write on. `step` is indexed by position: the step in which the node runs, and the
 * number of steps for the last entry; -1 for inputs and constants. */
void cleave_fit_divide_joins (GArray *buffers, const CleaveStorage *storage, const gint *step);
