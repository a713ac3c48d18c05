/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "graph-private.h"

/* What a text is to say besides: the names of the graph and of values, and what constants hold. */
typedef struct
{
  void (*print_constant) (CleaveTensor *value,
                          GString *out,
                          gpointer data); /* begins with a space */
  gpointer data;
} CleavePrintMore;

/* NULL: no more. */
char *cleave_graph_print_more (const CleaveGraph *graph, const CleavePrintMore *more);
