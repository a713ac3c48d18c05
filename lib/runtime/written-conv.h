/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "kernels.h"

/* What dequantises the bytes of an operand of the group. */
typedef struct
{
  guint from;
  CleaveElement element;
  float scale;
  gint32 zero;
  float most; /* of a constant's floats, without their signs */
} CleaveWrittenX;

/* The QuantizeLinear that ends the group. */
typedef struct
{
  CleaveElement element;
  float scale;
  gint32 zero;
  gint32 least, most; /* of the result, less the zero point */
} CleaveWrittenEnd;

/* A convolution between DequantizeLinears and a QuantizeLinear, by constants: what a group of nodes
 * means, as one node.  Its operands are the bytes of x and of w.  A matrix product is a convolution
 * of pixels, whose bias comes last. */
typedef struct
{
  CleaveConvAttrs conv;
  float x_scale, y_scale;
  gint32 x_zero, y_zero;
  gint32 least, most;    /* of the result, less its zero point */
  float *w_scale, *bias; /* of each channel of the result */
  CleaveTensor *w;       /* bytes */
  CleaveView w_view;     /* of them, as weights of a convolution */
  guint w_columns;       /* which dimension of w has the channels of the result */
  gboolean is_product;
} CleaveWrittenConv;

/* The result of a sum, less its zero point. */
gint32 cleave_written_conv_round (const CleaveWrittenConv *conv, float sum);

extern const CleaveOp cleave_op_written_conv;
gboolean cleave_written_conv_is (const CleaveCall *call);

/* NULL: the group is none.  x is its first operand. */
CleaveWrittenConv *cleave_written_conv_find (const CleaveKernelInstance *group);
void cleave_written_conv_free (CleaveWrittenConv *conv);
/* An operand or the result of the group, as those of a convolution. */
CleaveView cleave_written_conv_view (const CleaveWrittenConv *conv, const CleaveView *view);

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

/* A sum or a product of two values, quantised, as one node: dequantised bytes, one of which may be
 * a constant of floats.  Either may be broadcast. */
typedef struct
{
  CleaveWrittenX x[2]; /* a constant's element is float32 */
  CleaveWrittenEnd end;
  gboolean is_product;
  /* In few steps: bytes without sign, or floats, times factors, and the addend of a sum; of a
   * product, bytes less their zero point, and the first factor is that of all.  The byte is that of
   * the floats if what this gives differs from a whole number by less than `sure`; 0: never. */
  float factor[2], addend, sure;
} CleaveWrittenAdd;

extern const CleaveOp cleave_op_written_add;
/* NULL: the group is none. */
CleaveWrittenAdd *cleave_written_add_find (const CleaveKernelInstance *group);

/* Means of dequantised bytes, quantised: GlobalAveragePool, or ReduceMean, whose sums are of
 * doubles. */
typedef struct
{
  CleaveWrittenX x;
  CleaveWrittenEnd end;
  guint axes; /* of x, that are gone or 1 in the result: a bit for each */
  gboolean keepdims, has_doubles;
} CleaveWrittenMean;

extern const CleaveOp cleave_op_written_mean;
/* NULL: the group is none. */
CleaveWrittenMean *cleave_written_mean_find (const CleaveKernelInstance *group);
