/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Matches the calls of a quantized group against a pattern of ops, from the last call backwards.
 * qdq-add.c, qdq-conv.c and qdq-table.c describe their patterns with these functions. Example:
 * cleave_qdq_read_end() matches the QuantizeLinear at the end, cleave_qdq_find_call() the Add
 * before it, and cleave_qdq_read_x() the dequantized operands of the Add. */

#include "qdq-conv.h"

#include "../memory/quantized-group.h"

typedef struct
{
  const CleaveKernelInstance *group;
  CleaveBody body;
  guint n_seen; /* number of calls of the group that the search has matched so far */
} CleaveQdqSearch;

/* operand indices of QuantizeLinear and DequantizeLinear */
enum { VALUE, SCALE, ZERO };

/* Returns the call that computes value `from`, if its op is `op` and only one call reads the value.
 * Returns NULL otherwise. */
const CleaveBodyCall *cleave_qdq_find_call (CleaveQdqSearch *s, guint from, const CleaveOp *op);
/* Reads a constant as `n` numbers into `to`. A single element is repeated n times. If `constant` is
 * NULL, writes n zeros. Returns FALSE if the constant has neither 1 nor `n` elements. */
gboolean cleave_qdq_read_constant (const CleaveTensor *constant, gint64 n, double *to);
/* Reads an operand of a call with cleave_qdq_read_constant(): `n` numbers, which are zeros if the
 * operand is absent. Returns FALSE if the operand is not constant. */
gboolean cleave_qdq_read_numbers (
    const CleaveQdqSearch *s, const CleaveBodyCall *call, guint operand, gint64 n, double *to);
/* Reads the scales and zero points of a QuantizeLinear or DequantizeLinear, one for each of the `n`
 * indices of its axis. Returns FALSE if they are not constant. */
gboolean cleave_qdq_read_scales (
    const CleaveQdqSearch *s, const CleaveBodyCall *call, gint64 n, double *scale, double *zero);
/* Matches a dequantized operand of the group: value `from` must be the result of a DequantizeLinear
 * with a single scale, which reads an 8-bit variable operand of the group. Fills `x`. Returns FALSE
 * if the value is anything else. */
gboolean cleave_qdq_read_x (CleaveQdqSearch *s, guint from, CleaveQdqX *x);
/* Matches the QuantizeLinear that ends the group, and the Clips and Relus right before it. Sets
 * `from` to the value that the first matched op reads. Returns FALSE if nothing matches. */
gboolean cleave_qdq_read_end (CleaveQdqSearch *s, CleaveQdqEnd *end, guint *from);
