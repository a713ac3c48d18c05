/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "split-options.h"

/* The fewest chunks of a node, cut inside a space, that meet what a constraint asks of the
 * node by itself: one chunk if it meets it as it is.  NULL and `why` if none do. */
GArray *cleave_search_ranges (CleaveNode *node,
                              const CleaveSpace *space,
                              const CleaveConstraint *constraint,
                              GString *why);
