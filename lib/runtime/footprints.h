/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

#define CLEAVE_CACHE_LINE 64

/* Lines of memory side by side. */
typedef struct
{
  const char *begin;
  gsize n;
} CleaveMemoryLines;

/* The footprint of a step is what it reads besides values: how it is planned.  Thousands of small
 * steps have more of it than the nearer caches hold.  Each waited for that by 0.2 us, a tenth of a
 * graph that is cut into small pieces; so a run asks for that of the next step while it does one.
 */
typedef struct
{
  guint *next;   /* of each step; itself where no more is to do */
  gsize *first;  /* of each step, its first lines; one more entry says where the last one's end */
  GArray *lines; /* CleaveMemoryLines; NULL: so few that all of them stay in the cache */
} CleaveFootprints;

/* Adds the lines of some bytes to a GArray of CleaveMemoryLines. */
void cleave_memory_lines_add (GArray *lines, gconstpointer begin, gsize n_bytes);
/* Those from `first` on are then in order, each but once. */
void cleave_memory_lines_unite (GArray *lines, guint first);

void cleave_footprints_clear (CleaveFootprints *footprints);

/* As a step begins. */
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
