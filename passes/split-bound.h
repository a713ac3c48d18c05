/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-split.h>

/* Whether a graph split from `start` on, `depth` nodes deep, may need no more bytes than `limit`:
 * the nodes that no such split reaches take what they take.  FALSE and `why`: it cannot be, and
 * which of them takes too much for what. */
gboolean cleave_bound_allows (const CleaveNode *start, guint depth, gint64 limit, GString *why);
