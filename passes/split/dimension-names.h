/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Finds letters for dimensions, so that a user can write "H" in place of 2. The letters come from
 * ops that have a layout, such as a convolution, and follow the dimension maps through the graph in
 * both directions. */

/* Returns the letters of the dimensions of result 0, such as "NCHW". Returns NULL if no op with a
 * layout is near enough. */
const char *cleave_node_get_letters (const CleaveNode *node);
/* Returns the letters as cleave_node_get_letters() does, for many nodes of a graph that does not
 * change meanwhile. `known` caches the letters of each visited node, so that each node is visited
 * once. Visits at most `max_steps` nodes towards the inputs, and a few nodes towards the
 * outputs. */
const char *cleave_letters_find (GHashTable *known, const CleaveNode *node, guint max_steps);
/* Returns the dimension of result 0 with this letter; -1 if there is none. */
gint cleave_node_find_dim (const CleaveNode *node, char letter);
