/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "export.h"

/* Finds runs of nodes that repeat in a written file, and replaces each run by a Loop.
 *
 * A plan with strips writes the same nodes once for each strip; only the rows that Slices read
 * differ. A run of such nodes is a repeat: `n_iterations` iterations of `period` nodes each.
 *
 *    Slice(rows 0-4) Conv Relu  Slice(rows 4-8) Conv Relu  Slice(rows 8-12) Conv Relu
 *    '------ iteration 0 -----' '------ iteration 1 -----' '------ iteration 2 ------'
 *
 * loops.c calls the other files. list.c orders and numbers the nodes, and repeats.c searches for
 * candidates. repeat-bounds.c rules out most parts of a candidate, iterations.c checks a part, and
 * loop.c writes the Loop. */

#define CLEAVE_NO_VALUE G_MAXUINT

/* The order in which nodes are searched for repeats.
 *
 * READERS_ORDER begins with the outputs, and puts each node right before its first reader. If only
 * nodes after the strips read a Slice or a Concat, this node does not lie between the strips.
 *
 * FILE_ORDER keeps the order of the file, except that a Slice or a Concat moves to its first
 * reader. The strips are adjacent only if they are adjacent in the graph. */
typedef enum { CLEAVE_ONNX_READERS_ORDER, CLEAVE_ONNX_FILE_ORDER } CleaveOnnxOrder;

/* The nodes and the values of a file. Each node and each value has a number: its index in the
 * arrays below. Nodes are in an order in which operands come before their readers. */
typedef struct
{
  CleaveOnnxExport *export;
  Onnx__NodeProto **nodes;
  guint n_nodes;
  GHashTable *ids;               /* maps the name of a value to 1 plus its number */
  GPtrArray *names;              /* indexed by value: name of the value */
  GPtrArray *constants;          /* indexed by value: its Onnx__TensorProto; NULL: the value is not
                                  * constant */
  guint *first_input, *inputs;   /* operands of node i: values inputs[first_input[i] …
                                  * first_input[i + 1] - 1]; CLEAVE_NO_VALUE: absent operand */
  guint *first_result, *results; /* results of node i: values results[first_result[i] …
                                  * first_result[i + 1] - 1]; CLEAVE_NO_VALUE: absent result */
  guint *makers;                 /* indexed by value: the node that computes it; CLEAVE_NO_VALUE: an
                                  * input or a constant */
  guint *places;       /* indexed by value: its index in `results`, or CLEAVE_NO_VALUE as above */
  gboolean *is_output; /* indexed by value: whether it is an output of the file */
  guint *first_use, *uses; /* readers of value v: nodes uses[first_use[v] … first_use[v + 1] - 1] */
  guint *use_inputs;       /* use i reads operand inputs[use_inputs[i]] */
  CleaveTensorType *types; /* indexed by value: type of the value, if `is_known` */
  gboolean *is_known;
  guint *kinds; /* indexed by node: number of the node's kind. Nodes of one kind differ only in the
                 * operands that are not constant, and in the begins of Slices */
} CleaveOnnxList;

/* The source of an operand of a node in an iteration. */
typedef struct
{
  gboolean is_made; /* TRUE: a result of this or an earlier iteration; FALSE: a value from outside
                     * the repeat */
  guint node;       /* the node that computes the operand: its index among the nodes of one
                     * iteration */
  guint result;
  guint lag; /* number of iterations between computing and reading the operand; 0: both are in one
              * iteration */
} CleaveOnnxRelation;

/* A state of a Loop: a result of an iteration that later iterations read. */
typedef struct
{
  guint node, result;
  guint lag;      /* largest number of iterations between computing and reading the result */
  guint first[8]; /* initial values. first[0] takes the place of the result of iteration -1,
                   * first[1] of iteration -2, and so on. With a lag of 2, iteration 0 reads
                   * first[1], and iteration 1 reads first[0] */
} CleaveOnnxState;

#define CLEAVE_ONNX_MAX_LAG 8

/* A result of the body. One Concat after the Loop joins the values of this result from all
 * iterations. */
typedef struct
{
  guint node, result;
  guint reader; /* number of the node of the Concat */
  guint input;  /* index of the Concat's operand that is the result of iteration 0 */
} CleaveOnnxStack;

typedef struct
{
  guint begin, period, n_iterations;
  GArray *states; /* CleaveOnnxState: the results that later iterations read */
  GArray *stacks; /* CleaveOnnxStack: the results that a Concat joins after the Loop */
} CleaveOnnxRepeat;

/* A range of nodes in which each node has the same kind as the node `period` nodes later. */
typedef struct
{
  guint begin, period, end;
} CleaveOnnxCandidate;

void cleave_onnx_repeat_free (CleaveOnnxRepeat *repeat);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveOnnxRepeat, cleave_onnx_repeat_free)

/* Gives numbers to the nodes and values of a file. Returns FALSE if a node contains a graph, as an
 * If does; the nodes then have no numbers. */
gboolean
cleave_onnx_list_init (CleaveOnnxList *list, CleaveOnnxExport *export, CleaveOnnxOrder order);
void cleave_onnx_list_clear (CleaveOnnxList *list);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveOnnxList, cleave_onnx_list_clear)

/* Returns the constant begins of a Slice, one for each sliced axis. Sets `n` to their number.
 * Returns NULL if the node is another op, or if its begins or its ends are not constant. */
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
static inline guint
cleave_onnx_list_result (const CleaveOnnxList *list, guint node, guint result)
{
  return list->results[list->first_result[node] + result];
}
guint cleave_onnx_list_value (const CleaveOnnxList *list, const char *name);

/* Finds in which parts of a candidate a repeat may lie, in time linear in the nodes of the
 * candidate. Sets `least`, an array of end - begin + 1 numbers: a repeat that ends before node
 * begin + i begins at node least[i] or later. Sets `bytes`, an array of period + 1 numbers. Number
 * i is the bytes of the states of a repeat that begins i nodes after the begin of the candidate, or
 * whole periods later. The last number has no meaning. */
void cleave_onnx_bound_repeats (const CleaveOnnxList *list,
                                const CleaveOnnxCandidate *candidate,
                                guint *least,
                                gint64 *bytes);

/* Returns the number of the node after the last iteration. */
guint cleave_onnx_repeat_end (const CleaveOnnxRepeat *repeat);
/* Checks that the nodes of a repeat can become iterations of one Loop body. Sets the `states` of
 * the repeat. */
gboolean cleave_onnx_check_iterations (const CleaveOnnxList *list, CleaveOnnxRepeat *repeat);
/* Checks that only two kinds of nodes outside the repeat read its results: Concats that join a
 * result from all iterations, and nodes that read final states. Adds a CleaveOnnxStack to the
 * repeat for each of these Concats. */
gboolean cleave_onnx_check_readers (const CleaveOnnxList *list, CleaveOnnxRepeat *repeat);
/* Returns the repeats (CleaveOnnxRepeat) that become Loops, ordered by their first nodes. No two
 * repeats overlap. */
GPtrArray *cleave_onnx_find_repeats (const CleaveOnnxList *list);

/* Writes the Loop of a repeat, and the nodes that join the results of its iterations. */
void cleave_onnx_write_loop (CleaveOnnxExport *export,
                             const CleaveOnnxList *list,
                             const CleaveOnnxRepeat *repeat);
