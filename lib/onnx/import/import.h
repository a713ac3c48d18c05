/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The state and the functions that the files of the ONNX importer share.
 *
 * The importer reads a ModelProto into a CleaveGraph: initializers and inputs (inputs.c), then
 * the nodes (body.c). Each node becomes a CleaveOnnxNode. An upgrade (lib/onnx/upgrade) brings it
 * to the form of opset 17 and of our op records, or replaces it by simpler nodes. Then make.c folds
 * it or adds it to the graph. If, Loop and Scan are unrolled (if.c, loop.c, scan.c).
 *
 * Over 400 lines: it declares the upgrades of all ops. */

#include <cleave/cleave-onnx.h>

#include "../../ir/op.h"
#include "../../ir/pool.h"
#include "../origin.h"
#include "../tensor-proto.h"

/* Whether a value is optional and, if it is, the contents of its list. */
typedef enum {
  CLEAVE_ONNX_NOT_OPTIONAL,
  CLEAVE_ONNX_OPTIONAL_EMPTY,
  CLEAVE_ONNX_OPTIONAL_TENSOR,
  CLEAVE_ONNX_OPTIONAL_SEQUENCE
} CleaveOnnxOptional;

/* A value of the file. `result`, `constant` or both are set. A constant is added to the graph when
 * a node reads it. */
typedef struct
{
  char *name; /* NULL: an upgrade made the value */
  CleaveResult *result;
  CleaveTensor *constant;
  GPtrArray *items; /* CleaveOnnxValue: the tensors, if the value is a sequence or is optional;
                       NULL: the value is a tensor */
  CleaveOnnxOptional optional;
  gint64 n_padded; /* number of channels in the file if they are in blocks there, else 0; this value
                      is not in blocks and may have fewer channels (nchwc.h) */
  CleaveOnnxForm form; /* form in which the file stores the elements */
  gboolean is_text;    /* the elements are numbers of strings (texts.h) */
  gboolean is_stored;  /* the file has the elements, so the value is not computed */
  gboolean is_costly;  /* only constants determine the value, but computing it exceeds the budget */
  gboolean is_kept; /* interpreting: other values refer to this value, so its tensor is freed only
                       at the end */
  gboolean is_live; /* interpreting: cleave_onnx_release() must not free the value */
  gboolean is_carried; /* interpreting: an iteration that has ended passed the value on to later
                          iterations */
} CleaveOnnxValue;

/* A node of the file that is not read into the graph, but becomes a node of the dynamic part. */
typedef struct CleaveOnnxDeferred CleaveOnnxDeferred;

/* The strings of the dynamic part (texts.h). */
typedef struct CleaveOnnxTexts CleaveOnnxTexts;

/* Block size and padding of a graph with blocked values (nchwc.h). */
typedef struct CleaveOnnxBlocked CleaveOnnxBlocked;
#define CLEAVE_ONNX_NCHWC "com.microsoft.nchwc"

#define CLEAVE_ONNX_MIN_OPSET 1
#define CLEAVE_ONNX_MAX_OPSET 26

/* The state of one import. */
typedef struct
{
  CleaveGraph *graph;
  CleaveOnnxOrigin
      *origin; /* parts of the model that do not influence results; the graph owns it */
  CleaveOnnxFolder folder;
  gint64 opset, ir_version;
  GHashTable *opsets; /* maps an Onnx__NodeProto of a function to the function's opset, if that
                         differs from the model's */
  GArray *defaults;   /* CleaveDefault: inputs with a default value */
  GHashTable
      *default_index; /* maps the tensor of a default value to 1 plus its index in `defaults` */
  GHashTable *values; /* maps a name to its CleaveOnnxValue (borrowed), for the innermost scope */
  GPtrArray *outer; /* GHashTable: tables like `values` for the enclosing scopes, outermost first */
  GHashTable *
      infos; /* maps a name to its Onnx__ValueInfoProto, for values whose type the model declares */
  GHashTable *extents; /* maps the name of an input's dimension to its extent (gint64) */
  const Onnx__GraphProto *whole;
  GHashTable *read;      /* set of the names that a node or output reads; NULL: not collected yet */
  CleavePool *pool;      /* owner of values and their names */
  GPtrArray *all_values; /* CleaveOnnxValue: all values, in the order in which they were made */
  GHashTable *values_of; /* maps a CleaveNode to its computed values (CleaveTensor) */
  GHashTable *shared; /* in bodies: maps a TensorProto or Constant node to the value that the first
                         iteration read; NULL: none */
  gsize n_unrolled;   /* number of nodes that iterations of loops have added */
  struct CleaveOnnxNode *unused; /* a freed node that can be reused; NULL: none */
  double fold_budget;            /* work in kernel steps that constant folding may still do */
  CleaveOnnxBlocked
      *blocked; /* block size and padding of the graph that is read; NULL: no blocked values */
  gint64 block; /* number of channels in a block; 0: not known yet */

  /* The dynamic part. These tables are NULL unless the caller asks for one. */
  GHashTable *dynamic; /* maps a result of a dynamic node to its CleaveOnnxDeferred (borrowed), and
                          an initializer or an input with strings to NULL */
  GPtrArray *deferred; /* CleaveOnnxDeferred: the dynamic nodes */
  GHashTable *sequences;     /* maps the name of a sequence to its CleaveOnnxDeferred in `makers` */
  GPtrArray *makers;         /* CleaveOnnxDeferred: nodes that make sequences */
  GHashTable *output_names;  /* set of the names of the graph's outputs */
  const char *unknown, *why; /* `why`: the reason why the current node is dynamic, NULL: it is
                                static; `unknown`: name of the value that causes it; NULL: none */

  /* Interpreting: all values are known, and each node is computed at once (interpret.c). */
  gboolean interprets;
  GHashTable
      *holders; /* maps a tensor to the number of values that hold it; NULL: not counted yet */
  CleaveOnnxTexts *texts; /* NULL: there was no string yet */
  gint64 live_bytes, peak_bytes, n_calls;
  CleaveOnnxComputeFunc compute; /* function of the caller that computes expensive nodes; NULL:
                                    reference kernels compute them */
  gpointer compute_data;
} CleaveOnnxImport;

void cleave_onnx_import_clear (CleaveOnnxImport *import);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveOnnxImport, cleave_onnx_import_clear)

/* The value of an attribute, from the file, from a constant operand or from an upgrade. A single
 * number is a list of length 1. */
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

/* A node between the file and the graph. Upgrades change it. */
typedef struct CleaveOnnxNode
{
  CleaveOnnxImport *import;
  const char *op; /* op; points into the file, or to a static text */
  const char *name;
  const char *doc;     /* doc string; NULL: none */
  GPtrArray *operands; /* CleaveOnnxValue, indexed by ONNX operand; NULL: absent */
  GPtrArray *rest;     /* CleaveOnnxValue: operands that are not attributes in our op;
                          cleave_onnx_node_make() sets it */
  GPtrArray *attrs;    /* CleaveOnnxAttr */
  const char *result;  /* name of result 0 in the file; NULL: an upgrade added the node */
  guint n_results;     /* number of results, without trailing results that nothing reads */
  guint n_declared;    /* number of results that the file declares */
  GPtrArray *values;   /* CleaveOnnxValue of each result; NULL until the node is made */
} CleaveOnnxNode;

/* Values */

CleaveOnnxValue *cleave_onnx_value_new (CleaveOnnxImport *import, const char *name);
/* Returns a value that is constant. Takes ownership of the tensor. */
CleaveOnnxValue *
cleave_onnx_value_new_constant (CleaveOnnxImport *import, const char *name, CleaveTensor *constant);
const CleaveTensorType *cleave_onnx_value_type (const CleaveOnnxValue *value);
static inline const CleaveShape *
cleave_onnx_value_shape (const CleaveOnnxValue *value)
{
  return &cleave_onnx_value_type (value)->shape;
}

/* Returns the value as a tensor if only constants determine it, even if nodes of the graph compute
 * it. Returns NULL if the value depends on an input, or if computing it exceeds the budget. */
CleaveTensor *cleave_onnx_value_constant (CleaveOnnxImport *import, CleaveOnnxValue *value);
/* Removes nodes that nothing reads, because the import used their computed values instead. */
void cleave_onnx_remove_known (CleaveOnnxImport *import);
/* Lists the default values in the graph, for the export. Removes their constants that no node
 * reads. */
void cleave_onnx_keep_defaults (CleaveOnnxImport *import);
/* Records that a constant decided a shape or an attribute. If it is a default value, an exported
 * file fixes the value. */
void cleave_onnx_fix_default (CleaveOnnxImport *import, const CleaveTensor *constant);
/* Merges the nodes that the exporter wrote for one piece because ONNX has no single node for it. */
void cleave_onnx_merge_pieces (CleaveGraph *graph);
/* Returns the value as a result of the graph. Adds a constant if needed. */
CleaveResult *cleave_onnx_value_result (CleaveOnnxImport *import, CleaveOnnxValue *value);
/* Defines a value in the innermost scope. Fails if the scope has a value of this name. */
gboolean cleave_onnx_bind (CleaveOnnxImport *import, CleaveOnnxValue *value, GError **error);
/* Defines a second name for a value. */
gboolean cleave_onnx_bind_as (CleaveOnnxImport *import,
                              const char *name,
                              const CleaveOnnxValue *value,
                              GError **error);
/* Returns the value with this name from the innermost scope that has it, or NULL. */
CleaveOnnxValue *cleave_onnx_lookup (CleaveOnnxImport *import, const char *name);
/* Returns whether a node or output of the file reads a value named `name`. */
gboolean cleave_onnx_is_read (CleaveOnnxImport *import, const char *name);
/* Returns the value that an earlier iteration read from `message`, a TensorProto or a Constant
 * node of a body; NULL if there is none. A tensor can be read only once: reading moves its bytes
 * out of the message. */
CleaveOnnxValue *cleave_onnx_recall (const CleaveOnnxImport *import, gconstpointer message);
/* Keeps `value` for the next iteration of the body. Does nothing outside of bodies, since there
 * each message is read only once. */
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
/* Makes an attribute from the elements of a constant. */
CleaveOnnxAttr *cleave_onnx_attr_of_tensor (const char *name, CleaveTensor *tensor);
/* Returns whether every integer of the attribute is exactly representable as a double. */
gboolean cleave_onnx_attr_is_exact (const CleaveOnnxAttr *attr);
/* Stores a value in the field of `attrs` that `attr` describes. */
gboolean cleave_onnx_attr_store (const CleaveOnnxAttr *value,
                                 const CleaveAttr *attr,
                                 gpointer attrs,
                                 GError **error);

/* Nodes */

CleaveOnnxNode *
cleave_onnx_node_new (CleaveOnnxImport *import, const char *op, const char *name, guint n_results);
void cleave_onnx_node_free (CleaveOnnxNode *node);
/* Frees a node that was kept for reuse. */
void cleave_onnx_node_free_unused (CleaveOnnxNode *node);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveOnnxNode, cleave_onnx_node_free)
CleaveOnnxAttr *cleave_onnx_node_find (const CleaveOnnxNode *node, const char *attr);
/* (transfer full) Removes the attribute from the node and returns it; NULL if there is none. */
CleaveOnnxAttr *cleave_onnx_node_take (CleaveOnnxNode *node, const char *attr);
CleaveOnnxValue *cleave_onnx_node_operand (const CleaveOnnxNode *node, guint index);
void cleave_onnx_node_set_operand (CleaveOnnxNode *node, guint index, CleaveOnnxValue *value);
/* Returns whether the first `n` operands are present. Sets an error that names the missing one
 * otherwise. */
gboolean cleave_onnx_node_need (const CleaveOnnxNode *node, guint n, GError **error);
/* Sets the error, which begins with the node's op and name. Returns FALSE. */
gboolean cleave_onnx_node_fail (const CleaveOnnxNode *node, GError **error, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
/* Sets the error as cleave_onnx_node_fail() does. Returns NULL. */
gpointer
cleave_onnx_node_fail_null (const CleaveOnnxNode *node, GError **error, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
/* Sets the error for an op that the importer does not support: the model's opset has no such op, or
 * the reason why Cleave lacks it. Returns FALSE. */
gboolean cleave_onnx_node_fail_op (const CleaveOnnxNode *node, GError **error);
/* Sets the error that the attribute is unknown. Returns FALSE. */
gboolean
cleave_onnx_node_fail_attr (const CleaveOnnxNode *node, const CleaveOnnxAttr *attr, GError **error);
/* Fails if the node still has attributes, which are unknown. */
gboolean cleave_onnx_node_check_no_attrs (const CleaveOnnxNode *node, GError **error);
/* Makes the node's values: folds the node, or adds it to the graph. */
gboolean cleave_onnx_node_make (CleaveOnnxNode *node, GError **error);

/* Removes the nodes after `last` that nothing reads, except constants, to which outer values
 * refer. */
void cleave_onnx_remove_since (CleaveOnnxImport *import, const CleaveNode *last);

/* The dynamic part */

/* Called with each name that the node or one of its inner graphs reads. */
typedef void (*CleaveOnnxReadFunc) (const char *name, gpointer data);
void
cleave_onnx_each_read (const Onnx__NodeProto *proto, CleaveOnnxReadFunc function, gpointer data);
/* Returns the name of the node; the name of its first result if it has no name. */
const char *cleave_onnx_name_of_node (const Onnx__NodeProto *proto);
/* Lets a node become dynamic if reading it as a static node fails. */
void cleave_onnx_begin_dynamic (CleaveOnnxImport *import);
/* Returns the name of a dynamic node's result that the node reads; NULL if there is none. */
const char *cleave_onnx_find_dynamic (const CleaveOnnxImport *import, const Onnx__NodeProto *proto);
GBytes *cleave_onnx_pack_node (const Onnx__NodeProto *proto);
/* Keeps a copy of a node of the file. Call this function before the node is read. */
CleaveOnnxDeferred *
cleave_onnx_deferred_new (CleaveOnnxImport *import, const Onnx__NodeProto *proto, guint position);
void cleave_onnx_deferred_free (CleaveOnnxDeferred *deferred);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveOnnxDeferred, cleave_onnx_deferred_free)
/* Makes a node dynamic. Takes ownership of `deferred`. `value` is the dynamic value that the node
 * reads; NULL: the import has recorded another reason. */
void cleave_onnx_defer (CleaveOnnxImport *import, CleaveOnnxDeferred *deferred, const char *value);
/* Keeps a copy of a static node that made a sequence, for the case that a dynamic node reads the
 * sequence. Takes ownership of `deferred`. */
void cleave_onnx_note_maker (CleaveOnnxImport *import, CleaveOnnxDeferred *deferred);
/* Records why the current node is dynamic, in words that continue a sentence whose subject is the
 * node. `value` is the value whose contents decide the node's shapes; NULL: no single value decides
 * them. Does nothing if nodes cannot be dynamic. */
void cleave_onnx_note_unknown (CleaveOnnxImport *import,
                               const CleaveOnnxValue *value,
                               const char *format,
                               ...) G_GNUC_PRINTF (3, 4);
/* Returns the most bytes that the results of a node can take, whatever its operands contain; -1 if
 * no bound is known. */
gint64 cleave_onnx_bound_results (CleaveOnnxImport *import, const Onnx__NodeProto *proto);
/* Completes the set of dynamic nodes after all nodes were read. Returns FALSE if there are none. */
gboolean cleave_onnx_collect_dynamic (CleaveOnnxImport *import);
/* Makes the dynamic part. The values that it reads become outputs of the graph, after the model's
 * outputs. */
gboolean cleave_onnx_finish_dynamic (CleaveOnnxImport *import,
                                     const Onnx__GraphProto *whole,
                                     GError **error);

/* Interpreting */

/* The first function counts a tensor when a value begins to hold it; the second, when the value
 * releases it. */
void cleave_onnx_count_held (CleaveOnnxImport *import, CleaveTensor *tensor);
void cleave_onnx_count_released (CleaveOnnxImport *import, CleaveTensor *tensor);
/* Computes a node with the function of the caller, as a graph of its own. `operands` has
 * CleaveOnnxValue, or NULL for an absent operand. Returns the results (CleaveTensor); NULL on
 * error. */
GPtrArray *cleave_onnx_compute (CleaveOnnxImport *import,
                                const CleaveCall *call,
                                const GPtrArray *operands,
                                GError **error);
/* Returns whether a node needs enough kernel steps that compiling it as a graph of its own is
 * faster. */
gboolean cleave_onnx_is_expensive (const CleaveOnnxImport *import,
                                   const CleaveCall *call,
                                   CleaveTensor *const *operands);
/* Frees the tensor of a value, unless `is_kept` or `is_live` of the value is set. */
void cleave_onnx_release_value (CleaveOnnxImport *import, CleaveOnnxValue *value);
/* Frees the tensors of the values from index `first` of `all_values` on, except kept and live ones.
 * Does nothing unless the import interprets. */
void cleave_onnx_release (CleaveOnnxImport *import, guint first);

/* Folding */

/* Sets the budget of constant folding, proportional to the size of the model's file. */
void cleave_onnx_begin_folding (CleaveOnnxImport *import, gsize n_bytes);
/* Subtracts `work` from the budget. Returns FALSE if the budget is too small. */
gboolean cleave_onnx_spend (CleaveOnnxImport *import, double work);
#define CLEAVE_ONNX_TOO_COSTLY                                                                     \
  "takes more work than constant folding may do for a file of this size"
/* Returns the reason why a value that must be constant is not, in words that end an error message.
 */
const char *cleave_onnx_why_unknown (CleaveOnnxImport *import, const CleaveOnnxValue *value);
/* The first function returns whether all operands (CleaveOnnxValue) are constant; the second,
 * whether they would be with an unlimited budget. */
gboolean cleave_onnx_is_constant (const CleaveCall *call, const GPtrArray *operands);
gboolean cleave_onnx_could_fold (const CleaveCall *call, const GPtrArray *operands);
/* Computes the node's values from constant operands. Leaves `values` empty if that exceeds the
 * budget, or if the results are too large. */
gboolean cleave_onnx_fold (CleaveOnnxNode *node,
                           const CleaveCall *call,
                           const GPtrArray *operands,
                           GError **error);

/* Adds a Reshape and returns its result; NULL on error. */
CleaveOnnxValue *cleave_onnx_node_reshape (CleaveOnnxNode *node,
                                           CleaveOnnxValue *value,
                                           const CleaveShape *shape,
                                           const char *suffix,
                                           GError **error);

/* Adds a node with one result for an upgrade, and returns the result. All operands must be present.
 * Returns NULL on error, or if an operand is NULL because an earlier step failed. Takes ownership
 * of `attr`. */
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
/* Returns a constant with these bytes. */
CleaveOnnxValue *
cleave_onnx_constant (CleaveOnnxNode *node, const CleaveTensorType *type, gconstpointer data);
/* Returns a constant scalar. */
CleaveOnnxValue *cleave_onnx_real (CleaveOnnxNode *node, CleaveElement element, double number);

/* Sets every element of the tensor to `number`. */
void cleave_onnx_fill (CleaveTensor *tensor, double number);
/* Makes `value` the only result of the node. Returns FALSE if `value` is NULL. */
gboolean cleave_onnx_finish (CleaveOnnxNode *node, CleaveOnnxValue *value);
/* Makes `values` the results of the node. Returns FALSE if one of them is NULL. */
gboolean
cleave_onnx_finish_all (CleaveOnnxNode *node, CleaveOnnxValue *const *values, guint n_values);
/* Return the number of an attribute, or `fallback` if it is absent. The second function also
 * removes the attribute. */
gint64 cleave_onnx_node_get_int (const CleaveOnnxNode *node, const char *attr, gint64 fallback);
gint64 cleave_onnx_node_take_int (CleaveOnnxNode *node, const char *attr, gint64 fallback);
double cleave_onnx_node_take_real (CleaveOnnxNode *node, const char *attr, double fallback);

/* Returns the numbers of a constant operand. Returns NULL if the operand is not constant; the error
 * then calls it `what`. */
CleaveOnnxAttr *cleave_onnx_node_read_numbers (CleaveOnnxNode *node,
                                               guint operand,
                                               const char *what,
                                               GError **error);

float *cleave_onnx_attr_dup_floats (const CleaveOnnxAttr *attr);
/* Replaces or adds a string attribute. */
void cleave_onnx_node_set_string (CleaveOnnxNode *node, const char *attr, const char *value);

/* Returns the shape of operand `index`; NULL if it is absent. */
const CleaveShape *cleave_onnx_node_operand_shape (const CleaveOnnxNode *node, guint index);

/* The order of nodes */

/* Returns indices of nodes (guint) sorted so that each node follows the nodes that compute its
 * operands. Keeps the order of the file where possible. */
GArray *cleave_onnx_order (const Onnx__GraphProto *proto);
/* Returns whether a node of the graph has a result of this name. */
gboolean cleave_onnx_is_made (const Onnx__GraphProto *proto, const char *name);

/* Initializers and nodes of a graph */

static inline gboolean
cleave_onnx_is_default_domain (const char *domain)
{
  return domain == NULL || *domain == '\0' || g_str_equal (domain, "ai.onnx");
}

/* Fails if an op is not supported. Call this function before an error about missing shapes: with
 * shapes, the import of such a model would still fail. */
gboolean
cleave_onnx_check_ops (CleaveOnnxImport *import, const Onnx__GraphProto *proto, GError **error);
gboolean cleave_onnx_read_initializers (CleaveOnnxImport *import,
                                        const Onnx__GraphProto *proto,
                                        GError **error);
/* Reads the nodes of a graph. Calls itself for If, Loop and Scan; the allowed nesting of messages
 * bounds the depth. */
gboolean
cleave_onnx_read_nodes (CleaveOnnxImport *import, const Onnx__GraphProto *proto, GError **error);
/* Reads node `index` of the graph, by the opset of the function that it comes from, or else of the
 * model. */
gboolean cleave_onnx_read_node (CleaveOnnxImport *import,
                                const Onnx__GraphProto *graph,
                                size_t index,
                                GError **error);

/* Graphs within graphs */

/* Makes the values of an If whose operands were read. */
gboolean cleave_onnx_read_if (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);
/* Makes the values of a Loop by unrolling all its iterations. */
gboolean cleave_onnx_read_loop (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);
/* Makes the values of a Scan by unrolling all its iterations. */
gboolean cleave_onnx_read_scan (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);
/* Counts the nodes that unrolling adds. Returns FALSE and the error if they are too many. */
gboolean cleave_onnx_unroll (CleaveOnnxNode *node, gsize n_nodes, GError **error);
gboolean
cleave_onnx_read_sequence_map (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);
/* Returns the graph of attribute `name`; NULL if there is none. */
const Onnx__GraphProto *cleave_onnx_find_graph (const Onnx__NodeProto *proto, const char *name);
/* Returns output `index` of an inner graph whose nodes were read. Returns NULL and the error if it
 * is not defined. */
CleaveOnnxValue *cleave_onnx_find_output (CleaveOnnxNode *node,
                                          const Onnx__GraphProto *graph,
                                          guint index,
                                          GError **error);
/* Adds an Identity of a value of an outer scope, so that this value keeps its own name. */
CleaveOnnxValue *cleave_onnx_pass_on (CleaveOnnxNode *node, CleaveOnnxValue *value, GError **error);

/* Sequences */

/* Returns whether the importer itself runs the op, because it reads or makes a list of tensors. */
gboolean cleave_onnx_is_sequence_op (const char *op);
/* Makes the values of a node whose op works on sequences. */
gboolean cleave_onnx_read_sequence (CleaveOnnxNode *node, GError **error);
/* Fails if an operand is a sequence, which only ops of sequences may read. */
gboolean cleave_onnx_check_tensors (const CleaveOnnxNode *node, GError **error);

/* Channels in blocks, in models that ONNX Runtime optimized for a CPU */

/* Returns the block size and the padding of a graph; NULL if it has no blocked values. Call this
 * function after the initializers were read. */
CleaveOnnxBlocked *cleave_onnx_scan_blocked (CleaveOnnxImport *import,
                                             const Onnx__GraphProto *graph);
void cleave_onnx_blocked_free (CleaveOnnxBlocked *blocked);
/* Returns whether a tensor can be weights in blocks: it is dense, float32 and of rank 4. */
gboolean cleave_onnx_is_filter (const CleaveTensor *weights);
gboolean cleave_onnx_is_nchwc (const char *domain, const char *op);
gboolean cleave_onnx_upgrade_nchwc (CleaveOnnxNode *node, GError **error);
/* Slices each blocked operand of an element-wise node to the channels that are not padding in the
 * result. Sets `n_padded` to the number of channels that its result has in the file; 0: no operand
 * is blocked. */
gboolean cleave_onnx_narrow_blocked (CleaveOnnxNode *node, gint64 *n_padded, GError **error);
/* Fails if a dynamic node has channels in blocks. The dynamic part has nodes as they are in the
 * file, but the static part computes values without blocks. */
gboolean cleave_onnx_check_not_blocked (CleaveOnnxImport *import,
                                        const Onnx__NodeProto *proto,
                                        GError **error);

/* Nodes of unknown domains */

/* Reads a node of an unknown domain. Its values become results of a Custom node. */
gboolean
cleave_onnx_read_custom (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);

/* Upgrades */

/* Returns whether the importer supports an op that has no op record. */
gboolean cleave_onnx_upgrade_knows (const char *op);
/* Converts a node to opset 17 and to the form of our op records. */
gboolean cleave_onnx_upgrade (CleaveOnnxNode *node, GError **error);

/* Ops of com.microsoft that are composed of standard ops */
gboolean cleave_onnx_is_contrib (const char *domain, const char *op);
gboolean cleave_onnx_upgrade_contrib (CleaveOnnxNode *node, GError **error);

/* The graph's inputs */

/* limit on the inputs, and on the outputs, of a graph, which are searched linearly */
#define CLEAVE_ONNX_MAX_BORDER 4096

/* Fails if a name is missing, too long or not valid UTF-8. The error calls the name `what`. */
gboolean cleave_onnx_check_name (const char *name, const char *what, GError **error);
gboolean cleave_onnx_read_inputs (CleaveOnnxImport *import,
                                  const Onnx__GraphProto *proto,
                                  const CleaveOnnxOptions *options,
                                  GError **error);

/* Reads the declared type of an inner value. A free dimension with the name of an input's dimension
 * gets that dimension's extent. */
gboolean cleave_onnx_value_info_type (CleaveOnnxImport *import,
                                      const Onnx__ValueInfoProto *info,
                                      CleaveTensorType *type,
                                      GError **error);
/* Returns the name of dimension `d` of an input; NULL if it has none. `d` must be below
 * CLEAVE_MAX_RANK. */
const char *cleave_onnx_dim_name (const Onnx__ValueInfoProto *info, guint d);
/* Stores the extents of an input's named dimensions in `extents`. */
void cleave_onnx_keep_extents (CleaveOnnxImport *import,
                               const Onnx__ValueInfoProto *info,
                               const CleaveShape *shape);
/* Returns the shape as text, such as "N,3,?,W", if a dimension is free; NULL otherwise. */
char *cleave_onnx_free_shape (const Onnx__ValueInfoProto *info);
/* Returns whether an input has strings, which the dynamic part reads. */
gboolean cleave_onnx_is_text_input (const CleaveOnnxImport *import,
                                    const Onnx__ValueInfoProto *info);
/* Finds the type of an input. Strings are bytes in the graph, with one dimension more. */
gboolean cleave_onnx_input_type (const CleaveOnnxImport *import,
                                 const Onnx__ValueInfoProto *info,
                                 const CleaveShape *given,
                                 CleaveTensorType *type,
                                 GError **error);
/* Fails if the declared element type of an output differs from `type`. A different shape causes
 * only a warning. */
gboolean cleave_onnx_check_output (CleaveOnnxImport *import,
                                   const Onnx__ValueInfoProto *info,
                                   const CleaveTensorType *type,
                                   gboolean shapes_are_given,
                                   GError **error);
