/* SPDX-License-Identifier: 0BSD */
#ifndef CLEAVE_KERNELS_H
#define CLEAVE_KERNELS_H

/* The kernels of a bundle, in C99. A model is a table of layers. A kernel computes one row of the
 * result of a layer, or a part of the columns of that row, from rows of its operands.
 *
 * Every value is an image: rows, columns, and the channels of a pixel side by side. A line of
 * samples has one column, a vector has one row and one column. A value has all its rows in memory,
 * or only the last ones (a ring): row r of a ring lies in slot r modulo capacity. */

#include <stddef.h>
#include <stdint.h>

/* An operand of a layer. */
typedef struct
{
  const unsigned char *data; /* slot 0, pixel `begin` */
  uint32_t row_bytes;        /* bytes from one slot to the next */
  int32_t made;              /* rows 0 ... made - 1 were computed */
  int32_t slot;              /* the slot of row `made` */
  int32_t capacity;          /* number of slots */
  int32_t begin;             /* the column of the first pixel of a slot */
} CleaveRows;

/* One call of a kernel. */
typedef struct
{
  const void *params;   /* constants of the layer: weights, geometry, zero points */
  CleaveRows x[2];      /* the operands that are not constant, in the order of the node */
  unsigned char *y;     /* where pixel `begin` of row `row` of the result goes */
  int32_t row;          /* the row of the result to compute */
  int32_t begin, end;   /* the columns to compute */
} CleaveCall;

typedef void (*CleaveKernel) (const CleaveCall *call);

/* Returns pixel `begin` of a row that is in memory. */
static inline const void *
cleave_row (const CleaveRows *x, int32_t row)
{
  int32_t slot = x->slot - (x->made - row);

  if (slot < 0)
    slot += x->capacity;
  return x->data + (uint32_t) slot * x->row_bytes;
}

/* Fixed-point arithmetic of TensorFlow Lite. Right shifts of negative integers keep the sign. */

/* Returns round (x * multiplier / 2^31), ties toward plus infinity. */
static inline int32_t
cleave_multiply (int32_t x, int32_t multiplier)
{
  return (int32_t) (((int64_t) x * multiplier + (1 << 30)) >> 31);
}

/* Multiplies by a factor that is not negative: the multiplier, then a right shift by `shift` + 1,
 * ties away from zero. A negative `shift` is a left shift by -1 - `shift` before the product. */
static inline int32_t
cleave_scale (uint32_t x, int32_t multiplier, int32_t shift)
{
  int32_t product;

  if (shift < 0)
    return cleave_multiply ((int32_t) (x << (-1 - shift)), multiplier);
  product = cleave_multiply ((int32_t) x, multiplier);
  product += product >> 31;
  return ((product >> shift) + 1) >> 1;
}

static inline int32_t
cleave_clamp (int32_t x, int32_t low, int32_t high)
{
  return x < low ? low : x > high ? high : x;
}

/* The constants of the kernels. A pair has the vertical number first. */

/* A window that slides over the rows and columns of an operand. */
typedef struct
{
  int32_t rows, columns; /* of the operand */
  uint16_t kernel[2], stride[2], dilation[2];
  uint16_t pad[2]; /* before the first row and column */
} CleaveSlide;

/* A convolution of int8. See cleave_conv_s8() and cleave_depthwise_s8() for the order of weights. */
typedef struct
{
  const int8_t *weights;
  const int32_t *sums; /* the bias minus x_zero times all weights, and the multiplier, of each channel
                        * of the result */
  const int8_t *shifts; /* see cleave_scale() */
  CleaveSlide slide;
  int32_t in, out; /* channels of a group */
  int32_t groups;
  int16_t x_zero, y_zero;
  int16_t low, high; /* bounds of the result minus y_zero */
} CleaveConvS8;

/* The kernels. */

void cleave_conv_s8 (const CleaveCall *call);
void cleave_depthwise_s8 (const CleaveCall *call);

#endif
