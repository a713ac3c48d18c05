/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../memory/quantized-group.h"
#include "kernels.h"
#include "quantized-whole.h"

/* Prepares the kernels of a quantized group that runs tile by tile (quantized-tiles.c). Tiles that
 * differ only in their position are of one kind, and kernels are prepared once per kind. Example: a
 * result of 10 rows, cut into tiles of 4 rows, has two kinds: tiles of 4 rows, and the last tile of
 * 2 rows. The table `CleaveTiles` gives, for each tile, its kind and the byte offsets at which the
 * tile begins in the operands and in the result. */

/* The place of an operand of a call: the operand is an operand of the group, or an intermediate
 * value in scratch. */
typedef struct
{
  guint outer; /* if the call's operand is an operand of the group: its index in the group;
                  CLEAVE_BODY_ABSENT: the call's operand is an intermediate value */
  guint read;  /* for an operand of the group: index of its byte offset in the list of offsets that
                  CleaveTiles stores for each tile */
  gint64 at;   /* for an intermediate value: its byte offset in scratch */
} CleaveTileSource;

/* One call of the group, prepared for all tiles of one kind. */
typedef struct
{
  CleaveKernelInstance instance; /* kernel instance of the call; for each tile, a run sets the data
                                    pointers of the views */
  const CleaveKernelFamily *family; /* kernel family of the call; NULL: the op's reference kernel */
  gpointer state;
  CleaveTensorType *types; /* indexed by operand: its type in a tile */
  CleaveTileSource *sources;
  gint64 to; /* byte offset of the call's result in scratch; -1: the call's result is the result of
                the group */
  gboolean is_fused; /* TRUE: the call is an epilogue op, so the kernel of the previous call applies
                        it */
  /* the description of the next call as a fused consumer; used only if the next call is an epilogue
   * op (its `is_fused` is TRUE) */
  CleaveFusedConsumer next;
} CleaveTilePiece;

typedef struct
{
  CleaveTilePart *parts;
  /* indexed by call: the prepared call; its `op` is NULL if the tile does not need the call */
  CleaveTilePiece *pieces;
} CleaveTileKind;

typedef struct
{
  CleaveWhole *whole; /* the integer kernel that computes the whole group; NULL: the group runs tile
                         by tile */
  CleaveBody body;
  GArray *calls; /* CleaveBodyCall: the calls of the group */
  guint n_reads; /* total number of operands of all calls */
  guint most;    /* largest number of operands of one call */
  GPtrArray *kinds;
  GArray *kind;    /* guint, indexed by tile: index of its kind */
  GArray *offsets; /* gint64, tile by tile: byte offset of the tile's result, then of each operand
                      of each call */
  gint64 tile_bytes, views_bytes;
  gboolean are_rows;
} CleaveTiles;

typedef struct
{
  CleaveTiles *tiles;
  const CleaveKernelInstance *instance;
  CleaveWeights *weights;
  gsize n_scratch; /* largest scratch that a kernel of the group needs, in bytes */
} CleaveTilePreparation;

/* Fills `dims` with the dimensions in order of descending stride, outermost first. */
void cleave_tile_sort_dims (const CleaveView *view, guint *dims);
gint64 cleave_tile_find_offset (const CleaveView *view, const CleaveRange *range);
gboolean cleave_tile_are_alike (const CleaveTilePreparation *p,
                                const CleaveTilePart *a,
                                const CleaveTilePart *b);
/* Returns a new kind of tiles with prepared kernels. `parts` describes one tile of this kind; the
 * function takes ownership of `parts`. */
CleaveTileKind *cleave_tile_kind_new (CleaveTilePreparation *p, CleaveTilePart *parts);
void cleave_tile_kind_free (CleaveTileKind *kind, const CleaveBody *body);
