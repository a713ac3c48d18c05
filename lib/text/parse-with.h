/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Reads the graph of a saved program. The text of such a graph does not contain the values of
 * constants. lib/saved/load.c passes the constants as tensors, and their bytes lie in the mapped
 * file. */

#include <cleave/cleave-graph.h>

/* Parses a graph as cleave_graph_parse() does, but rejects constants with `file=`. A Constant may
 * have `index=N`: its value is the tensor with index N (from 0) of `constants`. */
CleaveGraph *cleave_graph_parse_with (const char *text, const GPtrArray *constants, GError **error);
