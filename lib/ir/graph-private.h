/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The structs of a graph, for the library and its passes. Only graph.c and node.c change the links
 * between the structs. Passes and planners only read the links. Programs use the functions of
 * cleave-graph.h instead.
 *
 *   graph: first -> node <-> node <-> node <- last       in the order of building
 *
 *   node:  [ node | results ... | operands ... ]         one block of memory
 *
 *   result: first_use -> operand <-> operand             all operands that read the result
 *
 * An output of the graph is an operand without a node. */

#include "op.h"
#include "slab.h"

struct _CleaveOperand
{
  CleaveNode *node; /* the node that has the operand; NULL for an output of the graph */
  guint index;
  CleaveResult *result; /* the value that the operand reads; NULL if the operand is absent */
  CleaveOperand *prev_use, *next_use;
};

struct _CleaveResult
{
  CleaveNode *node;
  guint index;
  guint n_uses;
  CleaveTensorType type;
  char *name; /* name of the result; NULL: the name is derived from the node's name */
  CleaveOperand *first_use, *last_use;
};

struct _CleaveNode
{
  CleaveGraph *graph; /* NULL if the node was removed from its graph but is still referenced */
  CleaveGraph *owner; /* the graph that has or had the node; a reference to the node holds a
                       * reference to this graph */
  gint n_holds; /* number of references to the node, atomic; one of the references belongs to the
                 * graph */
  CleaveNode *prev, *next;
  const CleaveOp *op;
  char *name;
  gpointer attrs;
  guint n_operands, n_results;
  guint n_variable; /* number of operands that depend on more than constants */
  guint id; /* index for arrays of graph->n_ids entries. Larger than the id of each node built
             * before. cleave_graph_remove() and cleave_graph_arrange() may change ids */
  CleaveOperand *operands; /* array of n_operands operands, in the node's block of memory */
  CleaveResult *results;
};

struct _CleaveGraph
{
  char *name;
  CleaveSlab *slab; /* memory of the nodes and their names */
  guint n_nodes, n_ids;
  CleaveNode *first, *last;
  GPtrArray *inputs;        /* CleaveResult: value of each input */
  GPtrArray *outputs;       /* CleaveOutput: the outputs, in order */
  GHashTable *output_names; /* set of the names of the outputs */
  GHashTable *nodes;        /* maps the name of a node to the node */
  GHashTable *values;       /* maps a name to the value, for values with a name of their own */
  GHashTable *suffixes;     /* maps a name to the last number that was appended to it to make a
                             * unique name: after `conv_1` and `conv_2`, `conv` maps to 2 */
  gboolean keeps_order; /* whether the nodes must run in the order of the list `first` … `last`;
                         * adding a node clears this flag */
  gboolean exclude_inputs; /* whether estimates of memory leave out the inputs */
  gpointer origin;         /* the origin: contents of the model's file that the other fields do not
                            * hold, such as doc strings; an atomic rc box. NULL: none */
  GDestroyNotify origin_clear;
  GPtrArray *files;          /* paths of the files of the model, the model file first; NULL: none */
  GArray *defaults;          /* CleaveDefault: inputs that have values in the file; NULL: none */
  GHashTable *open_defaults; /* maps the default value of an input to the name of the input, for
                              * default values with the state CLEAVE_DEFAULT_OPEN (defaults.h) */
  GHashTable *shared_names;  /* maps a name that several nodes of the model's file share to the
                              * names of their first results (GPtrArray); NULL: none. Copies of the
                              * graph share the table */
};

typedef struct
{
  CleaveOperand operand; /* the use of the output's value: an operand whose `node` is NULL.
                          * `operand` is the first field, so that code can cast a pointer to this
                          * operand to a pointer to CleaveOutput */
  char *name;
} CleaveOutput;

/* Sets the origin of a graph, and takes ownership of `origin`, which must be an atomic rc box of
 * GLib. `clear` runs when the last reference to the origin is released. */
void cleave_graph_set_origin (CleaveGraph *graph, gpointer origin, GDestroyNotify clear);
/* Sets the table `shared_names` of a graph, and takes ownership of the table. */
void cleave_graph_set_shared_names (CleaveGraph *graph, GHashTable *names);
/* Adds the path of a file that the graph was read from. */
void cleave_graph_add_file (CleaveGraph *graph, const char *path);

/* The arguments of the functions of an op's record (CleaveCall), made from a node. A node with few
 * operands and results needs no allocation. */
typedef struct
{
  CleaveCall call;
  CleaveCursor cursor;
  CleaveTensorType *types;
  CleaveTensorType few[6];
} CleaveNodeCall;

const CleaveCall *cleave_node_call_init (CleaveNodeCall *call, const CleaveNode *node);
void cleave_node_call_clear (CleaveNodeCall *call);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveNodeCall, cleave_node_call_clear)

/* Adds a node as cleave_graph_add() does, but infers and checks nothing: attributes must be in
 * normal form and result types correct. Takes ownership of the attributes. Cannot fail. */
CleaveNode *cleave_graph_add_checked (CleaveGraph *graph,
                                      const CleaveOp *op,
                                      const char *name,
                                      CleaveResult *const *operands,
                                      guint n_operands,
                                      const CleaveTensorType *results,
                                      guint n_results,
                                      gpointer attrs);

/* Sorts the list of all nodes by `order`, as if the nodes had been built in this order. */
void cleave_graph_arrange (CleaveGraph *graph, const GPtrArray *order);

/* Adds a node with the op, attributes and result types of `node`, which may be in another graph.
 * The operands must have the types of the operands of `node`. Cannot fail. */
CleaveNode *cleave_graph_add_like (CleaveGraph *graph,
                                   const CleaveNode *node,
                                   const char *name,
                                   CleaveResult *const *operands);

static inline CleaveResult *
cleave_node_operand_result (const CleaveNode *node, guint index)
{
  return node->operands[index].result;
}

/* The ops Input and Constant, in lib/ops/structure.c. */
extern const CleaveOp cleave_op_input, cleave_op_constant;

/* Returns whether a node is fixed, that is, whether its results depend on constants alone. An Input
 * is not fixed. Any other node is fixed if all its operands, if any, are results of fixed nodes.
 * cleave_program_new() computes fixed nodes once. The results of fixed nodes are weights, as
 * constants are. */
static inline gboolean
cleave_node_is_fixed (const CleaveNode *node)
{
  return node->op != &cleave_op_input && node->n_variable == 0;
}

/* For a node that converts between a type for storage and a type for computing, returns the bytes
 * of a result element minus the bytes of an operand element. Example: 3 for DequantizeLinear from
 * int8 to float32, -3 for QuantizeLinear back. Returns 0 for all other nodes. */
gint cleave_node_widens (const CleaveNode *node);

static inline gboolean
cleave_node_is_used (const CleaveNode *node)
{
  for (guint r = 0; r < node->n_results; r++)
    if (node->results[r].n_uses > 0)
      return TRUE;
  return FALSE;
}

/* graph.c and node.c share the functions below. */

/* Returns a name, made from `base`, that no node and no value of the graph has. The name is
 * allocated from the graph's slab. */
char *cleave_graph_unique_name (CleaveGraph *graph, const char *base);
/* Copies a name to the graph's slab. cleave_graph_free_name() gives the memory of the copy back to
 * the slab. */
char *cleave_graph_dup_name (CleaveGraph *graph, const char *name);
void cleave_graph_free_name (CleaveSlab *slab, char *name);
CleaveNode *cleave_node_new (CleaveGraph *graph, guint n_operands, guint n_results);
/* Frees a node and gives its memory back to the graph's slab, `slab`. If another thread may be
 * using this slab, the caller passes NULL. The memory is then freed together with the slab. */
void cleave_node_free (CleaveNode *node, CleaveSlab *slab);
/* Drops a reference to a node, but not the reference to its graph. Frees the node if no reference
 * is left. */
void cleave_node_release (CleaveNode *node, CleaveSlab *slab);
/* Drops the tensor of a Constant. Afterwards the node may only be freed. */
void cleave_node_drop_constant (CleaveNode *node);
/* Add an operand to the list of uses of a result (attach), and remove an operand from the list. */
void cleave_operand_attach (CleaveOperand *operand, CleaveResult *result);
void cleave_operand_detach (CleaveOperand *operand);
