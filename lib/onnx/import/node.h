/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A node that is being read: its attributes and operands, its errors, constant folding, and the
 * nodes that an upgrade adds in its place. */

#include "import.h"

/* An attribute of a CleaveOnnxNode. Its value comes from the file, from a constant operand, or from
 * an upgrade. A single number is a list of length 1. */
typedef struct
{
  char *name;
  Onnx__AttributeProto__AttributeType type;
  GArray *ints;   /* gint64: the numbers of an attribute or a tensor of integers; empty for
                   * floats */
  GArray *floats; /* double: the numbers of an attribute of floats, or of any tensor, as doubles;
                   * empty for an attribute of integers */
  char *string;
  GPtrArray *strings;
  CleaveTensor *tensor;
} CleaveOnnxAttr;

/* A node that the import has read from the file, but not yet added to the graph. Upgrades change
 * it.
 */
struct CleaveOnnxNode
{
  CleaveOnnxImport *import;
  const char *op; /* name of the op; points into the file or to a static text */
  const char *name;
  const char *doc;     /* doc string of the node; NULL: none */
  GPtrArray *operands; /* CleaveOnnxValue, indexed by operand of ONNX; NULL: absent */
  GPtrArray *rest;     /* CleaveOnnxValue: operands in the order of our op, without the operands
                        * that become attributes; cleave_onnx_node_make() fills the array */
  GPtrArray *attrs;    /* CleaveOnnxAttr: attributes that no upgrade has taken yet */
  const char *result;  /* name of result 0 in the file; NULL: an upgrade added the node */
  guint n_results;     /* number of results, without results at the end that nothing reads */
  guint n_declared;    /* number of results that the file declares */
  GPtrArray *values;   /* CleaveOnnxValue, indexed by result; NULL: cleave_onnx_node_make() has
                        * not made them yet */
};

/* The functions below are for attributes of a CleaveOnnxNode (attrs.c). */

CleaveOnnxAttr *cleave_onnx_attr_new (const char *name, Onnx__AttributeProto__AttributeType type);
CleaveOnnxAttr *cleave_onnx_attr_new_ints (const char *name, const gint64 *ints, guint n_ints);
CleaveOnnxAttr *cleave_onnx_attr_new_int (const char *name, gint64 value);
CleaveOnnxAttr *cleave_onnx_attr_new_real (const char *name, double value);
CleaveOnnxAttr *cleave_onnx_attr_new_string (const char *name, const char *string);
void cleave_onnx_attr_free (CleaveOnnxAttr *attr);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveOnnxAttr, cleave_onnx_attr_free)
CleaveOnnxAttr *
cleave_onnx_attr_read (CleaveOnnxImport *import, const Onnx__AttributeProto *proto, GError **error);
/* Returns a new attribute with the elements of a constant. */
CleaveOnnxAttr *cleave_onnx_attr_of_tensor (const char *name, CleaveTensor *tensor);
/* Returns whether a double represents every integer of the attribute exactly. */
gboolean cleave_onnx_attr_is_exact (const CleaveOnnxAttr *attr);
/* Stores the attribute `value` in the field of `attrs` that `attr` describes. */
gboolean cleave_onnx_attr_store (const CleaveOnnxAttr *value,
                                 const CleaveAttr *attr,
                                 gpointer attrs,
                                 GError **error);

/* The functions below are for nodes that are being read (node.c). */

CleaveOnnxNode *
cleave_onnx_node_new (CleaveOnnxImport *import, const char *op, const char *name, guint n_results);
void cleave_onnx_node_free (CleaveOnnxNode *node);
/* Frees the node in `unused`, which cleave_onnx_node_free() kept for reuse. */
void cleave_onnx_node_free_unused (CleaveOnnxNode *node);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveOnnxNode, cleave_onnx_node_free)
CleaveOnnxAttr *cleave_onnx_node_find (const CleaveOnnxNode *node, const char *attr);
/* Removes the attribute named `attr` from the node, and returns the attribute; the caller frees it.
 * Returns NULL if the node has no attribute of this name. */
CleaveOnnxAttr *cleave_onnx_node_take (CleaveOnnxNode *node, const char *attr);
CleaveOnnxValue *cleave_onnx_node_operand (const CleaveOnnxNode *node, guint index);
void cleave_onnx_node_set_operand (CleaveOnnxNode *node, guint index, CleaveOnnxValue *value);
/* Checks that the first `n` operands are present. If not, sets an error that names the missing
 * operand. */
gboolean cleave_onnx_node_need (const CleaveOnnxNode *node, guint n, GError **error);
/* Sets the error. The message begins with the node's op and name. Returns FALSE. */
gboolean cleave_onnx_node_fail (const CleaveOnnxNode *node, GError **error, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
/* Sets the error as cleave_onnx_node_fail() does, but returns NULL. */
gpointer
cleave_onnx_node_fail_null (const CleaveOnnxNode *node, GError **error, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
/* Sets the error for an op that the importer does not support. The message says that the model's
 * opset has no such op, or why Cleave lacks it. Returns FALSE. */
gboolean cleave_onnx_node_fail_op (const CleaveOnnxNode *node, GError **error);
/* Sets the error for an attribute that the importer does not know. Returns FALSE. */
gboolean
cleave_onnx_node_fail_attr (const CleaveOnnxNode *node, const CleaveOnnxAttr *attr, GError **error);
/* Fails if the node still has attributes: the importer does not know them. */
gboolean cleave_onnx_node_check_no_attrs (const CleaveOnnxNode *node, GError **error);
/* make.c: makes the node's results. Folds the node, or adds it to the graph. */
gboolean cleave_onnx_node_make (CleaveOnnxNode *node, GError **error);

/* Looks at the nodes that follow `last` in the graph, and removes each node with results that no
 * node reads. Keeps Constants, since a value of an outer scope may have such a node as its result.
 */
void cleave_onnx_remove_since (CleaveOnnxImport *import, const CleaveNode *last);

/* The functions below are for constant folding (fold.c) and for the steps of upgrades (steps.c). */

/* Sets the budget of constant folding. The budget is proportional to `n_bytes`, the size of the
 * model's file. */
void cleave_onnx_begin_folding (CleaveOnnxImport *import, gsize n_bytes);
/* Subtracts `work` from the budget of constant folding. Returns FALSE, without a change, if the
 * budget is too small. */
gboolean cleave_onnx_spend (CleaveOnnxImport *import, double work);
#define CLEAVE_ONNX_TOO_COSTLY                                                                     \
  "takes more work than constant folding may do for a file of this size"
/* Returns the end of an error message: the reason why a value is not constant, although the
 * importer needs a constant. */
const char *cleave_onnx_why_unknown (CleaveOnnxImport *import, const CleaveOnnxValue *value);
/* The first function returns whether all operands (CleaveOnnxValue) are constant. The second
 * function returns whether all operands would be constant if constant folding had no budget. */
gboolean cleave_onnx_is_constant (const CleaveCall *call, const GPtrArray *operands);
gboolean cleave_onnx_could_fold (const CleaveCall *call, const GPtrArray *operands);
/* Computes the node's results from constant operands, and stores them in `values`. Leaves `values`
 * empty if the computation exceeds the budget, or if the results are too large. */
gboolean cleave_onnx_fold (CleaveOnnxNode *node,
                           const CleaveCall *call,
                           const GPtrArray *operands,
                           GError **error);

/* Adds a Reshape of `value` to `shape`, and returns its result. Returns NULL on error. */
CleaveOnnxValue *cleave_onnx_node_reshape (CleaveOnnxNode *node,
                                           CleaveOnnxValue *value,
                                           const CleaveShape *shape,
                                           const char *suffix,
                                           GError **error);

/* Adds a node with one result for an upgrade, and returns the result. Returns NULL on error, or if
 * an operand is NULL because an earlier step failed; no operand may be absent. Takes ownership of
 * `attr`. */
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
/* Returns a constant of this type with a copy of the bytes at `data`. */
CleaveOnnxValue *
cleave_onnx_constant (CleaveOnnxNode *node, const CleaveTensorType *type, gconstpointer data);
/* Returns a constant scalar with the number `number`. */
CleaveOnnxValue *cleave_onnx_real (CleaveOnnxNode *node, CleaveElement element, double number);

/* Sets every element of the tensor to `number`. */
void cleave_onnx_fill (CleaveTensor *tensor, double number);
/* Makes `value` the only result of the node. Returns FALSE if `value` is NULL. */
gboolean cleave_onnx_finish (CleaveOnnxNode *node, CleaveOnnxValue *value);
/* Makes `values` the results of the node. Returns FALSE if one of `values` is NULL. */
gboolean
cleave_onnx_finish_all (CleaveOnnxNode *node, CleaveOnnxValue *const *values, guint n_values);
/* Return the value of an attribute that is one number, or `fallback` if the node does not have the
 * attribute. The functions with `take` in their names also remove the attribute. */
gint64 cleave_onnx_node_get_int (const CleaveOnnxNode *node, const char *attr, gint64 fallback);
gint64 cleave_onnx_node_take_int (CleaveOnnxNode *node, const char *attr, gint64 fallback);
double cleave_onnx_node_take_real (CleaveOnnxNode *node, const char *attr, double fallback);

/* Returns the numbers of a constant operand. If the operand is not constant, returns NULL and sets
 * an error. `what` describes the operand in the error message. */
CleaveOnnxAttr *cleave_onnx_node_read_numbers (CleaveOnnxNode *node,
                                               guint operand,
                                               const char *what,
                                               GError **error);

float *cleave_onnx_attr_dup_floats (const CleaveOnnxAttr *attr);
/* Sets a string attribute of the node, replacing an older one. */
void cleave_onnx_node_set_string (CleaveOnnxNode *node, const char *attr, const char *value);

/* Returns the shape of operand `index`; NULL if the operand is absent. */
const CleaveShape *cleave_onnx_node_operand_shape (const CleaveOnnxNode *node, guint index);
