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

/* The nodes of a file, with numbers in an order in which operands come before readers, and their
 * values, with numbers of their own. */
typedef struct
{
  CleaveOnnxExport *export;
  Onnx__NodeProto **nodes;
  guint n_nodes;
  GHashTable *ids;      /* maps the name of a value to 1 plus its number */
  GPtrArray *names;     /* indexed by value: its name */
  GPtrArray *constants; /* indexed by value: its Onnx__TensorProto; NULL: not constant */
  GArray *makers;       /* guint, indexed by value: node that computes it; CLEAVE_NO_VALUE: none */
  guint *first_input, *inputs; /* operands of node i: values inputs[first_input[i] … first_input[i +
                                  1] - 1]; CLEAVE_NO_VALUE: absent */
  guint *first_use, *uses; /* readers of value v: nodes uses[first_use[v] … first_use[v + 1] - 1] */
  CleaveTensorType *types; /* indexed by value: its type; valid if `is_known` */
  gboolean *is_known;
  guint *kinds; /* indexed by node: hash that is equal for nodes that differ only in operands and in
                   the begins of Slices */
} CleaveOnnxList;

/* Where an operand of a node in an iteration comes from. */
typedef struct
{
  gboolean is_made; /* TRUE: a result of this or an earlier iteration; FALSE: the same value for all
                       iterations */
  guint node;       /* position in the period of the node that computes the operand */
  guint result;
  guint lag; /* number of iterations between the one that computes the operand and this one; 0: the
                same */
} CleaveOnnxRelation;

/* A state: a result that later iterations read. */
typedef struct
{
  guint node, result;
  guint lag;      /* a later iteration reads the result at most this many iterations after the one
                   * that computes it */
  guint first[8]; /* first[k]: number of the value that stands for the result of k + 1 iterations
                     before iteration 0 */
} CleaveOnnxState;

#define CLEAVE_ONNX_MAX_LAG 8

/* A result of all iterations that one Concat after the loop joins. */
typedef struct
{
  guint node, result;
  guint reader; /* number of the Concat */
  guint input;  /* index of the Concat's operand that is iteration 0's result */
} CleaveOnnxStack;

typedef struct
{
  guint begin, period, n_iterations;
  GArray *states; /* CleaveOnnxState: results that later iterations read */
  GArray *stacks; /* CleaveOnnxStack: results that are joined after the loop */
} CleaveOnnxRepeat;

void cleave_onnx_repeat_free (CleaveOnnxRepeat *repeat);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveOnnxRepeat, cleave_onnx_repeat_free)

/* Gives numbers to the nodes and values of a file. Returns FALSE if a node contains a graph (If,
 * Loop), since such files are not searched. */
gboolean
cleave_onnx_list_init (CleaveOnnxList *list, CleaveOnnxExport *export, CleaveOnnxOrder order);
void cleave_onnx_list_clear (CleaveOnnxList *list);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveOnnxList, cleave_onnx_list_clear)

/* Returns the constant begins of a Slice, one for each sliced axis, and sets `n` to their number.
 * Returns NULL if the node is another op, or if its begins or ends are not constant. */
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

/* Returns the number of the node after the last iteration. */
guint cleave_onnx_repeat_end (const CleaveOnnxRepeat *repeat);
/* Checks that the nodes of a repeat are iterations of one body. Fills in `states`. */
gboolean cleave_onnx_check_iterations (const CleaveOnnxList *list, CleaveOnnxRepeat *repeat);
/* Checks that nodes outside of the repeat read only final states and joined results. Fills in
 * `stacks`. */
gboolean cleave_onnx_check_readers (const CleaveOnnxList *list, CleaveOnnxRepeat *repeat);
/* Returns the repeats (CleaveOnnxRepeat), which do not overlap, in the order of their begins. */
GPtrArray *cleave_onnx_find_repeats (const CleaveOnnxList *list);

/* Writes the Loop of a repeat, and the nodes that join the results of its iterations. */
void cleave_onnx_write_loop (CleaveOnnxExport *export,
                             const CleaveOnnxList *list,
                             const CleaveOnnxRepeat *repeat);
