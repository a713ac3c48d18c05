/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What the files of the importer share.  Over 400 lines: it declares the upgrades of all ops. */

#include <cleave/cleave-onnx.h>

#include "../../ir/op.h"
#include "../../ir/pool.h"
#include "../origin.h"
#include "../tensor-proto.h"

/* A value of the file.  At least one of the two is there; a constant enters the graph when a node
 * reads it. */
typedef struct
{
  char *name; /* NULL: an upgrade made it */
  CleaveResult *result;
  CleaveTensor *constant;
  gboolean is_half;   /* the file has bytes of it as 4 bits */
  gboolean is_costly; /* constants alone say what it is, but computing it is too much work */
} CleaveOnnxValue;

typedef struct
{
  CleaveGraph *graph;
  CleaveOnnxOrigin *origin; /* the graph's */
  CleaveOnnxFolder folder;
  gint64 opset, ir_version;
  GArray *defaults;          /* CleaveDefault: inputs that have a value in the file */
  GHashTable *default_index; /* from 1, of each tensor of these */
  GHashTable *values;        /* CleaveOnnxValue by name, of the innermost scope: borrowed */
  GPtrArray *outer;          /* such tables, of the scopes around it */
  GHashTable *infos;   /* Onnx__ValueInfoProto of each name that the model tells the type of */
  GHashTable *extents; /* gint64 of each dimension of an input that has a name */
  const Onnx__GraphProto *whole;
  GHashTable *read;      /* every name that some node or output reads; NULL: nobody has asked */
  CleavePool *pool;      /* values and their names */
  GPtrArray *all_values; /* CleaveOnnxValue */
  GHashTable *values_of; /* CleaveNode of constants, to its values (CleaveTensor) where asked for */
  GHashTable *shared;    /* of bodies: TensorProto or Constant node, to its value; NULL: none yet */
  gsize n_unrolled;      /* nodes that turns of loops have become */
  struct CleaveOnnxNode *spare; /* one that is done, for the next; NULL: none */
  double fold_budget;           /* what may still be spent on constants, in steps of kernels */
} CleaveOnnxImport;

/* An attribute's value, from the file, from a constant operand, or from an upgrade.  Numbers are
 * lists. */
typedef struct
{
  char *name;
  Onnx__AttributeProto__AttributeType type;
  GArray *ints;   /* gint64 */
  GArray *floats; /* double */
  char *string;
  GPtrArray *strings;
  CleaveTensor *tensor;
} CleaveOnnxAttr;

/* A node on its way into the graph.  Upgrades change it. */
typedef struct CleaveOnnxNode
{
  CleaveOnnxImport *import;
  const char *op; /* of the file, or static */
  const char *name;
  const char *doc;     /* NULL: none */
  GPtrArray *operands; /* CleaveOnnxValue, by ONNX's indices; NULL: absent */
  GPtrArray *rest;     /* those of them that are operands here, too, once the node is made */
  GPtrArray *attrs;    /* CleaveOnnxAttr */
  guint n_results;     /* without trailing results that nobody reads */
  guint n_declared;    /* with them */
  GPtrArray *values;   /* CleaveOnnxValue for each result, once the node is done */
} CleaveOnnxNode;

/* Values */

CleaveOnnxValue *cleave_onnx_value_new (CleaveOnnxImport *import, const char *name);
/* Takes the tensor. */
CleaveOnnxValue *
cleave_onnx_value_new_constant (CleaveOnnxImport *import, const char *name, CleaveTensor *constant);
const CleaveTensorType *cleave_onnx_value_type (const CleaveOnnxValue *value);
static inline const CleaveShape *
cleave_onnx_value_shape (const CleaveOnnxValue *value)
{
  return &cleave_onnx_value_type (value)->shape;
}

/* What the value is if constants alone decide it, also where the graph has the nodes that make it
 * of them; NULL: they do not, or it is too much to work out. */
CleaveTensor *cleave_onnx_value_constant (CleaveOnnxImport *import, CleaveOnnxValue *value);
/* Removes nodes that were worked out and that nothing reads but what had to know their values. */
void cleave_onnx_remove_known (CleaveOnnxImport *import);
/* Gives the graph the inputs that have values in the file, and removes constants of them that no
 * node reads. */
void cleave_onnx_keep_defaults (CleaveOnnxImport *import);
/* Notes that the value of a constant decided a shape or an attribute. */
void cleave_onnx_fix_default (CleaveOnnxImport *import, const CleaveTensor *constant);
/* Makes one node of what pieces are written as that ONNX has no node for. */
void cleave_onnx_merge_pieces (CleaveGraph *graph);
/* The value as a result of the graph. */
CleaveResult *cleave_onnx_value_result (CleaveOnnxImport *import, CleaveOnnxValue *value);
/* Binds a name of the file in the innermost scope. */
gboolean cleave_onnx_bind (CleaveOnnxImport *import, CleaveOnnxValue *value, GError **error);
/* Binds what a value is under another name. */
gboolean cleave_onnx_bind_as (CleaveOnnxImport *import,
                              const char *name,
                              const CleaveOnnxValue *value,
                              GError **error);
/* The value with this name, from the innermost scope that has it; NULL: none has. */
CleaveOnnxValue *cleave_onnx_lookup (CleaveOnnxImport *import, const char *name);
/* Whether some node or output of the file reads a value of this name. */
gboolean cleave_onnx_is_read (CleaveOnnxImport *import, const char *name);
/* Returns the value that an earlier iteration read from `message`, a TensorProto or a Constant node
 * of a body; NULL if none has.  Reading a tensor takes its bytes out of the message. */
CleaveOnnxValue *cleave_onnx_recall (const CleaveOnnxImport *import, gconstpointer message);
/* Keeps `value` for the next iteration.  Outside bodies messages are read once: it does nothing. */
void cleave_onnx_remember (CleaveOnnxImport *import, gconstpointer message, CleaveOnnxValue *value);
void cleave_onnx_begin_scope (CleaveOnnxImport *import);
void cleave_onnx_end_scope (CleaveOnnxImport *import);

/* Attributes */

CleaveOnnxAttr *cleave_onnx_attr_new (const char *name, Onnx__AttributeProto__AttributeType type);
CleaveOnnxAttr *cleave_onnx_attr_new_ints (const char *name, const gint64 *ints, guint n_ints);
CleaveOnnxAttr *cleave_onnx_attr_new_int (const char *name, gint64 value);
CleaveOnnxAttr *cleave_onnx_attr_new_real (const char *name, double value);
CleaveOnnxAttr *cleave_onnx_attr_new_string (const char *name, const char *string);
void cleave_onnx_attr_free (CleaveOnnxAttr *attr);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveOnnxAttr, cleave_onnx_attr_free)
CleaveOnnxAttr *
cleave_onnx_attr_read (CleaveOnnxImport *import, const Onnx__AttributeProto *proto, GError **error);
/* The numbers of a constant. */
CleaveOnnxAttr *cleave_onnx_attr_of_tensor (const char *name, CleaveTensor *tensor);
/* Whether its whole numbers, if it has any, are doubles, too. */
gboolean cleave_onnx_attr_is_exact (const CleaveOnnxAttr *attr);
/* Stores a value in the field that the op's table describes. */
gboolean cleave_onnx_attr_store (const CleaveOnnxAttr *value,
                                 const CleaveAttr *attr,
                                 gpointer attrs,
                                 GError **error);

/* Nodes */

CleaveOnnxNode *
cleave_onnx_node_new (CleaveOnnxImport *import, const char *op, const char *name, guint n_results);
void cleave_onnx_node_free (CleaveOnnxNode *node);
/* The one that the import keeps. */
void cleave_onnx_node_free_spare (CleaveOnnxNode *node);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveOnnxNode, cleave_onnx_node_free)
CleaveOnnxAttr *cleave_onnx_node_find (const CleaveOnnxNode *node, const char *attr);
/* (transfer full) The attribute, taken out of the node. */
CleaveOnnxAttr *cleave_onnx_node_take (CleaveOnnxNode *node, const char *attr);
CleaveOnnxValue *cleave_onnx_node_operand (const CleaveOnnxNode *node, guint index);
void cleave_onnx_node_set_operand (CleaveOnnxNode *node, guint index, CleaveOnnxValue *value);
/* Whether the first operands are there; the error says which is not. */
gboolean cleave_onnx_node_need (const CleaveOnnxNode *node, guint n, GError **error);
/* Sets the error, with the node's op and name before it; returns FALSE. */
gboolean cleave_onnx_node_fail (const CleaveOnnxNode *node, GError **error, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
/* The same where a pointer is wanted: returns NULL. */
gpointer
cleave_onnx_node_fail_null (const CleaveOnnxNode *node, GError **error, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
/* Says which op of which opset there is not. */
gboolean cleave_onnx_node_fail_op (const CleaveOnnxNode *node, GError **error);
/* The attribute is not known. */
gboolean
cleave_onnx_node_fail_attr (const CleaveOnnxNode *node, const CleaveOnnxAttr *attr, GError **error);
/* Those attributes that are left are not known. */
gboolean cleave_onnx_node_check_no_attrs (const CleaveOnnxNode *node, GError **error);
/* Makes the node's values: folds it or adds it to the graph. */
gboolean cleave_onnx_node_make (CleaveOnnxNode *node, GError **error);

/* Folding */

/* Of a file of so many bytes. */
void cleave_onnx_begin_folding (CleaveOnnxImport *import, gsize n_bytes);
/* Whether so much work may still be done; then it is counted. */
gboolean cleave_onnx_spend (CleaveOnnxImport *import, double work);
#define CLEAVE_ONNX_TOO_COSTLY "takes more work than the constants of a file of this size may"
/* Why a value that must be constant is none: the end of a message. */
const char *cleave_onnx_why_unknown (CleaveOnnxImport *import, const CleaveOnnxValue *value);
/* Whether all operands (CleaveOnnxValue) are constants; or would be, had they been folded. */
gboolean cleave_onnx_is_constant (const CleaveCall *call, const GPtrArray *operands);
gboolean cleave_onnx_could_fold (const CleaveCall *call, const GPtrArray *operands);
/* Computes the node's values, all operands of the call being constants.  They stay empty if that is
 * too much work. */
gboolean cleave_onnx_fold (CleaveOnnxNode *node,
                           const CleaveCall *call,
                           const GPtrArray *operands,
                           GError **error);

/* `value` under another shape, by a node of its own; NULL and the error if it cannot be. */
CleaveOnnxValue *cleave_onnx_node_reshape (CleaveOnnxNode *node,
                                           CleaveOnnxValue *value,
                                           const CleaveShape *shape,
                                           const char *suffix,
                                           GError **error);

/* A step on the way: the one result of `op`, of operands all of which there must be.  NULL and the
 * error if it cannot be, or if an operand is NULL since it could not be.  Takes the attribute. */
CleaveOnnxValue *cleave_onnx_step (CleaveOnnxNode *node,
                                   const char *op,
                                   const char *suffix,
                                   CleaveOnnxValue *const *operands,
                                   guint n_operands,
                                   CleaveOnnxAttr *attr,
                                   GError **error);
#define CLEAVE_ONNX_STEP(op, suffix, attr, ...)                                                    \
  cleave_onnx_step (node, op, suffix, (CleaveOnnxValue *[]){ __VA_ARGS__ },                        \
                    sizeof ((CleaveOnnxValue *[]){ __VA_ARGS__ }) / sizeof (CleaveOnnxValue *),    \
                    attr, error)
/* A constant of these bytes. */
CleaveOnnxValue *
cleave_onnx_constant (CleaveOnnxNode *node, const CleaveTensorType *type, gconstpointer data);
/* A constant scalar. */
CleaveOnnxValue *cleave_onnx_real (CleaveOnnxNode *node, CleaveElement element, double number);

/* Every element gets the number. */
void cleave_onnx_fill (CleaveTensor *tensor, double number);
/* The node's one value; FALSE if it is NULL. */
gboolean cleave_onnx_finish (CleaveOnnxNode *node, CleaveOnnxValue *value);
/* The same of as many as it has results. */
gboolean
cleave_onnx_finish_all (CleaveOnnxNode *node, CleaveOnnxValue *const *values, guint n_values);
/* The number of an attribute, which after `take` the node has no more. */
gint64 cleave_onnx_node_get_int (const CleaveOnnxNode *node, const char *attr, gint64 fallback);
gint64 cleave_onnx_node_take_int (CleaveOnnxNode *node, const char *attr, gint64 fallback);
double cleave_onnx_node_take_real (CleaveOnnxNode *node, const char *attr, double fallback);

/* The numbers of an operand that is there; NULL and the error, which calls it `what`, if it is no
 * constant. */
CleaveOnnxAttr *cleave_onnx_node_read_numbers (CleaveOnnxNode *node,
                                               guint operand,
                                               const char *what,
                                               GError **error);

float *cleave_onnx_attr_dup_floats (const CleaveOnnxAttr *attr);
/* In place of what is there. */
void cleave_onnx_node_set_string (CleaveOnnxNode *node, const char *attr, const char *value);

/* NULL: the operand is absent. */
const CleaveShape *cleave_onnx_node_operand_shape (const CleaveOnnxNode *node, guint index);

/* The order of nodes */

/* Indices of nodes (guint), each after those that make what it reads; as in the file where that is
 * so. */
GArray *cleave_onnx_order (const Onnx__GraphProto *proto);
/* Whether one of the nodes makes a value of this name. */
gboolean cleave_onnx_is_made (const Onnx__GraphProto *proto, const char *name);

/* The body of a graph, into the innermost scope */

static inline gboolean
cleave_onnx_is_default_domain (const char *domain)
{
  return domain == NULL || *domain == '\0' || g_str_equal (domain, "ai.onnx");
}

/* Before anything else is asked of the user: no shape helps a model with an op that is not there.
 */
gboolean
cleave_onnx_check_ops (CleaveOnnxImport *import, const Onnx__GraphProto *proto, GError **error);
gboolean cleave_onnx_read_initializers (CleaveOnnxImport *import,
                                        const Onnx__GraphProto *proto,
                                        GError **error);
/* Calls itself for an If, a Loop or a Scan, no deeper than the messages of a file may nest. */
gboolean
cleave_onnx_read_nodes (CleaveOnnxImport *import, const Onnx__GraphProto *proto, GError **error);

/* Graphs within graphs */

/* Makes the values of an If whose operands are read. */
gboolean cleave_onnx_read_if (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);
/* The same of a Loop: those of all its turns. */
gboolean cleave_onnx_read_loop (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);
/* The same of a Scan. */
gboolean cleave_onnx_read_scan (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);
/* Counts nodes that turns become; FALSE if they are too many. */
gboolean cleave_onnx_unroll (CleaveOnnxNode *node, gsize n_nodes, GError **error);
/* The graph that an attribute is; NULL: there is none. */
const Onnx__GraphProto *cleave_onnx_find_graph (const Onnx__NodeProto *proto, const char *name);
/* A value of an outer scope has a name of its own: it is passed on as another. */
CleaveOnnxValue *cleave_onnx_pass_on (CleaveOnnxNode *node, CleaveOnnxValue *value, GError **error);

/* Nodes that are not known here */

/* Makes the values of such a node, whose operands are read, by passing it on. */
gboolean
cleave_onnx_read_custom (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);

/* Upgrades */

/* A step by an op of opset 17 that takes the node's attributes, in any form that opset 17 has. NULL
 * and the error if it cannot be, or if its first operand is NULL since it could not be. */
CleaveOnnxValue *cleave_onnx_upgrade_step (CleaveOnnxNode *node,
                                           const char *op,
                                           const char *suffix,
                                           CleaveOnnxValue *const *operands,
                                           guint n_operands,
                                           GError **error);
/* Whether the importer knows an op that has no record of its own. */
gboolean cleave_onnx_upgrade_knows (const char *op);
/* Brings a node to opset 17 and to the forms that our records have. */
gboolean cleave_onnx_upgrade (CleaveOnnxNode *node, GError **error);

/* Of opsets 1 to 11 */

gboolean cleave_onnx_upgrade_cast_1 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_dropout_1 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_lp_pool_1 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_power_1 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_selu_1 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_split_1 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_tile_1 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_upsample_1 (CleaveOnnxNode *node, GError **error);

/* Of experimental ops of opset 1 */

gboolean cleave_onnx_upgrade_affine (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_crop (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_dynamic_slice (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_image_scaler (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_parametric_softplus (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_scale (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_scaled_tanh (CleaveOnnxNode *node, GError **error);

/* Of opsets 18 to 26 */

/* Axes (gint64) counted from 0; NULL and the error if they do not fit.  Without a list: all. */
GArray *cleave_onnx_find_axes (CleaveOnnxNode *node,
                               const CleaveOnnxAttr *list,
                               guint rank,
                               GError **error);
gboolean cleave_onnx_upgrade_pad_18 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_resize_18 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_cast_19 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_dft_20 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_stft (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_grid_sample_20 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_quantize_21 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_dequantize_21 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_qlinear_matmul_21 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_affine_grid (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_tensor_scatter (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_reduce (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_split (CleaveOnnxNode *node, GError **error);

/* Of ops that others say */
gboolean cleave_onnx_upgrade_mish (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_swish (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_gelu (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_group_norm (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_rms_norm (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_attention (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_rotary_23 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_center_crop_pad (CleaveOnnxNode *node, GError **error);
CleaveOnnxValue *
cleave_onnx_gelu (CleaveOnnxNode *node, CleaveOnnxValue *x, gboolean by_tanh, GError **error);
CleaveOnnxValue *cleave_onnx_rms_norm (CleaveOnnxNode *node,
                                       CleaveOnnxValue *x,
                                       CleaveOnnxValue *scale,
                                       gint64 axis,
                                       double epsilon,
                                       GError **error);

/* Of com.microsoft: whether the op is read as what it means. */
gboolean cleave_onnx_is_contrib (const char *domain, const char *op);
gboolean cleave_onnx_upgrade_contrib (CleaveOnnxNode *node, GError **error);

/* Of windows */
gboolean cleave_onnx_upgrade_conv (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_deform_conv (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_qlinear_conv (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_pool (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_conv_transpose (CleaveOnnxNode *node, GError **error);

/* Of Resize (11: from that opset on) and of regions */
gboolean cleave_onnx_upgrade_resize (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_resize_11 (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_upsample (CleaveOnnxNode *node, GError **error);

gboolean cleave_onnx_upgrade_roi_align (CleaveOnnxNode *node, GError **error);

/* Of text */
gboolean cleave_onnx_upgrade_tfidf (CleaveOnnxNode *node, GError **error);

/* Of forms of norms; the first calls the upgrade for training. */
gboolean cleave_onnx_upgrade_batch_norm_forms (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_layer_norm (CleaveOnnxNode *node, GError **error);

/* Of training */
gboolean cleave_onnx_upgrade_batch_norm (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_nll_loss (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_softmax_loss (CleaveOnnxNode *node, GError **error);

/* Of what has a shape that depends on values */
gboolean cleave_onnx_upgrade_compress (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_nms (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_non_zero (CleaveOnnxNode *node, GError **error);
gboolean cleave_onnx_upgrade_unique (CleaveOnnxNode *node, GError **error);

/* The graph's inputs */

/* Inputs and outputs are looked up one by one. */
#define CLEAVE_ONNX_MAX_BORDER 4096

/* Whether it is there, UTF-8, and not too long; the error says of `what`. */
gboolean cleave_onnx_check_name (const char *name, const char *what, GError **error);
gboolean cleave_onnx_read_inputs (CleaveOnnxImport *import,
                                  const Onnx__GraphProto *proto,
                                  const CleaveOnnxOptions *options,
                                  GError **error);

/* The type of a value inside the graph; free dimensions that have the name of an input's have its
 * extent. */
gboolean cleave_onnx_value_info_type (CleaveOnnxImport *import,
                                      const Onnx__ValueInfoProto *info,
                                      CleaveTensorType *type,
                                      GError **error);
/* The name of dimension `d` of an input, below CLEAVE_MAX_RANK; NULL: it has none. */
const char *cleave_onnx_dim_name (const Onnx__ValueInfoProto *info, guint d);
/* Keeps the extents of an input's dimensions that have a name. */
void cleave_onnx_keep_extents (CleaveOnnxImport *import,
                               const Onnx__ValueInfoProto *info,
                               const CleaveShape *shape);
/* "N,3,?,W", if a dimension is free; else NULL. */
char *cleave_onnx_free_shape (const Onnx__ValueInfoProto *info);
gboolean cleave_onnx_input_type (const CleaveOnnxImport *import,
                                 const Onnx__ValueInfoProto *info,
                                 const CleaveShape *given,
                                 CleaveTensorType *type,
                                 GError **error);
/* Checks the element type that the model declares for an output; another shape is a warning. */
gboolean cleave_onnx_check_output (CleaveOnnxImport *import,
                                   const Onnx__ValueInfoProto *info,
                                   const CleaveTensorType *type,
                                   gboolean shapes_are_given,
                                   GError **error);
