/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Fewer nodes that move data, to the same end: a Reshape of a Reshape or a Transpose of a Transpose
 * is one, or nothing; a Transpose past dimensions of 1 is a Reshape.  The value that takes the
 * place of a node's result, which may be a new node's; NULL: there is none. */
CleaveResult *cleave_movement_compose (CleaveGraph *graph, CleaveNode *node);
