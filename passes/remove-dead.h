/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../lib/ir/graph-private.h"

/* Removes the nodes in `nodes` that have no users, then nodes that only they used, and so on.
 * Inputs stay.  Adds the addresses of removed nodes to `removed`, unless it is NULL.  Empties
 * `nodes`.  Returns whether any node was removed. */
gboolean cleave_remove_dead (GPtrArray *nodes, GHashTable *removed);
