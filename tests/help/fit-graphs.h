/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* A class of networks that a memory budget can split. */
typedef struct
{
  const char *name;
  /* Returns a random network of the class: about ten nodes, values of some KiB. The same seed
   * gives the same network. */
  CleaveGraph *(*make) (guint32 seed);
} FitClass;

/* Images, sequences, volumes, matrices, attention, recurrent layers, joins, random graphs; the
 * last entry has no name. */
extern const FitClass fit_classes[];

/* Returns the bytes of the arena of a graph that `n_threads` threads run, its inputs counted or
 * not. */
gint64 fit_measure (const CleaveGraph *graph, guint n_threads, gboolean inputs_excluded);
/* Writes a graph to ONNX and reads it again. */
CleaveGraph *fit_through_file (const CleaveGraph *graph);
