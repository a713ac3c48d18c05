/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The test of the reducer: a graph and a pipeline that compute other bits than the graph alone. The
 * suites pipeline.c and reduce.c in tests/passes reduce such a graph, and print it in the message
 * of a failed test. */

#include <cleave/cleave.h>

/* Data of reduced_differs(), a CleaveReduceTest. reduced_differs() returns TRUE if a pipeline
 * changes the bits that the graph computes, or makes the graph invalid. */
typedef struct
{
  guint32 seed; /* seed of the random inputs of the graph */
  /* a pass that also runs if the text of the pipeline contains `also_name`; NULL: none */
  CleavePassFunc also;
  const char *also_name; /* name of the pass `also`; NULL: none */
  guint n_changed;       /* number of graphs that pipelines have changed so far */
} ReducedTest;

gboolean reduced_differs (const CleaveGraph *graph, const char *passes, gpointer data);
/* Returns a text for the message of a failed test: the smallest graph and pipeline that still fail.
 */
char *reduced_print (const CleaveGraph *graph, const char *passes, ReducedTest *test);
