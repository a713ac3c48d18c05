/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The record of an op (struct _CleaveOp): all that the library knows about one kind of node.
 * Passes, the printer, the validator, the importer and the runtime ask the record, and no other
 * code knows an op by name. Functions of a record are pure: they see attributes and types
 * (CleaveCall), never a graph. A new op is a new record; docs/adding-an-op.md shows how to write
 * one.
 *
 *   attributes -> normalize -> infer (types) -> maps (ranges of operands) -> narrow (a piece)
 *                                            -> kernel, compute (values) */

#include <cleave/cleave-graph.h>
#include <cleave/cleave-ops.h>

#include "error.h"
#include "layout.h"
#include "range.h"
#include "saturate.h"
#include "view.h"

/* The kinds of fields of attribute structs. Each op has a table (CleaveAttr) that describes the
 * fields of its attribute struct. */

typedef enum {
  CLEAVE_ATTR_END,     /* ends the table of attributes */
  CLEAVE_ATTR_INT,     /* gint64; if the smallest legal value is above 0, a 0 stands for the default
                        */
  CLEAVE_ATTR_BOOL,    /* gboolean; an int in ONNX */
  CLEAVE_ATTR_ENUM,    /* an enum; CleaveAttr.names has the names of its values */
  CLEAVE_ATTR_ENUMS,   /* CleaveInts: a list of values of an enum */
  CLEAVE_ATTR_DOUBLE,  /* double; a float in ONNX */
  CLEAVE_ATTR_INTS,    /* CleaveInts; a list of only default values is stored as an empty list */
  CLEAVE_ATTR_DOUBLES, /* CleaveDoubles: a list of doubles */
  CLEAVE_ATTR_ARRAY,   /* GArray of gint64, reference-counted; never changes once the attribute is
                        * set */
  CLEAVE_ATTR_RANGES,  /* GArray of CleaveRange, reference-counted; not in ONNX */
  CLEAVE_ATTR_STRING,  /* char *, a text that the attribute struct owns */
  CLEAVE_ATTR_ELEMENT, /* CleaveElement; in ONNX the number of a type */
  CLEAVE_ATTR_TYPE,    /* CleaveTensorType; not in ONNX */
  CLEAVE_ATTR_TENSOR   /* CleaveTensor, reference-counted */
} CleaveAttrKind;

typedef enum {
  CLEAVE_ATTR_AXIS = 1 << 0,       /* INT, INTS: dimensions of operand 0. Negative values count from
                                    * the end; nodes store 0 … rank - 1 */
  CLEAVE_ATTR_NOT_ONNX = 1 << 1,   /* not in ONNX: neither imported nor exported */
  CLEAVE_ATTR_NO_DEFAULT = 1 << 2, /* INTS: an empty list does not stand for defaults. ENUM: ONNX
                                    * has no default, so the exporter always writes the attribute */
  CLEAVE_ATTR_OPERAND_0 = 1 << 3,  /* in ONNX, operand 0, a constant, takes the place of this
                                    * attribute */
  CLEAVE_ATTR_SCALAR = 1 << 4,     /* INT: in ONNX, an operand takes the place of this attribute;
                                    * the operand is a scalar, not a list of one number */
  CLEAVE_ATTR_OPTIONAL = 1 << 5,   /* ELEMENT: CLEAVE_NONE is legal, and is the default */
  CLEAVE_ATTR_NOT_BELOW_0 = 1 << 6 /* INTS: ONNX allows no negative entries */
} CleaveAttrFlags;

typedef struct
{
  const char *name; /* name of the attribute in ONNX */
  CleaveAttrKind kind;
  gsize offset;    /* offset of the field in the attribute struct, in bytes */
  double fallback; /* default value of INT, BOOL, ENUM, DOUBLE, and of each entry of INTS */
  gint64 minimum; /* if `has_minimum`: the smallest legal value of an INT, or of an entry of INTS or
                   * ARRAY */
  gboolean has_minimum;
  const char *const *names; /* ENUM: the names of the values in ONNX; ends with NULL */
  guint onnx_operand; /* index of the constant operand that takes the place of this attribute in
                       * ONNX; 0: ONNX has this attribute */
  CleaveAttrFlags flags;
} CleaveAttr;

/* A node has at most this many results. Without this limit, a hostile file could ask for more
 * results than fit into memory. */
#define CLEAVE_MAX_RESULTS (1 << 20)

/* Remembers where one operand of a Concat begins in the result. The begin of operand i + 1 follows
 * from the begin of operand i, so the maps of all operands in order take linear time. */
typedef struct
{
  guint operand;
  gint64 begin;
} CleaveCursor;

/* The arguments of an op's functions: attributes and types, without a graph. */
typedef struct
{
  const CleaveOp *op;
  gconstpointer attrs;
  guint n_operands, n_results;      /* numbers of operands and results of the node */
  const CleaveTensorType *operands; /* an absent operand has the element type CLEAVE_NONE */
  const CleaveTensorType *results;  /* NULL in normalize and infer, which are called before the
                                     * types are known */
  guint result;         /* index of the result for which maps are computed; 0 unless the op has the
                         * flag CLEAVE_OP_VIEW */
  CleaveCursor *cursor; /* cache for the maps of `operands`; NULL: none */
} CleaveCall;

/* The node that computes one chunk of result 0; see chunk.h. */
typedef struct
{
  CleaveRange range;
  guint n_operands, n_results; /* numbers of operands and results of the whole node; a piece may
                                * have fewer */
  CleaveSlice *slices;         /* for each operand, the range that the chunk reads; all zeros if the
                                * operand is absent */
  gboolean *has; /* for each operand, whether the piece has the operand. FALSE if the operand is
                  * absent, or if the op is VARIADIC and the slice is empty */
  CleaveTensorType *results;
  gpointer attrs;
} CleaveChunk;

typedef enum {
  CLEAVE_OP_VARIADIC = 1 << 0, /* a node may have any number of operands, such as Concat; a piece
                                * has only the operands whose slices are not empty */
  CLEAVE_OP_VIEW = 1 << 1,     /* each result is a part or permutation of operand 0, and can share
                                * memory of operand 0 if cleave_call_is_view() returns TRUE */
  CLEAVE_OP_JOIN = 1 << 2, /* each operand is a part of the result; the maps give the range of the
                            * result that an operand fills */
  CLEAVE_OP_ROW_MAJOR = 1 << 3, /* operand 0 and the result have the same bytes in row-major
                                 * order, as in Reshape */
  CLEAVE_OP_IN_PLACE = 1 << 4,  /* the result may overwrite an operand that no later node reads, if
                                 * cleave_view_type_fits() returns TRUE */
  CLEAVE_OP_NOT_ONNX = 1 << 5,  /* ONNX does not have the op: importer and exporter treat it
                                 * specially */
  CLEAVE_OP_OF_TYPES = 1 << 6, /* the results depend only on the types of the operands, not on their
                                * values */
  CLEAVE_OP_ALL_RESULTS = 1 << 7, /* a node must have all results that `results` names, even if
                                   * nothing reads them */
  CLEAVE_OP_STORAGE = 1 << 8,     /* the op, such as DequantizeLinear, converts stored weights.
                                   * Constant operands are not folded, so that files stay small; a
                                   * slice of the result is computed from slices of the constants */
  CLEAVE_OP_COMMUTATIVE = 1 << 9, /* the two operands may be swapped: the result has the same bits,
                                   * except for the bits of NaNs. Max and Min do not have this flag,
                                   * because they may return -0 or 0 */
  CLEAVE_OP_NOT_NEGATIVE = 1 << 10, /* each element of the result is NaN, -0, or at least 0 */
  CLEAVE_OP_IN_ORDER = 1 << 11,     /* another process waits until the node has run, for example for
                                     * a message of the node. All nodes of a graph with such a node
                                     * run in the order in which they were built */
  CLEAVE_OP_BROADCAST = 1 << 12,    /* the op repeats operand 0. The result can be a view of operand
                                     * 0 with strides of 0, if cleave_call_is_broadcast() is TRUE
                                     * and all readers of the result have the flag BY_STRIDES */
  CLEAVE_OP_BY_STRIDES = 1 << 13,   /* the kernels of the op read operands with any strides, also 0,
                                     * as fast as dense operands */
  CLEAVE_OP_CROPS = 1 << 14         /* pieces may have negative clips (CleaveSlice): a clip of 2 at
                                     * a side adds two elements of padding, a clip of -2 removes two
                                     * elements */
} CleaveOpFlags;

/* Families of fast kernels. The reference kernel runs if a family cannot compute a node. */
typedef enum {
  CLEAVE_KERNEL_REFERENCE,
  CLEAVE_KERNEL_CONV,
  CLEAVE_KERNEL_CONV_TRANSPOSE,
  CLEAVE_KERNEL_MATMUL,
  CLEAVE_KERNEL_GEMM,
  CLEAVE_KERNEL_PRODUCTS_MATMUL, /* products that the GEMM kernels cannot compute */
  CLEAVE_KERNEL_PRODUCTS_GEMM,
  CLEAVE_KERNEL_DEPTHWISE,
  CLEAVE_KERNEL_NARROW_CONV,  /* depthwise convolution with few channels */
  CLEAVE_KERNEL_GROUPED_CONV, /* convolution whose groups have few channels each; the result has as
                               * many channels as X */
  CLEAVE_KERNEL_BATCH_NORM,
  CLEAVE_KERNEL_POOL,
  CLEAVE_KERNEL_RECURRENT,
  CLEAVE_KERNEL_RECURRENT_SUMS,
  CLEAVE_KERNEL_RESIZE,
  CLEAVE_KERNEL_SOFTMAX,
  CLEAVE_KERNEL_LOG_SOFTMAX,
  CLEAVE_KERNEL_LAYER_NORM,
  CLEAVE_KERNEL_INSTANCE_NORM,
  CLEAVE_KERNEL_LRN,
  CLEAVE_KERNEL_NEAREST, /* Resize with the mode nearest */
  CLEAVE_KERNEL_REDUCE,
  CLEAVE_KERNEL_ARG,
  CLEAVE_KERNEL_CHOOSE, /* Where, and comparisons, whose results are bools */
  CLEAVE_KERNEL_ELEMENTWISE,
  CLEAVE_KERNEL_COPY,
  CLEAVE_KERNEL_CONVERT,
  CLEAVE_KERNEL_INTEGER_CONV, /* convolution with 8-bit operands and 32-bit integer sums */
  CLEAVE_KERNEL_INTEGER_DEPTHWISE,
  CLEAVE_KERNEL_INTEGER_MATMUL,
  CLEAVE_KERNEL_BYTE_MEAN,
  CLEAVE_KERNEL_UPCAST_CONV, /* convolution with float16 or bfloat16 operands and float32 sums */
  CLEAVE_KERNEL_UPCAST_DEPTHWISE,
  CLEAVE_KERNEL_UPCAST_MATMUL,
  CLEAVE_KERNEL_UPCAST_GEMM,
  CLEAVE_KERNEL_UPCAST_PIECES,
  CLEAVE_KERNEL_EINSUM,
  CLEAVE_KERNEL_DFT,
  CLEAVE_KERNEL_GRID_SAMPLE,
  CLEAVE_KERNEL_ROI_ALIGN,
  CLEAVE_KERNEL_DEFORM_CONV,
  CLEAVE_KERNEL_TOPK,
  CLEAVE_KERNEL_SCATTER,
  CLEAVE_KERNEL_WINOGRAD,
  CLEAVE_N_KERNELS
} CleaveKernel;

#define CLEAVE_MAX_TAKEN 3
#define CLEAVE_MAX_AHEAD 2

/* Describes how to cut an op into chunks that must run one after the other, such as an LSTM along
 * time. Each chunk continues from the state of the chunk before it.
 *
 *   X [0, 5) -> LSTM -> Y [0, 5)
 *                |  Y_h, Y_c become initial_h, initial_c
 *   X [5, 9) -> LSTM -> Y [5, 9) */
typedef struct
{
  guint dim, operand_dim;        /* indices of the cut dimension in result 0 and in operand 0 */
  gboolean is_backwards;         /* whether the chunks run from the last one to the first one */
  guint takes[CLEAVE_MAX_TAKEN]; /* result r of a chunk is operand takes[r] of the next chunk */
  /* The op that computes the part of the work that does not depend on the state, such as the
   * product of X and W. A node of this op can run earlier, on another thread. The new node has the
   * attributes of the recurrent node, and reads operand 0 and the `ahead_operands` of the recurrent
   * node. The recurrent node then reads the result of the new node as operand 0, and loses the
   * first of its `ahead_operands`. NULL: there is no such op. */
  const CleaveOp *ahead;
  guint ahead_operands[CLEAVE_MAX_AHEAD];
} CleaveSequence;

/* The record of an op. */
struct _CleaveOp
{
  const char *name;            /* name in ONNX: "Conv" */
  const char *const *operands; /* names of the operands in ONNX: { "X", "W", "B", NULL } */
  const char *const *results;  /* names of the results: { "Y", NULL }; the last name repeats */
  guint min_operands;          /* number of required operands; further operands are optional */
  CleaveOpFlags flags;
  gsize attrs_size;
  const CleaveAttr *attrs; /* the table of attributes; its last entry has no name. NULL: none */

  /* Brings `attrs`, a copy that the function may change, to the normal form that nodes store. For
   * example, replaces an empty perm by its default, or clips a slice. The caller has already
   * applied the table of attributes (defaults, axes), and calls `infer` afterwards. NULL: applying
   * the table is enough. */
  gboolean (*normalize) (const CleaveCall *call, gpointer attrs, GError **error);
  /* Sets element types and shapes of the results, or fails if the operands do not match. */
  gboolean (*infer) (const CleaveCall *call, CleaveTensorType *results, GError **error);
  /* Sets map[d] for each dimension d of `operand`. The map gives the span of the operand that a
   * span of the result needs. NULL: the op cannot be split. */
  void (*maps) (const CleaveCall *call, guint operand, CleaveDimMap *map);
  /* Sets map[d] for each dimension d of result number `result`, which is 1 or more. The map gives
   * the span of this result that a node computes together with a span of result 0. NULL: the spans
   * are equal. */
  void (*result_maps) (const CleaveCall *call, guint result, CleaveDimMap *map);
  /* Changes `attrs` to the attributes of a node that computes only the chunk. `attrs` is a copy of
   * the attributes of the whole node. For example, sets the pads of a Conv to the clips of its
   * slice. Returns FALSE if no node can compute the chunk. In this case, also appends to `why`
   * which chunks are possible; `why` may be NULL. If this field is NULL, pieces have the attributes
   * of the whole node. */
  gboolean (*narrow) (const CleaveCall *call,
                      const CleaveChunk *chunk,
                      gpointer attrs,
                      GString *why);
  /* Fills `sequence`: how to cut the op into chunks that must run one after the other. Returns
   * FALSE if this call cannot be cut this way. NULL: no call of the op can be cut this way. */
  gboolean (*sequence) (const CleaveCall *call, CleaveSequence *sequence);
  /* Returns the names of the dimensions of result 0, such as "NCHW". NULL: the dimensions have no
   * names. */
  const char *(*layout) (const CleaveCall *call);
  /* Returns the number of multiply-accumulates of the call. NULL: 0. */
  gint64 (*macs) (const CleaveCall *call);
  /* Returns the number of steps of the reference kernel, in addition to one step for each element
   * of operands and results. NULL: the number of these steps is the result of `macs`. If `macs` is
   * NULL too, each element of result 0 takes one step for each operand element that it needs. */
  double (*work) (const CleaveCall *call);
  /* Appends a space and the attributes. NULL: the table of attributes defines the text. */
  void (*print) (gconstpointer attrs, GString *out);
  /* Parses the text that `print` appends, without the leading space. Writes the attributes to
   * `attrs`, which already holds the defaults. */
  gboolean (*parse) (const char *text, gpointer attrs, GError **error);
  /* Returns the family of fast kernels that serves this call. NULL: the reference kernel. */
  CleaveKernel (*kernel) (const CleaveCall *call);
  /* The reference kernel, which defines the op: fast kernels compute the same bits. */
  void (*compute) (const CleaveCall *call, const CleaveView *operands, const CleaveView *results);
  /* Returns the first ONNX opset that allows the types and attributes of the call; 0 if that opset
   * is 17 or earlier. The types of results may be unknown, and the attributes may be as in a file,
   * not in normal form. If this field is NULL, opset 17 or earlier allows every call. */
  guint (*since) (const CleaveCall *call);
};

/* The macros and functions below are for the code of op records. */

#define CLEAVE_FIELD(type, field) .offset = G_STRUCT_OFFSET (type, field)
#define CLEAVE_AT_LEAST(least) .minimum = least, .has_minimum = TRUE
/* The attribute `layout`: the first entry in the table of every op with a layout. */
#define CLEAVE_LAYOUT_ATTR(type)                                                                   \
  {                                                                                                \
    "layout", CLEAVE_ATTR_ENUM, CLEAVE_FIELD (type, layout), .names = cleave_layout_names,         \
                                                             .flags = CLEAVE_ATTR_NOT_ONNX         \
  }

/* Returns the layout attribute of a call, or NCHW if the op has no layout. */
CleaveLayout cleave_call_layout (const CleaveCall *call);
/* Return the indices (cleave_call_dims()) and the names of the dimensions of operand 0. */
CleaveDims cleave_call_dims (const CleaveCall *call);
const char *cleave_call_letters (const CleaveCall *call);

static inline gboolean
cleave_call_has (const CleaveCall *call, guint operand)
{
  return operand < call->n_operands && call->operands[operand].element != CLEAVE_NONE;
}

/* Returns entry i of a list, or `fallback` if the list is empty. */
static inline gint64
cleave_ints_at (const CleaveInts *ints, guint i, gint64 fallback)
{
  return ints->n == 0 ? fallback : ints->v[i];
}

static inline gboolean
cleave_ints_contain (const CleaveInts *ints, gint64 value)
{
  for (guint i = 0; i < ints->n; i++)
    if (ints->v[i] == value)
      return TRUE;
  return FALSE;
}

/* Appends a reason to `why`, unless `why` is NULL, and returns FALSE. */
gboolean cleave_refuse (GString *why, const char *format, ...) G_GNUC_PRINTF (2, 3);
/* The bit of an element type in a set of element types, which is a bit mask.
 * cleave_call_check_element() checks that the type of an operand is in the set `elements`. */
#define CLEAVE_ELEMENT_BIT(element) (1u << (element))
#define CLEAVE_ELEMENTS_FLOAT                                                                      \
  (CLEAVE_ELEMENT_BIT (CLEAVE_FLOAT32) | CLEAVE_ELEMENT_BIT (CLEAVE_FLOAT64) |                     \
   CLEAVE_ELEMENT_BIT (CLEAVE_FLOAT16) | CLEAVE_ELEMENT_BIT (CLEAVE_BFLOAT16))
gboolean
cleave_call_check_element (const CleaveCall *call, guint operand, guint elements, GError **error);
/* Checks that operands `a` and `b` have the same element type. */
gboolean cleave_call_check_same_element (const CleaveCall *call, guint a, guint b, GError **error);
gboolean cleave_call_check_rank (
    const CleaveCall *call, guint operand, guint min, guint max, GError **error);
/* Sets `both` to the shape of two broadcast operands (numpy's rule). Returns FALSE if the shapes do
 * not match. cleave_maps_broadcast() sets the maps of one broadcast operand. */
gboolean cleave_shape_broadcast (const CleaveShape *a, const CleaveShape *b, CleaveShape *both);
void
cleave_maps_broadcast (const CleaveShape *operand, const CleaveShape *result, CleaveDimMap *map);
/* Set the maps and infer the type of the result, for an op whose result has the shape of each
 * operand and the element type of operand 0. */
void cleave_maps_same (const CleaveCall *call, guint operand, CleaveDimMap *map);
gboolean cleave_infer_same (const CleaveCall *call, CleaveTensorType *results, GError **error);
/* Returns the slice of `operand` that a chunk of result 0 reads. */
CleaveSlice cleave_call_slice (const CleaveCall *call, guint operand, const CleaveRange *chunk);
/* Returns whether result number `call->result` can be a strided view of operand 0. FALSE, for
 * example, for a Slice with a negative step. */
gboolean cleave_call_is_view (const CleaveCall *call);
/* Returns whether the result can be a view of operand 0 with strides of 0: the op has the flag
 * CLEAVE_OP_BROADCAST, and repeats only dimensions of extent 1. */
gboolean cleave_call_is_broadcast (const CleaveCall *call);
/* Returns the range of result number `result` that a node computes if it computes `chunk` of result
 * 0. */
CleaveRange
cleave_call_result_range (const CleaveCall *call, guint result, const CleaveRange *chunk);
/* Checks the numbers of operands and results, brings the attributes of the call, `attrs`, to normal
 * form, and infers the types of the results. */
gboolean cleave_call_infer (const CleaveCall *call,
                            gpointer attrs,
                            CleaveTensorType *results,
                            GError **error);
/* Returns the estimated number of steps of the reference kernel. */
double cleave_call_work (const CleaveCall *call);
/* Returns 0. This is the `work` of ops that read each element of their operands only once, although
 * the maps of each result element cover many elements of the operands. */
double cleave_work_once (const CleaveCall *call);
/* Returns the family of kernels for an op of floats. Returns `kernel` if all operands are float32.
 * If some operands are 16-bit floats, returns the family that converts operands to float32.
 * Otherwise returns the family of the reference kernel.
 */
CleaveKernel cleave_kernel_of_floats (const CleaveCall *call, CleaveKernel kernel);
const char *cleave_op_operand_name (const CleaveOp *op, guint operand);
const char *cleave_op_result_name (const CleaveOp *op, guint result);

/* The functions below work on attribute structs; the op's table describes the fields. */

void cleave_attrs_init (const CleaveOp *op, gpointer attrs); /* sets all attributes to defaults */
gpointer cleave_attrs_copy (const CleaveOp *op,
                            gconstpointer attrs); /* copies attributes; NULL: the op has none */
void cleave_attrs_free (const CleaveOp *op, gpointer attrs);
gboolean cleave_attrs_equal (const CleaveOp *op, gconstpointer a, gconstpointer b);
guint cleave_attrs_hash (const CleaveOp *op, gconstpointer attrs);
void cleave_attrs_print (const CleaveOp *op, gconstpointer attrs, GString *out);
/* Brings `attrs`, a copy, to normal form: applies the table (defaults, axes, minima), then calls
 * the op's `normalize`. */
gboolean cleave_attrs_normalize (const CleaveCall *call, gpointer attrs, GError **error);
gboolean cleave_attr_is_default (const CleaveAttr *attr, gconstpointer attrs);
static inline gpointer
cleave_attr_field (const CleaveAttr *attr, gpointer attrs)
{
  return (char *) attrs + attr->offset;
}
static inline gconstpointer
cleave_attr_const_field (const CleaveAttr *attr, gconstpointer attrs)
{
  return (const char *) attrs + attr->offset;
}
