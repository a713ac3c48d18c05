/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Windows that slide over the spatial dimensions, for convolutions and poolings: their attributes,
 * their number, and the elements that they read. The records of Conv, MaxPool and similar ops infer
 * shapes and maps with these functions, and their reference kernels find taps with them.
 *
 *   kernel 3, stride 2, pad 1: windows begin at elements -1, 1, 3 … of the operand */

#include "../ir/op.h"

/* A window in one spatial dimension: element i of the result reads elements i * stride - pad_begin
 * + k * dilation of the operand, for k < kernel. `extent` is the extent of the operand. */
typedef struct
{
  gint64 extent, kernel, stride, dilation, pad_begin, pad_end;
} CleaveWindow;

/* A stride, dilation, pad or kernel extent is at most this number, so that the product of two such
 * numbers fits 64 bits. */
#define CLEAVE_WINDOW_MAX G_MAXINT32

/* Returns the number of elements from the first to the last that a window reads, both included. */
static inline gint64
cleave_window_reach (const CleaveWindow *window)
{
  return window->dilation * (window->kernel - 1) + 1;
}

static inline CleaveDimMap
cleave_window_map (const CleaveWindow *window, guint from)
{
  return cleave_dim_map_window (from, window->stride, window->pad_begin,
                                cleave_window_reach (window));
}

/* Sets the maps of an image that is pooled. For batch and channels, a piece reads the span that it
 * computes. For each spatial dimension, a piece reads the windows of the span that it computes. */
static inline void
cleave_window_maps (const CleaveDims *dims, const CleaveWindow *windows, CleaveDimMap *map)
{
  map[dims->n] = cleave_dim_map_same (dims->n);
  map[dims->c] = cleave_dim_map_same (dims->c);
  for (guint i = 0; i < dims->n_spatial; i++)
    map[dims->h + i] = cleave_window_map (&windows[i], dims->h + i);
}

/* Finds the element of the operand that tap `tap` reads for the result element at `out`, an index
 * in the spatial dimensions. Sets `offset` to the offset of this element, in elements, from spatial
 * index 0 of the operand. Returns FALSE if the tap is in the padding. */
static inline gboolean
cleave_window_tap (const CleaveWindow *windows,
                   guint n,
                   const gint64 *out,
                   const gint64 *tap,
                   const gint64 *stride,
                   gint64 *offset)
{
  *offset = 0;
  for (guint i = 0; i < n; i++)
    {
      const CleaveWindow *w = &windows[i];
      gint64 at = out[i] * w->stride - w->pad_begin + tap[i] * w->dilation;

      if (at < 0 || at >= w->extent)
        return FALSE;
      *offset += at * stride[i];
    }
  return TRUE;
}

/* Attribute table entries for the attributes of windows. */
#define CLEAVE_STEPS_ATTR(type, field)                                                             \
  {                                                                                                \
#field, CLEAVE_ATTR_INTS, CLEAVE_FIELD(type, field), .fallback = 1, CLEAVE_AT_LEAST(1)         \
  }
#define CLEAVE_WINDOW_ATTRS(type)                                                                  \
  CLEAVE_STEPS_ATTR (type, strides), CLEAVE_STEPS_ATTR (type, dilations),                          \
  {                                                                                                \
    "pads", CLEAVE_ATTR_INTS, CLEAVE_FIELD (type, pads), CLEAVE_AT_LEAST (0)                       \
  }

/* Sets the windows of n spatial dimensions. Empty lists stand for strides and dilations of 1 and
 * pads of 0. */
void cleave_windows_init (CleaveWindow *windows,
                          guint n,
                          const gint64 *extents,
                          const gint64 *kernel,
                          const CleaveInts *strides,
                          const CleaveInts *dilations,
                          const CleaveInts *pads);
/* Checks that a list is empty or has n entries, and that each entry is at most CLEAVE_WINDOW_MAX.
 */
gboolean
cleave_window_check_list (const CleaveInts *list, guint n, const char *name, GError **error);
/* Checks strides, dilations and pads of n windows, each as cleave_window_check_list() does. */
gboolean cleave_window_check_lists (const CleaveInts *strides,
                                    const CleaveInts *dilations,
                                    const CleaveInts *pads,
                                    guint n,
                                    GError **error);
/* Sets `count` to the number of windows in spatial dimension `i`, which is the extent of the
 * result. Fails if there is no window. */
gboolean cleave_window_count (
    const CleaveWindow *window, guint i, gboolean ceil_mode, gint64 *count, GError **error);
/* Sets the pads of a piece to the numbers of elements by which its windows reach beyond the operand
 * at each side (the clips of CleaveSlice). `slice` is the slice of the operand. `h` is the index of
 * its first spatial dimension, `n` the number of spatial dimensions. */
void cleave_pads_from_slice (CleaveInts *pads, guint n, const CleaveSlice *slice, guint h);
