/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "op.h"

/* What evaluating may take of who has `n_bytes` of constants: a fraction of a second, and what
 * reading the bytes a few times takes.  In steps of cleave_evaluate_work(). */
#define CLEAVE_EVALUATE_BUDGET(n_bytes) (0x1p24 + 4 * (double) (n_bytes))

/* Whether all operands of the node are constants (or it has none, or reads nothing but their types)
 * and it is not a Constant or Input itself. */
gboolean cleave_evaluate_can (const CleaveNode *node);
/* Whether the results of a call may take the place of the constants that it reads, `freed` bytes of
 * which nobody else reads: never if that is how weights are stored, nor where more would be stored,
 * unless it is little. */
gboolean cleave_evaluate_saves (const CleaveCall *call, gint64 freed);
/* Values of the results of such a node.  Of a VIEW op they share the operand's bytes; else the
 * reference kernel makes them.  (transfer full) array of CleaveTensor; NULL and the error if one
 * does not fit. */
GPtrArray *cleave_evaluate (const CleaveNode *node, GError **error);
/* About how many steps that takes; none if bytes are shared. */
double cleave_evaluate_work (const CleaveNode *node);
/* The same of a call whose attributes are normal and whose result types are known.  An operand may
 * be NULL where it is absent or only its type is read. */
GPtrArray *
cleave_evaluate_call (const CleaveCall *call, CleaveTensor *const *operands, GError **error);
double cleave_evaluate_call_work (const CleaveCall *call, CleaveTensor *const *operands);
