/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Finds letters for dimensions, so that a user can write "H" in place of 2. The letters come from
 * ops that have a layout, such as a convolution, and follow the dimension maps through the graph in
 * both directions. */

/* Returns the letters of the dimensions of result 0, such as "NCHW". Returns NULL if no op with a
 * layout is near enough. */
const char *cleave_node_get_letters (const CleaveNode *node);
/* Returns the letters of the dimensions of result 0 of `node`, or NULL. Each call visits at most
 * `max_steps` nodes towards the inputs. If these nodes give no letters, the call also visits a few
 * nodes towards the outputs. `known` is a cache for repeated calls: a hash table, first empty, that
 * maps each node visited towards the inputs to its letters. The graph must not change between calls
 * with the same cache. */
const char *cleave_letters_find (GHashTable *known, const CleaveNode *node, guint max_steps);
/* Returns the dimension of result 0 with this letter; -1 if there is none. */
gint cleave_node_find_dim (const CleaveNode *node, char letter);
