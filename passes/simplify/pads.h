/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "help.h"

/* The Pad that operand 0 of a node with windows is the result of, if it adds nothing but one value,
 * and that in spatial dimensions alone; else NULL. */
const CleaveNode *cleave_window_find_pad (const CleaveNode *node, CleaveLayout layout);
/* The node reads what the Pad reads, and `pads`, which are in `attrs`, a copy, grow.  FALSE: they
 * would be as long as a window. */
gboolean cleave_window_take_pad (CleaveNode *node,
                                 const CleaveNode *pad,
                                 CleaveLayout layout,
                                 const gint64 *kernel,
                                 gpointer attrs,
                                 CleaveInts *pads);
