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

#endif
