/* SPDX-License-Identifier: 0BSD */
/* Declares the tables and the kernels of a bundle.
 *
 * Over 400 lines: a bundle has few files, so all kernels share one header. */
#ifndef CLEAVE_KERNELS_H
#define CLEAVE_KERNELS_H

/* The kernels of a bundle, in C99. A model is a table of layers (cleave-run.h). cleave_run() calls
 * one kernel for each row. A kernel computes one row of the result of a layer, or a part of the
 * columns of that row, from rows of its operands.
 *
 * Every value is an image: rows, columns, and the channels of a pixel side by side. A line of
 * samples has one column, a vector has one row and one column. A value has all its rows in memory,
 * or only the last rows (a ring): row r of a ring lies in slot r modulo capacity. For example, a
 * ring of 3 rows has row 7 in slot 1. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined __ARM_FEATURE_DSP && !defined CLEAVE_PLAIN_C
/* CLEAVE_DSP: processors with the DSP extension of ARM (Cortex-M4, M7, M33, M55) multiply two pairs
 * of int16 in one instruction. The results have the same bits as in plain C. */
#include <arm_acle.h>
#define CLEAVE_DSP
#endif

/* Each product and each sum of floats is rounded, except for cleave_fma (). Some compilers fuse a
 * product and a sum unless these lines forbid it. */
#if defined __clang__
#pragma STDC FP_CONTRACT OFF
#elif defined __GNUC__ && !defined __STRICT_ANSI__
#pragma GCC optimize("fp-contract=off")
#endif

/* Marks a function that must have its own stack frame. If the compiler inlined the function, its
 * variables would occupy the stack while other parts of the caller run. */
#ifdef __GNUC__
#define CLEAVE_APART __attribute__ ((noinline))
#else
#define CLEAVE_APART
#endif

/* 1 if the compiler optimizes for size (-Os). Kernels then have no faster code for special
 * cases. */
#ifdef __OPTIMIZE_SIZE__
#define CLEAVE_IS_SMALL 1
#else
#define CLEAVE_IS_SMALL 0
#endif

/* An operand of a layer: the rows that are computed and still in memory. */
typedef struct
{
  const unsigned char *data; /* address of the first pixel of slot 0, which is in column `begin` */
  uint32_t row_bytes;        /* distance in bytes from one slot to the next */
  uint16_t made;             /* number of rows that were computed, modulo 2^16 */
  uint16_t slot;             /* slot of row number `made`, which is computed next */
  uint16_t capacity;         /* number of slots */
  uint16_t begin;            /* column of the first pixel of each slot */
} CleaveRows;

/* One call of a kernel, which computes one row. */
typedef struct
{
  const void *params;  /* constants of the layer: weights, geometry, zero points */
  CleaveRows x[2];     /* the operands that are computed at run time, in the order of the node's
                        * operands */
  unsigned char *y;    /* address of the pixel in row `row` and column `begin` of the result */
  uint16_t row;        /* row of the result to compute */
  uint16_t begin, end; /* columns [begin, end) to compute */
} CleaveCall;

typedef void (*CleaveKernel) (const CleaveCall *call);

/* Returns the address of the pixel in column x->begin of a row that is in memory. */
static inline const void *
cleave_row (const CleaveRows *x, int32_t row)
{
  int32_t slot = x->slot - (uint16_t) (x->made - row);

  if (slot < 0)
    slot += x->capacity;
  return x->data + (uint32_t) slot * x->row_bytes;
}

/* The functions below compute in the fixed-point arithmetic of TensorFlow Lite. They rely on right
 * shifts of negative integers that keep the sign. */

/* Returns round (x * multiplier / 2^31), ties toward plus infinity. */
static inline int32_t
cleave_multiply (int32_t x, int32_t multiplier)
{
  return (int32_t) (((int64_t) x * multiplier + (1 << 30)) >> 31);
}

#ifdef CLEAVE_FLOAT_SCALES
/* Returns x times the float with the bits `bits`, rounded to the nearest integer, ties to even. If
 * the result is out of the range of int16, may return any value out of this range. */
static inline int32_t
cleave_scale_float (int32_t x, int32_t bits)
{
  const float magic = 12582912.0f, limit = 1048576.0f; /* adding 1.5 * 2^23 rounds a float to an
                                                        * integer, which is in the lowest bits of
                                                        * the sum */
  float scale, value;

  memcpy (&scale, &bits, sizeof scale);
  value = (float) x * scale;
  value = value < -limit ? -limit : value > limit ? limit : value;
  value = value + magic;
  return (int32_t) (value - magic);
}
#endif

/* Returns x times a factor that is not negative: multiplies by `multiplier`, then shifts right by
 * `shift` + 1, ties away from zero. If `shift` is negative, first shifts left by -1 - `shift`. If
 * `shift` is INT8_MAX, `multiplier` has the bits of a float instead (cleave_scale_float ()). */
static inline int32_t
cleave_scale (uint32_t x, int32_t multiplier, int32_t shift)
{
  int32_t product;

#ifdef CLEAVE_FLOAT_SCALES /* the model has float scales, as in ONNX */
  if (shift == INT8_MAX)
    return cleave_scale_float ((int32_t) x, multiplier);
#endif
  if (shift < 0)
    return cleave_multiply ((int32_t) (x << (-1 - shift)), multiplier);
  product = cleave_multiply ((int32_t) x, multiplier);
  product -= product < 0;
  return ((product >> shift) + 1) >> 1;
}

static inline int32_t
cleave_clamp (int32_t x, int32_t low, int32_t high)
{
  return x < low ? low : x > high ? high : x;
}

/* Returns a * b + c, rounded once. The fmaf () of some C libraries rounds twice. If the processor
 * has no instruction for a fused multiply-add, adds the exact product and c in double. Sets the
 * last bit of an inexact sum (rounds to odd), so that the second rounding, to float, is right. */
static inline float
cleave_fma (float a, float b, float c)
{
#ifdef __FP_FAST_FMAF
  return fmaf (a, b, c);
#else
  const double product = (double) a * (double) b, other = (double) c;
  double sum = product + other;
  const double part = sum - product, error = (product - (sum - part)) + (other - part);
  uint64_t bits;

  memcpy (&bits, &sum, sizeof bits);
  if ((error > 0 || error < 0) && (bits & 1) == 0)
    {
      bits = (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
      memcpy (&sum, &bits, sizeof sum);
    }
  return (float) sum;
#endif
}

static inline uint32_t
cleave_bits (float a)
{
  uint32_t bits;

  memcpy (&bits, &a, sizeof bits);
  return bits;
}

static inline float
cleave_from_bits (uint32_t bits)
{
  float a;

  memcpy (&a, &bits, sizeof a);
  return a;
}

/* The exponential of a float a, within 1.5 ulp. */

typedef struct
{
  float fraction, scale; /* e^a is (1 + fraction) * scale */
} CleaveExp;

/* Returns e^a, as fraction and scale, for a from -88 to 89. */
static inline CleaveExp
cleave_exp_parts (float a)
{
  /* adding `magic` rounds a float to an integer, which is in the lowest bits of the sum */
  const float magic = 12582912.0f + 127.0f;
  const float shifted = cleave_fma (a, 1.44269504f, magic), n = shifted - magic;
  const float r = cleave_fma (n, 2.12194440e-4f, cleave_fma (n, -0.693359375f, a)), u = r * r;
  const float q = cleave_fma (u, 0.00139505533f, cleave_fma (r, 0.00836895779f, 0.041666206f));
  const float p = cleave_fma (u, q, cleave_fma (r, 0.166665182f, 0.5f));
  CleaveExp e;
  uint32_t bits;

  memcpy (&bits, &shifted, sizeof bits);
  bits <<= 23;
  e.fraction = cleave_fma (u, p, r);
  memcpy (&e.scale, &bits, sizeof bits);
  return e;
}

/* Clamps a to [least, most]. Returns a NaN if a is NaN. */
static inline float
cleave_bound (float a, float least, float most)
{
  a = least > a ? least : a;
  return most < a ? most : a;
}

/* The structs below have the constants of the kernels. In an array of two numbers, the first is for
 * rows and the second for columns. */

/* Types for numbers that are small in most models. If a number of the model does not fit, the
 * bundle defines CLEAVE_WIDE. */
#ifdef CLEAVE_WIDE
typedef uint16_t CleaveTapCount;
typedef int32_t CleaveChannels;
typedef int32_t CleaveBound;
#else
typedef uint8_t CleaveTapCount;
typedef uint16_t CleaveChannels;
typedef int16_t CleaveBound;
#endif

/* A window that slides over the rows and columns of an operand. */
typedef struct
{
  uint16_t rows, columns; /* extents of the operand */
  CleaveTapCount kernel[2], stride[2], dilation[2];
  CleaveTapCount pad[2]; /* padding before the first row and column */
} CleaveSlide;

/* The taps [begin, end) of a window, those on data and not on padding. */
typedef struct
{
  int32_t begin, end;
} CleaveTaps;

/* Returns the taps of a window that read data, not padding, in dimension d (0: rows, 1: columns).
 * `first` is the index in the operand that tap 0 reads; it is negative in the padding. */
static inline CleaveTaps
cleave_taps (const CleaveSlide *slide, int d, int32_t first)
{
  const int32_t extent = d == 0 ? slide->rows : slide->columns;
  CleaveTaps taps = { 0, slide->kernel[d] };

  while (taps.begin < taps.end && first + taps.begin * slide->dilation[d] < 0)
    taps.begin++;
  while (taps.end > taps.begin && first + (taps.end - 1) * slide->dilation[d] >= extent)
    taps.end--;
  return taps;
}

/* Returns the index in dimension d of the operand that tap `tap` reads for index `at` of the
 * result. Returns -1 if the tap is on padding or, in a transposed convolution, between elements of
 * the operand. */
static inline int32_t
cleave_tap (const CleaveSlide *slide, int d, int32_t at, int32_t tap, int32_t is_transposed)
{
  const int32_t extent = d == 0 ? slide->rows : slide->columns;
  int32_t from;

  if (!is_transposed)
    from = at * slide->stride[d] - slide->pad[d] + tap * slide->dilation[d];
  else
    {
      from = at + slide->pad[d] - tap * slide->dilation[d];
      if (from < 0 || from % slide->stride[d] != 0)
        return -1;
      from /= slide->stride[d];
    }
  return from < extent ? from : -1;
}

/* An operand of an element-wise op, which may be repeated to the size of the result. */
typedef struct
{
  const void *constant; /* elements of a constant operand; NULL: the operand is computed at run
                         * time */
  CleaveChannels rows, columns, channels; /* extents; along an extent of 1, the operand is
                                           * repeated */
} CleaveRepeat;

/* Returns the address of the first pixel of an operand that a call reads. `index`: index of the
 * operand in call->x, if it is not constant. `size`: bytes of an element. */
static inline const unsigned char *
cleave_operand (const CleaveCall *call, const CleaveRepeat *operand, int32_t index, int32_t size)
{
  const int32_t row = operand->rows == 1 ? 0 : call->row;
  int32_t column = operand->columns == 1 ? 0 : call->begin;

  if (operand->constant != NULL)
    return (const unsigned char *) operand->constant +
           (row * operand->columns + column) * operand->channels * size;
  column -= call->x[index].begin;
  return (const unsigned char *) cleave_row (&call->x[index], row) +
         column * operand->channels * size;
}

/* A convolution of int8. conv-s8.c and depthwise-s8.c describe the order of the weights. */
typedef struct
{
  const int8_t *weights;
  /* For each channel of the result, two integers: the initial value of the sum, and the multiplier.
   * After them, a byte for each channel: the shift of cleave_scale().
   *
   * If the shift is from 0 to 63, the sum has at most 31 bits, and the bounds are -128 and 127, the
   * kernel scales twice the sum, which is faster. The table then has twice the initial value. For
   * other channels, the table has the initial value, and the shift minus 64. */
  const int32_t *sums;
  CleaveSlide slide;
  CleaveChannels in, out; /* numbers of channels of one group, in the operand and in the result */
  CleaveChannels groups;
  int8_t x_zero, y_zero;
  int8_t low, high;   /* bounds of the result */
  int8_t is_combined; /* order of the weights (conv-s8.c). 1: dot-s8.h; 0: dot-separate-s8.h */
  int8_t is_doubled;  /* 1: the table has twice the initial value of each channel */
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

typedef struct
{
  const float *scales, *offsets; /* indexed by channel: y = normalized x * scale + offset */
  float epsilon;
  int32_t channels, columns;
} CleaveInstanceNormF32;

/* A convolution of other integers than int8, or a transposed convolution. The weights minus their
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
  const int32_t *table; /* exp (-i * scale) in units of 2^-31, indexed by the difference i, from 0
                         * to 255 */
  int32_t channels;
  int32_t y_bytes; /* bytes of an element of the result: 1 for int8, 2 for int16 */
} CleaveSoftmaxS8;

/* An element-wise op with two operands of int8. A sum scales each operand, adds, then scales the
 * result. */
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
  int32_t channels;
  int32_t n; /* number of scales and zeros: 1, or `channels` */
  int32_t low, high;
} CleaveQuantize;

/* One dimension of a copy: the index in the operand from which each index of the result is
 * copied. */
typedef struct
{
  const uint16_t *at; /* indexed by index of the result: index in the operand; NULL: index +
                       * shift */
  int32_t shift;
  /* extent of the operand; for an index outside of the operand, the result gets the bytes `fill` */
  int32_t extent;
} CleaveAxis;

typedef struct
{
  CleaveAxis axes[3]; /* the axes of rows, columns and channels */
  int32_t channels;   /* number of channels of the result */
  int16_t size;       /* bytes of an element */
  uint8_t fill[8];    /* bytes of an element of the result that is copied from no element of the
                       * operand */
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

/* A conversion of channels to blocks of rows and columns, or back. */
typedef struct
{
  int32_t block, channels; /* extent of a block; number of channels of the value that has more
                            * rows */
  int16_t size;            /* bytes of an element */
  /* 1: channel c at position p of a block is channel p * channels + c of the value with fewer
   * rows; 0: it is channel c * block * block + p */
  int16_t is_columns_first;
} CleaveBlocks;

/* A convolution of floats: one fused multiply-add after the other, in the order of rows, columns
 * and channels. For each block of four channels of the result, the weights are w[i][channel], where
 * i counts the elements of the window. Then they are w[i] for each remaining channel. The weights
 * of a depthwise convolution are w[row][column][channel]. */
typedef struct
{
  const float *weights, *bias; /* weights, and biases; bias: NULL if there is none */
  CleaveSlide slide;
  int32_t in, out; /* numbers of channels of one group, in the operand and in the result */
  int32_t groups;
  int32_t is_bias_last; /* whether the bias is added at the end of the sum instead of at its
                         * begin */
} CleaveConvF32;

typedef struct
{
  CleaveSlide slide;
  int32_t channels;
  int32_t pads[2]; /* padding after the last row and column */
  int32_t is_padding_counted;
} CleavePoolF32;

/* A mean of floats over all rows and columns, or over all channels. */
typedef struct
{
  int32_t count[3]; /* number of rows, columns and channels in one mean */
  int32_t channels;
} CleaveMeanF32;

/* An element-wise function of a float, with its parameters a and b. */
typedef struct
{
  int32_t channels;
  float a, b;
} CleaveUnaryF32;

typedef struct
{
  CleaveRepeat operands[2];
  int32_t channels;
} CleaveBinaryF32;

enum {
  CLEAVE_TANH,
  CLEAVE_SIGMOID,
  CLEAVE_RELU,
  CLEAVE_AFFINE,
  CLEAVE_LEAKY_RELU,
  CLEAVE_HARD_SIGMOID,
  CLEAVE_SOFTSIGN
};

/* A recurrent layer. The gates in w[gate][unit][input] and r[gate][unit][unit] have the order of
 * ONNX. A pixel of the state has three vectors. Two are h: even steps write one of them, odd steps
 * the other. The third is c (LSTM) or the h that the reset gate multiplied (GRU). */
typedef struct
{
  const float *w, *r, *biases; /* biases[gate][unit]: each is the sum of the biases of w and r */
  const float *r_biases;       /* recurrence biases of gate H, for a GRU with
                                * linear_before_reset; NULL: `biases` includes them */
  const float *peepholes;      /* peephole weights; NULL: none */
  const float *h, *c; /* constant initial states; NULL: the states are zeros, or operand 1 has
                       * them */
  int32_t in, hidden, steps;
  float clip, alpha[3], beta[3];
  uint8_t activations[3];
  uint8_t has_start, is_coupled;   /* has_start: operand 1 has the initial states; is_coupled: the
                                    * forget gate of an LSTM is 1 minus the input gate */
  uint8_t has_all_steps, has_cell; /* whether the result has h of all steps, and whether it has c */
} CleaveRecurrentF32;

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
  /* shifts for x_multipliers, h_multipliers and multipliers, as in cleave_scale() */
  int8_t x_shifts[4], h_shifts[4], shifts[3];
  int8_t tanh_shift;
  int16_t h_zero, cell_clip;
  uint8_t has_start, has_all_steps, has_cell; /* the same flags as in CleaveRecurrentF32 */
} CleaveLstmS8;

/* The initial states h and c of a recurrent layer. Each is an operand, a constant, or zeros
 * (NULL). */
typedef struct
{
  const void *constants[2];
  int32_t bytes[2]; /* bytes of h and bytes of c in a column */
  uint8_t is_operand[2];
} CleaveRecurrentStart;

/* A normalization of n channels, or of n columns if n_columns is more than 1. */
typedef struct
{
  const float *scales, *offsets; /* n elements each; offsets: NULL if there are none */
  double epsilon;
  int32_t channels, n, n_columns;
} CleaveLayerNormF32;

/* A product of two values A and B: each sum is over the channels k of A. The factors for channel k
 * are row k of B or, if has_columns, column k of B. If has_columns, each row of A and of B is a
 * matrix. */
typedef struct
{
  int32_t in, out; /* numbers of channels of A and of B */
  uint8_t has_columns;
  uint8_t has_one_row[2]; /* [0]: all rows of the result read row 0 of A; [1]: all rows of the
                           * result read row 0 of B */
} CleaveMatMulF32;

/* A copy of rows of a table, selected by indices. */
typedef struct
{
  const void *table;
  int32_t n, bytes; /* number of rows of the table, and bytes of a row */
  int32_t columns;  /* number of columns of the result */
  int32_t index_bytes;
} CleaveEmbed;

/* y = fma (x - mean, factor, offset), for each channel. */
typedef struct
{
  const float *means, *factors, *offsets;
  int32_t channels;
} CleaveNormF32;

/* Interpolation along rows and columns. Index i of dimension d has up to taps[d] taps. Their
 * indices in the operand are at[d][i * taps[d]] and the following entries; `weights` has the same
 * order. The index UINT16_MAX marks an unused tap. */
typedef struct
{
  const uint16_t *at[2];
  const float *weights[2];
  int32_t taps[2];
  int32_t channels;
} CleaveResizeF32;

/* A convolution by Winograd's algorithm F(2x2, 3x3). For each block of four channels of the result,
 * the weights are 16 factors w[i][16][channel], where i is a channel of the operand. Then they are
 * w[i][16] for each remaining channel. */
typedef struct
{
  const float *weights, *bias; /* weights, and biases; bias: NULL if there is none */
  int32_t rows, columns;       /* extents of the operand */
  int32_t pad[2];
  int32_t phase[2]; /* 1: the first tile begins one row (or column) before index 0 */
  int32_t in, out;  /* numbers of channels of one group, in the operand and in the result */
  int32_t groups;
} CleaveWinogradF32;

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

/* A value with the elements of an operand in another order. The index of an element in memory is
 * written as digits; the last digit is the lowest. Digit k has the extent extents[k]. If it
 * increases by 1, the index in the operand increases by steps[k]. */
typedef struct
{
  int32_t n_digits, first; /* number of digits; index in the operand of element 0 */
  int32_t extents[CLEAVE_MAX_DIGITS], steps[CLEAVE_MAX_DIGITS];
  int32_t columns, channels; /* numbers of columns and channels of the result */
  /* number of elements in a row of the operand, and number of columns of the operand */
  int32_t row_elements, x_columns;
  int32_t size; /* bytes of an element */
} CleaveReorder;

/* The kernels. Each is defined in a file of its own. */

void cleave_conv_s8 (const CleaveCall *call);
void cleave_depthwise_s8 (const CleaveCall *call);
void cleave_conv_integer (const CleaveCall *call);
void cleave_average_pool_s8 (const CleaveCall *call);
void cleave_average_pool_row_s8 (const CleaveCall *call);
void cleave_average_pool_end_s8 (const CleaveCall *call);
void cleave_max_pool_s8 (const CleaveCall *call);
void cleave_max_pool_u8 (const CleaveCall *call);
void cleave_sum_s8 (const CleaveCall *call);
void cleave_sum_row_s8 (const CleaveCall *call);
void cleave_sum_end_s8 (const CleaveCall *call);
void cleave_softmax_s8 (const CleaveCall *call);
void cleave_add_s8 (const CleaveCall *call);
void cleave_mul_s8 (const CleaveCall *call);
void cleave_lookup (const CleaveCall *call);
void cleave_quantize_s8 (const CleaveCall *call);
void cleave_dequantize_s8 (const CleaveCall *call);
void cleave_dequantize_u8 (const CleaveCall *call);
void cleave_binary_s16 (const CleaveCall *call);
void cleave_rescale (const CleaveCall *call);
void cleave_resize_s8 (const CleaveCall *call);
void cleave_conv_f32 (const CleaveCall *call);
void cleave_winograd_f32 (const CleaveCall *call);
void cleave_conv_transpose_f32 (const CleaveCall *call);
void cleave_exp_f32 (const CleaveCall *call);
void cleave_elu_f32 (const CleaveCall *call);
void cleave_softsign_f32 (const CleaveCall *call);
void cleave_thresholded_relu_f32 (const CleaveCall *call);
void cleave_erf_f32 (const CleaveCall *call);
void cleave_reciprocal_f32 (const CleaveCall *call);
void cleave_square_f32 (const CleaveCall *call);
void cleave_cube_f32 (const CleaveCall *call);
void cleave_root_f32 (const CleaveCall *call);
void cleave_max_f32 (const CleaveCall *call);
void cleave_min_f32 (const CleaveCall *call);
void cleave_reorder (const CleaveCall *call);
void cleave_depthwise_f32 (const CleaveCall *call);
void cleave_max_pool_f32 (const CleaveCall *call);
void cleave_average_pool_f32 (const CleaveCall *call);
void cleave_mean_f32 (const CleaveCall *call);
void cleave_global_average_f32 (const CleaveCall *call);
void cleave_relu_f32 (const CleaveCall *call);
void cleave_leaky_relu_f32 (const CleaveCall *call);
void cleave_clip_f32 (const CleaveCall *call);
void cleave_hard_sigmoid_f32 (const CleaveCall *call);
void cleave_hard_swish_f32 (const CleaveCall *call);
void cleave_sigmoid_f32 (const CleaveCall *call);
void cleave_tanh_f32 (const CleaveCall *call);
void cleave_sqrt_f32 (const CleaveCall *call);
void cleave_abs_f32 (const CleaveCall *call);
void cleave_neg_f32 (const CleaveCall *call);
void cleave_add_f32 (const CleaveCall *call);
void cleave_sub_f32 (const CleaveCall *call);
void cleave_mul_f32 (const CleaveCall *call);
void cleave_div_f32 (const CleaveCall *call);
void cleave_prelu_f32 (const CleaveCall *call);
void cleave_softmax_f32 (const CleaveCall *call);
void cleave_norm_f32 (const CleaveCall *call);
void cleave_layer_norm_f32 (const CleaveCall *call);
void cleave_matmul_f32 (const CleaveCall *call);
void cleave_embed (const CleaveCall *call);
void cleave_quantize_even_s8 (const CleaveCall *call);
void cleave_quantize_even_u8 (const CleaveCall *call);
void cleave_resize_f32 (const CleaveCall *call);
void cleave_rnn_row_f32 (const CleaveCall *call);
void cleave_rnn_end_f32 (const CleaveCall *call);
void cleave_gru_row_f32 (const CleaveCall *call);
void cleave_gru_end_f32 (const CleaveCall *call);
void cleave_lstm_row_f32 (const CleaveCall *call);
void cleave_lstm_end_f32 (const CleaveCall *call);
void cleave_lstm_row_s8 (const CleaveCall *call);
void cleave_lstm_end_s8 (const CleaveCall *call);
void cleave_recurrent_start (const CleaveCall *call);
void cleave_cast (const CleaveCall *call);
void cleave_compare (const CleaveCall *call);
void cleave_where (const CleaveCall *call);
void cleave_reduce_f32 (const CleaveCall *call);
void cleave_arg (const CleaveCall *call);
void cleave_instance_norm_f32 (const CleaveCall *call);
void cleave_log_f32 (const CleaveCall *call);
void cleave_floor_f32 (const CleaveCall *call);
void cleave_ceil_f32 (const CleaveCall *call);
void cleave_round_f32 (const CleaveCall *call);
void cleave_sign_f32 (const CleaveCall *call);
void cleave_selu_f32 (const CleaveCall *call);
void cleave_log_softmax_f32 (const CleaveCall *call);
void cleave_move (const CleaveCall *call);
void cleave_join (const CleaveCall *call);
void cleave_transpose (const CleaveCall *call);
void cleave_depth_to_space (const CleaveCall *call);

/* Defines the kernel of an element-wise function. `value` is an expression of the operand `a`. */
#define CLEAVE_DEFINE_UNARY_F32(kernel, value)                                                     \
  void kernel (const CleaveCall *call)                                                             \
  {                                                                                                \
    const CleaveUnaryF32 *p = call->params;                                                        \
    const CleaveRows *x = &call->x[0];                                                             \
    const float *from =                                                                            \
        (const float *) cleave_row (x, call->row) + (call->begin - x->begin) * p->channels;        \
    float *y = (float *) (void *) call->y;                                                         \
                                                                                                   \
    for (int32_t i = (call->end - call->begin) * p->channels; i > 0; i--)                          \
      {                                                                                            \
        const float a = *from++;                                                                   \
                                                                                                   \
        *y++ = value;                                                                              \
      }                                                                                            \
  }

/* Defines the kernel of an element-wise function of two operands. `value` is an expression of `a`
 * and `b`. */
#define CLEAVE_DEFINE_BINARY_F32(kernel, value)                                                    \
  void kernel (const CleaveCall *call)                                                             \
  {                                                                                                \
    const CleaveBinaryF32 *p = call->params;                                                       \
    const CleaveRepeat *first = &p->operands[0], *second = &p->operands[1];                        \
    const float *x0 = (const float *) (const void *) cleave_operand (call, first, 0, 4);           \
    const float *x1 =                                                                              \
        (const float *) (const void *) cleave_operand (call, second, first->constant == NULL, 4);  \
    const int32_t step0 = first->channels > 1, step1 = second->channels > 1;                       \
    float *y = (float *) (void *) call->y;                                                         \
                                                                                                   \
    for (int32_t column = call->begin; column < call->end; column++)                               \
      {                                                                                            \
        for (int32_t c = 0; c < p->channels; c++)                                                  \
          {                                                                                        \
            const float a = x0[c * step0], b = x1[c * step1];                                      \
                                                                                                   \
            *y++ = value;                                                                          \
          }                                                                                        \
        x0 += first->columns > 1 ? first->channels : 0;                                            \
        x1 += second->columns > 1 ? second->channels : 0;                                          \
      }                                                                                            \
  }

#endif
