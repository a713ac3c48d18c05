/* SPDX-License-Identifier: 0BSD */

/* The constants of a layer of floats, one struct for each kernel or for a few kernels. In an array
 * of two numbers, the first is for rows and the second for columns. */

#ifndef CLEAVE_CONSTANTS_F32_H
#define CLEAVE_CONSTANTS_F32_H

#include "operands.h"

typedef struct
{
  const float *scales, *offsets; /* indexed by channel: y = normalized x * scale + offset */
  float epsilon;
  int32_t channels, columns;
} CleaveInstanceNormF32;

/* A convolution of floats: one fused multiply-add after the other, in the order of rows, columns
 * and channels. For each block of four channels of the result, the weights are w[i][channel], where
 * i counts the elements of the window. For each remaining channel, the weights are w[i]. The
 * weights of a depthwise convolution are w[row][column][channel]. */
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
 * ONNX. Each time step updates the state, which has three vectors of `hidden` floats for each
 * sequence of the batch. Vector 0 is at first the initial h, and later h after the last odd time
 * step. Vector 1 is h after the last even time step. Vector 2 is c in an LSTM, scratch for h times
 * the reset gate in a GRU, and unused in an RNN. */
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
  uint8_t has_all_steps, has_cell; /* whether the result has the state h of all time steps, and
                                      whether it has the cell state c */
} CleaveRecurrentF32;

/* A layer normalization. Normalizes the n channels of each pixel. If n_columns is more than 1,
 * normalizes the n columns of each row, separately for each channel. */
typedef struct
{
  const float *scales, *offsets; /* arrays of n elements; offsets: NULL if there are none */
  double epsilon;
  int32_t channels, n, n_columns;
} CleaveLayerNormF32;

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
 * the weights are 16 factors w[i][16][channel], where i is a channel of the operand. For each
 * remaining channel, the weights are w[i][16]. */
typedef struct
{
  const float *weights, *bias; /* weights, and biases; bias: NULL if there is none */
  int32_t rows, columns;       /* extents of the operand */
  int32_t pad[2];
  int32_t phase[2]; /* 1: the first tile begins one row (or column) before index 0 */
  int32_t in, out;  /* numbers of channels of one group, in the operand and in the result */
  int32_t groups;
} CleaveWinogradF32;

#endif
