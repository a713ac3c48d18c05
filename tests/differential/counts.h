/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What was tried how often.  Workers and their parent share one. */

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

/* The place of an op in the tables, or of what the tables do not have. */
guint counts_op (const char *name);
void counts_way (Counts *counts, const char *name, gboolean refused);
/* Lines of words and numbers, parted by tabulators, that can be added up. */
void counts_print (const Counts *counts, GString *out);
