/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Letters of the dimensions of result 0, such as "NCHW"; NULL if neither the op nor what it
 * reads or what reads it has a layout. */
const char *cleave_node_get_letters (const CleaveNode *node);
/* Likewise, for many nodes of a graph that nobody edits meanwhile: each is looked at once, since
 * `known` has the letters of all nodes that were.  No more than `max_steps` nodes
 * up, and a few down. */
const char *cleave_letters_find (GHashTable *known, const CleaveNode *node, guint max_steps);
/* The dimension of result 0 with the letter, or -1. */
gint cleave_node_find_dim (const CleaveNode *node, char letter);
