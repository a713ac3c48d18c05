/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Implements `cleave opt --reduce COMMAND`. cmd-opt.c calls this function in place of the pipeline
 * and writes the smaller graph. cleave_graph_reduce() of the library makes smaller graphs, and
 * reduce.c runs the shell command on each. */

#include <cleave/cleave.h>

/* Reduces a failing test case (delta debugging): replaces the graph by a smaller one for which the
 * shell command still exits with 0. The command gets two arguments: a file with the graph, and the
 * text of the pipeline. The function also reduces the pipeline, unless the pipeline is NULL, and
 * prints the remaining passes. */
gboolean cleave_reduce (CleaveGraph **graph,
                        const CleavePipeline *pipeline,
                        const char *command,
                        GError **error);
