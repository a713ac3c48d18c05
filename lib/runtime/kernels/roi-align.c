/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of RoiAlign of floats, computed in double. The weights of a sampling point are
 * computed once for BLOCK channels. The sums have the order of the reference kernel. */

#include "level.h"
#include "loops.h"

#include "../../ops/move.h"
#include "../../ops/roi-points.h"

enum { X, ROIS, BATCH_INDICES };
enum { R, C, H, W };

/* Number of channels that are computed at once. */
#define BLOCK 32

/* Data that all channels share at one position of the result. */
typedef struct
{
  const CleaveView *x;
  const CleaveRoiSpan *spans;
  gint64 out[2];
  CleaveSpan points[2];
  gint64 n_points; /* number of sampling points, including points outside the image */
  gboolean is_max;
} Element;

/* The offsets of the four neighbors of a sampling point, and the weight of each neighbor. */
typedef struct
{
  gint64 at[4];
  double weight[4];
} Point;

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  *state = NULL;
  return instance->operands[X].type.element == CLEAVE_FLOAT32;
}

static gboolean
find_point (const Element *e, gint64 i, gint64 j, Point *point)
{
  const CleaveView *x = e->x;
  double row = cleave_roi_point (&e->spans[0], e->out[0], i);
  double column = cleave_roi_point (&e->spans[1], e->out[1], j);
  gint64 height = x->type.shape.dim[H], width = x->type.shape.dim[W], top, bottom, left, right;
  double v, h;

  if (!(row >= -1 && row <= (double) height && column >= -1 && column <= (double) width))
    return FALSE;
  top = cleave_roi_neighbors (&row, height, &bottom);
  left = cleave_roi_neighbors (&column, width, &right);
  v = row - (double) top;
  h = column - (double) left;
  *point = (Point){
    { top * x->stride[H] + left * x->stride[W], top * x->stride[H] + right * x->stride[W],
      bottom * x->stride[H] + left * x->stride[W], bottom * x->stride[H] + right * x->stride[W] },
    { (1 - v) * (1 - h), (1 - v) * h, v * (1 - h), v * h }
  };
  return TRUE;
}

/* Computes one position of the result for `n` channels. If the channels are contiguous, `x_step` is
 * a compile-time constant. */
static CLEAVE_SPECIALISED void
pool_channels (const Element *e, const float *x, gint64 x_step, float *y, gint64 y_step, gint64 n)
{
  double all[BLOCK];
  Point p;

  for (gint64 c = 0; c < n; c++)
    all[c] = e->is_max && e->n_points > 0 ? -INFINITY : 0;
  for (gint64 i = e->points[0].begin; i < e->points[0].end; i++)
    for (gint64 j = e->points[1].begin; j < e->points[1].end; j++)
      {
        gboolean is_inside = find_point (e, i, j, &p);

        if (!is_inside) /* a sampling point outside the image has the value 0 */
          p = (Point){ { 0 }, { 0 } };
        for (gint64 c = 0; c < n; c++)
          {
            const float *at = x + c * x_step;
            double value = p.weight[0] * (double) at[p.at[0]] + p.weight[1] * (double) at[p.at[1]] +
                           p.weight[2] * (double) at[p.at[2]] + p.weight[3] * (double) at[p.at[3]];

            value = is_inside ? value : 0;
            all[c] = e->is_max ? MAX (all[c], value) : all[c] + value;
          }
      }
  for (gint64 c = 0; c < n; c++)
    y[c * y_step] = (float) (e->is_max ? all[c] : all[c] / (double) MAX (e->n_points, 1));
}

static void
run_element (const Element *e, const float *x, float *y, gint64 y_step)
{
  gint64 x_step = e->x->stride[C], n = e->x->type.shape.dim[C];

  for (gint64 c = 0; c < n; c += BLOCK)
    if (x_step == 1 && c + BLOCK <= n)
      pool_channels (e, x + c, 1, y + c * y_step, y_step, BLOCK);
    else
      pool_channels (e, x + c * x_step, x_step, y + c * y_step, y_step, MIN (n - c, BLOCK));
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const CleaveRoiAlignAttrs *a = instance->call.attrs;
  const CleaveView *x = &instance->operands[X], *batch = &instance->operands[BATCH_INDICES];
  const CleaveView *y = &instance->results[0];
  CleaveRoiSpan spans[2];
  Element e = { .x = x, .spans = spans, .is_max = a->mode == CLEAVE_ROI_MAX };

  for (gint64 r = 0; r < y->type.shape.dim[R]; r++)
    {
      gint64 image = cleave_move_index (batch, r * batch->stride[0], x->type.shape.dim[0]);

      cleave_roi_spans (a, &instance->operands[ROIS], r, spans);
      e.n_points = spans[0].n_points * spans[1].n_points;
      for (e.out[0] = 0; e.out[0] < y->type.shape.dim[H]; e.out[0]++)
        for (e.out[1] = 0; e.out[1] < y->type.shape.dim[W]; e.out[1]++)
          {
            for (guint d = 0; d < 2; d++)
              e.points[d] = cleave_roi_points (&spans[d], e.out[d], x->type.shape.dim[H + d]);
            run_element (&e, (const float *) x->data + image * x->stride[0],
                         (float *) y->data + r * y->stride[R] + e.out[0] * y->stride[H] +
                             e.out[1] * y->stride[W],
                         y->stride[C]);
          }
    }
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_roi_align);
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_roi_align) = { .prepare = prepare,
                                                                       .run = run };
