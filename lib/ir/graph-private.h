/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "op.h"
#include "slab.h"

struct _CleaveOperand
{
  CleaveNode *node; /* NULL: an output of the graph */
  guint index;
  CleaveResult *result; /* NULL: an optional operand that is absent */
  CleaveOperand *prev_use, *next_use;
};

struct _CleaveResult
{
  CleaveNode *node;
  guint index;
  guint n_uses;
  CleaveTensorType type;
  char *name; /* NULL: made of the node's name */
  CleaveOperand *first_use, *last_use;
};

struct _CleaveNode
{
  CleaveGraph *graph; /* NULL: it was removed, and lives as long as somebody holds it */
  CleaveGraph *owner; /* the graph that it is or was of: each hold on a node is one on its graph */
  gint n_holds;       /* atomic; the graph's own is one of them */
  CleaveNode *prev, *next;
  const CleaveOp *op;
  char *name;
  gpointer attrs;
  guint n_operands, n_results;
  guint n_variable; /* operands whose values constants alone do not decide */
  guint id; /* its index in arrays of n_ids, more than that of any node built before; it may change
               when a node is removed or all are arranged, and does not when the graph is read */
  CleaveOperand *operands; /* in the node's own block, as the results are */
  CleaveResult *results;
};

struct _CleaveGraph
{
  char *name;
  CleaveSlab *slab; /* its nodes and their names */
  guint n_nodes, n_ids;
  CleaveNode *first, *last;
  GPtrArray *inputs;        /* CleaveResult */
  GPtrArray *outputs;       /* CleaveOutput */
  GHashTable *output_names; /* of these */
  GHashTable *nodes;        /* by name */
  GHashTable *values;       /* CleaveResult by its own name, where it has one */
  GHashTable *suffixes;     /* next number to try after a name that was taken */
  gboolean
      inputs_apart;    /* somebody else's memory holds the inputs: for counting, not for programs */
  gint64 enough_bytes; /* what takes more is hardly ordered, not packed; 0: nothing.  Likewise */
  gpointer origin;     /* what the file that it came from says besides; NULL: none.  Counted */
  GDestroyNotify origin_clear;
  GPtrArray *files; /* paths that it was read from, the model's own first; NULL: from none */
  GArray *defaults; /* CleaveDefault: inputs that have values in the file; NULL: none */
  GHashTable *open_defaults; /* names of those that may be replaced, by tensor */
  GHashTable *shared_names;  /* names that several nodes of its file have, with the names of their
                                first results (GPtrArray); NULL: there are none.  Never changed */
};

typedef struct
{
  CleaveOperand operand; /* node is NULL; first, so that a use can be cast back */
  char *name;
} CleaveOutput;

/* Keeps what the file says besides, an atomic rc box; takes it. */
void cleave_graph_set_origin (CleaveGraph *graph, gpointer origin, GDestroyNotify clear);
/* Keeps a table of names that several nodes of its file have; takes it. */
void cleave_graph_set_shared_names (CleaveGraph *graph, GHashTable *names);
/* Notes a file that it was read from. */
void cleave_graph_add_file (CleaveGraph *graph, const char *path);

/* The call of a node, for asking its op. */
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

/* As cleave_graph_add(), with attributes and types that are known to be right: cannot fail.  Takes
 * the attributes. */
CleaveNode *cleave_graph_add_checked (CleaveGraph *graph,
                                      const CleaveOp *op,
                                      const char *name,
                                      CleaveResult *const *operands,
                                      guint n_operands,
                                      const CleaveTensorType *results,
                                      guint n_results,
                                      gpointer attrs);

/* A node like this one, of this or another graph, that reads other values of the same types: cannot
 * fail. */
/* Puts all nodes in this order, as if they had been built in it. */
void cleave_graph_arrange (CleaveGraph *graph, const GPtrArray *order);

CleaveNode *cleave_graph_add_like (CleaveGraph *graph,
                                   const CleaveNode *node,
                                   const char *name,
                                   CleaveResult *const *operands);

static inline CleaveResult *
cleave_node_operand_result (const CleaveNode *node, guint index)
{
  return node->operands[index].result;
}

/* The structural ops, whose records are in lib/ops/structure.c. */
extern const CleaveOp cleave_op_input, cleave_op_constant;

/* Whether constants alone decide its results: a Constant, or a node that reads nothing but such.  A
 * program works them out once, when it is made; they are weights, as constants are. */
static inline gboolean
cleave_node_is_fixed (const CleaveNode *node)
{
  return node->op != &cleave_op_input && node->n_variable == 0;
}

/* Between a form of storage and the type that is computed with: how many bytes more an element has
 * after the node. */
gint cleave_node_widens (const CleaveNode *node);

static inline gboolean
cleave_node_is_used (const CleaveNode *node)
{
  for (guint r = 0; r < node->n_results; r++)
    if (node->results[r].n_uses > 0)
      return TRUE;
  return FALSE;
}

/* For graph.c and node.c. */
char *cleave_graph_unique_name (CleaveGraph *graph, const char *base);
/* In the graph's slab, to which they go back. */
char *cleave_graph_dup_name (CleaveGraph *graph, const char *name);
void cleave_graph_free_name (CleaveSlab *slab, char *name);
CleaveNode *cleave_node_new (CleaveGraph *graph, guint n_operands, guint n_results);
/* To the slab; NULL: another thread may be using that. */
void cleave_node_free (CleaveNode *node, CleaveSlab *slab);
/* Gives up one hold on a node, but not the hold on its graph; the last one frees the node. */
void cleave_node_release (CleaveNode *node, CleaveSlab *slab);
/* Lets go of a constant's tensor: afterwards the node may only be freed. */
void cleave_node_drop_constant (CleaveNode *node);
void cleave_operand_attach (CleaveOperand *operand, CleaveResult *result);
void cleave_operand_detach (CleaveOperand *operand);
