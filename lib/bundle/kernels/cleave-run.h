/* SPDX-License-Identifier: 0BSD */
#ifndef CLEAVE_RUN_H
#define CLEAVE_RUN_H

/* The tables of a model, and the function that runs them. */

#include "cleave-kernels.h"

/* The tables have small types. If a number of a model exceeds one, CLEAVE_WIDE is defined. */
#ifdef CLEAVE_WIDE
typedef uint32_t CleavePixelBytes;
typedef uint16_t CleaveRowMapIndex;
#else
typedef uint16_t CleavePixelBytes;
typedef uint8_t CleaveRowMapIndex;
#endif

/* Flags of a value: whose memory it lies in, and how many rows and images that memory holds. */
enum {
  CLEAVE_ARENA = 0,
  CLEAVE_INPUT = 1,  /* in an input of the caller, which a run only reads */
  CLEAVE_OUTPUT = 2, /* in an output of the caller */
  CLEAVE_RING = 4,   /* the memory of the value has the columns of one band */
  CLEAVE_IMAGES = 8  /* each image of a batch has bytes of its own; otherwise all images use the
                        same bytes */
};

typedef struct
{
  uint32_t offset; /* bytes from the begin of the arena, the input or the output */
  uint16_t rows, columns;
  uint16_t capacity; /* number of rows in memory */
  uint16_t width;    /* number of columns in memory */
  CleavePixelBytes pixel_bytes;
  uint8_t port;  /* index of the arena, of the input or of the output */
  uint8_t flags; /* constants of the enumeration above */
} CleaveValue;

/* Row r of a result needs the rows [b, b + window) of an operand, as far as they exist, where
 * b = (r * times + shift) / block * stride + offset. */
typedef struct
{
  int16_t stride, offset, window, times, shift, block;
} CleaveRowMap;

/* A layer: one kernel. The result of layer i is value i. */
typedef struct
{
  const void *params;
  uint16_t operands[2];          /* indices of values; CLEAVE_NO_VALUE: there is none */
  CleaveRowMapIndex row_maps[2]; /* for each operand: index in the table `row_maps` of the model */
  uint8_t kernel; /* index in the table `kernels` of the model; CLEAVE_NO_KERNEL: the caller
                     supplies the rows of the value */
} CleaveLayer;

#define CLEAVE_NO_VALUE 0xffffu
#define CLEAVE_NO_KERNEL 0xffu

/* Layers that run as one loop over rows. */
typedef struct
{
  uint16_t first, end; /* first layer, and layer after the last */
  uint16_t images;
  uint8_t bands;
  uint8_t is_upward;       /* 1: the rows are computed from the last to the first */
  const uint16_t *columns; /* first column and column after the last, for each layer in each band;
                            * NULL: all columns */
} CleaveSegment;

typedef struct
{
  const CleaveValue *values; /* first the results of all layers, then inputs and views */
  const CleaveLayer *layers;
  const CleaveSegment *segments;
  const CleaveRowMap *row_maps;
  const CleaveKernel *kernels;
  uint16_t n_segments;
} CleaveModel;

/* The progress of a layer of the segment that runs. */
typedef struct
{
  uint16_t made, reader;
} CleaveState;

/* A run. The caller sets the fields up to `states` before cleave_run(). */
typedef struct
{
  const CleaveModel *model;
  unsigned char *const *arenas;
  const void *const *inputs;
  void *const *outputs;
  /* Writes row `row` of input `port`, which is supplied row by row, to `to`. Rows come in order. */
  void (*read_row) (void *user_data, int32_t port, int32_t row, void *to);
  void *user_data;
  CleaveState *states; /* one entry for each layer of the longest segment */
  /* The position in the plan, up to `layer`: segment, image of the batch, band, and layers. */
  const CleaveSegment *segment;
  uint32_t image;
  uint16_t band;
  uint16_t target; /* the layer with the whole result, whose rows are computed in order */
  uint16_t layer;  /* the layer that computes the next row */
  CleaveCall call;
} CleaveRun;

/* Computes the outputs of the model. */
void cleave_run (CleaveRun *run);

#endif
