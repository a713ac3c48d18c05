/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Runs a graph on a trial's inputs and compares the outputs bit for bit, except that all NaNs
 * are equal. */

#include <cleave/cleave.h>

#include "trial.h"

/* Returns whether the outputs have the types that the trial expects. */
gboolean compare_types (const Trial *trial, const CleaveGraph *graph, GString *what);
/* Returns (transfer full) the outputs. NULL: there is no program; or, if `what` begins with '!',
 * it wrote into its inputs. */
GPtrArray *compare_run (const Trial *trial,
                        const CleaveGraph *graph,
                        guint n_threads,
                        gboolean reference,
                        guint poison,
                        GString *what);
gboolean compare_outputs (const Trial *trial, GPtrArray *got, GPtrArray *expected, GString *what);
/* Returns (transfer full) the outputs of a model with a tail: runs its static part, whose graph is
 * given, and its dynamic part. NULL as compare_run() does. */
GPtrArray *compare_run_tail (const Trial *trial,
                             const CleaveGraph *graph,
                             guint n_threads,
                             gboolean reference,
                             guint poison,
                             GString *what);
/* Returns (transfer full) the outputs of a model whose inputs are constants: no shape of the tail
 * depends on data then. NULL: the import refuses it, since that takes too much work. */
GPtrArray *compare_fold_tail (const Trial *trial, GBytes *model);
