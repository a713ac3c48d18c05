/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/graph-private.h"

/* Puts the operands that read a result into `uses`, as the nodes come.  The result lists them in
 * the order in which they were made, which edits change: a copy of the graph, or what is read of a
 * file of it, is to run in the same order. */
void cleave_uses_list (GPtrArray *uses, const CleaveResult *result);
