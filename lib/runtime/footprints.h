/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Prefetching of the data that steps read besides values. */

#define CLEAVE_CACHE_LINE 64

/* Adjacent cache lines. */
typedef struct
{
  const char *begin;
  gsize n;
} CleaveMemoryLines;

/* The footprint of a step: the memory that it reads besides values, such as its task and its
 * kernel's state. Thousands of small steps have a larger footprint than the nearer caches hold.
 * Each step waited 0.2 us for its footprint, a tenth of the time of a graph that is cut into small
 * pieces. So a run prefetches the footprint of the next step while it computes one. */
typedef struct
{
  guint *next;   /* indexed by step: the next one on its thread with a footprint; itself if there is
                    none */
  gsize *first;  /* indexed by step: index of its first lines; one more entry holds the end */
  GArray *lines; /* CleaveMemoryLines; NULL: few enough to stay in the cache */
} CleaveFootprints;

/* Adds the cache lines of some bytes to a GArray of CleaveMemoryLines. */
void cleave_memory_lines_add (GArray *lines, gconstpointer begin, gsize n_bytes);
/* Sorts the entries from `first` on and removes duplicate lines. */
void cleave_memory_lines_unite (GArray *lines, guint first);

void cleave_footprints_clear (CleaveFootprints *footprints);

/* Prefetches the footprint of the step after `step`. */
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
