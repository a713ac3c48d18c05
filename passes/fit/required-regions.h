/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "walk.h"

/* The first half of a walk (walk.h), and the state of a walk. piece-bytes.h is the second half.
 *
 * A walk visits the nodes of a segment from the end backwards. For each value, the walk first finds
 * the required region, which is the range that pieces read. From the region, it finds the elements
 * that pieces compute. Most pieces are alike, so the walk finds both ranges only for a few samples
 * of pieces: */
typedef enum {
  CLEAVE_FIT_BEFORE, /* all strips before the strip in the middle */
  CLEAVE_FIT_MIDDLE, /* the strip in the middle, with all its tiles */
  CLEAVE_FIT_FIRST,  /* the first strip, or the first tile of that strip */
  CLEAVE_FIT_LATER,  /* the strip in the middle and all strips after it */
  CLEAVE_FIT_LEFT,   /* with tiles: all tiles on the left of CLEAVE_FIT_TILE, in the same strip */
  CLEAVE_FIT_TILE,   /* with tiles: the tile in the middle of the strip in the middle */
  CLEAVE_FIT_N_SAMPLES
} CleaveFitSample;

/* Number of samples in a walk without tiles, which uses only the samples that the list above names
 * before CLEAVE_FIT_LEFT. If each column of tiles is a band (`in_bands`), two samples have another
 * meaning: CLEAVE_FIT_LEFT is the whole first band, and CLEAVE_FIT_TILE is the whole band in the
 * middle. All other samples are then strips of the band in the middle. */
#define CLEAVE_FIT_N_OF_STRIPS CLEAVE_FIT_LEFT

/* The required region of a value, as a range for each sample of pieces (CleaveFitSample). */

typedef struct
{
  guint set_by_walk; /* number of the last walk that set the region; if this is not the current
                        walk, the region is empty */
  /* largest number of elements that one join reads in the sample CLEAVE_FIT_MIDDLE; 0: no join */
  gint64 joined;
  CleaveRange range[CLEAVE_FIT_N_SAMPLES];
} CleaveFitRequired;

/* The bytes that pieces of the values in one buffer take. `middle` is the number of bytes while the
 * strip in the middle runs, and `first` while the first piece runs. `top` is the number of bytes
 * while a tile in the middle of the first strip runs. `carried` and `carried_top` are the bytes of
 * carried rows and columns, in addition to `middle` and `top`. */
typedef struct
{
  guint set_by_walk;
  gint64 middle, first, top, carried, carried_top;
  gboolean is_whole; /* a value in the buffer is live after the segment, so it stays whole */
} CleaveFitPieceBytes;

struct _CleaveFitWalker
{
  const CleaveFitSteps *steps;
  gint64 *crossing; /* indexed by step: bytes that are live before the step and still during it */
  gint64 *largest;  /* indexed by step: bytes of the largest buffer in `crossing` */
  /* indexed by step: if the pieces of a segment take this number of bytes or more, no segment that
   * begins at the step or earlier can become a candidate. The walk then stops. The numbers are
   * valid only for walks that end at step `room_end` and whose `max_bytes` is `room_bytes`. */
  gint64 *room;
  guint room_end;
  gint64 room_bytes;
  CleaveFitRequired *required;      /* indexed by value: the required region */
  CleaveFitPieceBytes *piece_bytes; /* indexed by buffer: bytes that the pieces of the values in the
                                       buffer take */
  /* indexed by step: bytes of the pieces in all buffers. `middle`: while the strip in the middle
   * runs; `first`: while the first piece runs; `top`: while a tile in the middle of the first strip
   * runs */
  gint64 *middle, *first, *top;
  GArray *read; /* guint: indices of the values that nodes of the segment read; some of them are
                   computed in the segment */
  GArray *ends; /* guint: indices of the values that the end nodes compute */
  /* guint: indices of the results of some joins of the segment. The array lists a join only if the
   * join's buffer is in use before the join runs: an earlier step writes an operand into the
   * buffer */
  GArray *joins;
  gint64 peak;            /* peak of the unsplit graph in bytes */
  guint walk_number;      /* number of the current walk */
  gboolean overlaps_wide; /* strips of the last walk overlap in a wide result (split/wide.h) */
  guint64 n_visits;
};

/* A walk in progress, with sums and maxima over the steps from the end of the segment to the
 * current step. */
typedef struct
{
  CleaveFitWalker *walker;
  const CleaveFitWalk *walk;
  guint n_samples;
  gint64 both; /* bytes of the buffers that are live both before the current step and after the end
                  of the segment */
  /* bytes of carried rows and columns: while the strip in the middle runs (`carried`), and while
   * the first strip runs (`carried_top`) */
  gint64 carried, carried_top;
  /* largest `middle`, `first` and `top` of CleaveFitWalker in the steps visited so far, in bytes;
   * they do not include carried rows */
  gint64 most_middle, most_first, most_top;
  gint64 copied;         /* bytes of carried rows that all strips together copy */
  double macs;           /* MACs that pieces recompute */
  double reread_ns;      /* time in ns that each strip or tile after the first one adds, since it
                            reads weights again */
  double piece_ns;       /* time in ns for starting the pieces of one strip or tile, summed over the
                            nodes of the segment */
  double idle_ns;        /* time in ns that all chunks of channels add, since some vector lanes stay
                            empty */
  gboolean overlaps;     /* two strips need the same elements of a value; TRUE for tiles */
  gboolean cuts_weights; /* pieces read different parts of some weights */
} CleaveFitState;

/* Returns the number of pieces of each node. */
static inline double
cleave_fit_count_tiles (const CleaveFitWalk *walk)
{
  return (double) walk->n_strips * walk->n_columns;
}

/* Returns whether the tiles of a strip run one after the other, so a tile can carry columns. */
static inline gboolean
cleave_fit_is_tiled (const CleaveFitWalk *walk)
{
  return walk->n_columns > 1 && !walk->in_bands;
}

/* Returns whether all tiles of a strip have the same range. The first tile then computes the range
 * for all tiles. */
static inline gboolean
cleave_fit_is_once (const CleaveFitState *state, const CleaveRange range[CLEAVE_FIT_N_SAMPLES])
{
  return cleave_fit_is_tiled (state->walk) &&
         cleave_range_equal (&range[CLEAVE_FIT_TILE], &range[CLEAVE_FIT_MIDDLE]);
}

/* Returns whether strips recompute the overlap of a node's result, although they carry the overlap
 * of other results (CLEAVE_HALO_CARRY_NARROW). */
static inline gboolean
cleave_fit_is_wide (const CleaveFitState *state, const CleaveFitNode *node)
{
  return node->is_wide && state->walk->halo == CLEAVE_HALO_CARRY_NARROW;
}

/* Makes a node an end of the segment: cuts its result 0 into the walk's strips and tiles, and sets
 * the required region to the pieces. Returns FALSE if the node cannot be cut into these pieces. */
gboolean cleave_fit_begin_at (CleaveFitState *state, guint index);
/* Extends the walk to a node: adds the required regions of its operands, the bytes of its results,
 * and its cost. Returns FALSE if the node cannot be cut. The segment then begins after the node. */
gboolean cleave_fit_visit (CleaveFitState *state, guint node);
