/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>
#include <cleave/cleave-ops.h>

#include "error.h"
#include "layout.h"
#include "range.h"
#include "saturate.h"
#include "view.h"

/* Attributes: what the table says of one field of an op's struct. */

typedef enum {
  CLEAVE_ATTR_END,     /* no more attributes */
  CLEAVE_ATTR_INT,     /* gint64; if zero is below the minimum, it stands for the default */
  CLEAVE_ATTR_BOOL,    /* gboolean; ONNX has an int */
  CLEAVE_ATTR_ENUM,    /* an enum, by the names in `names` */
  CLEAVE_ATTR_ENUMS,   /* CleaveInts, each such an enum */
  CLEAVE_ATTR_DOUBLE,  /* double; ONNX has a float */
  CLEAVE_ATTR_INTS,    /* CleaveInts; a list of nothing but defaults is stored empty */
  CLEAVE_ATTR_DOUBLES, /* CleaveDoubles */
  CLEAVE_ATTR_ARRAY,   /* GArray of gint64, shared, never changed once it is an attribute */
  CLEAVE_ATTR_RANGES,  /* GArray of CleaveRange, likewise; not in ONNX */
  CLEAVE_ATTR_STRING,  /* char *, of the struct */
  CLEAVE_ATTR_ELEMENT, /* CleaveElement; ONNX has its number of the type */
  CLEAVE_ATTR_TYPE,    /* CleaveTensorType; not in ONNX */
  CLEAVE_ATTR_TENSOR   /* CleaveTensor, shared */
} CleaveAttrKind;

typedef enum {
  CLEAVE_ATTR_AXIS = 1 << 0,     /* INT, INTS: dimensions of operand 0, stored as 0 … rank - 1 */
  CLEAVE_ATTR_NOT_ONNX = 1 << 1, /* ours alone: neither imported nor exported */
  CLEAVE_ATTR_NO_DEFAULT = 1 << 2, /* INTS: an empty list is not filled with the default; ENUM:
                                    * ONNX has none, so that it is always written */
  CLEAVE_ATTR_OPERAND_0 = 1 << 3,  /* in ONNX a constant operand too, with the index 0 */
  CLEAVE_ATTR_SCALAR = 1 << 4,     /* INT: as an operand a scalar, not a list of one */
  CLEAVE_ATTR_OPTIONAL = 1 << 5,   /* ELEMENT: CLEAVE_NONE is legal, and the default */
  CLEAVE_ATTR_NOT_BELOW_0 = 1 << 6 /* INTS: entries below 0 are ours alone */
} CleaveAttrFlags;

typedef struct
{
  const char *name; /* as in ONNX */
  CleaveAttrKind kind;
  gsize offset;    /* of the field */
  double fallback; /* the default: of INT, BOOL, ENUM, DOUBLE, and of each entry of INTS */
  gint64 minimum;  /* smallest legal INT, or entry of INTS or ARRAY, when `has_minimum` */
  gboolean has_minimum;
  const char *const *names; /* ENUM: ends with NULL; lower case or as in ONNX */
  guint onnx_operand; /* not 0: in ONNX a constant operand with this index, not an attribute */
  CleaveAttrFlags flags;
} CleaveAttr;

/* No graph could hold a node with more: a number that is absurd is told, and not allocated. */
#define CLEAVE_MAX_RESULTS (1 << 20)

/* Where operands follow each other: how far one has been asked about, and where it begins, so that
 * the next need not count from the first again. */
typedef struct
{
  guint operand;
  gint64 begin;
} CleaveCursor;

/* All that an op may look at. */
typedef struct
{
  const CleaveOp *op;
  gconstpointer attrs;
  guint n_operands, n_results;      /* as many as this node has */
  const CleaveTensorType *operands; /* absent ones have the element CLEAVE_NONE */
  const CleaveTensorType *results;  /* not yet known inside normalise and infer */
  guint result;                     /* the one asked about: 0, except of a VIEW op */
  CleaveCursor *cursor;             /* of these operands; NULL: nobody keeps one */
} CleaveCall;

/* A chunk of result 0, as a node of its own: what planning, applying, recursion, cost and tests all
 * ask for. */
typedef struct
{
  CleaveRange range;
  guint n_operands, n_results; /* as of the call */
  CleaveSlice *slices;         /* one for each operand of the call; of absent ones an empty one */
  gboolean *kept; /* FALSE: the operand is absent, or its slice was empty and it dropped out */
  CleaveTensorType *results;
  gpointer attrs;
} CleaveChunk;

typedef enum {
  CLEAVE_OP_VARIADIC = 1 << 0, /* the last operand repeats; one whose slice is empty drops out */
  CLEAVE_OP_VIEW = 1 << 1, /* each result is a part or permutation of operand 0, as its map says,
                            * where cleave_call_is_view() */
  CLEAVE_OP_JOIN = 1 << 2, /* the operands are parts of the result, placed as their maps say */
  CLEAVE_OP_ROW_MAJOR = 1 << 3, /* the result is operand 0 again where both are row-major */
  CLEAVE_OP_IN_PLACE =
      1 << 4, /* the result may take the place of an operand that dies, cleave_view_type_fits() */
  CLEAVE_OP_NOT_ONNX = 1 << 5, /* structural: import and export know it by itself */
  CLEAVE_OP_OF_TYPES =
      1 << 6, /* the results depend on the types of the operands alone, not on their values */
  CLEAVE_OP_ALL_RESULTS = 1 << 7, /* a node has all results that have names, read or not */
  CLEAVE_OP_STORAGE = 1 << 8, /* a form in which weights are stored: files keep it, and a part of
                               * what it makes of constants is made of parts of those */
  CLEAVE_OP_COMMUTATIVE = 1 << 9,   /* of two operands, which may change places, bit for bit but for
                                     * what a NaN holds; not so Max and Min, of -0 and 0 */
  CLEAVE_OP_NOT_NEGATIVE = 1 << 10, /* no element of the result is below 0; -0 and NaN may be */
  CLEAVE_OP_IN_ORDER = 1 << 11,     /* other processes wait for it: a graph that has one runs in the
                                     * order in which it was built */
  CLEAVE_OP_BROADCAST = 1 << 12,    /* the result is operand 0 with strides of 0, where
                                     * cleave_call_is_broadcast() and its readers read by strides */
  CLEAVE_OP_BY_STRIDES = 1 << 13    /* kernels read operands by any strides, 0 as well, as fast as
                                     * if they were dense */
} CleaveOpFlags;

/* Families of fast kernels. */
typedef enum {
  CLEAVE_KERNEL_REFERENCE,
  CLEAVE_KERNEL_CONV,
  CLEAVE_KERNEL_CONV_TRANSPOSE,
  CLEAVE_KERNEL_MATMUL,
  CLEAVE_KERNEL_GEMM,
  CLEAVE_KERNEL_PRODUCTS_MATMUL, /* of what no GEMM serves */
  CLEAVE_KERNEL_PRODUCTS_GEMM,
  CLEAVE_KERNEL_DEPTHWISE,
  CLEAVE_KERNEL_NARROW_CONV,  /* depthwise, of few channels */
  CLEAVE_KERNEL_GROUPED_CONV, /* of groups that make the few channels that they read */
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
  CLEAVE_KERNEL_NEAREST, /* Resize that moves elements */
  CLEAVE_KERNEL_REDUCE,
  CLEAVE_KERNEL_ARG,
  CLEAVE_KERNEL_CHOOSE, /* by bools, and bools of comparisons */
  CLEAVE_KERNEL_ELEMENTWISE,
  CLEAVE_KERNEL_COPY,
  CLEAVE_KERNEL_CONVERT,
  CLEAVE_KERNEL_INTEGER_CONV, /* of bytes, in whole numbers */
  CLEAVE_KERNEL_INTEGER_DEPTHWISE,
  CLEAVE_KERNEL_INTEGER_MATMUL,
  CLEAVE_KERNEL_BYTE_MEAN,
  CLEAVE_KERNEL_UPCAST_CONV, /* of 16-bit floats, as floats */
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

/* Chunks along a dimension of result 0 and one of operand 0, each of which begins where the one
 * before it ended: it takes what that has as result 1, 2 … as these operands. */
typedef struct
{
  guint dim, operand_dim;
  gboolean is_backwards; /* the last chunk comes first */
  guint takes[CLEAVE_MAX_TAKEN];
  /* What of a chunk no other chunk is needed for: this op, with the attributes of the node, makes
   * it of operand 0 and of these, and it takes the place of operand 0 where the first of these is
   * absent.  NULL: there is none. */
  const CleaveOp *ahead;
  guint ahead_operands[CLEAVE_MAX_AHEAD];
} CleaveSequence;

/* Everything the library knows about one kind of node. */
struct _CleaveOp
{
  const char *name;            /* as in ONNX: "Conv" */
  const char *const *operands; /* as in ONNX: { "X", "W", "B", NULL } */
  const char *const *results;  /* { "Y", NULL }; the last repeats if there are more */
  guint min_operands;          /* the others are optional */
  CleaveOpFlags flags;
  gsize attrs_size;
  const CleaveAttr *attrs; /* ends with no name; NULL: none */

  /* Brings `attrs`, a copy, to the one form in which the node keeps them (a perm written out, a
   * slice clipped), before infer.  NULL: what the table does (axes made positive, defaults) is all.
   */
  gboolean (*normalise) (const CleaveCall *call, gpointer attrs, GError **error);
  /* Element types and shapes of the results, or an error that says why there are none. */
  gboolean (*infer) (const CleaveCall *call, CleaveTensorType *results, GError **error);
  /* What `operand` must supply for a part of the result: a map for each of its dimensions.  NULL:
   * cannot be split. */
  void (*maps) (const CleaveCall *call, guint operand, CleaveDimMap *map);
  /* Which part of `result` (1, 2 …) comes with a part of result 0.  NULL: the same part. */
  void (*result_maps) (const CleaveCall *call, guint result, CleaveDimMap *map);
  /* Rewrites `attrs`, a copy, for a node that computes only the chunk.  FALSE: there is no such
   * node, and `why`, unless NULL, is told what would be needed.  NULL: the attributes stay as they
   * are. */
  gboolean (*narrow) (const CleaveCall *call,
                      const CleaveChunk *chunk,
                      gpointer attrs,
                      GString *why);
  /* How chunks follow each other along a dimension that cannot be cut otherwise.  FALSE: they do
   * not. NULL: never. */
  gboolean (*sequence) (const CleaveCall *call, CleaveSequence *sequence);
  /* Letters of the dimensions of result 0, such as "NCHW".  NULL: it has none. */
  const char *(*layout) (const CleaveCall *call);
  gint64 (*macs) (const CleaveCall *call); /* NULL: none */
  /* Steps of the reference kernel beyond one for each element that it reads or writes.  NULL: the
   * MACs; where there are none, what each element of the result reads, as the maps say it. */
  double (*work) (const CleaveCall *call);
  void (*print) (gconstpointer attrs, GString *out); /* instead of the table; begins with a space */
  /* Reads what `print` writes, without the space, into `attrs`, which have their defaults. */
  gboolean (*parse) (const char *text, gpointer attrs, GError **error);
  /* The family of fast kernels that serves this call.  NULL: the reference kernel. */
  CleaveKernel (*kernel) (const CleaveCall *call);
  /* The reference kernel: defines what the op means. */
  void (*compute) (const CleaveCall *call, const CleaveView *operands, const CleaveView *results);
  /* The first opset of ONNX that has such a node, if that is later than 17; else 0.  The results
   * may be unknown, and the attributes as a file has them.  NULL: 0. */
  guint (*since) (const CleaveCall *call);
};

/* Helpers for op records. */

#define CLEAVE_FIELD(type, field) .offset = G_STRUCT_OFFSET (type, field)
#define CLEAVE_AT_LEAST(least) .minimum = least, .has_minimum = TRUE
/* The first attribute of an op that has a layout. */
#define CLEAVE_LAYOUT_ATTR(type)                                                                   \
  {                                                                                                \
    "layout", CLEAVE_ATTR_ENUM, CLEAVE_FIELD (type, layout), .names = cleave_layout_names,         \
                                                             .flags = CLEAVE_ATTR_NOT_ONNX         \
  }

/* By that attribute; of an op without it NCHW. */
CleaveLayout cleave_call_layout (const CleaveCall *call);
/* Which dimensions of operand 0 are which, and their letters. */
CleaveDims cleave_call_dims (const CleaveCall *call);
const char *cleave_call_letters (const CleaveCall *call);

static inline gboolean
cleave_call_has (const CleaveCall *call, guint operand)
{
  return operand < call->n_operands && call->operands[operand].element != CLEAVE_NONE;
}

/* Entry i, or what stands for it in an empty list. */
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

/* Tells `why`, unless NULL, and returns FALSE. */
gboolean cleave_refuse (GString *why, const char *format, ...) G_GNUC_PRINTF (2, 3);
/* The element type must be one of `elements`, a set made with CLEAVE_ELEMENT_BIT. */
#define CLEAVE_ELEMENT_BIT(element) (1u << (element))
#define CLEAVE_ELEMENTS_FLOAT                                                                      \
  (CLEAVE_ELEMENT_BIT (CLEAVE_FLOAT32) | CLEAVE_ELEMENT_BIT (CLEAVE_FLOAT64) |                     \
   CLEAVE_ELEMENT_BIT (CLEAVE_FLOAT16) | CLEAVE_ELEMENT_BIT (CLEAVE_BFLOAT16))
gboolean
cleave_call_check_element (const CleaveCall *call, guint operand, guint elements, GError **error);
/* Operands `a` and `b` must have one element type. */
gboolean cleave_call_check_same_element (const CleaveCall *call, guint a, guint b, GError **error);
gboolean cleave_call_check_rank (
    const CleaveCall *call, guint operand, guint min, guint max, GError **error);
/* Shapes by ONNX's (numpy's) broadcasting rule; and the maps that go with it. */
gboolean cleave_shape_broadcast (const CleaveShape *a, const CleaveShape *b, CleaveShape *both);
void
cleave_maps_broadcast (const CleaveShape *operand, const CleaveShape *result, CleaveDimMap *map);
/* Each dimension the same. */
void cleave_maps_same (const CleaveCall *call, guint operand, CleaveDimMap *map);
gboolean cleave_infer_same (const CleaveCall *call, CleaveTensorType *results, GError **error);
/* Slice of `operand` for a chunk of result 0. */
CleaveSlice cleave_call_slice (const CleaveCall *call, guint operand, const CleaveRange *chunk);
/* Whether `result` of the call is a view of operand 0: the op is a VIEW, and the maps say a plain
 * part or permutation (not so of a Slice whose step is negative). */
gboolean cleave_call_is_view (const CleaveCall *call);
/* Whether the result of the call is operand 0 again and again: the op is a BROADCAST, and repeats
 * extents of 1 alone. */
gboolean cleave_call_is_broadcast (const CleaveCall *call);
/* Range of `result` that comes with a chunk of result 0. */
CleaveRange
cleave_call_result_range (const CleaveCall *call, guint result, const CleaveRange *chunk);
/* Checks a call without results: are there as many operands as the op wants, and those that it
 * cannot do without? Then brings `attrs`, which are the call's, to their normal form and finds the
 * types of the results. */
gboolean cleave_call_infer (const CleaveCall *call,
                            gpointer attrs,
                            CleaveTensorType *results,
                            GError **error);
/* About how many steps the reference kernel takes. */
double cleave_call_work (const CleaveCall *call);
/* Of ops that pass over their operands once, although each element of the result needs many: none
 * beyond those. */
double cleave_work_once (const CleaveCall *call);
/* `kernel` where operand 0 is of float32, and the same by way of float32 where some operands are of
 * 16-bit floats. */
CleaveKernel cleave_kernel_of_floats (const CleaveCall *call, CleaveKernel kernel);
const char *cleave_op_operand_name (const CleaveOp *op, guint operand);
const char *cleave_op_result_name (const CleaveOp *op, guint result);

/* All that the attribute table drives. */

void cleave_attrs_init (const CleaveOp *op, gpointer attrs);          /* defaults */
gpointer cleave_attrs_copy (const CleaveOp *op, gconstpointer attrs); /* NULL if the op has none */
void cleave_attrs_free (const CleaveOp *op, gpointer attrs);
gboolean cleave_attrs_equal (const CleaveOp *op, gconstpointer a, gconstpointer b);
guint cleave_attrs_hash (const CleaveOp *op, gconstpointer attrs);
void cleave_attrs_print (const CleaveOp *op, gconstpointer attrs, GString *out);
/* Defaults, axes, minima, then the op's own normalise.  `attrs` is a copy, changed in place. */
gboolean cleave_attrs_normalise (const CleaveCall *call, gpointer attrs, GError **error);
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
