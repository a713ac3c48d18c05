/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Col2Im, in 1 to 6 spatial dimensions: adds overlapping blocks to an image.
 *
 * In one dimension, element k of block l is added to element l * stride + k * dilation - pad of the
 * image. Order of the sum of one element of the image: +0, then the block elements that lie on it,
 * in row-major order of their index k. Each sum is rounded to the element type. Integers wrap
 * around.
 *
 * The operand lists all blocks in one dimension, in row-major order of their positions. A piece
 * reads consecutive blocks of this list. So a piece reads fewer blocks than the whole node only if
 * the cut is along the outermost spatial dimension with more than one block. If the cut is along
 * another spatial dimension, the piece reads all blocks, and the pads of the piece crop the
 * image. */

#include "move.h"
#include "scatter.h"
#include "window.h"

enum { X };
enum { N, C, L };

#define INTEGERS                                                                                   \
  (CLEAVE_ELEMENT_BIT (CLEAVE_INT8) | CLEAVE_ELEMENT_BIT (CLEAVE_INT16) |                          \
   CLEAVE_ELEMENT_BIT (CLEAVE_INT32) | CLEAVE_ELEMENT_BIT (CLEAVE_INT64) |                         \
   CLEAVE_ELEMENT_BIT (CLEAVE_UINT8) | CLEAVE_ELEMENT_BIT (CLEAVE_UINT16) |                        \
   CLEAVE_ELEMENT_BIT (CLEAVE_UINT32) | CLEAVE_ELEMENT_BIT (CLEAVE_UINT64))

static guint
init_windows (const CleaveCol2ImAttrs *a, CleaveWindow *windows)
{
  cleave_windows_init (windows, a->image_shape.n, a->image_shape.v, a->block_shape.v, &a->strides,
                       &a->dilations, &a->pads);
  return a->image_shape.n;
}

static gint64
count_windows (const CleaveWindow *w)
{
  return (w->extent + w->pad_begin + w->pad_end - cleave_window_reach (w)) / w->stride + 1;
}

/* Returns the first spatial dimension along which there are several blocks, or the number of
 * spatial dimensions if there is none. Sets `step` to the distance, in the list of all blocks, of
 * two blocks that are neighbors along this dimension. */
static guint
find_outermost (const CleaveWindow *windows, guint n, gint64 *step)
{
  guint first = 0;

  while (first < n && count_windows (&windows[first]) == 1)
    first++;
  *step = 1;
  for (guint i = first + 1; i < n; i++)
    *step *= count_windows (&windows[i]);
  return first;
}

static gboolean
check_attrs (const CleaveCol2ImAttrs *a, GError **error)
{
  guint n = a->image_shape.n;

  if (n < 1 || n > CLEAVE_MAX_RANK - 2)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "image_shape has %u entries, but must have 1 to %d", n,
                        CLEAVE_MAX_RANK - 2);
  if (a->block_shape.n != n)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "block_shape has %u entries, but must have %u", a->block_shape.n, n);
  return cleave_window_check_list (&a->image_shape, n, "image_shape", error) &&
         cleave_window_check_list (&a->block_shape, n, "block_shape", error) &&
         cleave_window_check_lists (&a->strides, &a->dilations, &a->pads, n, error);
}

/* Sets `n_elements` to the number of elements of a block, and `n_blocks` to the number of blocks.
 */
static gboolean
count (const CleaveCol2ImAttrs *a, gint64 *n_elements, gint64 *n_blocks, GError **error)
{
  CleaveWindow windows[CLEAVE_MAX_RANK];
  guint n = init_windows (a, windows);

  *n_elements = *n_blocks = 1;
  for (guint i = 0; i < n; i++)
    {
      gint64 along;

      if (!cleave_window_count (&windows[i], i, FALSE, &along, error))
        return FALSE;
      *n_elements = cleave_saturated_mul (*n_elements, windows[i].kernel);
      *n_blocks = cleave_saturated_mul (*n_blocks, along);
    }
  return TRUE;
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveCol2ImAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[X].shape;
  gint64 n_elements, n_blocks;

  if (!cleave_call_check_element (call, X, CLEAVE_ELEMENTS_FLOAT | INTEGERS, error) ||
      !cleave_call_check_rank (call, X, 3, 3, error) || !check_attrs (a, error) ||
      !count (a, &n_elements, &n_blocks, error))
    return FALSE;
  if (x->dim[C] % n_elements != 0)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "dimension 1 is %" G_GINT64_FORMAT ", no multiple of the %" G_GINT64_FORMAT
                        " elements of a block",
                        x->dim[C], n_elements);
  if (x->dim[L] != n_blocks)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "dimension 2 is %" G_GINT64_FORMAT ", but the image has %" G_GINT64_FORMAT
                        " blocks",
                        x->dim[L], n_blocks);
  results[0] = CLEAVE_TYPE (call->operands[X].element, x->dim[N], x->dim[C] / n_elements);
  for (guint i = 0; i < a->image_shape.n; i++)
    results[0].shape.dim[results[0].shape.rank++] = a->image_shape.v[i];
  return TRUE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveCol2ImAttrs *a = call->attrs;
  CleaveWindow windows[CLEAVE_MAX_RANK];
  guint n = init_windows (a, windows);
  gint64 step, n_elements = 1;
  guint first = find_outermost (windows, n, &step);

  for (guint i = 0; i < n; i++)
    n_elements *= windows[i].kernel;
  map[N] = cleave_dim_map_same (N);
  map[C] = cleave_dim_map_groups (C, 1, n_elements);
  map[L] = cleave_dim_map_whole (call->operands[X].shape.dim[L]);
  if (first < n)
    {
      gint64 back = (cleave_window_reach (&windows[first]) - 1) / windows[first].stride;

      map[L] = (CleaveDimMap){ .from = 2 + first,
                               .shift = windows[first].pad_begin,
                               .block = windows[first].stride,
                               .stride = step,
                               .offset = -back * step,
                               .window = (back + 1) * step,
                               .times = 1 };
    }
}

static gboolean
narrow (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why)
{
  CleaveCol2ImAttrs *a = attrs;
  CleaveWindow windows[CLEAVE_MAX_RANK];
  guint n = init_windows (call->attrs, windows);
  gint64 step;
  guint first = find_outermost (windows, n, &step);
  CleaveSpan blocks = chunk->slices[X].range.dim[L];

  a->pads = (CleaveInts){ .n = 2 * n };
  for (guint i = 0; i < n; i++)
    {
      const CleaveWindow *w = &windows[i];
      CleaveSpan out = chunk->range.dim[2 + i];

      a->image_shape.v[i] = out.end - out.begin;
      a->pads.v[i] = w->pad_begin + out.begin;
      a->pads.v[n + i] = w->pad_end + w->extent - out.end;
      if (i == first)
        {
          gint64 reach =
              w->stride * ((blocks.end - blocks.begin) / step - 1) + cleave_window_reach (w);

          a->pads.v[i] -= blocks.begin / step * w->stride;
          a->pads.v[n + i] = MAX (reach - a->pads.v[i] - a->image_shape.v[i], 0);
        }
    }
  return TRUE;
}

/* The state of the computation of one channel. */
typedef struct
{
  const CleaveWindow *windows;
  guint n;
  const CleaveView *x, *y;
  gint64 from, to; /* offsets of the channel in X (`from`) and in the result (`to`), in elements */
} Walk;

/* Adds the element with the index `tap` of each block to the image, unless the element lies outside
 * of the image. Adds the blocks line by line along the last dimension. */
static void
add_tap (const Walk *walk, const gint64 *tap)
{
  guint last = walk->n - 1;
  const CleaveWindow *w = &walk->windows[last];
  CleaveShape rows = { .rank = last };
  gint64 place = tap[last] * w->dilation - w->pad_begin, n_blocks = count_windows (w);
  gint64 begin = place >= 0 ? 0 : (w->stride - 1 - place) / w->stride;
  gint64 end = w->extent <= place ? 0 : MIN (n_blocks, (w->extent - 1 - place) / w->stride + 1);
  gint64 row[CLEAVE_MAX_RANK], l = 0;

  for (guint i = 0; i < last; i++)
    rows.dim[i] = count_windows (&walk->windows[i]);
  if (begin >= end)
    return;
  CLEAVE_EACH_INDEX (row, &rows)
    {
      gint64 to = walk->to + (place + begin * w->stride) * walk->y->stride[2 + last];
      gboolean is_inside = TRUE;

      for (guint i = 0; i < last; i++)
        {
          const CleaveWindow *o = &walk->windows[i];
          gint64 at = row[i] * o->stride + tap[i] * o->dilation - o->pad_begin;

          is_inside = is_inside && at >= 0 && at < o->extent;
          to += at * walk->y->stride[2 + i];
        }
      if (is_inside)
        cleave_scatter_join_line (walk->y, to, w->stride * walk->y->stride[2 + last], walk->x,
                                  walk->from + (l + begin) * walk->x->stride[L], walk->x->stride[L],
                                  end - begin, CLEAVE_SCATTER_ADD);
      l += n_blocks;
    }
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveView *x = &operands[X], *y = &results[0];
  CleaveWindow windows[CLEAVE_MAX_RANK];
  Walk walk = { .windows = windows, .n = init_windows (call->attrs, windows), .x = x, .y = y };
  const guint64 zero = 0;
  CleaveShape taps = { .rank = walk.n };
  gint64 tap[CLEAVE_MAX_RANK];

  for (guint i = 0; i < walk.n; i++)
    taps.dim[i] = windows[i].kernel;
  cleave_move_fill (y, &zero);
  for (gint64 n = 0; n < y->type.shape.dim[N]; n++)
    for (gint64 c = 0, row = 0; c < y->type.shape.dim[C]; c++)
      for (gboolean more = cleave_index_first (&taps, tap); more;
           more = cleave_index_next (&taps, tap), row++)
        {
          walk.from = n * x->stride[N] + row * x->stride[C];
          walk.to = n * y->stride[N] + c * y->stride[C];
          add_tap (&walk, tap);
        }
}

static guint
since (const CleaveCall *call)
{
  return 18;
}

static const CleaveAttr attr_table[] = {
  { "image_shape", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveCol2ImAttrs, image_shape),
    CLEAVE_AT_LEAST (1), .onnx_operand = 1, .flags = CLEAVE_ATTR_NO_DEFAULT },
  { "block_shape", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveCol2ImAttrs, block_shape),
    CLEAVE_AT_LEAST (1), .onnx_operand = 2, .flags = CLEAVE_ATTR_NO_DEFAULT },
  CLEAVE_STEPS_ATTR (CleaveCol2ImAttrs, dilations),
  { "pads", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveCol2ImAttrs, pads), CLEAVE_AT_LEAST (0) },
  CLEAVE_STEPS_ATTR (CleaveCol2ImAttrs, strides),
  { 0 },
};

const CleaveOp cleave_op_col2im = {
  .name = "Col2Im",
  .operands = (const char *const[]){ "input", NULL },
  .results = (const char *const[]){ "output", NULL },
  .min_operands = 1,
  .attrs_size = sizeof (CleaveCol2ImAttrs),
  .attrs = attr_table,
  .infer = infer,
  .maps = maps,
  .narrow = narrow,
  .work = cleave_work_once,
  .compute = compute,
  .since = since,
};
