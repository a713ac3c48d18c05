/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Strided views: the form in which kernels get the addresses and strides of their operands and
 * results. lib/runtime makes the views of a step when it lowers the step to a task; the reference
 * kernels in lib/ops and the fast kernels take views as arguments. Example: columns [2, 4) of a
 * row-major 8 x 8 value are a view of shape 8 x 2 with strides 8 and 1. */

#include <cleave/cleave-tensor.h>

/* A value in memory. `data` points to the element with all indices 0; strides are in elements. An
 * absent operand has data NULL and the element type CLEAVE_NONE. */
typedef struct
{
  gpointer data;
  CleaveTensorType type;
  gint64 stride[CLEAVE_MAX_RANK];
} CleaveView;

/* Returns whether a value of type `a` can replace a value of type `b` in place, element by element:
 * shapes and sizes of elements are equal. */
gboolean cleave_view_type_fits (const CleaveTensorType *a, const CleaveTensorType *b);
/* Returns a view of row-major memory. */
CleaveView cleave_view_dense (const CleaveTensorType *type, gpointer data);
CleaveView cleave_view_tensor (const CleaveTensor *tensor);
/* Returns the view of a range of `view`. */
CleaveView cleave_view_slice (const CleaveView *view, const CleaveRange *range);
gboolean cleave_view_is_dense (const CleaveView *view);
/* Copies between views of the same type, which must not overlap. */
void cleave_view_copy (const CleaveView *to, const CleaveView *from);
/* cleave_view_stream() copies with non-temporal stores, which bypass the cache: the processor then
 * need not read the cache lines that it overwrites. cleave_view_copy() also copies with these
 * stores if a value has at least CLEAVE_STREAM_BYTES, since the cache would lose such a value
 * before it is read again. */
#define CLEAVE_STREAM_BYTES (4 << 20)
void cleave_view_stream (const CleaveView *to, const CleaveView *from);
/* Copies n parts of one value with non-temporal stores. If all parts consist of rows, copies row 0
 * of each part, then row 1 of each part and so on, so that memory is written in order. */
void cleave_view_stream_parts (const CleaveView *const *to, const CleaveView *const *from, guint n);
/* Sets `stride` to the strides of a dense value of this shape in row-major order, in elements. */
void cleave_shape_strides (const CleaveShape *shape, gint64 *stride);
