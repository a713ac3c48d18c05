/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "strips.h"

/* What a graph is split for.  Threads that are apart have memory of their own: what one of them
 * makes and another reads is sent.  Constants that are so many times as large as what else a node
 * reads are cut, rather than its rows; 0: none.  Strips are to take so many times less memory than
 * those of threads that are together; 0: no less.  `strips`, unless NULL, keeps what was found
 * for segments of this graph, for another time with as many threads.  `letters` is NULL for
 * callers: while nodes are chosen it has the layouts that were found. */
typedef struct
{
  guint n;
  gboolean are_apart;
  double weights_to_cut, strictness;
  CleaveStripsCache *strips;
  GHashTable *letters;
} CleaveThreads;

/* As cleave_split_for_threads(). */
CleaveSplitReport *
cleave_split_for (CleaveGraph *graph, const CleaveThreads *threads, GError **error);
/* The same, without a report: what it tells of memory takes long to find. */
gboolean cleave_split_to_try (CleaveGraph *graph, const CleaveThreads *threads, GError **error);
