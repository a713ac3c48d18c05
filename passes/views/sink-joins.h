/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "forwarding.h"

/* Gives element-wise nodes the parts of a join instead of the join, where those would have to be
 * copied to be joined.  It knows nodes by their address, as the forwarder does. */
typedef struct _CleaveJoinSinker CleaveJoinSinker;

CleaveJoinSinker *cleave_join_sinker_new (CleaveGraph *graph, CleaveForwarder *forwarder);
void cleave_join_sinker_free (CleaveJoinSinker *sinker);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveJoinSinker, cleave_join_sinker_free)

/* The value that is the node's result, joined of what becomes of each part; NULL if it is not to be
 * spread, or cannot be.  Nodes that read the result of another come after it. */
CleaveResult *cleave_join_sinker_sink (CleaveJoinSinker *sinker, const CleaveNode *node);
