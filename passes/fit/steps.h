/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* A table of a graph for the search: nodes, values, buffers, and the step of each. The table is
 * built once for each graph variant (variants.c); then walk.h and path.h only read it. The search
 * visits some million ranges, so all links are indices:
 *
 *     steps ──► nodes ──► operands ──► values ──► buffers
 *
 * Memory is counted as for a program of one thread. */

#define CLEAVE_FIT_NONE G_MAXUINT

/* An operand of a node: the value that the node reads, and the dimension maps of the operand. The
 * maps determine which range of the value a piece of the node reads. */
typedef struct
{
  guint value; /* index of the value that the node reads; CLEAVE_FIT_NONE: an input, a constant, or
                  an omitted operand */
  CleaveDimMap map[CLEAVE_MAX_RANK];
} CleaveFitOperand;

/* A node of the unsplit graph. */
typedef struct
{
  CleaveNode *node;
  guint step;
  guint first_operand, n_operands;
  guint first_value, n_values;
  gint64 macs;
  double reread_ns; /* ns to read the weights of the node once more */
  double piece_ns;  /* ns that a piece of the node takes before it computes anything */
  gint channels; /* dimension of result 0 whose indices need different weights (the channels); -1:
                    no MACs */
  gboolean is_view;           /* each result is a range of operand 0 that skips no elements */
  gboolean can_split;         /* the op has dimension maps */
  gboolean is_wide;           /* rows of the result are much larger than rows of the operands */
  gboolean always_recomputes; /* pieces recompute the result with any halo policy, since the
                               * operand has fewer bytes than the result. Example: a
                               * DequantizeLinear */
} CleaveFitNode;

/* A result of a node. */
typedef struct
{
  const CleaveResult *result;
  guint node;
  guint buffer;     /* index of the buffer that stores the value; CLEAVE_FIT_NONE: the value is not
                       stored, since only nodes of the same step read it */
  gboolean is_part; /* the value lies in the buffer of a larger join */
  gint last_read;   /* last step that reads the value and is not a join; -1: none */
  gint64 element_size; /* size of one element in bytes */
  gint rows;           /* index of the dimension that is outermost in memory; -1: the value is not
                          dense, or not stored */
  gint64 row_bytes;    /* bytes of the elements with one index of dimension `rows` */
} CleaveFitValue;

/* Memory of one or several values, and the steps in which the memory is live. `first` is -1 if the
 * memory is live when a run begins. `last` is the number of steps if the memory is live when the
 * run ends. If a node overwrites an operand, the buffer of the operand ends, and a new buffer
 * begins in its place. */
typedef struct
{
  gint first, last;
  gint64 n_bytes;
  guint after; /* buffer that takes over this memory; CLEAVE_FIT_NONE: none */
} CleaveFitBuffer;

/* A graph as a program runs it: steps in order, each of one node or of a quantized group. */
typedef struct
{
  guint n_steps;
  guint *first_node; /* indexed by step: index of the first node of the step; n_steps + 1 entries */
  gint64 *live;      /* indexed by step: live bytes; the last entry is for after the last step */
  GArray *nodes;     /* CleaveFitNode: the nodes that run, in the order of their steps */
  GArray *operands;  /* CleaveFitOperand: operands of all nodes, node by node */
  GArray *values;    /* CleaveFitValue: results of all nodes, node by node */
  GArray *buffers;   /* CleaveFitBuffer, sorted by the step where they begin */
  guint *first_buffer; /* indexed by step: index of the first buffer that begins at the step or
                          later; n_steps + 1 entries */
  guint *axes;         /* axis of each dimension (axes.h), CLEAVE_MAX_RANK entries for each value */
  gboolean *has_halo;  /* indexed by axis: neighboring pieces of some node read the same elements */
  gint64 *blocks;      /* elements of a block along each dimension of result 0 of each node
                          (cleave_node_get_block()), CLEAVE_MAX_RANK entries for each node */
  gint64 macs;
} CleaveFitSteps;

/* Builds the table for the order in which a program of one thread runs. Returns FALSE and sets the
 * error if the graph has a cycle. */
gboolean cleave_fit_steps_init (CleaveFitSteps *steps, const CleaveGraph *graph, GError **error);
/* Builds the table with staged parts: some operands of joins have separate buffers until the join
 * runs. Without this rule, these operands would lie in the join's buffer. The rule holds for
 * operands that are much smaller than the join. The table is then right for joins that are cut into
 * strips. If a join stays whole, the table overestimates the memory at the join, and underestimates
 * the memory before the join. Returns FALSE if the rule holds for no operand. */
gboolean cleave_fit_steps_init_staged (CleaveFitSteps *steps, const CleaveGraph *graph);
/* Builds the table for the order of the nodes in the graph's list, which must be a topological
 * order. Each node is a step. */
void cleave_fit_steps_init_as_listed (CleaveFitSteps *steps, const CleaveGraph *graph);
void cleave_fit_steps_clear (CleaveFitSteps *steps);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveFitSteps, cleave_fit_steps_clear)

static inline const CleaveFitNode *
cleave_fit_node (const CleaveFitSteps *steps, guint node)
{
  return &g_array_index (steps->nodes, CleaveFitNode, node);
}

static inline const CleaveFitValue *
cleave_fit_value (const CleaveFitSteps *steps, guint value)
{
  return &g_array_index (steps->values, CleaveFitValue, value);
}

static inline const CleaveFitBuffer *
cleave_fit_buffer (const CleaveFitSteps *steps, guint buffer)
{
  return &g_array_index (steps->buffers, CleaveFitBuffer, buffer);
}
