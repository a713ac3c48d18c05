/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "strided-range.h"

/* Gathers that are Slices: their indices are constants that differ by equal steps, such as 2, 5, 8.
 * simplify/gather-to-slice.c replaces these Gathers, and fit/split-per-reader.c treats them as
 * parts of a value. */

/* Sets `range` to the part of operand 0 that a Gather selects. Returns FALSE if the node is not a
 * Gather whose indices are constants and ascend by equal steps. */
gboolean cleave_gather_get_strided_range (const CleaveNode *node, CleaveStridedRange *range);
/* Adds a Slice with the value of a Gather, and a Reshape if the shapes differ. Returns the result
 * of the added node. Returns NULL if the node is not a Gather whose indices are constants and
 * ascend by equal steps. */
CleaveResult *cleave_gather_add_slice (CleaveNode *node);
