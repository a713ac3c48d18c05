/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "forwarding.h"

/* Moves joins below element-wise nodes, if a join would copy one of its parts: each piece of the
 * node then reads a part directly. The sinker remembers nodes by address, as the forwarder does.
 * split/apply.h sinks joins after it has built the pieces of a region. */
typedef struct _CleaveJoinSinker CleaveJoinSinker;

CleaveJoinSinker *cleave_join_sinker_new (CleaveGraph *graph, CleaveForwarder *forwarder);
void cleave_join_sinker_free (CleaveJoinSinker *sinker);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveJoinSinker, cleave_join_sinker_free)

/* Adds a piece of the node for each part of the join that the node reads, and a join of the pieces.
 * Returns the result of this join. Returns NULL if that would save no copy or is not possible. Call
 * this function for nodes in topological order. */
CleaveResult *cleave_join_sinker_sink (CleaveJoinSinker *sinker, const CleaveNode *node);
