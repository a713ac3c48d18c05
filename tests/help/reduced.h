/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Whether a graph computes other bits after a pipeline, or is broken; a CleaveReduceTest.  The data
 * is a ReducedTest. */
typedef struct
{
  guint32 seed;        /* of the inputs */
  CleavePassFunc also; /* runs afterwards where the pipeline has `also_name`; NULL: nothing */
  const char *also_name;
  guint n_changed; /* graphs that were changed so far */
} ReducedTest;

gboolean reduced_differs (const CleaveGraph *graph, const char *passes, gpointer data);
/* A failure as a test says it: the smallest graph and pipeline that still fail. */
char *reduced_print (const CleaveGraph *graph, const char *passes, ReducedTest *test);
