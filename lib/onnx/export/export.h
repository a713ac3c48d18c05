/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The state and the functions that the files of the ONNX exporter share.
 *
 * The exporter writes a CleaveGraph as an ONNX ModelProto. The order is: names of inputs and
 * outputs, initializers (constants.c), nodes in graph order (branches.c, node.c), and outputs. An
 * op that needs more than one ONNX node has a file of its own. For a model that is marked for ONNX
 * Runtime, loops.c then turns repeated strips into Loops and hide.c leaves out shapes. */

#include <cleave/cleave-onnx.h>

#include "../../ir/graph-private.h"
#include "../../ir/pool.h"
#include "../origin.h"
#include "../tensor-proto.h"

/* A choice: all Wheres of the graph with the same scalar condition. branches.c writes these Wheres
 * as one If. */
typedef struct _CleaveOnnxChoice CleaveOnnxChoice;

/* The state of one export. The pool is freed only with the export, so every name in the pool stays
 * valid until then. Where possible, look up a name in the graph instead of a table of strings: a
 * large export spends most of its time in tables of strings. */
typedef struct
{
  const CleaveGraph *graph;
  const CleaveOnnxOrigin *origin; /* parts of the imported model that do not influence results;
                                   * NULL: the graph has no model file */
  const CleaveOp *assemble, *custom, *where;
  guint opset;      /* opset of the file */
  CleavePool *pool; /* owner of names and NodeProtos, but not of the attributes of NodeProtos */
  Onnx__ModelProto *model;
  Onnx__GraphProto *scope; /* graph to which new nodes are added: the model's graph, a branch of an
                              If, or a body of a Loop */
  GHashTable *value_names; /* set of the names of values in use */
  GHashTable *node_names;  /* set of the names of the file's nodes that are not names of nodes of
                            * the graph */
  GHashTable *suffixes;    /* maps a name to the last number that was appended to make it unique */
  const CleaveNode *node;  /* graph node that the exporter writes now; the file's node has the
                            * same name */
  guint *first_value;      /* indexed by node id: index of the node's first result in `values` */
  const char **values;     /* indexed by result (see `first_value`): its name in the file;
                            * NULL: no name yet */
  GHashTable *default_names; /* set of the names of inputs with default values; NULL: none */
  GHashTable *packed; /* set of the constants (CleaveTensor) that the file stores with 4 bits per
                       * element; NULL: none */
  GHashTable *small;  /* for small constants: maps the imported name, the type and the bytes to
                       * the name in the file */
  GPtrArray *tensors; /* CleaveTensor: the owners of the bytes to which initializers point */
  GPtrArray *choices; /* CleaveOnnxChoice: the Ifs of the file */
  CleaveOnnxChoice **choice_of; /* indexed by node id: the CleaveOnnxChoice whose If computes the
                                 * result of the node, a Where; NULL: the file has no such If */
  guint *branch; /* indexed by node id: 1 + 2 * index in `choices` + index of the branch (0:
                  * then, 1: else); 0: the node is in no branch */
  GPtrArray *operands, *results;    /* names of the operands and results of the node that the
                                     * exporter writes now */
  GPtrArray *iterations;            /* char *: the list to which the exporter adds the names of
                                     * nodes that become part of a Loop; NULL: the caller needs no
                                     * names */
  gboolean is_hidden;               /* whether the file leaves out the shapes of intermediate values
                                     * (hide.c) */
  gint64 known_bytes;               /* estimated peak of activations in bytes, if the file has
                                     * Loops and the shapes of intermediate values */
  const CleaveOnnxDynamic *dynamic; /* the dynamic part of the model; NULL: none */
  Onnx__GraphProto *dynamic_graph;  /* a graph with the nodes of the dynamic part, as the exporter
                                     * writes them; the export owns this graph */
  size_t n_static_nodes;            /* number of nodes of the static part, which come first in
                                     * the file */
} CleaveOnnxExport;

/* Name and write the inputs with default values. Call cleave_onnx_name_defaults() before the export
 * names outputs and writes constants. */
void cleave_onnx_name_defaults (CleaveOnnxExport *export);
void cleave_onnx_export_defaults (CleaveOnnxExport *export);
/* Returns whether `name` is the name of an input with a default value. */
gboolean cleave_onnx_is_default (const CleaveOnnxExport *export, const char *name);

/* Write the dynamic part of the model, in these steps:
 * - begin unpacks the dynamic part;
 * - reserve marks the names of the dynamic part's values as used;
 * - export writes its nodes behind the static part, and the outputs of the model;
 * - end frees the dynamic part. */
gboolean cleave_onnx_begin_export_dynamic (CleaveOnnxExport *export, GError **error);
void cleave_onnx_reserve_dynamic (CleaveOnnxExport *export);
gboolean cleave_onnx_export_dynamic (CleaveOnnxExport *export, GError **error);
void cleave_onnx_end_export_dynamic (CleaveOnnxExport *export);

/* Builds the ModelProto of a graph, including the dynamic part of the model if there is one. The
 * initializers point to bytes of tensors that the export owns. */
gboolean
cleave_onnx_export_build (CleaveOnnxExport *export, const CleaveGraph *graph, GError **error);
void cleave_onnx_export_clear (CleaveOnnxExport *export);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveOnnxExport, cleave_onnx_export_clear)
gsize cleave_onnx_export_size (const CleaveOnnxExport *export);
/* Fails if `size`, the bytes of the serialized model, exceeds the limit of a model file, 2 GiB. */
gboolean cleave_onnx_export_check_size (gsize size, GError **error);

/* Returns the set of constants (CleaveTensor) that the file stores with 4 bits per element; NULL if
 * there is none. */
GHashTable *cleave_onnx_find_packed (const CleaveGraph *graph);

/* The functions below find the opset of the file, and the differences between opsets. */

/* The first function returns the lowest opset, at least CLEAVE_ONNX_OPSET, that has every op of the
 * graph. The second function returns the lowest IR version that a file of the opset may state. */
guint cleave_onnx_find_opset (const CleaveGraph *graph);
gint64 cleave_onnx_ir_version (guint opset);

/* A difference between opsets: a change of an attribute in an opset after CLEAVE_ONNX_OPSET. The op
 * records describe the attributes of CLEAVE_ONNX_OPSET. */
typedef struct
{
  const char *op, *attr;
  guint since;
  guint operand;            /* index of the operand that replaces the attribute; 0: no operand
                             * replaces it */
  const char *const *words; /* new names of the values of an enum; NULL: unchanged */
} CleaveOnnxChange;

/* Returns the change of the attribute `attr` of `op` that a file of opset `opset` needs; NULL:
 * none. */
const CleaveOnnxChange *
cleave_onnx_find_change (guint opset, const CleaveOp *op, const CleaveAttr *attr);

/* Returns a name for a new value, and marks it as in use. The name is `name`, with a number
 * appended if another value has that name. */
const char *cleave_onnx_name_value (CleaveOnnxExport *export, const char *name);
/* Returns the address of the name of a result in `values`. */
static inline const char **
cleave_onnx_value_name (const CleaveOnnxExport *export, const CleaveResult *result)
{
  return &export->values[export->first_value[result->node->id] + result->index];
}

/* Returns the name of a result in the file. Gives the result a name if it has none. */
const char *cleave_onnx_result_name (CleaveOnnxExport *export, const CleaveResult *result);

/* Adds a node to the graph `scope` of the export. A NULL operand name stands for an absent operand;
 * absent operands at the end are omitted. `op` and the names of operands and results must stay
 * valid as long as the export; `name` is copied. */
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

/* Frees the attributes and the unknown fields of a node. All other memory of the node belongs to
 * the pool of the export (CleaveOnnxExport). */
void cleave_onnx_free_attributes (Onnx__NodeProto *node);
/* Calls cleave_onnx_free_attributes() for all nodes of a graph, and removes the nodes. */
void cleave_onnx_free_nodes (Onnx__GraphProto *graph);
/* Replaces repeated runs of nodes by Loops (loops.c). Call this function after all nodes are
 * written. */
void cleave_onnx_export_loops (CleaveOnnxExport *export);
/* Leaves out the shapes of intermediate values, which a runtime can compute (hide.c). Call this
 * function after cleave_onnx_export_loops(). */
void cleave_onnx_export_hide (CleaveOnnxExport *export);
/* Returns the nodes (Onnx__NodeProto) in the order in which ONNX Runtime runs them. */
GPtrArray *cleave_onnx_depth_first (const Onnx__GraphProto *graph);
/* Returns the estimated peak of activations in ONNX Runtime, in bytes. `is_known`: whether the file
 * has the shapes of intermediate values. */
gint64 cleave_onnx_export_estimate (CleaveOnnxExport *export, gboolean is_known);

/* The functions below write attributes of a node. The node may be new, or a node of a file. */

/* Adds an attribute without a value. */
Onnx__AttributeProto *cleave_onnx_add_attr (Onnx__NodeProto *node,
                                            const char *name,
                                            Onnx__AttributeProto__AttributeType type);
void cleave_onnx_add_int (Onnx__NodeProto *node, const char *name, gint64 value);
void cleave_onnx_add_string (Onnx__NodeProto *node, const char *name, const char *value);
void cleave_onnx_add_ints (Onnx__NodeProto *node, const char *name, const gint64 *values, guint n);

/* Adds an attribute that is an empty graph. Returns the graph. */
Onnx__GraphProto *cleave_onnx_add_graph (Onnx__NodeProto *node, const char *name);

/* Writes one field of `attrs`, which `attr` describes, as an attribute of the node. */
void cleave_onnx_write_attr (Onnx__NodeProto *node, const CleaveAttr *attr, gconstpointer attrs);
/* Write an attribute of our op that ONNX has as an operand, from its field in `attrs`. The first
 * function returns whether to omit the operand; the second function returns the operand's value. */
gboolean cleave_onnx_attr_is_absent (const CleaveAttr *attr, gconstpointer attrs);
CleaveTensor *
cleave_onnx_attr_to_tensor (const CleaveNode *node, const CleaveAttr *attr, gconstpointer attrs);

/* The functions below write constants. */

/* Adds an initializer that points to the bytes of a dense tensor. Keeps a reference to the
 * tensor. */
void cleave_onnx_add_initializer (CleaveOnnxExport *export, const char *name, CleaveTensor *tensor);
/* Adds an initializer for `tensor`, a constant of the set `packed` of the export. The initializer
 * has two elements in each byte. */
void cleave_onnx_add_packed (CleaveOnnxExport *export, const char *name, CleaveTensor *tensor);
/* Returns the name of an initializer with the contents of the tensor. Adds the initializer on the
 * first call with these contents. Takes ownership of the tensor. */
const char *
cleave_onnx_add_small (CleaveOnnxExport *export, const char *name, CleaveTensor *tensor);
/* Returns the name of an initializer for a constant whose name in the imported file was `name`.
 * Only constants with the same name and the same contents share an initializer. Takes ownership of
 * the tensor. */
const char *
cleave_onnx_add_named (CleaveOnnxExport *export, const char *name, CleaveTensor *tensor);
/* Adds a constant with a list of integers, as cleave_onnx_add_small() does. Returns its name. */
const char *
cleave_onnx_add_list (CleaveOnnxExport *export, const char *name, const gint64 *values, guint n);
/* Lets later constants share the initializer `name`, which has the contents of `tensor`. If a later
 * call of cleave_onnx_add_named() passes this name and equal contents, the call returns `name` and
 * adds no initializer. Does nothing for a tensor above 4 KiB. */
void cleave_onnx_share_small (CleaveOnnxExport *export, const char *name, CleaveTensor *tensor);
/* Gives names to all constants that are used, and writes them. Constants that are ranges of one
 * tensor take at most as many bytes in the file as the tensor. */
void cleave_onnx_export_constants (CleaveOnnxExport *export);

/* Adds a Slice of the value named `from`, whose shape is `shape`. Returns the name of the Slice's
 * result: `to`, or a new name if `to` is NULL. */
const char *cleave_onnx_add_slice (CleaveOnnxExport *export,
                                   const char *name,
                                   const char *from,
                                   const CleaveShape *shape,
                                   const CleaveRange *range,
                                   const char *to);
/* Writes an Assemble as Concats of its parts. Slices trim parts that overlap. */
void cleave_onnx_export_assemble (CleaveOnnxExport *export, const CleaveNode *node);
/* Adds nodes that convert the indices of a piece of a MaxPool. The value named `from` has positions
 * in the piece's operand. The nodes compute the value named `to`, which has positions in the whole
 * operand. */
void cleave_onnx_export_indices (CleaveOnnxExport *export,
                                 const CleaveNode *node,
                                 const char *from,
                                 const char *to);
/* Converts the indices that a MaxUnpool reads to the form that ONNX needs, and returns the name of
 * the new value. In ONNX, an index is a position in the operand of a MaxPool. After a split, an
 * index of our graph may be a position in a larger value. Returns NULL if the node is another op,
 * or if its indices need no change. */
const char *cleave_onnx_export_local_indices (CleaveOnnxExport *export, const CleaveNode *node);
/* Writes a piece of a Resize that scales by a fractional factor: a matrix product or a Gather for
 * each dimension. */
void cleave_onnx_export_resize_part (CleaveOnnxExport *export, const CleaveNode *node);
/* Writes a Custom node: the NodeProto of the imported file, with the current names of operands and
 * results. */
gboolean
cleave_onnx_export_custom (CleaveOnnxExport *export, const CleaveNode *node, GError **error);
/* Sets the error of a node whose op has no form in ONNX. Returns FALSE. */
gboolean cleave_onnx_export_refuse (const CleaveNode *node, GError **error);
/* Decides which nodes become branches of Ifs. Returns the nodes (CleaveNode) in an order in which
 * they can be written. Several Where nodes may become one If: in the order, the first of them takes
 * the place of the whole If. Returns NULL on error. */
GPtrArray *cleave_onnx_export_order (CleaveOnnxExport *export, GError **error);
/* Writes a whole If. `first` is the first Where node that becomes part of this If. */
gboolean
cleave_onnx_export_choice (CleaveOnnxExport *export, const CleaveNode *first, GError **error);
/* Writes a node that is not in an If. */
gboolean cleave_onnx_export_node (CleaveOnnxExport *export, const CleaveNode *node, GError **error);
