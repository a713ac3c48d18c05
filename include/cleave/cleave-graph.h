/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Graphs: how to build, walk, edit, check and print them. Importers build a graph, passes edit it,
 * and cleave_program_new() compiles it.
 *
 *   CleaveGraph      owns nodes, names inputs and outputs
 *   CleaveNode       an op (CleaveOp) with attributes
 *   CleaveOperand    a place where a node reads; it points to a result
 *   CleaveResult     a value that a node computes; it lists its uses (operands)
 *
 * Each node has a name of its own. Several threads may read a graph at the same time; while one
 * thread edits the graph, no other thread may use it. */

#include <cleave/cleave-tensor.h>

G_BEGIN_DECLS

#define CLEAVE_TYPE_GRAPH (cleave_graph_get_gtype ())

#define CLEAVE_TYPE_NODE (cleave_node_get_gtype ())
#define CLEAVE_TYPE_OPERAND (cleave_operand_get_gtype ())
#define CLEAVE_TYPE_RESULT (cleave_result_get_gtype ())
#define CLEAVE_TYPE_OP (cleave_op_get_gtype ())

/**
 * CleaveGraph:
 *
 * A directed acyclic graph of nodes, with inputs and outputs. The graph owns its nodes.
 */
typedef struct _CleaveGraph CleaveGraph;

/**
 * CleaveNode:
 *
 * An op applied to operands. Functions that return a node do not transfer ownership: the graph owns
 * the node until the node is removed. [method@Cleave.Node.ref] keeps a node alive longer.
 */
typedef struct _CleaveNode CleaveNode;

/**
 * CleaveOperand:
 *
 * A use of a result, by a node or by an output of the graph. The operand of a node lives as long as
 * the node, an output as long as the graph.
 */
typedef struct _CleaveOperand CleaveOperand;

/**
 * CleaveResult:
 *
 * A value that a node computes. The result lives as long as its node.
 */
typedef struct _CleaveResult CleaveResult;

/**
 * CleaveOp:
 *
 * An operator, such as Conv. Each operator is one static record. The record is never freed, and all
 * nodes of the operator point to it.
 */
typedef struct _CleaveOp CleaveOp;

/* Find an op by its name, and list all ops. */
CLEAVE_API GType cleave_op_get_gtype (void);
CLEAVE_API const CleaveOp *cleave_op_lookup (const char *name);
CLEAVE_API const char *cleave_op_get_name (const CleaveOp *op);
CLEAVE_API const CleaveOp *const *cleave_op_list (guint *n_ops);

/* Build a graph: add nodes, inputs, constants and outputs. */
CLEAVE_API GType cleave_graph_get_gtype (void);
CLEAVE_API CleaveGraph *cleave_graph_new (const char *name);
CLEAVE_API CleaveGraph *cleave_graph_ref (CleaveGraph *graph);
CLEAVE_API void cleave_graph_unref (CleaveGraph *graph);
CLEAVE_API CleaveGraph *cleave_graph_copy (const CleaveGraph *graph);
CLEAVE_API CleaveResult *cleave_graph_add_input (CleaveGraph *graph,
                                                 const char *name,
                                                 const CleaveTensorType *type,
                                                 GError **error);
CLEAVE_API CleaveResult *
cleave_graph_add_constant (CleaveGraph *graph, const char *name, CleaveTensor *value);
CLEAVE_API CleaveNode *cleave_graph_add (CleaveGraph *graph,
                                         const CleaveOp *op,
                                         const char *name,
                                         CleaveResult *const *operands,
                                         guint n_operands,
                                         guint n_results,
                                         gconstpointer attrs,
                                         GError **error);
CLEAVE_API gboolean cleave_graph_add_output (CleaveGraph *graph,
                                             const char *name,
                                             CleaveResult *value,
                                             GError **error);
CLEAVE_API void cleave_graph_remove (CleaveGraph *graph, CleaveNode *node);

/* Walk a graph: from the graph to nodes, operands, results and uses. */
CLEAVE_API const char *cleave_graph_get_name (const CleaveGraph *graph);
CLEAVE_API guint cleave_graph_get_n_nodes (const CleaveGraph *graph);
CLEAVE_API guint cleave_graph_count_operators (const CleaveGraph *graph);
CLEAVE_API gint64 cleave_graph_get_macs (const CleaveGraph *graph);
CLEAVE_API CleaveNode *cleave_graph_get_first_node (const CleaveGraph *graph);
CLEAVE_API CleaveNode *cleave_graph_find_node (const CleaveGraph *graph, const char *name);
CLEAVE_API guint cleave_graph_get_n_inputs (const CleaveGraph *graph);
CLEAVE_API CleaveResult *cleave_graph_get_input (const CleaveGraph *graph, guint index);
CLEAVE_API guint cleave_graph_get_n_outputs (const CleaveGraph *graph);
CLEAVE_API CleaveOperand *cleave_graph_get_output (const CleaveGraph *graph, guint index);
CLEAVE_API const char *cleave_graph_get_output_name (const CleaveGraph *graph, guint index);
CLEAVE_API GPtrArray *cleave_graph_get_order (const CleaveGraph *graph, GError **error);

CLEAVE_API GType cleave_node_get_gtype (void);
CLEAVE_API CleaveNode *cleave_node_ref (CleaveNode *node);
CLEAVE_API void cleave_node_unref (CleaveNode *node);
CLEAVE_API CleaveGraph *cleave_node_get_graph (const CleaveNode *node);
CLEAVE_API CleaveNode *cleave_node_get_next (const CleaveNode *node);
CLEAVE_API const char *cleave_node_get_name (const CleaveNode *node);
CLEAVE_API const CleaveOp *cleave_node_get_op (const CleaveNode *node);
CLEAVE_API gconstpointer cleave_node_get_attrs (const CleaveNode *node);
CLEAVE_API char *cleave_node_dup_attrs_string (const CleaveNode *node);
CLEAVE_API guint cleave_node_get_n_operands (const CleaveNode *node);
CLEAVE_API CleaveOperand *cleave_node_get_operand (const CleaveNode *node, guint index);
CLEAVE_API guint cleave_node_get_n_results (const CleaveNode *node);
CLEAVE_API CleaveResult *cleave_node_get_result (const CleaveNode *node, guint index);
CLEAVE_API gint64 cleave_node_get_macs (const CleaveNode *node);
CLEAVE_API gboolean cleave_node_is_input (const CleaveNode *node);
CLEAVE_API CleaveTensor *cleave_node_get_constant (const CleaveNode *node);

CLEAVE_API GType cleave_operand_get_gtype (void);
CLEAVE_API CleaveOperand *cleave_operand_ref (CleaveOperand *operand);
CLEAVE_API void cleave_operand_unref (CleaveOperand *operand);
CLEAVE_API CleaveNode *cleave_operand_get_node (const CleaveOperand *operand);
CLEAVE_API guint cleave_operand_get_index (const CleaveOperand *operand);
CLEAVE_API const char *cleave_operand_get_name (const CleaveOperand *operand);
CLEAVE_API CleaveResult *cleave_operand_get_result (const CleaveOperand *operand);
CLEAVE_API CleaveOperand *cleave_operand_get_next_use (const CleaveOperand *operand);

CLEAVE_API GType cleave_result_get_gtype (void);
CLEAVE_API CleaveResult *cleave_result_ref (CleaveResult *result);
CLEAVE_API void cleave_result_unref (CleaveResult *result);
CLEAVE_API CleaveNode *cleave_result_get_node (const CleaveResult *result);
CLEAVE_API guint cleave_result_get_index (const CleaveResult *result);
CLEAVE_API const CleaveTensorType *cleave_result_get_type (const CleaveResult *result);
CLEAVE_API char *cleave_result_dup_name (const CleaveResult *result);
CLEAVE_API guint cleave_result_get_n_uses (const CleaveResult *result);
CLEAVE_API CleaveOperand *cleave_result_get_first_use (const CleaveResult *result);

/* Edit a graph: change what operands read, rename values and nodes. */
CLEAVE_API void cleave_operand_set (CleaveOperand *operand, CleaveResult *result);
CLEAVE_API void cleave_result_replace_uses (CleaveResult *result, CleaveResult *with);
CLEAVE_API void cleave_result_set_name (CleaveResult *result, const char *name);
CLEAVE_API void cleave_node_take_names (CleaveNode *node, CleaveNode *from);

/* Check and print a graph. */
CLEAVE_API gboolean cleave_graph_validate (const CleaveGraph *graph, GError **error);
CLEAVE_API char *cleave_graph_print (const CleaveGraph *graph);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveGraph, cleave_graph_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveNode, cleave_node_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveOperand, cleave_operand_unref)
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveResult, cleave_result_unref)

G_END_DECLS
