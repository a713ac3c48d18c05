/* SPDX-License-Identifier: 0BSD */

/* The operands of a kernel: rows in memory, windows that slide over rows, and operands that are
 * repeated to the size of the result. */

#ifndef CLEAVE_OPERANDS_H
#define CLEAVE_OPERANDS_H

#include <stddef.h>
#include <stdint.h>

/* An operand of a layer: the rows that are computed and still in memory. A slot is the memory of
 * one row. */
typedef struct
{
  const unsigned char *data; /* address of the pixel in column `begin` of slot 0 */
  uint32_t row_bytes;        /* distance in bytes from one slot to the next */
  uint16_t made;             /* number of rows that were computed, modulo 2^16 */
  uint16_t slot;             /* slot of row number `made`, which is computed next */
  uint16_t capacity;         /* number of slots */
  uint16_t begin;            /* column of the first pixel of each slot */
} CleaveRows;

/* One call of a kernel, which computes one row. */
typedef struct
{
  const void *io;      /* the struct with the pointers of the caller: NAMEIo in the header of the
                        * bundle */
  const void *params;  /* constants of the layer: weights, geometry, zero points */
  CleaveRows x[2];     /* the operands that are computed at run time, in the order of the node's
                        * operands */
  unsigned char *y;    /* address of the pixel in row `row` and column `begin` of the result */
  uint16_t row;        /* row of the result to compute */
  uint16_t begin, end; /* columns [begin, end) to compute */
  uint16_t image;      /* image of the batch; the addresses above are in this image */
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

/* Returns the address of the first pixel of operand 0 in the row and the columns of a call.
 * `pixel_bytes`: bytes of a pixel of the operand. */
static CLEAVE_APART const void *
cleave_pixels (const CleaveCall *call, int32_t pixel_bytes)
{
  const CleaveRows *x = &call->x[0];

  return (const unsigned char *) cleave_row (x, call->row) + (call->begin - x->begin) * pixel_bytes;
}

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

/* The taps [begin, end) of a window that read data, not padding. */
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

/* Returns the address of the first pixel that a call reads in an operand. `index`: index of the
 * operand in call->x; for a constant operand, not used. `size`: bytes of an element. */
static CLEAVE_APART const unsigned char *
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

#endif
