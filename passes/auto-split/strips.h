/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../split/report.h"

/* A node that strips of a segment end with, and the dimension of result 0 that is cut. */
typedef struct
{
  CleaveNode *node;
  guint dim;
  guint column_dim; /* likewise, if strips are cut into columns */
} CleaveSegmentEnd;

/* Some nodes of a graph, each needed by the ends, whose values are large. */
typedef struct
{
  GArray *ends;     /* CleaveSegmentEnd; that of the last node first */
  GPtrArray *order; /* CleaveNode, each after those that it reads; the last is an end */
  GHashTable *nodes;
  guint n_strips, n_bands;
  guint n_columns;   /* tiles of each strip, which follow each other; 0: strips are not cut */
  gboolean in_bands; /* tiles of one column follow each other, and are a band */
  gboolean is_even;  /* strips are of one size but for the last, where ends agree on that */
  CleaveHalo halo;   /* between bands */
  gint64 peak;       /* what it comes to then, as far as can be told */
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

/* What was chosen for segments of a graph, of copies of it as well: by the names of their nodes. */
typedef GHashTable CleaveStripsCache;

CleaveStripsCache *cleave_strips_cache_new (void);

/* What strips are for. */
typedef struct
{
  gint64 peak;  /* bytes that the graph takes as it is */
  gint64 limit; /* what it is to come down to */
  gint64
      live; /* what it takes while the segment runs as it is, if more than the segment by itself */
  double time; /* of the graph */
  guint n_threads;
  gboolean
      are_apart;     /* threads have memory of their own: each has a band, or there are no strips */
  double strictness; /* strips are to come so many times below the limit; 0: just below it */
  CleaveStripsCache *cache; /* or NULL */
} CleaveStripsTask;

/* Finds the fewest strips that do, in a band for each thread, or where halos would cost too much
 * in bands that exchange them or in one band that all work at; nothing is changed.  FALSE: none
 * helps. */
gboolean cleave_segment_choose_strips (CleaveSegment *segment, const CleaveStripsTask *task);
/* Cuts a segment, whose nodes nobody has changed since, and tells the report, unless that is NULL.
 * If there are `stops`, values between segments stay whole; those are added.  The segment then has
 * the nodes that nothing went through to: they are as they were. */
void cleave_segment_cut (const CleaveSegment *segment,
                         CleaveGraph *graph,
                         GHashTable *stops,
                         CleaveSplitReport *report);
