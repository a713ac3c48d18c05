/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "export.h"

/* Finds runs of nodes that repeat in a written file, and replaces each run by a Loop.
 *
 * A plan with strips writes the same nodes once per strip; only the rows that they slice differ.
 * A run of such nodes is a repeat: `n_iterations` iterations of `period` nodes each.
 *
 *    Slice(rows 0-4) Conv Relu  Slice(rows 4-8) Conv Relu  Slice(rows 8-12) Conv Relu
 *    '------ iteration 0 -----' '------ iteration 1 -----' '------ iteration 2 ------'
 *
 * list.c orders and numbers the nodes, repeats.c searches, iterations.c checks a candidate, loop.c
 * writes. */

#define CLEAVE_NO_VALUE G_MAXUINT

/* The order in which nodes are searched for repeats.
 *
 * AS_READ puts each node right before its first reader, from the outputs up. Slices and Concats
 * that other nodes read later come after all strips.
 *
 * AS_THEY_STAND keeps the order of the file, except that Slices and Concats move to their first
 * reader. Strips are adjacent only if the graph's order has them so. */
typedef enum { CLEAVE_ONNX_AS_READ, CLEAVE_ONNX_AS_THEY_STAND } CleaveOnnxOrder;

/* The nodes of a file, numbered so that operands come first, and their values, numbered too. */
typedef struct
{
  CleaveOnnxExport *export;
  Onnx__NodeProto **nodes;
  guint n_nodes;
  GHashTable *ids;             /* from the name of a value to its number plus 1 */
  GPtrArray *names;            /* name of each value */
  GPtrArray *constants;        /* Onnx__TensorProto of each value; NULL: no constant */
  GArray *makers;              /* guint: node that computes each value; CLEAVE_NO_VALUE: none */
  guint *first_input, *inputs; /* operands of each node; CLEAVE_NO_VALUE: absent */
  guint *first_use, *uses;     /* readers of each value, as nodes */
  CleaveTensorType *types;     /* type of each value; valid where is_known */
  gboolean *is_known;
  guint *kinds; /* hash, equal for nodes that differ only in operands and in the begins of Slices */
} CleaveOnnxList;

/* Where an operand of a node in an iteration comes from. */
typedef struct
{
  gboolean is_made; /* this or an earlier iteration computes the operand; if not, all iterations
                       read the same value */
  guint node;       /* position within the period */
  guint result;
  guint lag; /* number of iterations before this one; 0: the same iteration */
} CleaveOnnxRelation;

/* A loop-carried result: later iterations read it. */
typedef struct
{
  guint node, result;
  guint lag;      /* a later iteration reads the result at most this many iterations after the one
                   * that computes it */
  guint first[8]; /* first[k]: initial value for lag k + 1 */
} CleaveOnnxState;

#define CLEAVE_ONNX_MAX_LAG 8

/* A result that one Concat after the loop joins over all iterations. */
typedef struct
{
  guint node, result;
  guint reader; /* node number of the Concat */
  guint input;  /* operand index of iteration 0's result */
} CleaveOnnxStack;

typedef struct
{
  guint begin, period, n_iterations;
  GArray *states; /* CleaveOnnxState: loop-carried results */
  GArray *stacks; /* CleaveOnnxStack: results that are joined after the loop */
} CleaveOnnxRepeat;

void cleave_onnx_repeat_free (CleaveOnnxRepeat *repeat);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveOnnxRepeat, cleave_onnx_repeat_free)

/* Returns FALSE if a node contains a graph (If, Loop): such files are not searched. */
gboolean
cleave_onnx_list_init (CleaveOnnxList *list, CleaveOnnxExport *export, CleaveOnnxOrder order);
void cleave_onnx_list_clear (CleaveOnnxList *list);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveOnnxList, cleave_onnx_list_clear)

/* Returns the constant begins of a Slice, one per sliced axis; NULL if the node is another op or
 * its begins or ends are not constant. */
const gint64 *cleave_onnx_list_begins (const CleaveOnnxList *list, guint node, guint *n);
CleaveOnnxRelation cleave_onnx_list_relate (const CleaveOnnxList *list,
                                            const CleaveOnnxRepeat *repeat,
                                            guint node,
                                            guint input);
static inline guint
cleave_onnx_list_n_inputs (const CleaveOnnxList *list, guint node)
{
  return list->first_input[node + 1] - list->first_input[node];
}
static inline guint
cleave_onnx_list_input (const CleaveOnnxList *list, guint node, guint input)
{
  return list->inputs[list->first_input[node] + input];
}
guint cleave_onnx_list_value (const CleaveOnnxList *list, const char *name);

/* Returns the node number after the last iteration. */
guint cleave_onnx_repeat_end (const CleaveOnnxRepeat *repeat);
/* Checks that the nodes are iterations of one body; fills in `states`. */
gboolean cleave_onnx_check_iterations (const CleaveOnnxList *list, CleaveOnnxRepeat *repeat);
/* Checks that nodes outside read only final states and joined results; fills in `stacks`. */
gboolean cleave_onnx_check_readers (const CleaveOnnxList *list, CleaveOnnxRepeat *repeat);
/* Returns non-overlapping CleaveOnnxRepeats in order of position. */
GPtrArray *cleave_onnx_find_repeats (const CleaveOnnxList *list);

/* Writes the Loop of a repeat, and the nodes that join the results of its iterations. */
void cleave_onnx_write_loop (CleaveOnnxExport *export,
                             const CleaveOnnxList *list,
                             const CleaveOnnxRepeat *repeat);
