/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Of a node that makes all there is, and so may be anywhere. */
#define CLEAVE_NO_BAND (-1)

/* Which of so many bands each node makes a part of, by id: the uppermost rows are the first band,
 * or the first channels or columns where those are cut.  `order` is topological. */
gint *cleave_bands_find (const CleaveGraph *graph, const GPtrArray *order, guint n_bands);
