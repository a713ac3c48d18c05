/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "kernels.h"

/* A convolution between DequantizeLinears and a QuantizeLinear, by constants: what a group of nodes
 * means, as one node.  Its operands are the bytes of x and of w. */
typedef struct
{
  CleaveConvAttrs conv;
  float x_scale, y_scale;
  gint32 x_zero, y_zero;
  gint32 least, most;    /* of the result, less its zero point */
  float *w_scale, *bias; /* of each channel of the result */
  CleaveTensor *w;       /* bytes */
} CleaveWrittenConv;

/* The result of a sum, less its zero point. */
gint32 cleave_written_conv_round (const CleaveWrittenConv *conv, float sum);

extern const CleaveOp cleave_op_written_conv;
gboolean cleave_written_conv_is (const CleaveCall *call);

/* NULL: the group is none.  x is its first operand. */
CleaveWrittenConv *cleave_written_conv_find (const CleaveKernelInstance *group);
void cleave_written_conv_free (CleaveWrittenConv *conv);

/* A byte for each byte: a group all of whose calls go element by element, and read one value and
 * single constants.  Or a maximum of windows of what is dequantised, and then such: that of bytes,
 * since what dequantises makes never less of more, and then a byte for each byte. */
typedef struct
{
  guint from; /* the operand of the group */
  gboolean has_pool;
  CleaveCall pool;  /* but for the operands and results */
  gboolean is_same; /* nothing changes */
  guint8 table[256];
} CleaveWrittenTable;

extern const CleaveOp cleave_op_written_table;
/* NULL: the group is none. */
CleaveWrittenTable *cleave_written_table_find (const CleaveKernelInstance *group);

/* A sum of two dequantised values, quantised, as one node: its operands are their bytes. */
typedef struct
{
  guint from[2]; /* operands of the group */
  float scale[2], y_scale;
  gint32 zero[2], y_zero;
  gint32 least, most; /* of the result, less its zero point */
} CleaveWrittenAdd;

extern const CleaveOp cleave_op_written_add;
/* NULL: the group is none. */
CleaveWrittenAdd *cleave_written_add_find (const CleaveKernelInstance *group);
