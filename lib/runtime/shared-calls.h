/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "program-private.h"

/* Lets the pieces of a node share one call and one kernel state. Most pieces of a segment have the
 * same attributes, types and strides, and differ only in the addresses of their values. The states
 * of the others then stay in the cache, and their kernels need not be prepared. */
typedef struct _CleaveSharedCalls CleaveSharedCalls;

CleaveSharedCalls *cleave_shared_calls_new (void);
void cleave_shared_calls_free (CleaveSharedCalls *shared);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveSharedCalls, cleave_shared_calls_free)
/* Returns whether an equal task may share the call and the kernel state of `task`. It may if each
 * operand is disjoint from the results, or begins at the address of result 0: kernels ask for no
 * other property of addresses. The parts of a quantized group have addresses of their own. */
gboolean cleave_shared_calls_serve (const CleaveTask *task);
/* Makes `task` use the call and the kernel state of an equal task that was added before, and frees
 * the call of `task`. Sets `n_scratch` to the scratch memory of a run, in bytes. Returns FALSE, and
 * changes nothing, if there is no equal task. The views of `task` are complete. */
gboolean cleave_shared_calls_take (CleaveSharedCalls *shared,
                                   const CleaveNode *node,
                                   CleaveTask *task,
                                   gsize *n_scratch);
/* Adds a task whose kernel is prepared. It must not move in memory. */
void cleave_shared_calls_add (CleaveSharedCalls *shared,
                              const CleaveNode *node,
                              const CleaveTask *task,
                              gsize n_scratch);
/* Frees the attributes and the types of a call. */
void cleave_call_clear (CleaveCall *call);
