/* SPDX-License-Identifier: 0BSD */

/* The constants of a layer, one struct for each kernel or for a few kernels (constants-f32.h has
 * the structs for floats). In an array of two numbers, the first is for rows and the second for
 * columns. */

#ifndef CLEAVE_CONSTANTS_H
#define CLEAVE_CONSTANTS_H

#include "operands.h"

/* A convolution of int8. conv-s8.c and depthwise-s8.c describe the order of the weights. */
typedef struct
{
  /* For each channel of the result, two integers: the initial value of the sum, and the multiplier.
   * After them, a byte for each channel: its shift. The weights follow at the next address that is
   * a multiple of four.
   *
   * The kernel can double the sum of a channel before it scales the sum, which is faster. A channel
   * is doubled if its sum has a magnitude below 2^30, its result has the bounds -128 and 127, and
   * its shift is at least 0. For a doubled channel, the table has twice the initial value, and the
   * shift. For any other channel, the table has the initial value, and the shift minus 64, a
   * negative byte. A channel with a float scale (CLEAVE_FLOAT_SCALES) has the shift INT8_MAX, and
   * the bits of the float as the multiplier. */
  const int32_t *sums;
  CleaveSlide slide;
  CleaveChannels in, out; /* numbers of channels of one group, in the operand and in the result */
  CleaveChannels groups;
  int8_t x_zero, y_zero;
  int8_t low, high;   /* bounds of the result */
  int8_t is_combined; /* order of the weights (conv-s8.c). 1: dot-s8.h; 0: dot-separate-s8.h */
  int8_t is_doubled;  /* 1: in `sums`, the initial value of every channel is multiplied by 2 */
} CleaveConvS8;

enum { CLEAVE_S8, CLEAVE_U8, CLEAVE_S16, CLEAVE_S32, CLEAVE_S64, CLEAVE_TRUTH, CLEAVE_F32 };

/* A conversion of elements to another type. */
typedef struct
{
  int32_t channels;
  uint8_t from, to; /* types of the elements of the operand and of the result */
} CleaveCast;

enum {
  CLEAVE_EQUAL,
  CLEAVE_LESS,
  CLEAVE_GREATER,
  CLEAVE_LESS_OR_EQUAL,
  CLEAVE_GREATER_OR_EQUAL,
  CLEAVE_AND,
  CLEAVE_OR,
  CLEAVE_XOR
};

typedef struct
{
  CleaveRepeat operands[2];
  int32_t channels;
  uint8_t op, type;
} CleaveCompare;

/* A choice between two values by a condition. The operands are the condition, the value where it is
 * true, and the value where it is false. */
typedef struct
{
  CleaveRepeat operands[3];
  int32_t channels;
  int32_t size; /* bytes of an element */
} CleaveWhere;

enum {
  CLEAVE_REDUCE_SUM,
  CLEAVE_REDUCE_MAX,
  CLEAVE_REDUCE_MIN,
  CLEAVE_REDUCE_PROD,
  CLEAVE_REDUCE_L1,
  CLEAVE_REDUCE_L2,
  CLEAVE_REDUCE_SUM_SQUARE
};

/* A reduction of the channels of a pixel to one number. */
typedef struct
{
  int32_t channels;
  uint8_t op;
} CleaveReduce;

/* The search for the index of the largest or smallest channel. */
typedef struct
{
  int32_t channels;
  uint8_t type, is_min, is_last; /* is_last: if several channels are equal, the result is the index
                                  * of the last one, not of the first */
} CleaveArg;

/* A convolution of integers other than int8, or a transposed convolution. The weights minus their
 * zero points are indexed by [channel of the result][row][column][channel of a group]. */
typedef struct
{
  const void *weights; /* weights of int8_t, or of int16_t if weight_bytes is 2 */
  const int64_t *bias;
  const int32_t *multipliers;
  const int8_t *shifts; /* shifts of cleave_scale(); if is_wide: right shifts of 64-bit sums */
  CleaveSlide slide;
  int32_t in, out; /* numbers of channels of one group, in the operand and in the result */
  int32_t groups;
  int32_t x_zero, y_zero;
  int32_t low, high; /* bounds of the result minus y_zero */
  uint8_t x_type, weight_bytes, y_bytes, is_wide, is_transposed;
} CleaveConvInteger;

/* A matrix product of two values A and B, whose elements have the indices [row][column][channel].
 * Element [r][i][j] of the result is a sum over the channels k of A. If has_columns is 0, the terms
 * of the sum are A[r][i][k] * B[k][0][j]. If has_columns is 1, the terms are A[r][i][k] *
 * B[r][k][j]: each row r is a separate matrix product. */
typedef struct
{
  int32_t in, out; /* numbers of channels of A and of B */
  uint8_t has_columns;
  uint8_t has_one_row[2]; /* [0]: all rows of the result read row 0 of A; [1]: all rows of the
                           * result read row 0 of B */
} CleaveMatMul;

/* A matrix product of two values of int8 or uint8. */
typedef struct
{
  CleaveMatMul shape;
  int32_t multiplier; /* bits of a float scale */
  int8_t shift;       /* INT8_MAX, which tells cleave_scale() that the scale is a float */
  int32_t zeros[2];   /* zero points of A and of B */
  int32_t y_zero;
  int32_t low, high; /* bounds of the result minus y_zero */
  uint8_t types[2];  /* types of the elements of A and of B: CLEAVE_S8 or CLEAVE_U8 */
} CleaveMatMulBytes;

typedef struct
{
  CleaveSlide slide;
  int32_t channels;
  int16_t low, high; /* bounds of the result of an average pooling */
} CleavePool;

/* A sum or a mean of int8 elements. Each sum has the elements of count[0] rows, count[1] columns
 * and count[2] channels. */
typedef struct
{
  int32_t count[3];
  int32_t channels, y_channels;
  int32_t start; /* initial value of a sum: -x_zero times the number of elements in the sum */
  int32_t multiplier;
  int16_t shift, y_zero;
} CleaveSumS8;

typedef struct
{
  const int32_t *table; /* table[i]: exp (-i * scale) in units of 2^-31, where i, from 0 to 255, is
                           the maximum minus an element */
  int32_t channels;
  int32_t y_bytes; /* bytes of an element of the result: 1 for int8, 2 for int16 */
} CleaveSoftmaxS8;

/* An element-wise op with two operands of int8 or int16. An addition scales each operand, adds the
 * scaled operands, and scales their sum. */
typedef struct
{
  CleaveRepeat operands[2];
  int32_t multipliers[3];
  CleaveChannels channels;
  CleaveBound low, high; /* bounds of the result minus its zero point */
  int16_t zeros[3];
  int8_t shifts[3];
  int8_t left_shift;
  int8_t sign; /* factor of operand 1, which is 1 or -1; 0: cleave_binary_s16() multiplies the
                * operands */
} CleaveBinaryS8;

/* A table of bytes: y = table[x], where x is read as a uint8. */
typedef struct
{
  const void *table;
  int32_t channels;
} CleaveLookup;

/* A conversion between float and int8, with one scale and zero point, or one for each channel. */
typedef struct
{
  const float *scales;
  const int32_t *zeros;
  CleaveChannels channels;
  CleaveChannels n; /* number of scales and zeros: 1, or `channels` */
} CleaveQuantize;

/* One dimension of a copy: the index in the operand from which each index of the result is
 * copied. */
typedef struct
{
  const uint16_t *at; /* indexed by index of the result: the index in the operand. If `at` is NULL,
                       * the index in the operand is the index of the result plus `shift` */
  int32_t shift;
  /* extent of the operand; if an index in the operand is outside of [0, extent), the element of the
   * result gets the value `fill` of CleaveMove */
  int32_t extent;
} CleaveAxis;

typedef struct
{
  CleaveAxis axes[3]; /* the axes of rows, columns and channels */
  int32_t channels;   /* number of channels of the result */
  int16_t size;       /* bytes of an element */
  uint8_t fill[8];    /* fill value, in the first `size` bytes: the value of each element of the
                       * result that is copied from no element of the operand, such as padding */
} CleaveMove;

/* A value that is joined from parts. Each layer copies one part. */
typedef struct
{
  const void *constant;               /* elements of a constant part; NULL: operand 0 is the part */
  int32_t row, rows, column, columns; /* position of the part in the result: first row and number of
                                       * rows, first column and number of columns */
  int32_t offset, bytes; /* position of the part in a pixel of the result: offset and number of
                          * bytes */
  int32_t pixel_bytes;   /* bytes of a pixel of the result */
  int32_t is_first;
} CleaveJoin;

/* A permutation of rows, columns and channels: dimension d of the operand (0: rows, 1: columns, 2:
 * channels) is dimension from[d] of the result. */
typedef struct
{
  uint8_t from[3]; /* 3: dimension d of the operand has extent 1 and is no dimension of the
                    * result */
  uint8_t size;    /* bytes of an element */
  int32_t channels, y_channels;
} CleaveTranspose;

/* DepthToSpace or SpaceToDepth: converts channels to blocks of rows and columns, or back. */
typedef struct
{
  int32_t block;    /* rows (and columns) of a block: the attribute `blocksize` */
  int32_t channels; /* channels of DepthToSpace's result, or of SpaceToDepth's operand */
  int16_t size;     /* bytes of an element */
  /* 1: mode DCR; 0: mode CRD. The value with more rows has blocks of pixels; the value with fewer
   * rows has one wide pixel for each block. Channel c of pixel p of a block is one channel of the
   * wide pixel: channel p * channels + c in mode DCR, channel c * block * block + p in mode CRD. */
  int16_t is_columns_first;
} CleaveBlocks;

/* A recurrent layer of int8 (lstm-s8.c). The biases include the zero points times the weights. */
typedef struct
{
  const int8_t *w, *r; /* w[gate][unit][input], r[gate][unit][unit] */
  const int32_t *biases, *r_biases;
  const int8_t *h; /* constant initial state h, if has_start is 0 */
  const int16_t *c;
  int32_t in, hidden, steps;
  int32_t x_multipliers[4], h_multipliers[4]; /* indexed by gate: multipliers of the sum over x, and
                                               * of the sum over h */
  int32_t multipliers[3]; /* multipliers of three products: forget gate * c, input gate * cell gate,
                           * and output gate * tanh (c) */
  int32_t tanh_multiplier;
  /* shifts of cleave_scale() that belong to x_multipliers, h_multipliers and multipliers */
  int8_t x_shifts[4], h_shifts[4], shifts[3];
  int8_t tanh_shift;
  int16_t h_zero, cell_clip;
  /* whether operand 1 has the initial states, whether the result has h of all steps, and whether
   * the result has c */
  uint8_t has_start, has_all_steps, has_cell;
} CleaveLstmS8;

/* The initial states h and c of a recurrent layer. Each is an operand, a constant, or zeros
 * (NULL). */
typedef struct
{
  const void *constants[2];
  int32_t bytes[2]; /* bytes of state h, and bytes of state c, for one column */
  uint8_t is_operand[2];
} CleaveRecurrentStart;

/* A copy of rows of a table, selected by indices. */
typedef struct
{
  const void *table;
  int32_t n, bytes; /* number of rows of the table, and bytes of a row */
  int32_t columns;  /* number of columns of the result */
  int32_t index_bytes;
} CleaveEmbed;

/* A conversion from integers to integers of another scale. Integers from the zero point up have one
 * scale, integers below it have another. */
typedef struct
{
  int32_t channels;
  int32_t multipliers[2];
  int32_t zeros[2]; /* zero points of the operand and of the result */
  int32_t low, high;
  int16_t shifts[2];
  uint8_t x_bytes, y_bytes;
} CleaveRescale;

/* Bilinear interpolation of int8. Index i of the result reads the operand at position i * step +
 * shift, in units of 2^-10. */
typedef struct
{
  int32_t steps[2], shifts[2];
  int32_t extents[2]; /* numbers of rows and columns of the operand */
  int32_t channels;
} CleaveResizeS8;

#define CLEAVE_MAX_DIGITS 8

/* A result that has the elements of an operand in another order. The index of an element of the
 * result in memory is a number with mixed radix: digit k counts from 0 to extents[k] - 1, and the
 * last digit is the lowest. If digit k increases by 1, the index in the operand increases by
 * steps[k]. */
typedef struct
{
  int32_t n_digits, first; /* n_digits: number of these digits; first: index in the operand of the
                            * element that is first in the result's memory */
  int32_t extents[CLEAVE_MAX_DIGITS], steps[CLEAVE_MAX_DIGITS];
  int32_t columns, channels; /* numbers of columns and channels of the result */
  /* number of elements in a row of the operand, and number of columns of the operand */
  int32_t row_elements, x_columns;
  int32_t size; /* bytes of an element */
} CleaveReorder;

#endif
