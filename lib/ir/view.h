/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-tensor.h>

/* A value in memory: where element [0, …] is, and how far apart neighbours are, in elements.
 * An absent operand has no data and the element CLEAVE_NONE. */
typedef struct
{
  gpointer data;
  CleaveTensorType type;
  gint64 stride[CLEAVE_MAX_RANK];
} CleaveView;

/* Whether a value of one type can lie, element by element, where one of the other does. */
gboolean cleave_view_type_fits (const CleaveTensorType *a, const CleaveTensorType *b);
CleaveView cleave_view_dense (const CleaveTensorType *type, gpointer data);
CleaveView cleave_view_tensor (const CleaveTensor *tensor);
/* The part of `view` that `range` says. */
CleaveView cleave_view_slice (const CleaveView *view, const CleaveRange *range);
gboolean cleave_view_is_dense (const CleaveView *view);
/* Copies between views of the same type; they do not overlap. */
void cleave_view_copy (const CleaveView *to, const CleaveView *from);
/* The same, past the cache: for what is not read again soon.  That saves reading what is
 * overwritten; what is as large as this is out of the cache anyway before it is read. */
#define CLEAVE_STREAM_BYTES (4 << 20)
void cleave_view_stream (const CleaveView *to, const CleaveView *from);
/* The same for several, that are parts of one value: where all of them are rows, in turn. */
void cleave_view_stream_parts (const CleaveView *const *to, const CleaveView *const *from, guint n);
/* Row-major strides, in elements. */
void cleave_shape_strides (const CleaveShape *shape, gint64 *stride);
