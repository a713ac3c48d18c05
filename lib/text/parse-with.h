/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

/* As cleave_graph_parse(), without files: a Constant may be one of these CleaveTensor, `index=`. */
CleaveGraph *cleave_graph_parse_with (const char *text, const GPtrArray *constants, GError **error);
