/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Plain values that all other headers use: element types, shapes, ranges of indices, and lists of
 * numbers. Functions take such values by const pointer and return them by value. All zeros is a
 * valid value of each type. Extents, indices and bytes are gint64; dimension 0 is the outermost. */

#include <glib-object.h>

#define CLEAVE_API __attribute__ ((visibility ("default")))

G_BEGIN_DECLS

/* A tensor has at most this many dimensions. */
#define CLEAVE_MAX_RANK 8

/**
 * CleaveElement:
 * @CLEAVE_NONE: no type; stands for an optional operand that is absent
 * @CLEAVE_FLOAT32: IEEE 754 single precision
 * @CLEAVE_FLOAT64: IEEE 754 double precision
 * @CLEAVE_FLOAT16: IEEE 754 half precision
 * @CLEAVE_BFLOAT16: the upper 16 bits of IEEE 754 single precision
 * @CLEAVE_INT8: signed, 8 bits
 * @CLEAVE_INT16: signed, 16 bits
 * @CLEAVE_INT32: signed, 32 bits
 * @CLEAVE_INT64: signed, 64 bits
 * @CLEAVE_UINT8: unsigned, 8 bits
 * @CLEAVE_UINT16: unsigned, 16 bits
 * @CLEAVE_UINT32: unsigned, 32 bits
 * @CLEAVE_UINT64: unsigned, 64 bits
 * @CLEAVE_BOOL: a byte that is 0 or 1
 *
 * The type of the elements of a tensor.
 */
typedef enum {
  CLEAVE_NONE,
  CLEAVE_FLOAT32,
  CLEAVE_FLOAT64,
  CLEAVE_FLOAT16,
  CLEAVE_BFLOAT16,
  CLEAVE_INT8,
  CLEAVE_INT16,
  CLEAVE_INT32,
  CLEAVE_INT64,
  CLEAVE_UINT8,
  CLEAVE_UINT16,
  CLEAVE_UINT32,
  CLEAVE_UINT64,
  CLEAVE_BOOL,
} CleaveElement;

/* The number of values of CleaveElement, for arrays indexed by element type. */
#define CLEAVE_N_ELEMENTS (CLEAVE_BOOL + 1)

/**
 * CleaveShape:
 * @rank: number of dimensions; 0 for a scalar
 * @dim: the extent of each dimension, outermost first; an extent of 0 is legal
 *
 * The extents of a tensor.
 */
typedef struct
{
  guint rank;
  gint64 dim[CLEAVE_MAX_RANK];
} CleaveShape;

/**
 * CleaveSpan:
 * @begin: the first index
 * @end: the index after the last
 *
 * The half-open interval `[begin, end)` of indices of one dimension.
 */
typedef struct
{
  gint64 begin, end;
} CleaveSpan;

/**
 * CleaveRange:
 * @rank: number of dimensions
 * @dim: the span of each dimension, outermost first
 *
 * A hyperrectangle of indices of a tensor: one span for each dimension.
 */
typedef struct
{
  guint rank;
  CleaveSpan dim[CLEAVE_MAX_RANK];
} CleaveRange;

/**
 * CleaveTensorType:
 * @element: element type
 * @shape: logical shape: the extents that ops see, independent of the order in memory
 *
 * Element type and logical shape of a value. A struct of zeros means that the value is absent.
 */
typedef struct
{
  CleaveElement element;
  CleaveShape shape;
} CleaveTensorType;

/**
 * CleaveInts:
 * @n: number of entries
 * @v: the entries
 *
 * A short list of integers, for attributes. An empty list stands for the default.
 */
typedef struct
{
  guint n;
  gint64 v[2 * CLEAVE_MAX_RANK];
} CleaveInts;

/**
 * CleaveDoubles:
 * @n: number of entries
 * @v: the entries
 *
 * A short list of real numbers, for attributes. The list has room for two numbers per dimension,
 * such as the start and the end of a region.
 */
typedef struct
{
  guint n;
  double v[2 * CLEAVE_MAX_RANK];
} CleaveDoubles;

/* The macros below make values from their elements: CLEAVE_SHAPE (1, 3, 8, 8), CLEAVE_INTS (2, 2),
 * CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 3, 8, 8). CLEAVE_RANGE takes the begin and the end of each
 * dimension: CLEAVE_RANGE (0, 1, 0, 16) is [0, 1) x [0, 16). */
#define CLEAVE_COUNT_(type, ...) ((guint) (sizeof ((type[]){ __VA_ARGS__ }) / sizeof (type)))
#define CLEAVE_SHAPE(...) ((CleaveShape){ CLEAVE_COUNT_ (gint64, __VA_ARGS__), { __VA_ARGS__ } })
#define CLEAVE_INTS(...) ((CleaveInts){ CLEAVE_COUNT_ (gint64, __VA_ARGS__), { __VA_ARGS__ } })
#define CLEAVE_DOUBLES(...)                                                                        \
  ((CleaveDoubles){ CLEAVE_COUNT_ (double, __VA_ARGS__), { __VA_ARGS__ } })
#define CLEAVE_RANGE(...)                                                                          \
  cleave_range_from_bounds (CLEAVE_COUNT_ (gint64, __VA_ARGS__), (const gint64[]){ __VA_ARGS__ })
#define CLEAVE_TYPE(element, ...) ((CleaveTensorType){ element, CLEAVE_SHAPE (__VA_ARGS__) })
#define CLEAVE_SCALAR(element) ((CleaveTensorType){ element, { 0, { 0 } } })

#ifndef __GI_SCANNER__ /* g-ir-scanner cannot parse the loop in the function below */
/* Returns the range with the given bounds: begin and end of dimension 0, begin and end of dimension
 * 1, and so on. */
static inline CleaveRange
cleave_range_from_bounds (guint n_bounds, const gint64 *bounds)
{
  CleaveRange range = { 0, { { 0, 0 } } };

  g_return_val_if_fail (n_bounds % 2 == 0 && n_bounds / 2 <= CLEAVE_MAX_RANK, range);
  g_return_val_if_fail (bounds != NULL || n_bounds == 0, range);
  range.rank = n_bounds / 2;
  for (guint i = 0; i < n_bounds; i++)
    *(i % 2 == 0 ? &range.dim[i / 2].begin : &range.dim[i / 2].end) = bounds[i];
  return range;
}
#endif

#define CLEAVE_TYPE_SHAPE (cleave_shape_get_gtype ())
#define CLEAVE_TYPE_SPAN (cleave_span_get_gtype ())
#define CLEAVE_TYPE_RANGE (cleave_range_get_gtype ())
#define CLEAVE_TYPE_TENSOR_TYPE (cleave_tensor_type_get_gtype ())
#define CLEAVE_TYPE_INTS (cleave_ints_get_gtype ())
#define CLEAVE_TYPE_DOUBLES (cleave_doubles_get_gtype ())

CLEAVE_API GType cleave_shape_get_gtype (void);
CLEAVE_API GType cleave_span_get_gtype (void);
CLEAVE_API GType cleave_range_get_gtype (void);
CLEAVE_API GType cleave_tensor_type_get_gtype (void);
CLEAVE_API GType cleave_ints_get_gtype (void);
CLEAVE_API GType cleave_doubles_get_gtype (void);

CLEAVE_API gsize cleave_element_size (CleaveElement element);
CLEAVE_API const char *cleave_element_get_name (CleaveElement element);
CLEAVE_API gboolean cleave_element_is_float (CleaveElement element);

/* Allocate values on the heap, for bindings of other languages. Free them with g_free(). */
CLEAVE_API CleaveRange *cleave_range_new (const gint64 *bounds, guint n_bounds);
CLEAVE_API CleaveTensorType *
cleave_tensor_type_new (CleaveElement element, const gint64 *dims, guint n_dims);

CLEAVE_API gboolean cleave_shape_equal (const CleaveShape *a, const CleaveShape *b);
CLEAVE_API gint64 cleave_shape_n_elements (const CleaveShape *shape);
CLEAVE_API char *cleave_shape_to_string (const CleaveShape *shape);

CLEAVE_API gboolean cleave_tensor_type_equal (const CleaveTensorType *a, const CleaveTensorType *b);
CLEAVE_API gboolean cleave_tensor_type_check (const CleaveTensorType *type, GError **error);
CLEAVE_API gint64 cleave_tensor_type_n_bytes (const CleaveTensorType *type);
CLEAVE_API char *cleave_tensor_type_to_string (const CleaveTensorType *type);

CLEAVE_API CleaveRange cleave_range_whole (const CleaveShape *shape);
CLEAVE_API CleaveShape cleave_range_shape (const CleaveRange *range);
CLEAVE_API gint64 cleave_range_n_elements (const CleaveRange *range);
CLEAVE_API gboolean cleave_range_is_empty (const CleaveRange *range);
CLEAVE_API gboolean cleave_range_equal (const CleaveRange *a, const CleaveRange *b);
CLEAVE_API gboolean cleave_range_contains (const CleaveRange *outer, const CleaveRange *inner);
CLEAVE_API CleaveRange cleave_range_intersect (const CleaveRange *a, const CleaveRange *b);
CLEAVE_API CleaveRange cleave_range_hull (const CleaveRange *a, const CleaveRange *b);
CLEAVE_API char *cleave_range_to_string (const CleaveRange *range);
CLEAVE_API gboolean cleave_ranges_cover (const CleaveRange *ranges,
                                         guint n_ranges,
                                         const CleaveRange *whole,
                                         CleaveRange *missing);

G_END_DECLS
