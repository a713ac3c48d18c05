/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Runs a graph on a trial's inputs, and compares what comes out, bit for bit; but a NaN is a NaN.
 */

#include <cleave/cleave.h>

#include "trial.h"

/* Whether the outputs are of the types that the trial says. */
gboolean compare_types (const Trial *trial, const CleaveGraph *graph, GString *what);
/* (transfer full): the outputs.  NULL: there is no program, or, where `what` begins with !, it
 * wrote into its inputs. */
GPtrArray *compare_run (const Trial *trial,
                        const CleaveGraph *graph,
                        guint n_threads,
                        gboolean reference,
                        guint poison,
                        GString *what);
gboolean compare_outputs (const Trial *trial, GPtrArray *got, GPtrArray *expected, GString *what);
