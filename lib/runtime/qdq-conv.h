/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "kernels.h"

/* QDQ groups as single ops on 8-bit values, with the same bits as the float computation
 * (QDQ-exact).
 *
 * An 8-bit operand of the group, with its scale and zero point. */
typedef struct
{
  guint from;
  CleaveElement element;
  float scale;
  gint32 zero;
  float most; /* largest magnitude of a constant of floats */
} CleaveQdqX;

/* The QuantizeLinear at the end of the group, with its scale and zero point. */
typedef struct
{
  CleaveElement element;
  float scale;
  gint32 zero;
  gint32 least, most; /* bounds of the result minus its zero point */
} CleaveQdqEnd;

/* A convolution whose operands are dequantized and whose result is quantized, all with constant
 * parameters, as one op on the 8-bit x and w. A matrix product counts as a convolution of pixels
 * whose bias is added last. */
typedef struct
{
  CleaveConvAttrs conv;
  float x_scale, y_scale;
  gint32 x_zero, y_zero;
  gint32 least, most;    /* bounds of the result minus its zero point */
  float *w_scale, *bias; /* indexed by channel of the result */
  CleaveTensor *w;       /* 8-bit weights */
  CleaveView w_view;     /* view of `w` as weights of a convolution */
  guint w_columns;       /* the dimension of w with the channels of the result */
  gboolean is_product;
} CleaveQdqConv;

/* Returns the quantized result of a sum, minus its zero point. */
gint32 cleave_qdq_conv_round (const CleaveQdqConv *conv, float sum);

extern const CleaveOp cleave_op_qdq_conv;
gboolean cleave_is_qdq_conv (const CleaveCall *call);

/* Returns the convolution that a group is, or NULL. x is the group's operand 0. */
CleaveQdqConv *cleave_qdq_conv_find (const CleaveKernelInstance *group);
void cleave_qdq_conv_free (CleaveQdqConv *conv);
/* Returns a view of an operand or the result of the group as an operand or the result of a
 * convolution. */
CleaveView cleave_qdq_conv_view (const CleaveQdqConv *conv, const CleaveView *view);

/* A lookup table from 8 bits to 8 bits: a group of element-wise calls on one value and scalar
 * constants. A MaxPool may come first. It then runs on 8-bit values, since dequantizing keeps their
 * order. */
typedef struct
{
  guint from; /* index of the group's operand */
  gboolean has_pool;
  CleaveCall pool;  /* without operands and results */
  gboolean is_same; /* the table is the identity */
  guint8 table[256];
} CleaveQdqTable;

extern const CleaveOp cleave_op_qdq_table;
/* Returns the table that a group is, or NULL. */
CleaveQdqTable *cleave_qdq_table_find (const CleaveKernelInstance *group);

/* A sum or product of two dequantized values, quantized, as one op. One operand may be a float
 * constant. Either may be broadcast. */
typedef struct
{
  CleaveQdqX x[2]; /* the element of a float constant is float32 */
  CleaveQdqEnd end;
  gboolean is_product;
  /* The fast path: unsigned 8-bit values (or floats) times `factor`, plus `addend` for a sum. For a
   * product, the 8-bit values minus their zero points, times factor[0]. The result is exact if the
   * float before rounding is nearer to an integer than `sure`; 0: never. */
  float factor[2], addend, sure;
} CleaveQdqAdd;

extern const CleaveOp cleave_op_qdq_add;
/* Returns the sum or product that a group is, or NULL. */
CleaveQdqAdd *cleave_qdq_add_find (const CleaveKernelInstance *group);

/* The mean of dequantized values, quantized: GlobalAveragePool, or ReduceMean, which sums in double
 * precision. */
typedef struct
{
  CleaveQdqX x;
  CleaveQdqEnd end;
  guint axes; /* a bit for each reduced dimension of x */
  gboolean keepdims, has_doubles;
} CleaveQdqMean;

extern const CleaveOp cleave_op_qdq_mean;
/* Returns the mean that a group is, or NULL. */
CleaveQdqMean *cleave_qdq_mean_find (const CleaveKernelInstance *group);
