/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Prints a graph as text, one line for each node. cleave_graph_print() leaves out the values of
 * constants; files have them, so that a graph can be read again. */

#include "graph-private.h"

/* How to print the values of constants. */
typedef struct
{
  void (*print_constant) (CleaveTensor *value,
                          GString *out,
                          gpointer data); /* prints a space and the value */
  gpointer data;
} CleavePrintMore;

/* Prints a graph. If `more` is not NULL, also prints the values of constants, the name of the graph
 * and the names of values. */
char *cleave_graph_print_more (const CleaveGraph *graph, const CleavePrintMore *more);
