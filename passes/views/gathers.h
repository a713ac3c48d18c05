/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "strided-range.h"

/* Which part of operand 0 a Gather takes whose indices are constants that go up in even steps.
 * FALSE: it is none. */
gboolean cleave_gather_get_strided_range (const CleaveNode *node, CleaveStridedRange *range);
/* The same value as that of such a Gather: a Slice, and a Reshape where its dimensions are others.
 * NULL: it is no such Gather. */
CleaveResult *cleave_gather_add_slice (CleaveNode *node);
