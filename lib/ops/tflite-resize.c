/* SPDX-License-Identifier: GPL-2.0-or-later */

/* TfliteResizeBilinear: RESIZE_BILINEAR on int8 or int16, [N, H, W, C]. All dimensions can be split
 * anywhere.
 *
 * Element i of the whole result is at the position i * step + shift, in units of 1 / 1024 of an
 * element of x. The element is the weighted mean of four neighbors, rounded to the nearest integer,
 * ties away from zero. A weight is the product of a weight along H and a weight along W, each an
 * integer from 0 to 1024. Source: ResizeBilinearInteger () of reference/resize_bilinear.h. */

#include "reference.h"
#include "tflite.h"

enum { X };

#define UNIT 1024
#define MAX_EXTENT ((gint64) 1 << 20)

/* The resize along H or W. Most fields are entries of the attributes; `from` is the extent of X,
 * `all_from` the extent of the whole operand. */
typedef struct
{
  gint64 size, step, shift, phase, begin, from, all_from;
} Axis;

static Axis
axis_of (const CleaveTfliteResizeAttrs *a, const CleaveShape *x, guint i)
{
  gint64 extent = cleave_ints_at (&a->extents, i, 0);

  return (Axis){ .size = cleave_ints_at (&a->sizes, i, 0),
                 .step = cleave_ints_at (&a->steps, i, 0),
                 .shift = cleave_ints_at (&a->shifts, i, 0),
                 .phase = cleave_ints_at (&a->phase, i, 0),
                 .begin = cleave_ints_at (&a->begin, i, 0),
                 .from = x->dim[1 + i],
                 .all_from = extent == 0 ? x->dim[1 + i] : extent };
}

static gboolean
check_axis (const Axis *axis, GError **error)
{
  return cleave_tflite_check ("sizes", axis->size, 0, MAX_EXTENT, error) &&
         cleave_tflite_check ("steps", axis->step, 0, MAX_EXTENT, error) &&
         cleave_tflite_check ("shifts", axis->shift, -UNIT, MAX_EXTENT, error) &&
         cleave_tflite_check ("phase", axis->phase, 0, MAX_EXTENT, error) &&
         cleave_tflite_check ("begin", axis->begin, 0, MAX_EXTENT, error) &&
         cleave_tflite_check ("extents", axis->all_from, 0, MAX_EXTENT, error);
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveTfliteResizeAttrs *a = call->attrs;

  if (!cleave_call_check_element (call, X, CLEAVE_ELEMENTS_TFLITE, error) ||
      !cleave_call_check_rank (call, X, 4, 4, error))
    return FALSE;
  results[0] = call->operands[X];
  for (guint i = 0; i < 2; i++)
    {
      Axis axis = axis_of (a, &call->operands[X].shape, i);

      if (!check_axis (&axis, error))
        return FALSE;
      if (axis.from < 1 && axis.size > 0)
        return cleave_fail (error, CLEAVE_ERROR_SHAPE, "dimension %u of x is empty", 1 + i);
      results[0].shape.dim[1 + i] = axis.size;
    }
  return TRUE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  cleave_maps_same (call, operand, map);
  for (guint i = 0; i < 2; i++)
    {
      Axis axis = axis_of (call->attrs, &call->operands[X].shape, i);

      if (axis.step == 0)
        {
          map[1 + i] = cleave_dim_map_whole (axis.from);
          continue;
        }
      map[1 + i].block = UNIT;
      map[1 + i].times = axis.step;
      map[1 + i].shift = axis.phase * axis.step + axis.shift;
      map[1 + i].offset = -axis.begin;
      map[1 + i].window = 2;
    }
}

static void
set_entry (CleaveInts *list, guint i, gint64 value)
{
  while (list->n < 2)
    list->v[list->n++] = 0;
  list->v[i] = value;
}

static gboolean
narrow (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why)
{
  CleaveTfliteResizeAttrs *a = attrs;

  for (guint i = 0; i < 2; i++)
    {
      Axis axis = axis_of (call->attrs, &call->operands[X].shape, i);
      CleaveSpan span = chunk->range.dim[1 + i];

      set_entry (&a->sizes, i, span.end - span.begin);
      set_entry (&a->phase, i, axis.phase + span.begin);
      set_entry (&a->begin, i, axis.begin + chunk->slices[X].range.dim[1 + i].begin);
      set_entry (&a->extents, i, axis.all_from);
    }
  return TRUE;
}

static double
work (const CleaveCall *call)
{
  return 4 * (double) cleave_shape_n_elements (&call->results[0].shape);
}

/* Two neighbors of a position, as indices of x, and the weight of the second neighbor. */
typedef struct
{
  gint64 at[2], weight;
} Taps;

static Taps
find_taps (const Axis *axis, gint64 i)
{
  gint64 position = (i + axis->phase) * axis->step + axis->shift, last = axis->all_from - 1;
  gint64 low = CLAMP (position / UNIT, 0, last);
  gint64 high = CLAMP ((position + UNIT - 1) / UNIT, 0, last);
  gint64 first = axis->begin, end = axis->begin + axis->from - 1;

  return (Taps){ { CLAMP (low, first, end) - first, CLAMP (high, first, end) - first },
                 position - low * UNIT };
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveView *x = &operands[X], *y = &results[0];
  Axis rows = axis_of (call->attrs, &x->type.shape, 0);
  Axis columns = axis_of (call->attrs, &x->type.shape, 1);
  const gint64 half = 1 << 19;
  gint64 at[CLEAVE_MAX_RANK];

  CLEAVE_EACH_INDEX (at, &y->type.shape)
    {
      Taps row = find_taps (&rows, at[1]), column = find_taps (&columns, at[2]);
      gint64 sum = 0;

      for (guint i = 0; i < 4; i++)
        {
          gint64 from[4] = { at[0], row.at[i / 2], column.at[i % 2], at[3] };

          sum += cleave_integer_load (x->type.element, cleave_view_at (x, from)) *
                 (i / 2 == 0 ? UNIT - row.weight : row.weight) *
                 (i % 2 == 0 ? UNIT - column.weight : column.weight);
        }
      sum = (sum + (sum > 0 ? half : -half)) / (2 * half);
      cleave_tflite_store (y->type.element, cleave_view_at (y, at),
                           CLAMP (sum, cleave_tflite_lowest (y->type.element),
                                  cleave_tflite_highest (y->type.element)));
    }
}

#define INTS(field)                                                                                \
  {                                                                                                \
#field, CLEAVE_ATTR_INTS, CLEAVE_FIELD(CleaveTfliteResizeAttrs, field),                        \
        .flags = CLEAVE_ATTR_NOT_ONNX                                                              \
  }
static const CleaveAttr attrs[] = {
  INTS (sizes), INTS (steps), INTS (shifts), INTS (phase), INTS (begin), INTS (extents), { 0 },
};
#undef INTS

const CleaveOp cleave_op_tflite_resize_bilinear = {
  .name = "TfliteResizeBilinear",
  .operands = (const char *const[]){ "x", NULL },
  .results = (const char *const[]){ "y", NULL },
  .min_operands = 1,
  .flags = CLEAVE_OP_NOT_ONNX,
  .attrs_size = sizeof (CleaveTfliteResizeAttrs),
  .attrs = attrs,
  .infer = infer,
  .maps = maps,
  .narrow = narrow,
  .work = work,
  .compute = compute,
};
