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
 * A run of the dynamic part is a second use of these files (interpret.c). The run reads the nodes
 * of the dynamic part with all values known, so each node is folded at once.
 *
 * node.h declares the functions for one node that is being read. dynamic.h declares the functions
 * that make the dynamic part and run it. */

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

/* A value of the file, with a `result` of the graph, a known tensor (`constant`), or both. If a
 * value has only a constant, the import adds the constant to the graph when a node reads the
 * value. */
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
  gboolean is_text;    /* whether the elements are strings; `result` and `constant` then have the
                        * number of each string in the table of strings (texts.h) */
  gboolean is_stored;  /* whether the file stores the elements of the value, so that no node
                        * computes them */
  gboolean is_costly;  /* whether only constants determine the value, but computing it would
                        * exceed the budget */
  gboolean is_kept;    /* in a run of the dynamic part: whether other values refer to this value;
                        * its tensor is then freed only after the run */
  gboolean is_live;    /* in a run of the dynamic part: whether cleave_onnx_release() must not free
                        * the value */
  gboolean is_carried; /* in a run of the dynamic part: whether an iteration of a Loop made the
                        * value, and that iteration has ended */
} CleaveOnnxValue;

/* A node that becomes part of the dynamic part instead of the graph (dynamic.h). */
typedef struct CleaveOnnxDeferred CleaveOnnxDeferred;

/* A node that the import has read from the file, but not yet added to the graph (node.h). */
typedef struct CleaveOnnxNode CleaveOnnxNode;

/* The nodes of the dynamic part that run as one program (chain.h). */
typedef struct CleaveOnnxChain CleaveOnnxChain;

/* The table of strings of the dynamic part (texts.h). */
typedef struct CleaveOnnxTexts CleaveOnnxTexts;

/* The block size of a file whose values have their channels in blocks, and the padding of these
 * values (nchwc.h). */
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
  GHashTable *read;       /* set of the names that nodes and outputs of the file read; NULL: not
                           * collected yet */
  CleavePool *pool;       /* owner of all values and their names */
  GPtrArray *spare;       /* CleaveOnnxValue: freed values that can be reused; NULL: none */
  GHashTable *names;      /* in a run of the dynamic part: set of the names of values. All
                           * iterations of a Loop use the same string for a name. NULL: no value was
                           * made yet */
  GPtrArray *all_values;  /* CleaveOnnxValue: all values, in the order in which they were made */
  GHashTable *values_of;  /* maps a node of the graph (CleaveNode) to its computed values
                           * (CleaveTensor) */
  GHashTable *shared;     /* while a body is read: maps a TensorProto or a Constant node to the
                           * value that the first iteration made of it; NULL: no body is read */
  gsize n_unrolled;       /* number of nodes that iterations of loops have added */
  CleaveOnnxNode *unused; /* a freed node that can be reused; NULL: none */
  double fold_budget;     /* work that constant folding may still do, in steps of
                           * cleave_evaluate_work() */
  CleaveOnnxBlocked *blocked; /* block size of the file that is read, and padding of its values;
                               * NULL: no value is in blocks */
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

  /* The run of the dynamic part (interpret.c). */
  gboolean interprets;    /* whether this is a run of the dynamic part: all values are known, and
                           * the importer computes nodes instead of adding them to the graph */
  GHashTable *holders;    /* maps a tensor to the number of values that hold it; NULL: tensors
                           * are not counted */
  CleaveOnnxTexts *texts; /* table that gives each string a number; tensors of strings have these
                           * numbers as elements. NULL: no string was read yet */
  gint64 live_bytes, peak_bytes, n_calls;
  CleaveOnnxChain *chain;        /* the current chain: nodes that were read, but whose results are
                                  * not computed yet; NULL: this is no run of the dynamic part */
  CleaveOnnxComputeFunc compute; /* function of the caller that computes expensive nodes; NULL:
                                  * reference kernels compute all nodes */
  gpointer compute_data;
} CleaveOnnxImport;

void cleave_onnx_import_clear (CleaveOnnxImport *import);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveOnnxImport, cleave_onnx_import_clear)

/* The functions below are for values and scopes of names (node.c). */

CleaveOnnxValue *cleave_onnx_value_new (CleaveOnnxImport *import, const char *name);
/* Returns a new value with a known tensor. Takes ownership of the tensor. */
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
 * written file has a constant in place of the input with this default value, so that no other value
 * can be fed. */
void cleave_onnx_fix_default (CleaveOnnxImport *import, const CleaveTensor *constant);
/* pieces.c: if the exporter wrote several nodes for one piece of a split, since ONNX has no op for
 * the piece, replaces these nodes by the piece. */
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
 * bodies, where each message is read only once. */
void cleave_onnx_remember (CleaveOnnxImport *import, gconstpointer message, CleaveOnnxValue *value);
void cleave_onnx_begin_scope (CleaveOnnxImport *import);
void cleave_onnx_end_scope (CleaveOnnxImport *import);

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
 * missing shapes: with an unsupported op, the import fails even if the caller gives the shapes. */
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

/* Reads an If, and makes its results. The operands of the node must be set already. */
gboolean cleave_onnx_read_if (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);
/* Reads a Loop, and makes its results by unrolling all iterations. */
gboolean cleave_onnx_read_loop (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);
/* Reads a Scan, and makes its results by unrolling all iterations. */
gboolean cleave_onnx_read_scan (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);
/* Adds `n_nodes` to the count of nodes that unrolling adds. Returns FALSE and the error if
 * unrolling adds too many nodes. */
gboolean cleave_onnx_unroll (CleaveOnnxNode *node, gsize n_nodes, GError **error);
gboolean
cleave_onnx_read_sequence_map (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);
/* Returns the graph in the attribute `name`; NULL if the node does not have the attribute. */
const Onnx__GraphProto *cleave_onnx_find_graph (const Onnx__NodeProto *proto, const char *name);
/* Returns output `index` of an inner graph, after its nodes were read. Returns NULL and the error
 * if no node defined it. */
CleaveOnnxValue *cleave_onnx_find_output (CleaveOnnxNode *node,
                                          const Onnx__GraphProto *graph,
                                          guint index,
                                          GError **error);
/* Adds an Identity of a value of an outer scope, and returns the result of the Identity. The value
 * itself keeps its name. Returns NULL on error. */
CleaveOnnxValue *cleave_onnx_pass_on (CleaveOnnxNode *node, CleaveOnnxValue *value, GError **error);

/* The functions below are for ops that read or make sequences (sequences.c). */

/* Returns whether the op reads or makes a sequence. The importer runs such an op itself. */
gboolean cleave_onnx_is_sequence_op (const char *op);
/* Makes the results of a node whose op reads or makes a sequence. */
gboolean cleave_onnx_read_sequence (CleaveOnnxNode *node, GError **error);
/* Fails if an operand is a sequence. Only ops of sequences, and a Loop for its states, may read a
 * sequence. */
gboolean cleave_onnx_check_tensors (const CleaveOnnxNode *node, GError **error);

/* The functions below read models that ONNX Runtime optimized for a CPU: channels are in blocks. */

/* Returns the block size of a file, and the padding of its values; NULL if no value has its
 * channels in blocks. Call this function after the initializers were read. */
CleaveOnnxBlocked *cleave_onnx_scan_blocked (CleaveOnnxImport *import,
                                             const Onnx__GraphProto *graph);
void cleave_onnx_blocked_free (CleaveOnnxBlocked *blocked);
/* Returns whether a tensor can be the weights of a convolution on channels in blocks (nchwc.h): the
 * tensor is dense, float32, and has rank 4. */
gboolean cleave_onnx_is_filter (const CleaveTensor *weights);
gboolean cleave_onnx_is_nchwc (const char *domain, const char *op);
gboolean cleave_onnx_upgrade_nchwc (CleaveOnnxNode *node, GError **error);
/* If the file stores the channels of an operand of an element-wise node in blocks, replaces the
 * operand by a Slice of the operand. The Slice keeps only the channels that the readers of the
 * node's result use; the other channels are padding. Sets `n_padded` to the number of channels of
 * the result in the file; 0: no operand is in blocks. Fails if the node is neither element-wise nor
 * a Concat, or if only some of the operands are in blocks. */
gboolean cleave_onnx_narrow_blocked (CleaveOnnxNode *node, gint64 *n_padded, GError **error);
/* Fails if a dynamic node has channels in blocks. The dynamic part keeps nodes as they are in the
 * file, but the static part computes values without blocks. */
gboolean cleave_onnx_check_not_blocked (CleaveOnnxImport *import,
                                        const Onnx__NodeProto *proto,
                                        GError **error);

/* The function below reads nodes of domains that the importer does not know (custom.c). */

/* Reads a node of an unknown domain: adds a Custom node to the graph. */
gboolean
cleave_onnx_read_custom (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);

/* The functions below upgrade nodes (upgrade/upgrade.c, upgrade/contrib.c). */

/* Returns whether an op has no op record, and an upgrade replaces it by other ops. */
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

/* Fails if a name is missing, too long or not valid UTF-8. `what` describes the named thing in the
 * error message, for example "an input". */
gboolean cleave_onnx_check_name (const char *name, const char *what, GError **error);
gboolean cleave_onnx_read_inputs (CleaveOnnxImport *import,
                                  const Onnx__GraphProto *proto,
                                  const CleaveOnnxOptions *options,
                                  GError **error);

/* Reads the declared type of an intermediate value. If a free dimension has the name of a dimension
 * of an input, both dimensions have the same extent. */
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
/* Returns the shape of an input with a free dimension as text, such as "N,3,?,W". Returns NULL if
 * no dimension is free. */
char *cleave_onnx_free_shape (const Onnx__ValueInfoProto *info);
/* Returns whether an input is a tensor of strings, which only the dynamic part may read. */
gboolean cleave_onnx_is_text_input (const CleaveOnnxImport *import,
                                    const Onnx__ValueInfoProto *info);
/* Sets `type` to the type of an input. A tensor of strings becomes a tensor of bytes in the graph,
 * with one dimension more. */
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
