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

/* A choice: the Wheres that have the same scalar condition, which the file expresses as one If. */
typedef struct _CleaveOnnxChoice CleaveOnnxChoice;

/* The state of one export. The pool is freed only with the export, so every name in the pool stays
 * valid until then. Most of the time of a large export goes into hash tables of strings, so names
 * should be looked up in the graph where it has them. */
typedef struct
{
  const CleaveGraph *graph;
  const CleaveOnnxOrigin *origin; /* parts of the imported model that do not influence results;
                                     NULL: the graph was not imported */
  const CleaveOp *assemble, *custom, *where;
  guint opset;      /* opset of the file */
  CleavePool *pool; /* owner of names and NodeProtos, but not of their attributes */
  Onnx__ModelProto *model;
  Onnx__GraphProto *scope; /* graph to which new nodes are added: the model's graph, a branch of an
                              If, or a body of a Loop */
  GHashTable *value_names; /* set of the names of values in use */
  GHashTable *node_names;  /* set of the names of nodes in use that are not in graph->nodes */
  GHashTable *suffixes;    /* maps a name to the last number that was appended to make it unique */
  const CleaveNode *node;  /* node of the graph that the exporter writes now; the node's own name is
                              reserved for it */
  guint *first_value;      /* indexed by node id: index in `values` of the node's first result */
  const char **values;     /* name of each result; NULL: no name yet */
  GHashTable *default_names; /* set of the names of inputs with default values; NULL: none */
  GHashTable
      *packed; /* set of constants (CleaveTensor) with 4 bits per element in the file; NULL: none */
  GHashTable
      *small; /* maps imported name, type and bytes of a small constant to its name in the file */
  GPtrArray *tensors; /* CleaveTensor: tensors to whose bytes the initializers point */
  GPtrArray *choices; /* CleaveOnnxChoice: conditions that become Ifs */
  CleaveOnnxChoice *
      *choice_of; /* indexed by node id: the choice that contains the node; NULL: none */
  guint *branch;  /* indexed by node id: 1 + 2 * index in `choices` + index of the branch (0 or 1);
                     0: the  node is in no branch */
  GPtrArray *operands, *results; /* names of the operands and results of the node that is written */
  GPtrArray *iterations; /* receives the names of nodes that become part of a Loop; NULL: the caller
                            does not want them */
  gboolean is_hidden;    /* the file leaves out inner shapes (hide.c) */
  const CleaveOnnxDynamic *dynamic; /* the dynamic part of the model; NULL: none */
  Onnx__GraphProto *dynamic_graph;  /* nodes of the dynamic part, which the export owns */
  size_t n_static_nodes; /* number of nodes in the file before the nodes of the dynamic part */
} CleaveOnnxExport;

/* The first function gives inputs with default values their names; call it before outputs are named
 * and constants are written. The second writes these inputs. */
void cleave_onnx_name_defaults (CleaveOnnxExport *export);
void cleave_onnx_export_defaults (CleaveOnnxExport *export);
/* Returns whether `name` is the name of an input with a default value. */
gboolean cleave_onnx_is_default (const CleaveOnnxExport *export, const char *name);

/* Writes the dynamic part of the model, in these steps:
 * - begin unpacks it;
 * - reserve marks the names of its values as used;
 * - export writes its nodes and the model's outputs, behind the static part;
 * - end frees it. */
gboolean cleave_onnx_begin_export_dynamic (CleaveOnnxExport *export, GError **error);
void cleave_onnx_reserve_dynamic (CleaveOnnxExport *export);
gboolean cleave_onnx_export_dynamic (CleaveOnnxExport *export, GError **error);
void cleave_onnx_end_export_dynamic (CleaveOnnxExport *export);

/* Builds the model of the graph, which is the static part. The initializers point to bytes of
 * tensors that the export owns. */
gboolean
cleave_onnx_export_build (CleaveOnnxExport *export, const CleaveGraph *graph, GError **error);
void cleave_onnx_export_clear (CleaveOnnxExport *export);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveOnnxExport, cleave_onnx_export_clear)
gsize cleave_onnx_export_size (const CleaveOnnxExport *export);
/* Fails if the serialized model has `size` bytes and this exceeds the limit of a model file, 2 GiB.
 */
gboolean cleave_onnx_export_check_size (gsize size, GError **error);
/* Returns the serialized model. `size` is the result of cleave_onnx_export_size(). */
GBytes *cleave_onnx_export_pack (const CleaveOnnxExport *export, gsize size, GError **error);

/* Returns the set of constants (CleaveTensor) that the file stores with 4 bits per element; NULL if
 * there is none. */
GHashTable *cleave_onnx_find_packed (const CleaveGraph *graph);

/* Opsets */

/* The first function returns the lowest opset, at least CLEAVE_ONNX_OPSET, that has every op of a
 * graph. The second returns the IR version that belongs to an opset. */
guint cleave_onnx_find_opset (const CleaveGraph *graph);
gint64 cleave_onnx_ir_version (guint opset);

/* A difference between our attribute tables and an opset after CLEAVE_ONNX_OPSET. */
typedef struct
{
  const char *op, *attr;
  guint since;
  guint operand; /* index of the operand that replaces the attribute; 0: it is still an attribute */
  const char *const *words; /* names of an enum's values; NULL: unchanged */
} CleaveOnnxChange;

/* Returns the change of an attribute in an opset; NULL if there is none. */
const CleaveOnnxChange *
cleave_onnx_find_change (guint opset, const CleaveOp *op, const CleaveAttr *attr);

/* Reserves and returns a name for a value that is not in use: `name`, or `name` with a number
 * appended. */
const char *cleave_onnx_name_value (CleaveOnnxExport *export, const char *name);
/* Returns the address of a result's name in `values`. */
static inline const char **
cleave_onnx_value_name (const CleaveOnnxExport *export, const CleaveResult *result)
{
  return &export->values[export->first_value[result->node->id] + result->index];
}

/* Returns the name of a result in the file. Gives the result a name if it has none. */
const char *cleave_onnx_result_name (CleaveOnnxExport *export, const CleaveResult *result);

/* Adds a node to the current scope. A NULL operand name stands for an absent operand; trailing ones
 * are omitted. `op` and the names of operands and results must stay valid as long as the export;
 * `name` is copied. */
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

/* Frees the parts of a node that are not in the pool: attributes and unknown fields.
 * cleave_onnx_free_nodes() frees them for all nodes of a graph, which is empty afterwards. */
void cleave_onnx_free_nodes (Onnx__GraphProto *graph);
void cleave_onnx_free_attributes (Onnx__NodeProto *node);
/* Replaces repeated runs of nodes by Loops. Call this function after all nodes are written. */
void cleave_onnx_export_loops (CleaveOnnxExport *export);
/* Leaves out the shapes of inner values that the runtime can compute. Call this function after
 * cleave_onnx_export_loops(). */
void cleave_onnx_export_hide (CleaveOnnxExport *export);
/* Returns the nodes (Onnx__NodeProto) in the order in which ONNX Runtime runs them. */
GPtrArray *cleave_onnx_depth_first (const Onnx__GraphProto *graph);
/* Estimates the peak of activations in ONNX Runtime, in bytes. `is_known`: the file has the shapes
 * of inner values. */
gint64 cleave_onnx_export_estimate (CleaveOnnxExport *export, gboolean is_known);

/* Attributes */

void cleave_onnx_add_int (Onnx__NodeProto *node, const char *name, gint64 value);
void cleave_onnx_add_string (Onnx__NodeProto *node, const char *name, const char *value);
void cleave_onnx_add_ints (Onnx__NodeProto *node, const char *name, const gint64 *values, guint n);

/* Adds an attribute that is an empty graph. Returns the graph. */
Onnx__GraphProto *cleave_onnx_add_graph (Onnx__NodeProto *node, const char *name);

/* Writes the field of `attrs` that `attr` describes as an attribute of the node. */
void cleave_onnx_write_attr (Onnx__NodeProto *node, const CleaveAttr *attr, gconstpointer attrs);
/* For a field of `attrs` that is an operand in ONNX: the first function returns whether to omit the
 * operand, the second returns its value. */
gboolean cleave_onnx_attr_is_absent (const CleaveAttr *attr, gconstpointer attrs);
CleaveTensor *
cleave_onnx_attr_to_tensor (const CleaveNode *node, const CleaveAttr *attr, gconstpointer attrs);

/* Constants */

/* Adds an initializer that points to the bytes of a dense tensor. Keeps a reference to the
 * tensor. */
void cleave_onnx_add_initializer (CleaveOnnxExport *export, const char *name, CleaveTensor *tensor);
/* Adds a constant that is in the set `packed`: two elements per byte. */
void cleave_onnx_add_packed (CleaveOnnxExport *export, const char *name, CleaveTensor *tensor);
/* Returns the name of an initializer with these contents, and adds it if none exists yet. Takes
 * ownership of the tensor. */
const char *
cleave_onnx_add_small (CleaveOnnxExport *export, const char *name, CleaveTensor *tensor);
/* Returns the name of an initializer for a constant that had this name in the imported file.
 * Only constants with the same name and contents share it. Takes ownership of the tensor. */
const char *
cleave_onnx_add_named (CleaveOnnxExport *export, const char *name, CleaveTensor *tensor);
/* Adds a constant with a list of integers, as cleave_onnx_add_small() does. Returns its name. */
const char *
cleave_onnx_add_list (CleaveOnnxExport *export, const char *name, const gint64 *values, guint n);
/* Lets later cleave_onnx_add_named() calls with this name and these contents reuse the
 * initializer. Does nothing for a tensor above 4 KiB. */
void cleave_onnx_share_small (CleaveOnnxExport *export, const char *name, CleaveTensor *tensor);
/* Gives names to all constants that are used, and writes them. Bytes that several constants share
 * are written once. */
void cleave_onnx_export_constants (CleaveOnnxExport *export);

/* Adds a Slice of the value named `from`, which has the shape `shape`. Returns the name of the
 * result: `to`, or a new name if `to` is NULL. */
const char *cleave_onnx_add_slice (CleaveOnnxExport *export,
                                   const char *name,
                                   const char *from,
                                   const CleaveShape *shape,
                                   const CleaveRange *range,
                                   const char *to);
/* Writes an Assemble as Concats of its parts; parts that overlap are trimmed by Slices. */
void cleave_onnx_export_assemble (CleaveOnnxExport *export, const CleaveNode *node);
/* Adds nodes that convert the indices named `from`, of a piece of a MaxPool, to the indices named
 * `to`. The first ones are positions in the piece's operand, the second ones in the whole operand.
 */
void cleave_onnx_export_indices (CleaveOnnxExport *export,
                                 const CleaveNode *node,
                                 const char *from,
                                 const char *to);
/* Writes the indices of a MaxUnpool as ONNX needs them, and returns their name. In ONNX, an index
 * is a position in the value that a MaxPool pooled to the node's operand. The indices of a piece
 * may be positions in a larger value. Returns NULL if the node is another op or its indices need no
 * change. */
const char *cleave_onnx_export_local_indices (CleaveOnnxExport *export, const CleaveNode *node);
/* Writes a piece of a Resize by a fractional factor, as matrix products or Gathers. */
void cleave_onnx_export_resize_part (CleaveOnnxExport *export, const CleaveNode *node);
/* Writes a Custom node: the original node with the current names of operands and results. */
gboolean
cleave_onnx_export_custom (CleaveOnnxExport *export, const CleaveNode *node, GError **error);
/* Decides which nodes become branches of Ifs. Returns the nodes (CleaveNode) in an order in which
 * they can be written, where the first Where of an If stands for the whole If. Returns NULL on
 * error. */
GPtrArray *cleave_onnx_export_order (CleaveOnnxExport *export, GError **error);
/* Writes the If for which `first`, its first Where, stands. */
gboolean
cleave_onnx_export_choice (CleaveOnnxExport *export, const CleaveNode *first, GError **error);
/* Writes any node that is not in an If. */
gboolean cleave_onnx_export_node (CleaveOnnxExport *export, const CleaveNode *node, GError **error);
