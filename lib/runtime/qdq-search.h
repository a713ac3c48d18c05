/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Pattern matching on quantized groups: finds the calls of a known pattern, from the last one
 * backwards. */

#include "qdq-conv.h"

#include "../memory/quantized-group.h"

typedef struct
{
  const CleaveKernelInstance *group;
  CleaveBody body;
  guint n_seen; /* number of calls matched so far */
} CleaveQdqSearch;

/* The operands of QuantizeLinear and DequantizeLinear. */
enum { VALUE, SCALE, ZERO };

/* Returns the call that computes a value, if its op is `op` and it has one reader; NULL otherwise.
 */
const CleaveBodyCall *cleave_qdq_find_call (CleaveQdqSearch *s, guint from, const CleaveOp *op);
/* Reads `n` numbers of a constant, which may have one element for all; reads 0s if `constant` is
 * NULL. Returns FALSE if it has another number of elements. */
gboolean cleave_qdq_read_constant (const CleaveTensor *constant, gint64 n, double *to);
/* Reads `n` numbers of an operand of a call. Returns FALSE if it is neither constant nor absent. */
gboolean cleave_qdq_read_numbers (
    const CleaveQdqSearch *s, const CleaveBodyCall *call, guint operand, gint64 n, double *to);
/* Reads scales and zero points of a QuantizeLinear or DequantizeLinear for `n` indices of its axis.
 */
gboolean cleave_qdq_read_scales (
    const CleaveQdqSearch *s, const CleaveBodyCall *call, gint64 n, double *scale, double *zero);
/* Matches a value that is dequantized with a single scale. Returns FALSE if it is not. */
gboolean cleave_qdq_read_x (CleaveQdqSearch *s, guint from, CleaveQdqX *x);
/* Matches the QuantizeLinear that ends the group and a Clip or Relu before it. Sets `from` to the
 * value that they read. */
gboolean cleave_qdq_read_end (CleaveQdqSearch *s, CleaveQdqEnd *end, guint *from);
