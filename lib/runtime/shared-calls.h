/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "program-private.h"

/* Lets the pieces of a node share one call and one kernel state. Most pieces of a segment have the
 * same attributes, types and strides, and differ only in the addresses of their values. lower.c
 * calls cleave_shared_calls_take() for each task: if it finds an equal task, it need not prepare
 * another kernel, and a run finds the shared state in the cache. */
typedef struct _CleaveSharedCalls CleaveSharedCalls;

CleaveSharedCalls *cleave_shared_calls_new (void);
void cleave_shared_calls_free (CleaveSharedCalls *shared);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveSharedCalls, cleave_shared_calls_free)
/* Returns whether `task` may share a call and a kernel state with equal tasks. This is so if each
 * operand either overlaps no result, or begins at the address of result 0, since kernels depend on
 * no other property of addresses. Returns FALSE for a quantized group, whose state contains
 * addresses. */
gboolean cleave_shared_calls_serve (const CleaveTask *task);
/* Makes `task` use the call and the kernel state of an equal task that was added before, and frees
 * the call of `task`. Sets `n_scratch` to the scratch memory of a run, in bytes. Returns FALSE, and
 * changes nothing, if there is no equal task. The views of `task` must be filled in. */
gboolean cleave_shared_calls_take (CleaveSharedCalls *shared,
                                   const CleaveNode *node,
                                   CleaveTask *task,
                                   gsize *n_scratch);
/* Adds a task whose kernel is prepared. The task must stay at its address. */
void cleave_shared_calls_add (CleaveSharedCalls *shared,
                              const CleaveNode *node,
                              const CleaveTask *task,
                              gsize n_scratch);
/* Frees the attributes and the types of a call. */
void cleave_call_clear (CleaveCall *call);
