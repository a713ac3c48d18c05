/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The state of the search for parallel subgraphs, which subgraphs.c and subgraph-handovers.c share.
 * A *compute node* is a node that depends on an input and on which an output depends. Inputs,
 * constants, views and joins are no compute nodes. A compute node is *alone* if each other compute
 * node must run before or after this node. subgraphs.h has a drawing. */

#include "graph-private.h"

/* The state of the analysis. Arrays are indexed by node id, by component, or by position. The
 * position of a compute node is its index in `work`, which is in topological order. */
typedef struct
{
  const CleaveGraph *graph;
  GPtrArray *order;
  GPtrArray *work;  /* CleaveNode: the compute nodes, indexed by position */
  gboolean *in_use; /* indexed by node id: whether the node depends on an input, and an output
                     * depends on the node */
  gint *position;   /* indexed by node id: the position of the node; -1: the node is no compute
                     * node */
  gint *next;       /* indexed by node id: position of the first compute node that reads the node,
                     * directly or through views and joins; G_MAXINT: no compute node reads the
                     * node */
  gint *prev;       /* indexed by node id: position of the last compute node whose result the node
                     * reads, directly or through views and joins; -1: the node reads no compute
                     * node */
  gboolean *alone;  /* indexed by position: whether the compute node at this position is alone: no
                     * other compute node can run at the same time */
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

/* Unites components A and B if a join adds rows of A to a piece of B, but no join adds rows of B to
 * a piece of A. If both hand rows to each other, A and B stay two components. */
void cleave_subgraph_unite_handovers (CleaveSubgraphAnalysis *a);
