/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Of each node, by its id, whether rows of its result take much more room than those that they are
 * made of: to keep the latter and to compute the former again takes less memory.  So what is
 * computed element by element of such results alone. */
gboolean *cleave_find_wide (const CleaveGraph *graph, const GPtrArray *order);
