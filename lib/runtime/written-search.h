/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What a group of nodes between quantised values is made of. */

#include "written-conv.h"

#include "../memory/quantized-group.h"

typedef struct
{
  const CleaveKernelInstance *group;
  CleaveBody body;
  guint n_seen; /* calls that have a place in what is looked for */
} CleaveWrittenSearch;

/* Operands of what quantises and dequantises. */
enum { VALUE, SCALE, ZERO };

/* The call that makes a value, of this op, read by one; NULL: it is another. */
const CleaveBodyCall *
cleave_written_find_call (CleaveWrittenSearch *s, guint from, const CleaveOp *op);
/* `n` numbers of a constant, of which one may stand for all; 0 if there is none. */
gboolean cleave_written_read_constant (const CleaveTensor *constant, gint64 n, double *to);
/* The same of an operand of a call, which is a constant or absent. */
gboolean cleave_written_read_numbers (
    const CleaveWrittenSearch *s, const CleaveBodyCall *call, guint operand, gint64 n, double *to);
/* Of a DequantizeLinear or a QuantizeLinear, for `n` indices of its first axis. */
gboolean cleave_written_read_scales (const CleaveWrittenSearch *s,
                                     const CleaveBodyCall *call,
                                     gint64 n,
                                     double *scale,
                                     double *zero);
/* A value that is dequantised bytes, by one scale; FALSE: it is none. */
gboolean cleave_written_read_x (CleaveWrittenSearch *s, guint from, CleaveWrittenX *x);
/* The end of the group, with bounds; `from` gets what is before these. */
gboolean cleave_written_read_end (CleaveWrittenSearch *s, CleaveWrittenEnd *end, guint *from);
