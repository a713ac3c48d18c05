/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Random networks for tests of `fit`: a table of classes of networks, and functions that measure a
 * graph and pass it through an ONNX file. fit-properties.h checks the same
 * properties on each class.
 *
 * FitClass is a class of networks that `fit` can split for a memory budget. */
typedef struct
{
  const char *name;
  /* Returns a random network of this class, with about ten nodes and values of some KiB. The same
   * seed gives the same network. */
  CleaveGraph *(*make) (guint32 seed);
} FitClass;

/* The classes: images, sequences, volumes, matrices, attention, recurrent layers, joins, random
 * graphs.  The last entry has the name NULL. */
extern const FitClass fit_classes[];

/* Returns the bytes of the arena of a graph that `n_threads` threads run. If `inputs_excluded`, the
 * arena does not contain the inputs. */
gint64 fit_measure (const CleaveGraph *graph, guint n_threads, gboolean inputs_excluded);
/* Exports a graph to ONNX, and returns the graph that the import reads from the file. */
CleaveGraph *fit_through_file (const CleaveGraph *graph);
