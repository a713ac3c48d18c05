/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../split/report.h"

/* Cuts a segment into strips: horizontal chunks of its last result, each with the chunks of earlier
 * values that it needs. A fit (fit/measurement.c) and a split for threads (threads/for-threads.c)
 * cut segments. cleave_segment_choose_strips() chooses the number of strips and the halo policy for
 * a number of threads, and cleave_segment_cut() applies them. Two cuts for the threads 0 and 1:
 *
 *     a band for each thread                  one band for both threads
 *     ┌ band 0 (thread 0): strips 0, 1, 2     ┌ strip 0 (thread 0)
 *     └ band 1 (thread 1): strips 3, 4, 5     │ strip 1 (thread 1)
 *                                             └ strip 2 (thread 0)
 *
 * A CleaveSegmentEnd is an end node of the strips of a segment, and the dimension of result 0 that
 * is cut into strips. */
typedef struct
{
  CleaveNode *node;
  guint dim;
  guint column_dim; /* dimension that is cut into columns, if strips have columns */
} CleaveSegmentEnd;

/* A segment: nodes with large values that are cut into strips together. The strips end with the
 * nodes in `ends`. */
typedef struct
{
  GArray *ends;     /* CleaveSegmentEnd; the end that runs last comes first */
  GPtrArray *order; /* CleaveNode, in topological order; the last node is an end */
  GHashTable *nodes;
  guint n_strips, n_bands;
  guint n_columns;   /* number of tiles of a strip, which run one after the other; 0: no tiles */
  gboolean in_bands; /* each column of tiles is a band, whose tiles run one after the other */
  gboolean is_even;  /* all strips but the last have one size, if all end nodes allow it */
  CleaveHalo halo;   /* halo policy of the strips */
  gint64 peak;       /* estimated peak in bytes after the cut */
} CleaveSegment;

static inline CleaveSegmentEnd
cleave_segment_end (const CleaveSegment *segment)
{
  return g_array_index (segment->ends, CleaveSegmentEnd, 0);
}

void cleave_segment_free (gpointer segment);

static inline gboolean
cleave_segment_contains (const CleaveSegment *segment, const CleaveNode *node)
{
  return g_hash_table_contains (segment->nodes, node);
}

/* A memo of the strips that were chosen for segments. The keys consist of node names, so the memo
 * also serves copies of the graph. */
typedef GHashTable CleaveStripsCache;

CleaveStripsCache *cleave_strips_cache_new (void);

/* The goal and the limits of a search for strips. */
typedef struct
{
  gint64 peak;  /* peak of the unsplit graph in bytes */
  gint64 limit; /* limit on the bytes that the segment needs when it is cut into strips */
  /* largest number of bytes that are live in a step of the unsplit segment, including values
   * outside of the segment; 0: the search ignores values outside of the segment */
  gint64 live;
  double time; /* estimated time of the graph in ns */
  guint n_threads;
  gboolean have_own_memory; /* threads have memory of their own, so each needs a band */
  double strictness;        /* divisor of the limit on bytes (`limit`); 0: do not divide */
  CleaveStripsCache *cache; /* memo of the strips chosen so far; NULL: no memo */
} CleaveStripsTask;

/* Chooses the fewest strips that meet the limit. Prefers a separate band for each thread, then
 * bands that exchange halos, then one band from which all threads take strips. Does not change the
 * graph. Returns FALSE if no number of strips helps. */
gboolean cleave_segment_choose_strips (CleaveSegment *segment, const CleaveStripsTask *task);
/* Cuts a segment into strips, and adds the cut nodes to `report` unless `report` is NULL. The nodes
 * must not have changed since the segment was found. If `stops` is not NULL, readers outside of the
 * segment must read the whole results of the segment, not pieces. The function then adds the joins
 * of these results to `stops` (CleaveNode). Afterwards, `segment->nodes` has the nodes that could
 * not be cut. */
void cleave_segment_cut (const CleaveSegment *segment,
                         CleaveGraph *graph,
                         GHashTable *stops,
                         CleaveSplitReport *report);
