/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "forwarding.h"

/* If an element-wise node reads a join that would copy one of its parts, moves the join below the
 * node. The node is then cut into pieces, and each piece reads a part of the join directly. The
 * sinker remembers nodes by address, as the forwarder does. split/apply.h sinks joins after it has
 * built the pieces of a region. */
typedef struct _CleaveJoinSinker CleaveJoinSinker;

CleaveJoinSinker *cleave_join_sinker_new (CleaveGraph *graph, CleaveForwarder *forwarder);
void cleave_join_sinker_free (CleaveJoinSinker *sinker);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveJoinSinker, cleave_join_sinker_free)

/* Adds a piece of `node` for each part of the join that `node` reads, and adds a join of the
 * results of the pieces. Returns the result of the new join. Returns NULL if the new join would
 * save no copy, or if `node` cannot be cut into these pieces. Call this function for nodes in
 * topological order. */
CleaveResult *cleave_join_sinker_sink (CleaveJoinSinker *sinker, const CleaveNode *node);
