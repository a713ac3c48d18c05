/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The state of the search for parallel subgraphs, which subgraphs.c and subgraph-handovers.c share.
 * The *work* is the set of nodes that depend on an input and on which an output depends, except for
 * inputs, constants, views and joins. A node is *alone* if no other node of the work can run at the
 * same time: each one must run before it or after it. subgraphs.h has the exact definitions. */

#include "graph-private.h"

/* The state of the analysis. Arrays are indexed by node id, by component, or by position. The
 * position of a node is its index in `work`, which is in topological order. */
typedef struct
{
  const CleaveGraph *graph;
  GPtrArray *order;
  GPtrArray *work;  /* CleaveNode: nodes of the work, indexed by position */
  gboolean *in_use; /* indexed by node id: whether the node depends on an input, and an output
                     * depends on the node */
  gint *position;   /* indexed by node id: the position of the node; -1 if it is not in `work` */
  gint *next;       /* indexed by node id: smallest position of the nodes of the work that read the
                     * node, directly or through views and joins; G_MAXINT: there are none */
  gint *prev;       /* indexed by node id: largest position of the nodes of the work that the node
                     * reads, directly or through views and joins; -1: there are none */
  gboolean *alone;  /* indexed by position: whether the node at this position is alone */
  gboolean *out; /* indexed by node id: whether the node is removed before components are found */
  guint *component;
  guint n_components;
  guint *parent; /* indexed by component: its parent in a union-find forest; components of one tree
                  * are one subgraph */
} CleaveSubgraphAnalysis;

static inline gboolean
cleave_node_has_flag (const CleaveNode *node, CleaveOpFlags flag)
{
  return (node->op->flags & flag) != 0;
}

/* Returns the root of the tree of components that contains `component`. */
static inline guint
cleave_subgraph_find_root (CleaveSubgraphAnalysis *a, guint component)
{
  while (a->parent[component] != component)
    component = a->parent[component] = a->parent[a->parent[component]];
  return component;
}

/* Unites two components if one hands rows to the other through a join. If each of the two hands
 * rows to the other, they stay two components. */
void cleave_subgraph_unite_handovers (CleaveSubgraphAnalysis *a);
