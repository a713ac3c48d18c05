/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../segments/strips.h"

/* Splits a graph for threads, or for ranks with memory of their own. cleave_split_for_threads()
 * splits for threads, and ranks/split.c splits for several numbers of ranks.
 *
 * CleaveThreads describes the threads that run the split graph, and options of the split:
 *
 * - `n`: the number of threads.
 * - `have_own_memory`: the threads have memory of their own. If another thread reads a value, the
 *   value is sent.
 * - `weights_to_cut`: a node is cut along its largest constant instead of its rows if the constant
 *   has this many times the bytes of the operands that are not constant; 0: never.
 * - `strictness`: the limit on the memory of strips is divided by this number; 0: the limit is not
 *   divided.
 * - `strips`: a memo of the strips chosen for segments, for calls with equal `n`; NULL: no memo.
 * - `letters`: a memo of the dimension names, such as NCHW, that cleave_letters_find() found.
 *   Callers pass NULL; the split makes the memo in its own copy of the struct. */
typedef struct
{
  guint n;
  gboolean have_own_memory;
  double weights_to_cut, strictness;
  CleaveStripsCache *strips;
  GHashTable *letters;
} CleaveThreads;

/* Splits a graph as cleave_split_for_threads() does, for the number and kind of threads in
 * `threads`. Returns NULL and sets the error on failure. */
CleaveSplitReport *
cleave_split_for (CleaveGraph *graph, const CleaveThreads *threads, GError **error);
/* Splits a graph as cleave_split_for() does, but makes no report, since the peaks in a report take
 * long to compute. Returns FALSE and sets the error on failure. */
gboolean cleave_split_to_try (CleaveGraph *graph, const CleaveThreads *threads, GError **error);
