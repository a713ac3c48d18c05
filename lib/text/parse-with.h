/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

/* Parses a graph as cleave_graph_parse() does, without a folder for files. A Constant may also have
 * `index=N`: its value is then the Nth CleaveTensor of `constants`. Saved programs use this. */
CleaveGraph *cleave_graph_parse_with (const char *text, const GPtrArray *constants, GError **error);
