/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Runs a graph on the inputs of a trial (a random model, trial.h) and compares the outputs bit for
 * bit, except that all NaNs are equal. judge.c runs the graph with reference kernels first, and
 * then in other ways, and compares each run with the first one. peer.c writes the outputs to files.
 */

#include <cleave/cleave.h>

#include "trial.h"

/* Returns whether the outputs have the types that the trial expects. */
gboolean compare_types (const Trial *trial, const CleaveGraph *graph, GString *what);
/* Runs the graph on the trial's inputs and returns (transfer full) the outputs. Returns NULL and
 * sets `what` to a message if no program can be made, or if the program wrote into its inputs. In
 * the second case, the message begins with '!'. */
GPtrArray *compare_run (const Trial *trial,
                        const CleaveGraph *graph,
                        guint n_threads,
                        gboolean reference,
                        guint poison,
                        GString *what);
gboolean compare_outputs (const Trial *trial, GPtrArray *got, GPtrArray *expected, GString *what);
/* Returns (transfer full) the outputs of a model with a tail: a few last nodes with data-dependent
 * shapes. Runs the static part, which is `graph`, and then the dynamic part. Returns NULL and sets
 * `what` to a message if no program can be made, if the dynamic part fails, or if the program wrote
 * into its inputs. In the last case, the message begins with '!'. */
GPtrArray *compare_run_tail (const Trial *trial,
                             const CleaveGraph *graph,
                             guint n_threads,
                             gboolean reference,
                             guint poison,
                             GString *what);
/* Returns (transfer full) the outputs of a model whose inputs become constants, so that no shape
 * depends on data. Returns NULL if the import refuses to compute the constant nodes, because they
 * take too much work. */
GPtrArray *compare_fold_tail (const Trial *trial, GBytes *model);
