/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "help.h"

/* Merges a Pad into the padding of a convolution or a pooling that reads it. */

/* Returns the Pad that makes operand 0 of a node with windows, if it adds a constant, in spatial
 * dimensions only, and crops nothing; NULL otherwise. */
const CleaveNode *cleave_window_find_pad (const CleaveNode *node, CleaveLayout layout);
/* Lets the node read the operand of the Pad, and adds the Pad's amounts to `pads`, which is a field
 * of `attrs`, a copy of the node's attributes.  FALSE if a pad would be as long as its window; then
 * the graph is not changed. */
gboolean cleave_window_take_pad (CleaveNode *node,
                                 const CleaveNode *pad,
                                 CleaveLayout layout,
                                 const gint64 *kernel,
                                 gpointer attrs,
                                 CleaveInts *pads);
