/* SPDX-License-Identifier: 0BSD */
#ifndef CLEAVE_RUN_H
#define CLEAVE_RUN_H

/* The tables of a model, and the function that runs them. The run function of the model's own .c
 * file fills a CleaveRun and calls cleave_run(). Example: two layers in one segment, with 3 rows of
 * layer 0 in a ring. Layer 1 needs rows 0 to 2 for its row 0, so the loop calls the kernels in the
 * order 0, 0, 0, 1, 0, 1, 0, 1. */

#include "cleave-kernels.h"

/* The tables have small types. If a number of the model does not fit, the bundle defines
 * CLEAVE_WIDE. */
#ifdef CLEAVE_WIDE
typedef uint32_t CleaveOffset;
typedef uint32_t CleavePixelBytes;
typedef uint16_t CleaveIndex;
#define CLEAVE_NO_VALUE 0xffffu
#else
typedef uint16_t CleaveOffset;
typedef uint16_t CleavePixelBytes;
typedef uint8_t CleaveIndex;
#define CLEAVE_NO_VALUE 0xffu
#endif

/* A number of rows or columns. If a value has more than 255 of them, the bundle defines
 * CLEAVE_LONG. */
#ifdef CLEAVE_LONG
typedef uint16_t CleaveExtent;
#else
typedef uint8_t CleaveExtent;
#endif

/* Unit of offsets, in bytes. */
#define CLEAVE_OFFSET_UNIT 4

/* Flags of a value: the memory in which it lies, the rows and images that this memory holds, and
 * the layers that read it. */
enum {
  CLEAVE_IO = 1,      /* an input or output in memory of the caller */
  CLEAVE_CHAIN = 2,   /* the next layer is the only layer of the segment that reads the value */
  CLEAVE_RING = 4,    /* the value is not whole; its memory has the columns of one band */
  CLEAVE_IMAGES = 8,  /* each image of a batch has separate bytes; otherwise all images use the same
                       * bytes */
  CLEAVE_UPWARD = 16, /* the rows are computed from the last to the first */
  CLEAVE_ARENA = 32   /* the flags of a value in arena i contain i times this number */
};

typedef struct
{
  CleaveOffset offset; /* offset in the arena, in units of CLEAVE_OFFSET_UNIT; if `flags` contains
                        * CLEAVE_IO: index, in the struct `io` of a call, of the pointer to the
                        * value */
  CleavePixelBytes pixel_bytes;
  CleaveExtent rows;
  CleaveExtent capacity; /* number of rows in memory */
  CleaveExtent width;    /* number of columns in memory */
  uint8_t flags;         /* sum of the flags above */
} CleaveValue;

/* A row map: row r of a result needs the rows [b, b + window) of an operand, if they exist, where b
 * = (r * times + shift) / block * stride + offset. */
typedef struct
{
  int16_t stride, offset, window, times, shift, block;
} CleaveRowMap;

/* A layer: one kernel with its operands. The result of layer i is value i. */
typedef struct
{
  const void *params;
  CleaveIndex operands[2]; /* indices of values; CLEAVE_NO_VALUE: no operand */
  CleaveIndex row_map;     /* index in the table `row_maps` of the model, for operand 0; the next
                            * entry is for operand 1 */
  uint8_t kernel;          /* index in the table `kernels` of the model */
} CleaveLayer;

/* A segment: layers that run as one loop over rows. Its first layer is the layer after the last of
 * the previous segment. If a segment has several bands, the table `columns` of the model has two
 * entries for each layer of each band: its first column, and the column after its last. In a
 * segment of one band, each layer computes all columns. */
typedef struct
{
  uint8_t layers, bands;
  CleaveExtent images;
} CleaveSegment;

typedef struct
{
  const CleaveValue *values; /* the results of all layers first, then inputs and views */
  const CleaveLayer *layers;
  const CleaveSegment *segments; /* the segments, and after them an entry without layers */
  const uint16_t *columns;       /* columns of all segments with several bands, in order */
  const CleaveRowMap *row_maps;
  const CleaveKernel *kernels;
} CleaveModel;

/* One run. Before a call of cleave_run(), the caller sets `call.io`, `model`, `arenas` and `made`.
 * The other fields are the position of the run. */
typedef struct
{
  CleaveCall call; /* the next call of a kernel, with the current image of the batch */
  const CleaveModel *model;
  unsigned char *const *arenas; /* arenas of the caller; if the model has states, their memory is
                                 * the last entry */
  CleaveExtent *made;           /* number of computed rows, for each layer of the longest segment */
  const CleaveSegment *segment;
  const uint16_t *columns; /* the segment's entries in the table `columns` of the model */
  uint32_t first;          /* first layer of the segment */
  uint32_t target; /* the target layer, as an index minus `first`. cleave_run() computes the rows of
                    * this layer one after the other, and rows of earlier layers as they are needed.
                    * The result of the target layer is whole, not a ring */
  uint16_t layer;  /* layer at which the search for the next call begins */
  uint8_t band;
} CleaveRun;

/* Computes the outputs of the model. */
void cleave_run (CleaveRun *run);

#endif
