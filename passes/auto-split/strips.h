/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../split/report.h"

/* Some nodes of a graph, all needed by the last of them, whose values are large. */
typedef struct
{
  CleaveNode *last;
  GPtrArray *order; /* CleaveNode, each after those that it reads; the last is `last` */
  GHashTable *nodes;
  guint dim; /* of result 0 of the last, which is cut */
  guint n_strips, n_bands;
  CleaveHalo halo; /* between bands */
  gint64 peak;     /* what it comes to then, as far as can be told */
} CleaveSegment;

static inline gboolean
cleave_segment_contains (const CleaveSegment *segment, const CleaveNode *node)
{
  return g_hash_table_contains (segment->nodes, node);
}

/* What strips are for. */
typedef struct
{
  gint64 peak;  /* bytes that the graph takes as it is */
  gint64 limit; /* what it is to come down to */
  gint64
      live; /* what it takes while the segment runs as it is, if more than the segment by itself */
  double macs; /* of the graph */
  guint n_threads;
} CleaveStripsTask;

/* Finds the fewest strips that do, in a band for each thread, or where halos would cost too much
 * in bands that exchange them or in one band that all work at; nothing is changed.  FALSE: none
 * helps. */
gboolean cleave_segment_choose_strips (CleaveSegment *segment, const CleaveStripsTask *task);
/* Cuts a segment, whose nodes nobody has changed since, and tells the report. */
void
cleave_segment_cut (const CleaveSegment *segment, CleaveGraph *graph, CleaveSplitReport *report);
