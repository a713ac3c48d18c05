/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Counts how often each op, and each Way to compute a graph (way.h), was tried. Each worker process
 * counts in memory that it shares with its parent. The parent prints the counts at the end, so that
 * an op that is never tried is found. */

#include <glib.h>

#define COUNT_OPS 192
#define COUNT_WAYS 96

typedef struct
{
  guint64 graphs, nodes, programs;
  struct
  {
    guint64 seen, split, whole;
  } ops[COUNT_OPS];
  struct
  {
    char name[32];
    guint64 done, refused;
  } ways[COUNT_WAYS];
} Counts;

/* Returns the index of an op in `Counts.ops`. All ops without an entry in the tables of trial-ops.h
 * have the index 0. */
guint counts_op (const char *name);
void counts_way (Counts *counts, const char *name, gboolean refused);
/* Appends the counts to `out` as lines. A line is "total", "op" or "way", then a name, then
 * numbers, separated by tabs. A reader can add up the lines of several runs. */
void counts_print (const Counts *counts, GString *out);
