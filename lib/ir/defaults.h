/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

typedef enum {
  CLEAVE_DEFAULT_OPEN,  /* a caller of a written file may replace the value */
  CLEAVE_DEFAULT_FIXED, /* the value decided a shape or an attribute */
  CLEAVE_DEFAULT_GIVEN, /* the user gave another value in its place */
} CleaveDefaultState;

/* An input that has a default value in the model's file. */
typedef struct
{
  char *name;
  CleaveTensor *tensor; /* its value in the graph */
  CleaveDefaultState state;
} CleaveDefault;

void cleave_default_clear (gpointer entry);

/* Gives a graph its defaults (CleaveDefault); takes the array, which must not change any
 * more: copies of the graph share it. */
void cleave_graph_set_defaults (CleaveGraph *graph, GArray *defaults);
/* Gives a part of a graph those defaults that constants of the part share. */
void cleave_graph_copy_used_defaults (CleaveGraph *to, const CleaveGraph *from);
/* Returns the name of the open default that the tensor is, or is a slice of; NULL: it is none. */
const char *cleave_graph_find_default (const CleaveGraph *graph, CleaveTensor *tensor);
/* Returns the value of a constant that no caller of a written file can replace; NULL for any other
 * node.  A rewrite that computes with a value must ask for this one. */
CleaveTensor *cleave_node_get_final_constant (const CleaveNode *node);
