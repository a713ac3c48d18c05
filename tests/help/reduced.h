/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Data of reduced_differs(), a CleaveReduceTest that returns whether a graph computes other bits
 * after a pipeline, or is broken. */
typedef struct
{
  guint32 seed;        /* seed of the inputs */
  CleavePassFunc also; /* pass that also runs if the pipeline has `also_name`; NULL: none */
  const char *also_name;
  guint n_changed; /* number of graphs changed so far */
} ReducedTest;

gboolean reduced_differs (const CleaveGraph *graph, const char *passes, gpointer data);
/* Returns a failure for a test's message: the smallest graph and pipeline that still fail. */
char *reduced_print (const CleaveGraph *graph, const char *passes, ReducedTest *test);
