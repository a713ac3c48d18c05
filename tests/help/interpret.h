/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The interpreter, whose results are the expected results of every program. Suites run a program
 * and cleave_interpret() on the same inputs, and compare the bits. The interpreter does not use the
 * scheduler, the arena or fast kernels. */

#include <cleave/cleave.h>

/* Runs a graph node by node with the reference kernels, on dense tensors. Shares no code with the
 * runtime. `inputs` has a tensor for each input of the graph. Returns (transfer full) a tensor for
 * each output. */
GPtrArray *cleave_interpret (const CleaveGraph *graph, CleaveTensor *const *inputs);
/* A CleaveOnnxComputeFunc that runs cleave_interpret(). Adds 1 to `n_calls` (guint) unless it is
 * NULL. */
gboolean cleave_interpret_into (CleaveGraph *graph,
                                CleaveTensor *const *inputs,
                                guint n_inputs,
                                CleaveTensor *const *outputs,
                                guint n_outputs,
                                gpointer n_calls,
                                GError **error);
