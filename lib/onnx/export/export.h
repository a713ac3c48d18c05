/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What the files of the exporter share. */

#include <cleave/cleave-onnx.h>

#include "../../ir/graph-private.h"
#include "../../ir/pool.h"
#include "../origin.h"
#include "../tensor-proto.h"

/* Wheres that become one If. */
typedef struct _CleaveOnnxChoice CleaveOnnxChoice;

/* Lists of names grow and are never cut, so a name lives as long as the export.  Tables of strings
 * are what an export of a large graph spends its time on: what the graph knows is asked there. */
typedef struct
{
  const CleaveGraph *graph;
  const CleaveOnnxOrigin *origin; /* of the model that the graph came from, or NULL */
  const CleaveOp *assemble, *custom, *where;
  guint opset;      /* that is written */
  CleavePool *pool; /* names, and the nodes of the model but for their attributes */
  Onnx__ModelProto *model;
  Onnx__GraphProto *scope;   /* takes the nodes: the model's graph, or a branch of an If */
  GHashTable *value_names;   /* names of values that are taken */
  GHashTable *node_names;    /* likewise of nodes that the graph has not */
  GHashTable *suffixes;      /* next number to try after a name that was taken */
  const CleaveNode *node;    /* of the graph, that is being written: it has its name */
  guint *first_value;        /* of each node, by id, its first result */
  const char **values;       /* name of each result, NULL: it has none yet */
  GHashTable *default_names; /* of inputs with default values; NULL: there are none */
  GHashTable *small;  /* name of each constant that was made of an attribute, by type and bytes */
  GPtrArray *tensors; /* CleaveTensor: their bytes are in initializers */
  GPtrArray *choices; /* CleaveOnnxChoice */
  CleaveOnnxChoice **choice_of;  /* of each node, by id: what it is a part of, or NULL */
  guint *branch;                 /* of each node, by id: the branch of it; 0: none */
  GPtrArray *operands, *results; /* names of those of the node that is being written */
  GPtrArray *turns;              /* names of nodes that are turns of a Loop; NULL: nobody asks */
  gboolean is_hidden;            /* shapes are, from a runtime that has not run it */
} CleaveOnnxExport;

/* Inputs with default values: names are given before those of outputs, and before constants are
 * written. */
void cleave_onnx_name_defaults (CleaveOnnxExport *export);
void cleave_onnx_export_defaults (CleaveOnnxExport *export);
/* Whether the name is that of an input with a default value. */
gboolean cleave_onnx_is_default (const CleaveOnnxExport *export, const char *name);

/* The whole.  The bytes of initializers are those of tensors that the export holds. */
gboolean
cleave_onnx_export_build (CleaveOnnxExport *export, const CleaveGraph *graph, GError **error);
void cleave_onnx_export_clear (CleaveOnnxExport *export);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveOnnxExport, cleave_onnx_export_clear)
gsize cleave_onnx_export_size (const CleaveOnnxExport *export);
/* `size` is the export's. */
GBytes *cleave_onnx_export_pack (const CleaveOnnxExport *export, gsize size, GError **error);

/* Opsets */

/* The least that has all nodes of a graph, CLEAVE_ONNX_OPSET or later; and the IR version that came
 * with an opset. */
guint cleave_onnx_find_opset (const CleaveGraph *graph);
gint64 cleave_onnx_ir_version (guint opset);

/* What an opset after CLEAVE_ONNX_OPSET made of an attribute. */
typedef struct
{
  const char *op, *attr;
  guint since;
  guint operand;            /* its index among the operands; 0: it is no operand */
  const char *const *words; /* of an ENUM; NULL: those of the table */
} CleaveOnnxChange;

/* NULL: nothing. */
const CleaveOnnxChange *
cleave_onnx_find_change (guint opset, const CleaveOp *op, const CleaveAttr *attr);

/* A name that no other value has: this, or this with a number. */
const char *cleave_onnx_name_value (CleaveOnnxExport *export, const char *name);
/* Where the name of a result is noted. */
static inline const char **
cleave_onnx_value_name (const CleaveOnnxExport *export, const CleaveResult *result)
{
  return &export->values[export->first_value[result->node->id] + result->index];
}

/* The name under which a result is read and written. */
const char *cleave_onnx_result_name (CleaveOnnxExport *export, const CleaveResult *result);

/* Adds a node; names of operands are NULL where they are absent, and those at the end are left out.
 * They and the op must live as long as the export, but for the node's own name and empty ones. */
Onnx__NodeProto *cleave_onnx_add_node (CleaveOnnxExport *export,
                                       const char *op,
                                       const char *name,
                                       const char *const *operands,
                                       guint n_operands,
                                       const char *const *results,
                                       guint n_results);

Onnx__ValueInfoProto *cleave_onnx_info_new (const CleaveOnnxExport *export,
                                            const char *name,
                                            const CleaveTensorType *type);

/* All of the nodes of a graph that is not in the pool, and of one; the graph then has none. */
void cleave_onnx_free_nodes (Onnx__GraphProto *graph);
void cleave_onnx_free_attributes (Onnx__NodeProto *node);
/* Turns runs of nodes that repeat into Loops, once all nodes are written. */
void cleave_onnx_export_loops (CleaveOnnxExport *export);
/* After that: leaves shapes to the run where they can be. */
void cleave_onnx_export_hide (CleaveOnnxExport *export);
/* Nodes in the order in which ONNX Runtime runs them. */
GPtrArray *cleave_onnx_depth_first (const Onnx__GraphProto *graph);
/* Bytes that ONNX Runtime's values take at most, if it knows their shapes beforehand, or if not. */
gint64 cleave_onnx_export_foresee (CleaveOnnxExport *export, gboolean is_known);

/* Attributes */

void cleave_onnx_add_int (Onnx__NodeProto *node, const char *name, gint64 value);
void cleave_onnx_add_string (Onnx__NodeProto *node, const char *name, const char *value);
void cleave_onnx_add_ints (Onnx__NodeProto *node, const char *name, const gint64 *values, guint n);

/* An empty graph, which is the attribute's. */
Onnx__GraphProto *cleave_onnx_add_graph (Onnx__NodeProto *node, const char *name);

/* Writes a field as an attribute. */
void cleave_onnx_write_attr (Onnx__NodeProto *node, const CleaveAttr *attr, gconstpointer attrs);
/* Of a field that is an operand in the file: whether it is left out, or else its value. */
gboolean cleave_onnx_attr_is_absent (const CleaveAttr *attr, gconstpointer attrs);
CleaveTensor *
cleave_onnx_attr_to_tensor (const CleaveNode *node, const CleaveAttr *attr, gconstpointer attrs);

/* Constants */

/* Adds an initializer with the bytes of a dense tensor. */
void cleave_onnx_add_initializer (CleaveOnnxExport *export, const char *name, CleaveTensor *tensor);
/* The name of a small constant; equal ones share it.  Takes the tensor. */
const char *
cleave_onnx_add_small (CleaveOnnxExport *export, const char *name, CleaveTensor *tensor);
/* The same of one that had this name in the file: only those with the same name share it. */
const char *
cleave_onnx_add_named (CleaveOnnxExport *export, const char *name, CleaveTensor *tensor);
/* The same of integers in a list. */
const char *
cleave_onnx_add_list (CleaveOnnxExport *export, const char *name, const gint64 *values, guint n);
/* Lets small constants of these bytes, which had this name in the file, share the initializer. */
void cleave_onnx_share_small (CleaveOnnxExport *export, const char *name, CleaveTensor *tensor);
/* Names and writes every constant that is used, the bytes that several share once. */
void cleave_onnx_export_constants (CleaveOnnxExport *export);

/* Writes a Slice of the value `from` of shape `shape`; `to` NULL: under a new name.  The name of
 * the result. */
const char *cleave_onnx_add_slice (CleaveOnnxExport *export,
                                   const char *name,
                                   const char *from,
                                   const CleaveShape *shape,
                                   const CleaveRange *range,
                                   const char *to);
/* Writes an Assemble as Concats of its parts, sliced where that is needed. */
void cleave_onnx_export_assemble (CleaveOnnxExport *export, const CleaveNode *node);
/* Writes how the indices of a MaxPool that is a piece, in `from`, count in the whole. */
void cleave_onnx_export_indices (CleaveOnnxExport *export,
                                 const CleaveNode *node,
                                 const char *from,
                                 const char *to);
/* Writes indices of a MaxUnpool that count in what the node itself reads, and returns their name.
 * NULL: those in the graph do, or it is another op. */
const char *cleave_onnx_export_local_indices (CleaveOnnxExport *export, const CleaveNode *node);
/* Writes a part of a Resize by a factor that is no whole number. */
void cleave_onnx_export_resize_part (CleaveOnnxExport *export, const CleaveNode *node);
/* Writes a node that passed through whole. */
gboolean
cleave_onnx_export_custom (CleaveOnnxExport *export, const CleaveNode *node, GError **error);
/* Finds out which nodes become branches of Ifs.  The nodes to write, in an order in which they can
 * be; of those that an If stands for, one alone. */
GPtrArray *cleave_onnx_export_order (CleaveOnnxExport *export, GError **error);
/* Writes the If that `first` stands for. */
gboolean
cleave_onnx_export_choice (CleaveOnnxExport *export, const CleaveNode *first, GError **error);
/* Writes any other node. */
gboolean cleave_onnx_export_node (CleaveOnnxExport *export, const CleaveNode *node, GError **error);
