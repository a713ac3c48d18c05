/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../lib/ir/graph-private.h"

/* Removes those of the nodes that nothing uses, then those that only they used, and so on.  Inputs
 * stay.  Returns whether any was removed; their addresses are added to `removed`, unless it is
 * NULL.  Empties the array. */
gboolean cleave_remove_dead (GPtrArray *nodes, GHashTable *removed);
