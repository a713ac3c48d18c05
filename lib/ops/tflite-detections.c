/* SPDX-License-Identifier: GPL-2.0-or-later */

/* TfliteDetections: the custom operator TFLite_Detection_PostProcess, which selects detections from
 * the boxes that a network proposes. The op cannot be split, since each detection depends on all
 * boxes.
 *
 *   encodings [1, N, 4 …], anchors [N, 4] ─► corners [N, 4]
 *   scores [1, N, C] ─► best [1, N] ─► order [1, N] ─► boxes, classes, scores of detections
 *
 * Anchors and encodings have y, x, height, width; corners have ymin, xmin, ymax, xmax. A corner is
 * computed in double: the center and half of the extent are each rounded to float, then added. The
 * last three results, corners, best and order, are working memory.
 *
 * Suppression visits the boxes of one score vector by falling score, equal scores by index. It
 * drops a box whose score is below nms_score_threshold, and a box whose overlap (intersection over
 * union) with a selected box is above nms_iou_threshold.
 *
 * - With use_regular_nms, each class has its own suppression, which selects at most
 *   detections_per_class boxes. The detections are the max_detections best boxes of all classes;
 *   for equal scores, the class with the smaller index is first.
 * - Otherwise there is one suppression by the best score of each box. Each selected box has
 *   max_classes_per_detection rows in the results, with its best classes.
 *
 * Rows without a detection are 0.
 *
 * Over 400 lines: the two modes in this file share the suppression and the rows. */

#include <math.h>

#include "tflite.h"

enum { ENCODINGS, SCORES, ANCHORS };
enum { BOXES, CLASSES, DETECTED, COUNT, CORNERS, BEST, ORDER, N_RESULTS };
enum { YMIN, XMIN, YMAX, XMAX };

static gboolean
check_attrs (const CleaveTfliteDetectionsAttrs *a, GError **error)
{
  if (!cleave_tflite_check ("max_detections", a->max_detections, 1, G_MAXINT32, error) ||
      !cleave_tflite_check ("max_classes_per_detection", a->max_classes_per_detection, 1,
                            G_MAXINT32, error) ||
      !cleave_tflite_check ("detections_per_class", a->detections_per_class, 1, G_MAXINT32, error))
    return FALSE;
  if (!(a->nms_iou_threshold > 0 && a->nms_iou_threshold <= 1))
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "nms_iou_threshold is %g, but must be above 0 and at most 1",
                        a->nms_iou_threshold);
  if (a->scales.n != 4)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "scales has %u entries, but must have 4: y, x, h, w", a->scales.n);
  for (guint i = 0; i < 4; i++)
    if (!isnormal (a->scales.v[i]))
      return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                          "entry %u of scales is %g, but must be finite and not 0", i,
                          a->scales.v[i]);
  return TRUE;
}

static gboolean
check_operands (const CleaveCall *call, GError **error)
{
  const CleaveTfliteDetectionsAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[ENCODINGS].shape, *s = &call->operands[SCORES].shape;
  const CleaveShape *anchors = &call->operands[ANCHORS].shape;

  for (guint i = ENCODINGS; i <= ANCHORS; i++)
    if (!cleave_call_check_element (call, i, CLEAVE_ELEMENT_BIT (CLEAVE_FLOAT32), error) ||
        !cleave_call_check_rank (call, i, i == ANCHORS ? 2 : 3, i == ANCHORS ? 2 : 3, error))
      return FALSE;
  if (x->dim[0] != 1 || s->dim[0] != 1 || s->dim[1] != x->dim[1] || anchors->dim[0] != x->dim[1] ||
      x->dim[2] < 4 || anchors->dim[1] != 4 || x->dim[1] > G_MAXINT32)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "encodings of 1 image must be 1xNx4 or more, scores 1xNxC, anchors Nx4");
  return cleave_tflite_check ("num_classes", a->num_classes, MAX (s->dim[2] - 1, 1), s->dim[2],
                              error);
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveTfliteDetectionsAttrs *a = call->attrs;
  gint64 n_boxes, n_rows = a->max_detections * a->max_classes_per_detection;

  if (!check_attrs (a, error) || !check_operands (call, error))
    return FALSE;
  n_boxes = call->operands[ENCODINGS].shape.dim[1];
  results[BOXES] = CLEAVE_TYPE (CLEAVE_FLOAT32, 1, n_rows, 4);
  results[CLASSES] = results[DETECTED] = CLEAVE_TYPE (CLEAVE_FLOAT32, 1, n_rows);
  results[COUNT] = CLEAVE_TYPE (CLEAVE_FLOAT32, 1);
  results[CORNERS] = CLEAVE_TYPE (CLEAVE_FLOAT32, n_boxes, 4);
  results[BEST] = CLEAVE_TYPE (CLEAVE_FLOAT32, 1, n_boxes);
  results[ORDER] = CLEAVE_TYPE (CLEAVE_INT32, 1, n_boxes);
  return TRUE;
}

/* Returns the offset in a view, in elements, of the element whose last two indices are `i` and `j`,
 * and whose other indices are 0. */
static gint64
offset_of (const CleaveView *view, gint64 i, gint64 j)
{
  guint rank = view->type.shape.rank;

  return i * view->stride[rank - 2] + j * view->stride[rank - 1];
}

static float *
real (const CleaveView *view, gint64 i, gint64 j)
{
  return (float *) view->data + offset_of (view, i, j);
}

static void
decode (const CleaveTfliteDetectionsAttrs *a, const CleaveView *operands, const CleaveView *corners)
{
  const CleaveView *x = &operands[ENCODINGS], *anchors = &operands[ANCHORS];

  for (gint64 i = 0; i < corners->type.shape.dim[0]; i++)
    for (guint d = 0; d < 2; d++)
      {
        double extent = (double) *real (anchors, i, 2 + d);
        float center = (float) ((double) *real (x, i, d) / a->scales.v[d] * extent +
                                (double) *real (anchors, i, d));
        float half =
            (float) (0.5 * exp ((double) *real (x, i, 2 + d) / a->scales.v[2 + d]) * extent);

        *real (corners, i, YMIN + d) = center - half;
        *real (corners, i, YMAX + d) = center + half;
      }
}

/* The state of one suppression. Entries 0 to `size` - 1 of `order` are a heap of indices of boxes;
 * its root is the box that is visited next. The first selected box is entry `n_candidates` - 1, the
 * second is entry `n_candidates` - 2, and so on. */
typedef struct
{
  const CleaveView *corners, *best, *order;
  gint64 n_candidates, size, n_selected;
  float most_overlap;
} Suppression;

static gint32 *
entry (const Suppression *s, gint64 i)
{
  return (gint32 *) s->order->data + offset_of (s->order, 0, i);
}

static gboolean
comes_before (const Suppression *s, gint32 a, gint32 b)
{
  float left = *real (s->best, 0, a), right = *real (s->best, 0, b);

  return left > right || (left == right && a < b);
}

/* Inserts a box into the heap: at the free entry `at`, or below that entry. */
static void
sift_down (Suppression *s, gint64 at, gint32 box)
{
  for (gint64 child = 2 * at + 1; child < s->size; child = 2 * at + 1)
    {
      if (child + 1 < s->size && comes_before (s, *entry (s, child + 1), *entry (s, child)))
        child++;
      if (!comes_before (s, *entry (s, child), box))
        break;
      *entry (s, at) = *entry (s, child);
      at = child;
    }
  *entry (s, at) = box;
}

/* Begins a suppression: makes the heap of the boxes whose score is at least `least_score`. Sets the
 * remaining entries of `order` to 0, since each element of a result must have a defined value. */
static void
begin (Suppression *s, float least_score)
{
  s->size = s->n_selected = 0;
  for (gint64 i = 0; i < s->best->type.shape.dim[1]; i++)
    if (*real (s->best, 0, i) >= least_score)
      *entry (s, s->size++) = (gint32) i;
  s->n_candidates = s->size;
  for (gint64 i = s->size; i < s->order->type.shape.dim[1]; i++)
    *entry (s, i) = 0;
  for (gint64 i = s->size / 2; i-- > 0;)
    sift_down (s, i, *entry (s, i));
}

/* Returns the length by which boxes a and b overlap in one dimension: y if `d` is 0, x if `d` is 1.
 */
static float
overlap (const CleaveView *corners, gint64 a, gint64 b, guint d)
{
  float a_min = *real (corners, a, YMIN + d), b_min = *real (corners, b, YMIN + d);
  float a_max = *real (corners, a, YMAX + d), b_max = *real (corners, b, YMAX + d);
  float extent = (b_max < a_max ? b_max : a_max) - (a_min < b_min ? b_min : a_min);

  return extent < 0 ? 0 : extent;
}

static float
area_of (const CleaveView *corners, gint64 i)
{
  return (*real (corners, i, YMAX) - *real (corners, i, YMIN)) *
         (*real (corners, i, XMAX) - *real (corners, i, XMIN));
}

static gboolean
overlaps (const Suppression *s, gint64 a, gint64 b)
{
  float area_a = area_of (s->corners, a), area_b = area_of (s->corners, b);
  float common = overlap (s->corners, a, b, 0) * overlap (s->corners, a, b, 1);

  if (area_a <= 0 || area_b <= 0)
    return FALSE;
  return common / (area_a + area_b - common) > s->most_overlap;
}

static gboolean
is_suppressed (const Suppression *s, gint64 box)
{
  for (gint64 i = 0; i < s->n_selected; i++)
    if (overlaps (s, *entry (s, s->n_candidates - 1 - i), box))
      return TRUE;
  return FALSE;
}

/* Selects the next box that no selected box suppresses, and returns its index; -1 if there is
 * none. */
static gint64
select_next (Suppression *s)
{
  while (s->size > 0)
    {
      gint32 box = *entry (s, 0), last = *entry (s, --s->size);

      sift_down (s, 0, last);
      if (is_suppressed (s, box))
        continue;
      *entry (s, s->n_candidates - 1 - s->n_selected++) = box;
      return box;
    }
  return -1;
}

static void
write_row (const CleaveView *results, gint64 row, gint64 class, float score, gint64 box)
{
  for (guint d = 0; d < 4; d++)
    *real (&results[BOXES], row, d) = *real (&results[CORNERS], box, d);
  *real (&results[CLASSES], 0, row) = (float) class;
  *real (&results[DETECTED], 0, row) = score;
}

static void
move_row (const CleaveView *results, gint64 from, gint64 to)
{
  for (guint d = 0; d < 4; d++)
    *real (&results[BOXES], to, d) = *real (&results[BOXES], from, d);
  *real (&results[CLASSES], 0, to) = *real (&results[CLASSES], 0, from);
  *real (&results[DETECTED], 0, to) = *real (&results[DETECTED], 0, from);
}

/* Inserts the detection of `box` and `class` into the detections, which are sorted by falling
 * score; equal scores stay in the order of insertion. `n` is the number of detections before the
 * call. With more than `n_max` detections, drops the detection with the lowest score. Returns the
 * new number of detections. */
static gint64
insert (const CleaveView *results, gint64 n, gint64 n_max, gint64 class, gint64 box)
{
  float score = *real (&results[BEST], 0, box);
  gint64 at = n;

  while (at > 0 && score > *real (&results[DETECTED], 0, at - 1))
    at--;
  if (at == n_max)
    return n;
  for (gint64 row = MIN (n, n_max - 1); row > at; row--)
    move_row (results, row - 1, row);
  write_row (results, at, class, score, box);
  return MIN (n + 1, n_max);
}

/* Selects boxes for each class, and returns the number of detections. `first` is the column of
 * class 0 in the scores. */
static gint64
detect_regular (const CleaveTfliteDetectionsAttrs *a,
                Suppression *s,
                const CleaveView *scores,
                gint64 first,
                const CleaveView *results)
{
  gint64 n = 0;

  for (gint64 class = 0; class < a->num_classes; class ++)
    {
      gint64 box;

      for (gint64 i = 0; i < scores->type.shape.dim[1]; i++)
        *real (s->best, 0, i) = *real (scores, i, first + class);
      begin (s, (float) a->nms_score_threshold);
      while (s->n_selected < a->detections_per_class && (box = select_next (s)) >= 0)
        n = insert (results, n, a->max_detections, class, box);
    }
  return n;
}

/* Sorts the n classes of a box by falling score, and classes with equal scores by index. Returns
 * the class after `class` in this order; -1 if `class` is the last class. If `class` is -1, returns
 * the first class. */
static gint64
next_class (const CleaveView *scores, gint64 first, gint64 n, gint64 box, gint64 class)
{
  gint64 next = -1;

  for (gint64 i = 0; i < n; i++)
    {
      float score = *real (scores, box, first + i);
      float last = class < 0 ? INFINITY : *real (scores, box, first + class);
      gboolean follows = score < last || (score == last && i > class);

      if (follows && (next < 0 || score > *real (scores, box, first + next)))
        next = i;
    }
  return next;
}

/* Selects boxes by the scores of their best classes, writes their rows of the results, and returns
 * the number of boxes. */
static gint64
detect_fast (const CleaveTfliteDetectionsAttrs *a,
             Suppression *s,
             const CleaveView *scores,
             gint64 first,
             const CleaveView *results)
{
  gint64 n_classes = a->num_classes, n_rows = a->max_classes_per_detection, box;

  for (gint64 i = 0; i < scores->type.shape.dim[1]; i++)
    {
      gint64 class = next_class (scores, first, n_classes, i, -1);

      *real (s->best, 0, i) = class < 0 ? NAN : *real (scores, i, first + class);
    }
  begin (s, (float) a->nms_score_threshold);
  while (s->n_selected < a->max_detections && (box = select_next (s)) >= 0)
    {
      gint64 row = (s->n_selected - 1) * n_rows, class = -1;

      for (gint64 k = 0; k < MIN (n_rows, n_classes); k++)
        if ((class = next_class (scores, first, n_classes, box, class)) < 0)
          break;
        else
          write_row (results, row + k, class, *real (scores, box, first + class), box);
    }
  return s->n_selected;
}

static void
clear_rows (const CleaveView *results)
{
  for (gint64 row = 0; row < results[CLASSES].type.shape.dim[1]; row++)
    {
      for (guint d = 0; d < 4; d++)
        *real (&results[BOXES], row, d) = 0;
      *real (&results[CLASSES], 0, row) = *real (&results[DETECTED], 0, row) = 0;
    }
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveTfliteDetectionsAttrs *a = call->attrs;
  const CleaveView *scores = &operands[SCORES];
  gint64 first = scores->type.shape.dim[2] - a->num_classes;
  Suppression s = { .corners = &results[CORNERS],
                    .best = &results[BEST],
                    .order = &results[ORDER],
                    .most_overlap = (float) a->nms_iou_threshold };

  decode (a, operands, &results[CORNERS]);
  clear_rows (results);
  *(float *) results[COUNT].data =
      (float) (a->use_regular_nms ? detect_regular (a, &s, scores, first, results)
                                  : detect_fast (a, &s, scores, first, results));
}

/* Returns the number of steps in the worst case: all boxes are visited, and each is compared with
 * all selected boxes. */
static double
work (const CleaveCall *call)
{
  const CleaveTfliteDetectionsAttrs *a = call->attrs;
  double n_boxes = (double) call->operands[ENCODINGS].shape.dim[1];
  double n_runs = a->use_regular_nms ? (double) a->num_classes : 1;
  double n_selected = (double) (a->use_regular_nms ? a->detections_per_class : a->max_detections);
  double n_rows = (double) a->max_detections * (double) a->max_classes_per_detection;

  return n_runs * n_boxes * (log2 (n_boxes + 1) + MIN (n_selected, n_boxes)) +
         n_rows * (double) a->num_classes;
}

#define INT(field) CLEAVE_TFLITE_INT (CleaveTfliteDetectionsAttrs, field)
#define ATTR(field, of)                                                                            \
  {                                                                                                \
#field, CLEAVE_ATTR_##of, CLEAVE_FIELD(CleaveTfliteDetectionsAttrs, field),                    \
        .flags = CLEAVE_ATTR_NOT_ONNX                                                              \
  }
static const CleaveAttr attrs[] = {
  INT (max_detections),
  INT (max_classes_per_detection),
  INT (detections_per_class),
  INT (num_classes),
  ATTR (use_regular_nms, BOOL),
  ATTR (nms_score_threshold, DOUBLE),
  ATTR (nms_iou_threshold, DOUBLE),
  ATTR (scales, DOUBLES),
  { 0 },
};
#undef INT
#undef ATTR

const CleaveOp cleave_op_tflite_detections = {
  .name = "TfliteDetections",
  .operands = (const char *const[]){ "encodings", "scores", "anchors", NULL },
  .results = (const char *const[]){ "boxes", "classes", "detected", "count", "corners", "best",
                                    "order", NULL },
  .min_operands = 3,
  .flags = CLEAVE_OP_NOT_ONNX | CLEAVE_OP_ALL_RESULTS,
  .attrs_size = sizeof (CleaveTfliteDetectionsAttrs),
  .attrs = attrs,
  .infer = infer,
  .work = work,
  .compute = compute,
};
