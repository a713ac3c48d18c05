/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "fit-walk.h"

/* A walk goes from the end of a segment towards its begin and tells what each value comes to in a
 * strip of the middle, and in the first: what all strips before have made of it, and what this one
 * needs; CLEAVE_FIT_LATER is what it and all strips after it need.  Of strips that are cut into
 * tiles, CLEAVE_FIT_TILE is a tile of the middle and CLEAVE_FIT_LEFT what all tiles before it have
 * made; CLEAVE_FIT_MIDDLE is the whole strip, and CLEAVE_FIT_FIRST the first tile.  Of strips in
 * bands, CLEAVE_FIT_TILE is a whole band of the middle, and CLEAVE_FIT_LEFT the first; the rest are
 * strips of the one in the middle. */
typedef enum {
  CLEAVE_FIT_BEFORE,
  CLEAVE_FIT_MIDDLE,
  CLEAVE_FIT_FIRST,
  CLEAVE_FIT_LATER,
  CLEAVE_FIT_LEFT,
  CLEAVE_FIT_TILE,
  CLEAVE_FIT_N_SAMPLES
} CleaveFitSample;

#define CLEAVE_FIT_N_OF_STRIPS CLEAVE_FIT_LEFT

typedef struct
{
  guint stamp;   /* of the walk that needs it */
  gint64 joined; /* elements of CLEAVE_FIT_MIDDLE that joins need */
  CleaveRange range[CLEAVE_FIT_N_SAMPLES];
} CleaveFitNeed;

/* Bytes of what lies in a buffer, in a strip of the middle and in the first; and of what a strip
 * leaves to the next.  Of tiles, also in one of the first strip that lies in the middle of it. */
typedef struct
{
  guint stamp;
  gint64 middle, first, top, carried, carried_top;
  gboolean is_whole; /* it lies in a value that the segment leaves whole */
} CleaveFitWindow;

struct _CleaveFitWalker
{
  const CleaveFitSteps *steps;
  gint64 *crossing;             /* of each step: bytes of what is alive before it and in it */
  CleaveFitNeed *needs;         /* of each value */
  CleaveFitWindow *windows;     /* of each buffer */
  gint64 *middle, *first, *top; /* of each step: bytes of windows */
  GArray *asked;                /* guint: values that the walk needs and that are made before it */
  GArray *ends;                 /* guint: values that it begins with */
  GArray *joins;                /* guint: values that join what is made earlier, which lies there */
  gint64 peak;                  /* of the graph as it is */
  guint now;
  gboolean keeps_wide; /* strips of the last walk keep some of a wide result */
  guint64 n_visits;
};

/* A walk on its way. */
typedef struct
{
  CleaveFitWalker *walker;
  const CleaveFitWalk *walk;
  guint n_samples;
  gint64 both;                              /* bytes of what goes past the whole segment */
  gint64 carried, carried_top;              /* bytes between strips */
  gint64 most_middle, most_first, most_top; /* of all steps */
  gint64 copied;
  double macs;
  double again;      /* nanoseconds: what each tile but the first adds for weights */
  double begin;      /* nanoseconds: what each piece adds */
  double idle;       /* nanoseconds: of chunks of channels */
  gboolean overlaps; /* one strip needs what another has */
  gboolean cuts_weights;
} CleaveFitState;

static inline double
cleave_fit_count_tiles (const CleaveFitWalk *walk)
{
  return (double) walk->n_strips * walk->n_columns;
}

/* Whether tiles of a strip follow each other, and keep columns. */
static inline gboolean
cleave_fit_is_tiled (const CleaveFitWalk *walk)
{
  return walk->n_columns > 1 && !walk->in_bands;
}

/* Whether strips compute the overlap of its result again, although they keep that of others. */
static inline gboolean
cleave_fit_is_wide (const CleaveFitState *state, const CleaveFitNode *node)
{
  return node->is_wide && state->walk->halo == CLEAVE_HALO_CARRY_NARROW;
}

/* Tells what a node reads, and what lies in buffers.  FALSE: the segment cannot have this node. */
gboolean cleave_fit_visit (CleaveFitState *state, guint node);
