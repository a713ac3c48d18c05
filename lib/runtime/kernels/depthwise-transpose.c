/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Transposed convolution of floats with one channel in each group; channels are innermost. Result
 * elements that are `stride` apart form a phase: they use the same taps, and these taps are also
 * `stride` apart. Each phase is a convolution with stride 1 and a reversed axis, since taps ascend
 * while operand elements descend. Reversing the axis keeps the order in which taps are summed. */

#include "depthwise-transpose.h"

#include "../../ops/reference.h"

enum { X, W, B };

/* A phase of one axis: the positions of the result that use every `stride`-th tap of the kernel,
 * from tap `tap` on. */
typedef struct
{
  gint64 tap;
  CleaveAxis axis; /* the axis that the phase has in an ordinary convolution, which computes the
                      phase. This axis counts positions in x and in y backwards */
} Phase;

/* One phase of each of the three axes. A single convolution computes all result elements that
 * belong to the three phases. */
typedef struct
{
  CleaveDepthwise floats;
  gint64 w_at; /* offset of the phase's weights in the packed weights of one channel, in floats */
} Part;

typedef struct
{
  CleaveDepthwisePlan base;
  CleaveAxis axis[3];
  /* number of channels of the result; number of channels of the packed weights */
  gint64 n_channels, w_channels;
  gint64 n_batches, x_batch_step, y_batch_step;
  Part parts[];
} Plan;

static gint64
phase_of (const CleaveAxis *axis, gint64 pixel)
{
  return (pixel + axis->pad) % axis->stride;
}

/* Returns the phase of `axis` whose first tap is `tap`. The field `axis` of the phase describes its
 * result elements and its taps. */
static Phase
find_phase (const CleaveAxis *axis, gint64 tap)
{
  gint64 first = (tap - axis->pad % axis->stride + axis->stride) % axis->stride;
  gint64 n = first < axis->n_y ? (axis->n_y - 1 - first) / axis->stride + 1 : 0;

  return (Phase){ .tap = tap,
                  .axis = { .n_x = axis->n_x,
                            .n_y = n,
                            .n_taps = (axis->n_taps - tap + axis->stride - 1) / axis->stride,
                            .stride = 1,
                            .dilation = 1,
                            .pad = (first + axis->pad - tap) / axis->stride + n - axis->n_x,
                            .x_step = -axis->x_step,
                            .y_step = -axis->stride * axis->y_step } };
}

static gint64
count_phases (const CleaveAxis axis[3])
{
  return axis[0].stride * axis[1].stride * axis[2].stride;
}

static void
list_parts (Plan *plan)
{
  gint64 w_at = 0;
  Part *part = plan->parts;

  for (gint64 i = 0; i < plan->axis[0].stride; i++)
    for (gint64 j = 0; j < plan->axis[1].stride; j++)
      for (gint64 k = 0; k < plan->axis[2].stride; k++, part++)
        {
          Phase depth = find_phase (&plan->axis[0], i), row = find_phase (&plan->axis[1], j);
          Phase column = find_phase (&plan->axis[2], k);

          part->floats = (CleaveDepthwise){ .depth = depth.axis,
                                            .axis = { row.axis, column.axis },
                                            .apart = 1,
                                            .n_out = plan->n_channels,
                                            .multiplier = 1,
                                            .n_in = 1,
                                            .w_step = plan->w_channels,
                                            .w_channel = plan->w_channels };
          cleave_axis_find_inner (&column.axis, &part->floats.begin_inner, &part->floats.end_inner);
          part->w_at = w_at;
          w_at += depth.axis.n_taps * row.axis.n_taps * column.axis.n_taps;
        }
}

/* Packs the weights phase by phase: the taps of a phase follow the taps of the previous phase. */
static void
pack (const Plan *plan, const CleaveView *w, float *to)
{
  guint n = w->type.shape.rank - 2;
  gint64 n_phases = count_phases (plan->axis);

  for (gint64 p = 0, rest = p; p < n_phases; rest = ++p)
    {
      CleaveView part = *w;
      gint64 at = 0, n_taps = 1;

      for (guint i = n; i-- > 0;)
        {
          const CleaveAxis *axis = &plan->axis[3 - n + i];
          Phase phase = find_phase (axis, rest % axis->stride);

          rest /= axis->stride;
          at += phase.tap * w->stride[2 + i];
          part.type.shape.dim[2 + i] = phase.axis.n_taps;
          part.stride[2 + i] *= axis->stride;
          n_taps *= phase.axis.n_taps;
        }
      part.data = cleave_view_element (w, at);
      cleave_depthwise_pack (&part, FALSE, to);
      to += n_taps * w->type.shape.dim[0];
    }
}

static void
pack_constant (const CleaveTensor *base, gconstpointer data, gpointer to)
{
  CleaveView view = cleave_view_tensor (base);

  pack (data, &view, to);
}

/* Packs the base of a constant once, so that all pieces share the packed weights. */
static void
pack_for_good (Plan *plan, CleaveTensor *constant, CleaveWeights *weights)
{
  gint64 first;
  CleaveTensor *base = cleave_weights_find_base (constant, 0, &first);
  const CleaveTensorType *type = cleave_tensor_get_type (base);
  g_autofree char *key =
      g_strdup_printf ("taps of phases %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT,
                       plan->axis[0].stride, plan->axis[1].stride, plan->axis[2].stride);

  plan->base.w = cleave_weights_get (weights, base, key, (gsize) cleave_tensor_type_n_bytes (type),
                                     pack_constant, plan);
  if (plan->base.w == NULL)
    return;
  plan->w_channels = type->shape.dim[0];
  plan->base.w += first;
}

/* The following functions prepare a kernel. */

static gboolean
can_serve (const CleaveKernelInstance *instance, CleaveDims dims)
{
  const CleaveView *x = &instance->operands[X], *y = &instance->results[0];

  return x->type.element == CLEAVE_FLOAT32 && dims.n_spatial >= 1 && dims.n_spatial <= 3 &&
         cleave_has_channels_innermost (x, dims.c) && cleave_has_channels_innermost (y, dims.c) &&
         (!cleave_call_has (&instance->call, B) || y->type.shape.dim[dims.c] == 1 ||
          instance->operands[B].stride[0] == 1);
}

gboolean
cleave_depthwise_transpose_prepare (const CleaveKernelInstance *instance,
                                    CleaveWeights *weights,
                                    gpointer *state,
                                    gsize *n_scratch)
{
  const CleaveConvTransposeAttrs *a = instance->call.attrs;
  const CleaveView *x = &instance->operands[X], *y = &instance->results[0];
  CleaveDims dims = cleave_layout_dims (a->layout, x->type.shape.rank);
  CleaveAxis axis[3];
  Plan *plan;

  if (!can_serve (instance, dims))
    return FALSE;
  cleave_axes_init_three (axis, instance, dims, &a->strides, &a->dilations, &a->pads);
  plan = g_malloc0 (sizeof *plan + (gsize) count_phases (axis) * sizeof (Part));
  plan->base.is_transposed = TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (axis); i++)
    plan->axis[i] = axis[i];
  plan->n_channels = plan->w_channels = y->type.shape.dim[dims.c];
  plan->n_batches = x->type.shape.dim[dims.n];
  plan->x_batch_step = x->stride[dims.n];
  plan->y_batch_step = y->stride[dims.n];
  if (instance->constants[W] != NULL)
    pack_for_good (plan, instance->constants[W], weights);
  if (plan->base.w == NULL)
    *n_scratch = (gsize) cleave_tensor_type_n_bytes (&instance->operands[W].type);
  list_parts (plan);
  *state = plan;
  return TRUE;
}

/* The following functions run a kernel. */

/* Returns the index of result element `pixel` among the elements of its phase, counted from the
 * last element of the phase. */
static gint64
place_of (const CleaveAxis *axis, const CleaveAxis *phase, gint64 pixel)
{
  return phase->n_y - 1 - pixel / axis->stride;
}

/* Computes row `i` of plane `plane` of the result, one phase at a time. `y` is the address of the
 * row. */
static void
run_row (const Plan *plan,
         const Part *parts,
         CleaveDepthwiseRow *row,
         const float *x,
         const float *w,
         gint64 plane,
         gint64 i,
         float *y)
{
  const CleaveAxis *columns = &plan->axis[2];

  for (gint64 k = 0; k < columns->stride; k++)
    {
      const CleaveDepthwise *d = &parts[k].floats;
      gint64 n = d->axis[1].n_y;
      gint64 first = (k - columns->pad % columns->stride + columns->stride) % columns->stride;

      if (n == 0)
        continue;
      row->planes = cleave_axis_taps (&d->depth, place_of (&plan->axis[0], &d->depth, plane));
      row->taps = cleave_axis_taps (&d->axis[0], place_of (&plan->axis[1], &d->axis[0], i));
      row->x = x + row->planes.at * d->depth.x_step + row->taps.at * d->axis[0].x_step;
      row->w = w + parts[k].w_at * plan->w_channels;
      row->y = y + (first + (n - 1) * columns->stride) * columns->y_step;
      cleave_depthwise_run_row (d, row);
    }
}

void
cleave_depthwise_transpose_run (gconstpointer state,
                                const CleaveKernelInstance *instance,
                                gpointer scratch)
{
  const Plan *plan = state;
  const CleaveAxis *depth = &plan->axis[0], *rows = &plan->axis[1], *columns = &plan->axis[2];
  const float *x = instance->operands[X].data, *w = plan->base.w;
  CleaveDepthwiseRow row = { .bias = cleave_call_has (&instance->call, B)
                                         ? instance->operands[B].data
                                         : NULL };

  if (w == NULL)
    {
      pack (plan, &instance->operands[W], scratch);
      w = scratch;
    }
  x += (depth->n_x - 1) * depth->x_step + (rows->n_x - 1) * rows->x_step +
       (columns->n_x - 1) * columns->x_step;
  for (gint64 n = 0; n < plan->n_batches; n++)
    for (gint64 plane = 0; plane < depth->n_y; plane++)
      for (gint64 i = 0; i < rows->n_y; i++)
        {
          gint64 part = phase_of (depth, plane) * rows->stride + phase_of (rows, i);
          float *y = (float *) instance->results[0].data + n * plan->y_batch_step +
                     plane * depth->y_step + i * rows->y_step;

          run_row (plan, plan->parts + part * columns->stride, &row, x + n * plan->x_batch_step, w,
                   plane, i, y);
        }
}
