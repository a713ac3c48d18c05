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

/* Unit of offsets, in bytes. */
#define CLEAVE_OFFSET_UNIT 4

/* Flags of a value: the memory in which it lies, and the rows and images that this memory holds. */
enum {
  CLEAVE_ARENA = 0,
  CLEAVE_INPUT = 1,  /* an input in memory of the caller; a run only reads this memory */
  CLEAVE_OUTPUT = 2, /* an output in memory of the caller */
  CLEAVE_RING = 4,   /* the value is not whole; its memory has the columns of one band */
  CLEAVE_IMAGES = 8, /* each image of a batch has separate bytes; otherwise all images use the same
                      * bytes */
  CLEAVE_UPWARD = 16 /* the rows are computed from the last to the first */
};

typedef struct
{
  CleaveOffset offset; /* offset in the arena, in the input or in the output, in units of
                        * CLEAVE_OFFSET_UNIT */
  CleavePixelBytes pixel_bytes;
  uint16_t rows;
  uint16_t capacity; /* number of rows in memory */
  uint16_t width;    /* number of columns in memory */
  uint8_t port;      /* index of the arena, of the input or of the output */
  uint8_t flags; /* sum of CLEAVE_INPUT, CLEAVE_OUTPUT, CLEAVE_RING, CLEAVE_IMAGES, CLEAVE_UPWARD */
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
  uint8_t kernel; /* index in the table `kernels` of the model; CLEAVE_NO_KERNEL: the caller
                   * supplies the rows */
} CleaveLayer;

#define CLEAVE_NO_KERNEL 0xffu

/* A segment: layers that run as one loop over rows. Its first layer is the layer after the last of
 * the previous segment. If a segment has several bands, the table `columns` of the model has two
 * entries for each layer of each band: its first column, and the column after its last. In a
 * segment of one band, each layer computes all columns. */
typedef struct
{
  uint8_t layers, bands;
  uint16_t images;
} CleaveSegment;

typedef struct
{
  const CleaveValue *values; /* the results of all layers first, then inputs and views */
  const CleaveLayer *layers;
  const CleaveSegment *segments;
  const uint16_t *columns; /* of the segments with several bands, one after the other */
  const CleaveRowMap *row_maps;
  const CleaveKernel *kernels;
  uint16_t n_segments;
} CleaveModel;

/* One run. The caller sets the fields up to `readers` before it calls cleave_run(). */
typedef struct
{
  const CleaveModel *model;
  unsigned char *const *arenas;
  const void *const *inputs;
  void *const *outputs;
  /* Writes row `row` of an input to `to`, for an input that is supplied row by row. `layer`: index
   * of the layer that stands for the input. Is called for rows in order. */
  void (*read_row) (void *user_data, int32_t layer, int32_t row, void *to);
  void *user_data;
  /* One entry for each layer of the longest segment: */
  uint16_t *made;   /* number of computed rows */
  uint8_t *readers; /* layer, minus `first`, that needs the next row */
  /* The fields below are the position of the run: segment, layers and band. The image of the batch
   * is in `call`. */
  const CleaveSegment *segment;
  CleaveOffset columns; /* index of the segment's entries in the table `columns` */
  uint16_t first;       /* first layer of the segment */
  uint16_t layer;       /* layer that computes the next row */
  uint8_t band;
  uint8_t target; /* layer minus `first`: the layer whose rows are computed in order, since its
                   * result is whole */
  CleaveCall call;
} CleaveRun;

/* Computes the outputs of the model. */
void cleave_run (CleaveRun *run);

#endif
