/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Prints a graph as text, one line for each node. cleave_graph_print() leaves out the values of
 * constants and the names of values. Two callers also print these values and names: the writer of
 * text files (lib/text/write.c), and the writer of saved programs (lib/saved/save.c), which stores
 * the model as text. */

#include "graph-private.h"

/* How to print the values of constants: a function, and the `data` that the function gets. */
typedef struct
{
  void (*print_constant) (CleaveTensor *value,
                          GString *out,
                          gpointer data); /* prints a space and the value of a constant */
  gpointer data;
} CleavePrintMore;

/* Prints a graph. If `more` is not NULL, also prints the values of constants, the name of the graph
 * and the names of values. */
char *cleave_graph_print_more (const CleaveGraph *graph, const CleavePrintMore *more);
