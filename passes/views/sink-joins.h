/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "forwarding.h"

/* Moves joins below element-wise nodes: each node then reads the parts of a join, where joining
 * them first would copy one.  Remembers nodes by address, as the forwarder does. */
typedef struct _CleaveJoinSinker CleaveJoinSinker;

CleaveJoinSinker *cleave_join_sinker_new (CleaveGraph *graph, CleaveForwarder *forwarder);
void cleave_join_sinker_free (CleaveJoinSinker *sinker);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveJoinSinker, cleave_join_sinker_free)

/* Adds a piece of the node for each part of the join that it reads, and a join of the pieces.
 * Returns the join's result, or NULL if that would save no copy or is not possible.  Call it for
 * nodes in topological order. */
CleaveResult *cleave_join_sinker_sink (CleaveJoinSinker *sinker, const CleaveNode *node);
