/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Letters for dimensions, so that a user can write "H" in place of 2.  They come from ops that have
 * a layout, such as a convolution, and follow the dimension maps up and down the graph. */

/* Returns the letters of the dimensions of result 0, such as "NCHW".  NULL if no op with a layout
 * is near enough. */
const char *cleave_node_get_letters (const CleaveNode *node);
/* Returns the letters like cleave_node_get_letters(), for many nodes of a graph that does not
 * change meanwhile.  `known` caches the letters of each node visited, so each is visited once.
 * Looks at most `max_steps` nodes up and a few nodes down. */
const char *cleave_letters_find (GHashTable *known, const CleaveNode *node, guint max_steps);
/* Returns the dimension of result 0 with this letter, or -1. */
gint cleave_node_find_dim (const CleaveNode *node, char letter);
