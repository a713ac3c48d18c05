/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Runs a graph node by node with the reference kernels, on dense tensors: an oracle that shares
 * nothing with the runtime.  One tensor for each input of the graph; (transfer full) one for each
 * of its outputs. */
GPtrArray *cleave_interpret (const CleaveGraph *graph, CleaveTensor *const *inputs);
