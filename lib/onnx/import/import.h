/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The state and the functions that the files of the ONNX importer share.
 *
 * cleave_onnx_parse() (import.c) reads a ModelProto into a CleaveGraph: the initializers and inputs
 * (inputs.c), then the nodes (body.c). Each node becomes a CleaveOnnxNode. An upgrade
 * (lib/onnx/upgrade) brings it to the form of opset 17 and of our op records, or replaces it by
 * simpler nodes. Then make.c folds it or adds it to the graph. If, Loop and Scan are unrolled
 * (if.c, loop.c, scan.c).
 *
 * Interpreting is a second use of these files: a run of the dynamic part reads its nodes with all
 * values known, so that each node is folded at once (interpret.c).
 *
 * Over 400 lines: it declares the functions of some 30 files. */

#include <cleave/cleave-onnx.h>

#include "../../ir/op.h"
#include "../../ir/pool.h"
#include "../origin.h"
#include "../tensor-proto.h"

/* The contents of an optional value; NOT_OPTIONAL: the value is not optional. */
typedef enum {
  CLEAVE_ONNX_NOT_OPTIONAL,
  CLEAVE_ONNX_OPTIONAL_EMPTY,
  CLEAVE_ONNX_OPTIONAL_TENSOR,
  CLEAVE_ONNX_OPTIONAL_SEQUENCE
} CleaveOnnxOptional;

/* A value of the file, with a `result` of the graph, a known tensor (`constant`), or both. A value
 * with only a constant becomes a node of the graph when a node reads it. */
typedef struct
{
  char *name; /* name in the file; NULL: an upgrade made the value */
  CleaveResult *result;
  CleaveTensor *constant;
  GPtrArray *items; /* CleaveOnnxValue: the tensors of a sequence or of an optional value; NULL:
                     * the value is a tensor */
  CleaveOnnxOptional optional;
  gint64 n_padded;     /* number of channels in the file, padding included, if the file has them in
                        * blocks (nchwc.h); 0: not in blocks. `result` and `constant` are not in
                        * blocks. */
  CleaveOnnxForm form; /* form in which the file stores the elements */
  gboolean is_text;    /* whether the elements are strings, as numbers of the table of strings
                        * (texts.h) */
  gboolean is_stored;  /* whether the file has the elements, so that no node computes them */
  gboolean is_costly;  /* whether only constants determine the value, but computing it would
                        * exceed the budget */
  gboolean is_kept;    /* interpreting: whether other values refer to this value; its tensor is then
                        * freed only after the run */
  gboolean is_live;    /* interpreting: whether cleave_onnx_release() must not free the value */
  gboolean is_carried; /* interpreting: whether an iteration that has ended made the value for
                        * later iterations */
} CleaveOnnxValue;

/* A node that becomes part of the dynamic part instead of the graph (deferred.h). */
typedef struct CleaveOnnxDeferred CleaveOnnxDeferred;

/* The nodes of the dynamic part that run as one program (chain.h). */
typedef struct CleaveOnnxChain CleaveOnnxChain;

/* The table of strings of the dynamic part (texts.h). */
typedef struct CleaveOnnxTexts CleaveOnnxTexts;

/* The size of channel blocks and the padding of a graph with such blocks (nchwc.h). */
typedef struct CleaveOnnxBlocked CleaveOnnxBlocked;
#define CLEAVE_ONNX_NCHWC "com.microsoft.nchwc"

#define CLEAVE_ONNX_MIN_OPSET 1
#define CLEAVE_ONNX_MAX_OPSET 26

/* The state of one import. */
typedef struct
{
  CleaveGraph *graph;
  /* parts of the model that do not influence results; the graph owns the origin */
  CleaveOnnxOrigin *origin;
  CleaveOnnxFolder folder;
  gint64 opset, ir_version;
  GHashTable *opsets; /* maps a node of the file (Onnx__NodeProto) that comes from a function to
                       * the function's opset, if this differs from the model's */
  GArray *defaults;   /* CleaveDefault: inputs with a default value */
  /* maps the tensor of each default value to 1 plus its index in `defaults` */
  GHashTable *default_index;
  GHashTable *values;  /* names of the innermost scope: maps a name to its CleaveOnnxValue
                        * (borrowed) */
  GPtrArray *outer;    /* GHashTable: names of the enclosing scopes, outermost first */
  GHashTable *infos;   /* maps the name of a value whose type the model declares to its
                        * Onnx__ValueInfoProto */
  GHashTable *extents; /* maps the name of a dimension of an input to its extent (gint64) */
  const Onnx__GraphProto *whole;
  GHashTable *read;      /* set of the names that nodes and outputs of the file read; NULL: not
                          * collected yet */
  CleavePool *pool;      /* owner of all values and their names */
  GPtrArray *spare;      /* CleaveOnnxValue: freed values that can be reused; NULL: none */
  GHashTable *names;     /* interpreting: set of the names of values, so that all iterations of a
                          * loop share a name; NULL: no value was made yet */
  GPtrArray *all_values; /* CleaveOnnxValue: all values, in the order in which they were made */
  GHashTable *values_of; /* maps a node of the graph (CleaveNode) to its computed values
                          * (CleaveTensor) */
  GHashTable *shared;    /* while a body is read: maps a TensorProto or a Constant node to the
                          * value that the first iteration made of it; NULL: no body is read */
  gsize n_unrolled;      /* number of nodes that iterations of loops have added */
  struct CleaveOnnxNode *unused; /* a freed node that can be reused; NULL: none */
  double fold_budget;            /* work that constant folding may still do, in kernel steps */
  CleaveOnnxBlocked *blocked; /* size of channel blocks and padding of the graph that is read; NULL:
                               * no value is in blocks */
  gint64 block;               /* number of channels in a block; 0: not known yet */

  /* The dynamic part. The tables are NULL unless the caller asks for a dynamic part. */
  GHashTable *dynamic;      /* maps a result of a dynamic node to its CleaveOnnxDeferred (borrowed).
                             * Maps initializers and inputs that the graph cannot have to NULL:
                             * strings, sequences and optional values. */
  GPtrArray *deferred;      /* CleaveOnnxDeferred: the dynamic nodes so far */
  GHashTable *sequences;    /* maps the name of a sequence to its CleaveOnnxDeferred in `makers` */
  GPtrArray *makers;        /* CleaveOnnxDeferred: static nodes that made sequences */
  GHashTable *output_names; /* set of the names of the graph's outputs */
  const char *unknown, *why; /* `why`: reason why the current node is dynamic; NULL: the node is
                              * static so far. `unknown`: name of the value that is the reason;
                              * NULL: no single value is. */

  /* Interpreting: all values are known, and each node is computed at once (interpret.c). */
  gboolean interprets;
  GHashTable *holders;    /* maps a tensor to the number of values that hold it; NULL: tensors
                           * are not counted */
  CleaveOnnxTexts *texts; /* numbers of the strings that tensors hold; NULL: none yet */
  gint64 live_bytes, peak_bytes, n_calls;
  CleaveOnnxChain *chain;        /* nodes that are not computed yet; NULL: the import does not
                                  * interpret */
  CleaveOnnxComputeFunc compute; /* function of the caller that computes expensive nodes; NULL:
                                  * reference kernels compute all nodes */
  gpointer compute_data;
} CleaveOnnxImport;

void cleave_onnx_import_clear (CleaveOnnxImport *import);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveOnnxImport, cleave_onnx_import_clear)

/* An attribute of a CleaveOnnxNode. Its value comes from the file, from a constant operand, or from
 * an upgrade. A single number is a list of length 1. */
typedef struct
{
  char *name;
  Onnx__AttributeProto__AttributeType type;
  GArray *ints;   /* gint64: numbers of an attribute, converted to integers */
  GArray *floats; /* double: numbers of an attribute, converted to floats */
  char *string;
  GPtrArray *strings;
  CleaveTensor *tensor;
} CleaveOnnxAttr;

/* A node that the import has read from the file, but not yet added to the graph. Upgrades change
 * it.
 */
typedef struct CleaveOnnxNode
{
  CleaveOnnxImport *import;
  const char *op; /* name of the op; points into the file or to a static text */
  const char *name;
  const char *doc;     /* doc string of the node; NULL: none */
  GPtrArray *operands; /* CleaveOnnxValue, indexed by operand of ONNX; NULL: absent */
  GPtrArray *rest;     /* CleaveOnnxValue: operands of our op, except operands that become
                        * attributes; cleave_onnx_node_make() fills the array */
  GPtrArray *attrs;    /* CleaveOnnxAttr: attributes that no upgrade has taken yet */
  const char *result;  /* name of result 0 in the file; NULL: an upgrade added the node */
  guint n_results;     /* number of results, without results at the end that nothing reads */
  guint n_declared;    /* number of results that the file declares */
  GPtrArray *values;   /* CleaveOnnxValue, indexed by result; NULL: cleave_onnx_node_make() has
                        * not made them yet */
} CleaveOnnxNode;

/* The functions below are for values and scopes of names (node.c). */

CleaveOnnxValue *cleave_onnx_value_new (CleaveOnnxImport *import, const char *name);
/* Makes a value with a known tensor. Takes ownership of the tensor. */
CleaveOnnxValue *
cleave_onnx_value_new_constant (CleaveOnnxImport *import, const char *name, CleaveTensor *constant);
const CleaveTensorType *cleave_onnx_value_type (const CleaveOnnxValue *value);
static inline const CleaveShape *
cleave_onnx_value_shape (const CleaveOnnxValue *value)
{
  return &cleave_onnx_value_type (value)->shape;
}

/* Returns the tensor of a value that only constants determine, even if nodes of the graph compute
 * it. Returns NULL if the value depends on an input, or if computing it exceeds the budget. */
CleaveTensor *cleave_onnx_value_constant (CleaveOnnxImport *import, CleaveOnnxValue *value);
/* Removes nodes that nothing reads because the import used their computed values instead. */
void cleave_onnx_remove_known (CleaveOnnxImport *import);
/* Attaches the list of default values to the graph, for the export. Removes constants of default
 * values that no node reads. */
void cleave_onnx_keep_defaults (CleaveOnnxImport *import);
/* Records that a constant decided a shape or an attribute. If the constant is a default value, a
 * written file fixes it: the caller of that file cannot replace it. */
void cleave_onnx_fix_default (CleaveOnnxImport *import, const CleaveTensor *constant);
/* pieces.c: merges the nodes that the exporter wrote for one piece of a split. The exporter writes
 * several nodes if ONNX has no op for the piece. */
void cleave_onnx_merge_pieces (CleaveGraph *graph);
/* Returns the value as a result of the graph. Adds a Constant to the graph if the value has no
 * result yet. */
CleaveResult *cleave_onnx_value_result (CleaveOnnxImport *import, CleaveOnnxValue *value);
/* Defines a value in the innermost scope. Fails if the scope has a value of this name. */
gboolean cleave_onnx_bind (CleaveOnnxImport *import, CleaveOnnxValue *value, GError **error);
/* Defines a second name for a value. */
gboolean cleave_onnx_bind_as (CleaveOnnxImport *import,
                              const char *name,
                              const CleaveOnnxValue *value,
                              GError **error);
/* Looks up a name in the scopes, from the innermost to the outermost. Returns NULL if no scope has
 * it. */
CleaveOnnxValue *cleave_onnx_lookup (CleaveOnnxImport *import, const char *name);
/* Returns whether a node or an output of the file reads a value named `name`. */
gboolean cleave_onnx_is_read (CleaveOnnxImport *import, const char *name);
/* Returns the value that an earlier iteration made of `message`, a TensorProto or a Constant node
 * of a body. Returns NULL if there is none. A message can be read only once, since reading moves
 * bytes out of it. */
CleaveOnnxValue *cleave_onnx_recall (const CleaveOnnxImport *import, gconstpointer message);
/* Remembers `value`, made of `message`, for the next iteration of the body. Does nothing outside of
 * bodies, since each message is then read only once. */
void cleave_onnx_remember (CleaveOnnxImport *import, gconstpointer message, CleaveOnnxValue *value);
void cleave_onnx_begin_scope (CleaveOnnxImport *import);
void cleave_onnx_end_scope (CleaveOnnxImport *import);

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
/* Makes an attribute from the elements of a constant. */
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
/* Removes the attribute from the node and returns it; the caller frees it. Returns NULL if the node
 * does not have it. */
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
/* make.c: makes the node's values. Folds the node, or adds it to the graph. */
gboolean cleave_onnx_node_make (CleaveOnnxNode *node, GError **error);

/* Removes nodes of the graph after `last` that nothing reads. Keeps constants, to which values of
 * outer scopes may refer. */
void cleave_onnx_remove_since (CleaveOnnxImport *import, const CleaveNode *last);

/* The functions below make the dynamic part (dynamic.c, bounds.c, border.c). */

/* Called with each name that a node, or a node of one of its inner graphs, reads. */
typedef void (*CleaveOnnxReadFunc) (const char *name, gpointer data);
void
cleave_onnx_each_read (const Onnx__NodeProto *proto, CleaveOnnxReadFunc function, gpointer data);
/* Returns the name of the node, or the name of its first result if the node has no name. */
const char *cleave_onnx_name_of_node (const Onnx__NodeProto *proto);
/* Starts an import with a dynamic part: a node becomes dynamic if the import cannot read it as a
 * static node. */
void cleave_onnx_begin_dynamic (CleaveOnnxImport *import);
/* If the node reads a result of a dynamic node, returns the name of that result; NULL otherwise. */
const char *cleave_onnx_find_dynamic (const CleaveOnnxImport *import, const Onnx__NodeProto *proto);
GBytes *cleave_onnx_pack_node (const Onnx__NodeProto *proto);
/* Makes a copy of a node of the file, for the dynamic part. Call this function before the node is
 * read, which may change it. */
CleaveOnnxDeferred *
cleave_onnx_deferred_new (CleaveOnnxImport *import, const Onnx__NodeProto *proto, guint position);
void cleave_onnx_deferred_free (CleaveOnnxDeferred *deferred);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveOnnxDeferred, cleave_onnx_deferred_free)
/* Makes a node dynamic. Takes ownership of `deferred`, the copy of the node. `value` is the dynamic
 * value that the node reads; NULL: cleave_onnx_note_unknown() has recorded another reason. */
void cleave_onnx_defer (CleaveOnnxImport *import, CleaveOnnxDeferred *deferred, const char *value);
/* Keeps the copy of a static node if the node made a sequence: the node becomes dynamic if a
 * dynamic node reads the sequence. Takes ownership of `deferred`. */
void cleave_onnx_note_maker (CleaveOnnxImport *import, CleaveOnnxDeferred *deferred);
/* Records why the current node is dynamic. The text continues a sentence whose subject is the node,
 * such as "has too many iterations". `value` is the value whose contents decide the node's shapes;
 * NULL: no single value does. Has no effect without a dynamic part. */
void cleave_onnx_note_unknown (CleaveOnnxImport *import,
                               const CleaveOnnxValue *value,
                               const char *format,
                               ...) G_GNUC_PRINTF (3, 4);
/* Returns the largest number of bytes that the results of a node can take, whatever its operands
 * contain. Returns -1 if no bound is known. */
gint64 cleave_onnx_bound_results (CleaveOnnxImport *import, const Onnx__NodeProto *proto);
/* Completes the set of dynamic nodes after all nodes were read. Returns whether the model has a
 * dynamic part: a dynamic node, or an input that the graph cannot have. */
gboolean cleave_onnx_collect_dynamic (CleaveOnnxImport *import);
/* border.c: makes the dynamic part. The values of the static part that dynamic nodes read become
 * outputs of the graph, after the model's outputs. */
gboolean cleave_onnx_finish_dynamic (CleaveOnnxImport *import,
                                     const Onnx__GraphProto *whole,
                                     GError **error);

/* The functions below are for interpreting: a run of the dynamic part (held.c, compute.c). */

/* cleave_onnx_count_held() adds 1 to the number of values that hold the tensor.
 * cleave_onnx_count_released() subtracts 1. */
void cleave_onnx_count_held (CleaveOnnxImport *import, CleaveTensor *tensor);
void cleave_onnx_count_released (CleaveOnnxImport *import, CleaveTensor *tensor);
/* Computes a node: calls the function `compute` of the import with a graph that has only this node.
 * `operands` has a CleaveOnnxValue for each operand; NULL: absent. Returns the results
 * (CleaveTensor); NULL on error. */
GPtrArray *cleave_onnx_compute (CleaveOnnxImport *import,
                                const CleaveCall *call,
                                const GPtrArray *operands,
                                GError **error);
/* Returns whether a node has enough kernel steps that compiling a graph for it saves time. */
gboolean cleave_onnx_is_expensive (const CleaveOnnxImport *import,
                                   const CleaveCall *call,
                                   CleaveTensor *const *operands);
/* Frees the tensor of a value, unless the value's `is_kept` or `is_live` is set. */
void cleave_onnx_release_value (CleaveOnnxImport *import, CleaveOnnxValue *value);
/* Frees the tensors of the values from index `first` of `all_values` to the end, as
 * cleave_onnx_release_value() does. Does nothing unless the import interprets. */
void cleave_onnx_release (CleaveOnnxImport *import, guint first);
/* Frees tensors as cleave_onnx_release() does, and lets cleave_onnx_value_new() return the freed
 * values again. No scope and no node may refer to the freed values. */
void cleave_onnx_recycle (CleaveOnnxImport *import, guint first);

/* The functions below are for constant folding (fold.c) and for the steps of upgrades (steps.c). */

/* Sets the budget of constant folding. The budget is proportional to `n_bytes`, the size of the
 * model's file. */
void cleave_onnx_begin_folding (CleaveOnnxImport *import, gsize n_bytes);
/* Subtracts `work` from the budget. Returns FALSE, without a change, if the budget is too small. */
gboolean cleave_onnx_spend (CleaveOnnxImport *import, double work);
#define CLEAVE_ONNX_TOO_COSTLY                                                                     \
  "takes more work than constant folding may do for a file of this size"
/* Returns why a value is not constant although the importer needs a constant, as the end of an
 * error message. */
const char *cleave_onnx_why_unknown (CleaveOnnxImport *import, const CleaveOnnxValue *value);
/* The first function returns whether all operands (CleaveOnnxValue) are constant. The second
 * returns whether all would be constant if constant folding had no budget. */
gboolean cleave_onnx_is_constant (const CleaveCall *call, const GPtrArray *operands);
gboolean cleave_onnx_could_fold (const CleaveCall *call, const GPtrArray *operands);
/* Computes the node's values from constant operands. Leaves `values` empty if the computation
 * exceeds the budget, or if the results are too large. */
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
/* Makes `values` the results of the node. Returns FALSE if one of them is NULL. */
gboolean
cleave_onnx_finish_all (CleaveOnnxNode *node, CleaveOnnxValue *const *values, guint n_values);
/* Return the number of an attribute, or `fallback` if the node does not have the attribute. The
 * second function also removes the attribute. */
gint64 cleave_onnx_node_get_int (const CleaveOnnxNode *node, const char *attr, gint64 fallback);
gint64 cleave_onnx_node_take_int (CleaveOnnxNode *node, const char *attr, gint64 fallback);
double cleave_onnx_node_take_real (CleaveOnnxNode *node, const char *attr, double fallback);

/* Returns the numbers of a constant operand. If the operand is not constant, returns NULL and sets
 * an error that calls the operand `what`. */
CleaveOnnxAttr *cleave_onnx_node_read_numbers (CleaveOnnxNode *node,
                                               guint operand,
                                               const char *what,
                                               GError **error);

float *cleave_onnx_attr_dup_floats (const CleaveOnnxAttr *attr);
/* Sets a string attribute of the node, replacing an older one. */
void cleave_onnx_node_set_string (CleaveOnnxNode *node, const char *attr, const char *value);

/* Returns the shape of operand `index`; NULL if the operand is absent. */
const CleaveShape *cleave_onnx_node_operand_shape (const CleaveOnnxNode *node, guint index);

/* The functions below find the order of nodes in a graph of the file (order.c). */

/* Returns the indices (guint) of all nodes of a graph, sorted so that each node comes after the
 * nodes that compute its operands. Keeps the order of the file where possible. */
GArray *cleave_onnx_order (const Onnx__GraphProto *proto);
/* Returns whether a node of the graph computes a value of this name. */
gboolean cleave_onnx_is_made (const Onnx__GraphProto *proto, const char *name);

/* The functions below read the initializers and nodes of a graph of the file. */

static inline gboolean
cleave_onnx_is_default_domain (const char *domain)
{
  return domain == NULL || *domain == '\0' || g_str_equal (domain, "ai.onnx");
}

/* Fails if the importer does not support an op of the graph. Call this function before you report
 * missing shapes, since the import would still fail with these shapes. */
gboolean
cleave_onnx_check_ops (CleaveOnnxImport *import, const Onnx__GraphProto *proto, GError **error);
gboolean cleave_onnx_read_initializers (CleaveOnnxImport *import,
                                        const Onnx__GraphProto *proto,
                                        GError **error);
/* Reads the nodes of a graph. Calls itself for the inner graphs of If, Loop and Scan. The recursion
 * is bounded, since cleave_wire_unpack() limits the nesting of messages. */
gboolean
cleave_onnx_read_nodes (CleaveOnnxImport *import, const Onnx__GraphProto *proto, GError **error);
/* Reads node `index` of the graph. A node that comes from a function has the function's opset. Any
 * other node has the model's opset. */
gboolean cleave_onnx_read_node (CleaveOnnxImport *import,
                                const Onnx__GraphProto *graph,
                                size_t index,
                                GError **error);

/* The functions below read ops whose attributes are graphs (if.c, loop.c, scan.c). */

/* Reads an If, and makes its values. The operands of the node must be set already. */
gboolean cleave_onnx_read_if (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);
/* Reads a Loop, and makes its values by unrolling all iterations. */
gboolean cleave_onnx_read_loop (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);
/* Reads a Scan, and makes its values by unrolling all iterations. */
gboolean cleave_onnx_read_scan (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);
/* Adds `n_nodes` to the count of nodes that unrolling adds. Returns FALSE and the error if there
 * are too many. */
gboolean cleave_onnx_unroll (CleaveOnnxNode *node, gsize n_nodes, GError **error);
gboolean
cleave_onnx_read_sequence_map (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);
/* Returns the graph in the attribute `name`; NULL if the node does not have it. */
const Onnx__GraphProto *cleave_onnx_find_graph (const Onnx__NodeProto *proto, const char *name);
/* Returns output `index` of an inner graph, after its nodes were read. Returns NULL and the error
 * if no node defined it. */
CleaveOnnxValue *cleave_onnx_find_output (CleaveOnnxNode *node,
                                          const Onnx__GraphProto *graph,
                                          guint index,
                                          GError **error);
/* Adds an Identity of a value of an outer scope. The value keeps its name. */
CleaveOnnxValue *cleave_onnx_pass_on (CleaveOnnxNode *node, CleaveOnnxValue *value, GError **error);

/* The functions below are for ops that read or make sequences (sequences.c). */

/* Returns whether the op reads or makes a sequence. The importer runs such an op itself. */
gboolean cleave_onnx_is_sequence_op (const char *op);
/* Makes the values of a node whose op reads or makes a sequence. */
gboolean cleave_onnx_read_sequence (CleaveOnnxNode *node, GError **error);
/* Fails if an operand is a sequence. Only ops of sequences may read a sequence. */
gboolean cleave_onnx_check_tensors (const CleaveOnnxNode *node, GError **error);

/* The functions below read models that ONNX Runtime optimized for a CPU: channels are in blocks. */

/* Returns the size of channel blocks and the padding of a graph; NULL if no value is in blocks.
 * Call this function after the initializers were read. */
CleaveOnnxBlocked *cleave_onnx_scan_blocked (CleaveOnnxImport *import,
                                             const Onnx__GraphProto *graph);
void cleave_onnx_blocked_free (CleaveOnnxBlocked *blocked);
/* Returns whether a tensor can be weights in blocks: it is dense, float32, and has rank 4. */
gboolean cleave_onnx_is_filter (const CleaveTensor *weights);
gboolean cleave_onnx_is_nchwc (const char *domain, const char *op);
gboolean cleave_onnx_upgrade_nchwc (CleaveOnnxNode *node, GError **error);
/* Adds Slices of an element-wise node's operands that the file has in blocks. The Slices remove
 * channels that are only padding in the result. Sets `n_padded` to the number of channels of the
 * result in the file; 0: no operand is in blocks. */
gboolean cleave_onnx_narrow_blocked (CleaveOnnxNode *node, gint64 *n_padded, GError **error);
/* Fails if a dynamic node has channels in blocks. The dynamic part keeps nodes as they are in the
 * file, but the static part computes values without blocks. */
gboolean cleave_onnx_check_not_blocked (CleaveOnnxImport *import,
                                        const Onnx__NodeProto *proto,
                                        GError **error);

/* The function below reads nodes of domains that the importer does not know (custom.c). */

/* Reads a node of an unknown domain. The results of a Custom node become its values. */
gboolean
cleave_onnx_read_custom (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);

/* The functions below upgrade nodes (upgrade/upgrade.c, upgrade/contrib.c). */

/* Returns whether an upgrade replaces an op that has no op record. */
gboolean cleave_onnx_upgrade_knows (const char *op);
/* Converts a node to opset 17 and to the form of our op records; see upgrade/upgrades.h. */
gboolean cleave_onnx_upgrade (CleaveOnnxNode *node, GError **error);

/* The functions below replace ops of com.microsoft by standard ops (upgrade/contrib.h). */
gboolean cleave_onnx_is_contrib (const char *domain, const char *op);
gboolean cleave_onnx_upgrade_contrib (CleaveOnnxNode *node, GError **error);

/* The functions below read the inputs of the graph, and their types (inputs.c, shapes.c). */

/* Largest number of inputs of a graph, and of outputs. The limit bounds the time of searches that
 * compare a name with the names of all inputs or outputs. */
#define CLEAVE_ONNX_MAX_BORDER 4096

/* Fails if a name is missing, too long or not valid UTF-8. The error calls the name `what`. */
gboolean cleave_onnx_check_name (const char *name, const char *what, GError **error);
gboolean cleave_onnx_read_inputs (CleaveOnnxImport *import,
                                  const Onnx__GraphProto *proto,
                                  const CleaveOnnxOptions *options,
                                  GError **error);

/* Reads the declared type of an inner value. If a free dimension has the name of a dimension of an
 * input, it has the extent of that dimension. */
gboolean cleave_onnx_value_info_type (CleaveOnnxImport *import,
                                      const Onnx__ValueInfoProto *info,
                                      CleaveTensorType *type,
                                      GError **error);
/* Returns the name of dimension `d` of an input; NULL if the dimension has no name. `d` must be
 * below CLEAVE_MAX_RANK. */
const char *cleave_onnx_dim_name (const Onnx__ValueInfoProto *info, guint d);
/* Stores the extents of the named dimensions of an input in `extents` of the import. */
void cleave_onnx_keep_extents (CleaveOnnxImport *import,
                               const Onnx__ValueInfoProto *info,
                               const CleaveShape *shape);
/* Returns the shape of an input as text, such as "N,3,?,W", if a dimension is free; NULL otherwise.
 */
char *cleave_onnx_free_shape (const Onnx__ValueInfoProto *info);
/* Returns whether an input is a tensor of strings, which only the dynamic part may read. */
gboolean cleave_onnx_is_text_input (const CleaveOnnxImport *import,
                                    const Onnx__ValueInfoProto *info);
/* Finds the type of an input. A tensor of strings becomes a tensor of bytes in the graph, with one
 * dimension more. */
gboolean cleave_onnx_input_type (const CleaveOnnxImport *import,
                                 const Onnx__ValueInfoProto *info,
                                 const CleaveShape *given,
                                 CleaveTensorType *type,
                                 GError **error);
/* Fails if the declared element type of an output differs from the element type of `type`. If only
 * the shape differs, adds a warning. */
gboolean cleave_onnx_check_output (CleaveOnnxImport *import,
                                   const Onnx__ValueInfoProto *info,
                                   const CleaveTensorType *type,
                                   gboolean shapes_are_given,
                                   GError **error);
