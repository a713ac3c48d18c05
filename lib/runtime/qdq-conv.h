/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "kernels.h"

/* QDQ groups that run as one op on 8-bit values, with the same bits as the float computation
 * (QDQ-exact). quantized-whole.c calls the functions cleave_qdq_conv_find(),
 * cleave_qdq_table_find(), cleave_qdq_add_find() and cleave_qdq_mean_find() on a quantized group.
 * Each of these functions matches one kind of group; lib/runtime/kernels/integers contains the
 * kernels. Example: DequantizeLinear, Conv, Relu and QuantizeLinear become one convolution of
 * bytes. This convolution clamps its results to the bounds that the Relu implies.
 *
 * This struct describes an operand of a group: an 8-bit value, or a float constant. `from` is the
 * index of the operand, `scale` and `zero` are its quantization. */
typedef struct
{
  guint from;
  CleaveElement element;
  float scale;
  gint32 zero;
  float most; /* largest magnitude of the elements of a float constant; unused for 8-bit operands */
} CleaveQdqX;

/* The QuantizeLinear at the end of the group: element type, scale and zero point of the group's
 * result. */
typedef struct
{
  CleaveElement element;
  float scale;
  gint32 zero;
  gint32 least, most; /* bounds of the difference (result - zero point), from a Clip or Relu before
                         the QuantizeLinear */
} CleaveQdqEnd;

/* A group that dequantizes x and w, convolves them, and quantizes the result; all scales and zero
 * points are constant. The runtime computes the whole group as one op on the 8-bit x and w. A
 * matrix product is a convolution with a 1 x 1 kernel, whose bias is added after all products. */
typedef struct
{
  CleaveConvAttrs conv;
  float x_scale, y_scale;
  gint32 x_zero, y_zero;
  gint32 least, most;    /* bounds of the difference (result - zero point), from a Clip or Relu;
                            without these ops, the range of the 8-bit type */
  float *w_scale, *bias; /* indexed by channel of the result: scale of the channel's weights; bias
                            of the channel */
  CleaveTensor *w;       /* 8-bit weights */
  CleaveView w_view;     /* view of `w` as weights of a convolution */
  guint w_columns;       /* dimension of w whose indices are the channels of the result */
  gboolean is_product;
} CleaveQdqConv;

/* Quantizes the float `sum`. Returns the quantized number minus the zero point of the convolution's
 * result. */
gint32 cleave_qdq_conv_round (const CleaveQdqConv *conv, float sum);

extern const CleaveOp cleave_op_qdq_conv;
gboolean cleave_is_qdq_conv (const CleaveCall *call);

/* Returns the convolution that equals the group, or NULL if the group is not a convolution. Operand
 * 0 of the group is the convolution's x. */
CleaveQdqConv *cleave_qdq_conv_find (const CleaveKernelInstance *group);
void cleave_qdq_conv_free (CleaveQdqConv *conv);
/* Converts a view of the group's operand or result to a view of x or of the convolution's result.
 * For a matrix product, the new view has the dimensions of a convolution. */
CleaveView cleave_qdq_conv_view (const CleaveQdqConv *conv, const CleaveView *view);

/* A lookup table from 8 bits to 8 bits. It computes the same bytes as a group of element-wise calls
 * on one value and scalar constants. If the group begins with a MaxPool, the MaxPool runs on the
 * 8-bit values before the lookup, since dequantizing keeps the order of the values. */
typedef struct
{
  guint from; /* index of the group's operand whose bytes are the indices into `table` */
  gboolean has_pool;
  CleaveCall pool;  /* the call of the MaxPool, with attributes but without operands and results */
  gboolean is_same; /* TRUE: the table maps each byte to itself */
  guint8 table[256];
} CleaveQdqTable;

extern const CleaveOp cleave_op_qdq_table;
/* Returns a table that computes the same result as the group, or NULL if no table does. */
CleaveQdqTable *cleave_qdq_table_find (const CleaveKernelInstance *group);

/* A group that adds or multiplies two dequantized values and quantizes the result; the runtime
 * computes the whole group as one op. One of the two operands may be a float constant. Each operand
 * may be broadcast. */
typedef struct
{
  CleaveQdqX x[2]; /* the two operands; `element` of a float constant is CLEAVE_FLOAT32 */
  CleaveQdqEnd end;
  gboolean is_product;
  /* Constants of the fast path. For a sum, the fast path adds three numbers: `addend`, and each
   * operand times its `factor`; an operand is an unsigned 8-bit value or a float. For a product, it
   * multiplies three numbers: each operand minus its zero point, and factor[0]. If the result
   * before rounding differs from an integer by less than `tolerance`, rounding gives the exact
   * byte. `tolerance` 0: there is no fast path. */
  float factor[2], addend, tolerance;
} CleaveQdqAdd;

extern const CleaveOp cleave_op_qdq_add;
/* Returns a sum or product that computes the same result as the group, or NULL if there is none. */
CleaveQdqAdd *cleave_qdq_add_find (const CleaveKernelInstance *group);

/* A group that computes the mean of dequantized values and quantizes the mean; the runtime computes
 * the whole group as one op. In the group, the mean is a GlobalAveragePool or a ReduceMean.
 * `has_doubles`: it is a ReduceMean, whose reference kernel adds in double precision. */
typedef struct
{
  CleaveQdqX x;
  CleaveQdqEnd end;
  guint axes; /* bit mask of the dimensions of x over which the mean is taken */
  gboolean keepdims, has_doubles;
} CleaveQdqMean;

extern const CleaveOp cleave_op_qdq_mean;
/* Returns the parameters of the integer mean that computes a quantized group; NULL: the group is
 * not a mean. */
CleaveQdqMean *cleave_qdq_mean_find (const CleaveKernelInstance *group);
