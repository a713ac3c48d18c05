/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "help.h"

/* Merges a Pad into the padding of the convolution or pooling that reads it. fold-pads.c merges
 * Pads of convolutions, and merge-pads.c merges Pads of poolings. */

/* Returns the Pad that computes operand 0 of a node with windows. The Pad must add a constant, in
 * spatial dimensions only, and remove nothing. Returns NULL if there is no such Pad. */
const CleaveNode *cleave_window_find_pad (const CleaveNode *node, CleaveLayout layout);
/* Lets the node read the operand of the Pad, and adds the Pad's amounts to `pads`. `pads` is a
 * field of `attrs`, a copy of the node's attributes. Returns FALSE and does not change the graph if
 * a pad would be at least as long as its window. */
gboolean cleave_window_take_pad (CleaveNode *node,
                                 const CleaveNode *pad,
                                 CleaveLayout layout,
                                 const gint64 *kernel,
                                 gpointer attrs,
                                 CleaveInts *pads);
