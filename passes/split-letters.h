/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../lib/ir/graph-private.h"

/* Letters of the dimensions of result 0, such as "NCHW"; NULL if neither the op nor what it reads
 * has a layout. */
const char *cleave_node_get_letters (const CleaveNode *node);
/* The dimension of result 0 with the letter, or -1. */
gint cleave_node_find_dim (const CleaveNode *node, char letter);
