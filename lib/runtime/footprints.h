/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Prefetches the data that steps read besides values. program.c finds the footprints when it makes
 * a program (footprints.c); run.c calls cleave_footprints_fetch() before each step. */

/* Size of a cache line in bytes. */

#define CLEAVE_CACHE_LINE 64

/* `n` adjacent cache lines. `begin` is the address of the first line. */
typedef struct
{
  const char *begin;
  gsize n;
} CleaveMemoryLines;

/* The footprint of each step: the memory that a step reads besides values, such as its task and its
 * kernel's state. The caches near the core cannot hold the footprints of thousands of small steps.
 * Each step then waits 0.2 us for its footprint: a tenth of the run time of a graph that is cut
 * into small pieces. While a step computes, a run therefore prefetches the footprint of the next
 * step. */
typedef struct
{
  guint *next;   /* indexed by step: the next step of the same thread that has a footprint; the step
                    itself if there is none */
  gsize *first;  /* indexed by step: index in `lines` of the step's first entry; one more element at
                    the end is the length of `lines` */
  GArray *lines; /* CleaveMemoryLines: the footprints of all steps, one after the other; NULL:
                    nothing is prefetched, since all footprints stay in the cache */
} CleaveFootprints;

/* Appends to `lines` (CleaveMemoryLines) the cache lines that contain the n_bytes bytes at `begin`.
 * Appends nothing if `begin` is NULL. */
void cleave_memory_lines_add (GArray *lines, gconstpointer begin, gsize n_bytes);
/* Sorts the entries of `lines` from index `first` on by address, and joins entries that overlap or
 * touch. */
void cleave_memory_lines_unite (GArray *lines, guint first);

void cleave_footprints_clear (CleaveFootprints *footprints);

/* Prefetches the footprint of the next step on the thread of `step`. */
static inline void
cleave_footprints_fetch (const CleaveFootprints *footprints, guint step)
{
  guint next;

  if (footprints->lines == NULL)
    return;
  next = footprints->next[step];
  for (gsize i = footprints->first[next]; i < footprints->first[next + 1]; i++)
    {
      const CleaveMemoryLines *lines = &g_array_index (footprints->lines, CleaveMemoryLines, i);

      for (gsize k = 0; k < lines->n; k++)
        __builtin_prefetch (lines->begin + k * CLEAVE_CACHE_LINE);
    }
}
