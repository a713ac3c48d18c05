/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The elements of X between which a DeformConv interpolates. Each tap of a window is moved by an
 * offset, which operand 2 gives, to a position between elements of X. Elements outside of X count
 * as 0. The reference kernel (deform-conv.c) and the fast kernel
 * (lib/runtime/kernels/deform-conv.c) both find the elements this way. */

#include <math.h>
#include <string.h>

#include "reference.h"
#include "window.h"

enum {
  CLEAVE_DEFORM_X,
  CLEAVE_DEFORM_W,
  CLEAVE_DEFORM_OFFSET,
  CLEAVE_DEFORM_B,
  CLEAVE_DEFORM_MASK
};

/* The elements of X around the position of a tap: their number, their offsets in X, and their
 * weights. */
typedef struct
{
  guint n;
  gint64 offset[1 << (CLEAVE_MAX_RANK - 2)];
  double weight[1 << (CLEAVE_MAX_RANK - 2)];
} CleaveDeformAround;

/* The state of a walk over the positions of the result. */
typedef struct
{
  const CleaveView *operands;
  CleaveWindow windows[CLEAVE_MAX_RANK];
  guint n;
  gint64 n_taps, n_in, shared; /* number of taps of a window (`n_taps`), and numbers of channels of
                                * X in a group (`n_in`) and in an offset group (`shared`) */
  gboolean has_mask;
  const gint64 *at; /* index, in the result, of the position that is being computed */
} CleaveDeformWalk;

static inline double
cleave_deform_load (const CleaveView *view, gint64 offset)
{
  return cleave_real_load (view->type.element, cleave_view_element (view, offset));
}

/* Returns channel `c` of operand `operand`, the offsets or the mask, at the current position of the
 * walk. */
static inline double
cleave_deform_load_at (const CleaveDeformWalk *walk, guint operand, gint64 c)
{
  const CleaveView *view = &walk->operands[operand];

  return cleave_deform_load (view,
                             walk->at[0] * view->stride[0] + c * view->stride[1] +
                                 cleave_index_offset (walk->n, walk->at + 2, view->stride + 2));
}

/* Extends `around` by spatial dimension `i`, along which the tap is at `position`: replaces each
 * element by two, the nearest elements below and above `position`. Drops elements outside of X. */
static inline void
cleave_deform_add_dimension (const CleaveDeformWalk *walk,
                             guint i,
                             double position,
                             CleaveDeformAround *around)
{
  const CleaveWindow *w = &walk->windows[i];
  gint64 stride = walk->operands[CLEAVE_DEFORM_X].stride[2 + i], low;
  CleaveDeformAround more;
  double part;

  if (!(position > -1 && position < (double) w->extent))
    {
      around->n = 0;
      return;
    }
  more.n = 0;
  low = (gint64) floor (position);
  part = position - (double) low;
  for (guint k = 0; k < around->n; k++)
    for (guint high = 0; high < 2; high++)
      if (low + high >= 0 && low + high < w->extent)
        {
          more.offset[more.n] = around->offset[k] + (low + high) * stride;
          more.weight[more.n++] = around->weight[k] * (high == 1 ? part : 1 - part);
        }
  around->n = more.n;
  memcpy (around->offset, more.offset, more.n * sizeof *more.offset);
  memcpy (around->weight, more.weight, more.n * sizeof *more.weight);
}

/* Finds the elements around a tap for the offset group `group`. `k` is the number of the tap in
 * row-major order, and `tap` holds its index in each spatial dimension of the window. */
static inline void
cleave_deform_find_around (const CleaveDeformWalk *walk,
                           gint64 k,
                           const gint64 *tap,
                           gint64 group,
                           CleaveDeformAround *around)
{
  gint64 first = group * walk->n_taps + k;
  double scale = walk->has_mask ? cleave_deform_load_at (walk, CLEAVE_DEFORM_MASK, first) : 1;

  around->n = 1;
  around->offset[0] = walk->at[0] * walk->operands[CLEAVE_DEFORM_X].stride[0];
  around->weight[0] = 1;
  for (guint i = 0; i < walk->n && around->n > 0; i++)
    {
      const CleaveWindow *w = &walk->windows[i];
      gint64 plain = walk->at[2 + i] * w->stride - w->pad_begin + tap[i] * w->dilation;

      cleave_deform_add_dimension (
          walk, i,
          (double) plain + cleave_deform_load_at (walk, CLEAVE_DEFORM_OFFSET, first * walk->n + i),
          around);
    }
  for (guint i = 0; i < around->n; i++)
    around->weight[i] *= scale;
}

static inline guint
cleave_deform_windows (const CleaveCall *call, CleaveWindow *windows)
{
  const CleaveDeformConvAttrs *a = call->attrs;
  guint n = call->operands[CLEAVE_DEFORM_X].shape.rank - 2;

  cleave_windows_init (windows, n, call->operands[CLEAVE_DEFORM_X].shape.dim + 2,
                       call->operands[CLEAVE_DEFORM_W].shape.dim + 2, &a->strides, &a->dilations,
                       &a->pads);
  return n;
}

/* Returns a walk over the result. `at` is the index of the current position, which the caller
 * changes. */
static inline CleaveDeformWalk
cleave_deform_walk (const CleaveCall *call, const CleaveView *operands, const gint64 *at)
{
  const CleaveDeformConvAttrs *a = call->attrs;
  const CleaveShape *w = &operands[CLEAVE_DEFORM_W].type.shape;
  CleaveDeformWalk walk = { .operands = operands,
                            .n_taps = 1,
                            .n_in = w->dim[1],
                            .shared = operands[CLEAVE_DEFORM_X].type.shape.dim[1] / a->offset_group,
                            .has_mask = cleave_call_has (call, CLEAVE_DEFORM_MASK),
                            .at = at };

  walk.n = cleave_deform_windows (call, walk.windows);
  for (guint i = 0; i < walk.n; i++)
    walk.n_taps *= walk.windows[i].kernel;
  return walk;
}
