/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../lib/ir/graph-private.h"

/* Removes the nodes in `nodes` (CleaveNode) that have no users. Then removes the nodes whose users
 * were all removed, and so on. Inputs stay. Adds the addresses of the removed nodes to the set
 * `removed`, unless `removed` is NULL. Empties `nodes`. Returns whether a node was removed. */
gboolean cleave_remove_dead (GPtrArray *nodes, GHashTable *removed);
