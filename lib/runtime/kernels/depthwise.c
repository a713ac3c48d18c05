/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of float convolutions whose groups have one operand channel, or a few; channels
 * are innermost. A run loops over images and planes, and computes each row with
 * depthwise-rows.h. */

#include "depthwise-transpose.h"

#include "../../ops/conv-parts.h"

enum { X, W, B };

typedef struct
{
  CleaveDepthwisePlan base;
  CleaveDepthwise common;
  guint c; /* dimension of the channels */
  gint64 n_batches, x_batch_step, y_batch_step;
} Plan;

/* Returns the size in bytes of the packed weights of type `type`. */
static gsize
n_packed_bytes (const CleaveDepthwise *d, const CleaveTensorType *type)
{
  return (gsize) cleave_tensor_type_n_bytes (type) * (d->is_paired ? 2 : 1);
}

static void
pack_constant (const CleaveTensor *base, gconstpointer data, gpointer to)
{
  const CleaveDepthwise *d = data;
  CleaveView view = cleave_view_tensor (base);

  cleave_depthwise_pack (&view, d->is_paired, to);
}

/* Packs a constant w when the program is made. If w is a slice of a larger constant, packs the
 * larger constant, which all pieces share, and clears `is_paired`. Without `is_paired`, the packed
 * weights do not repeat the channels of a tap. */
static void
pack_for_good (Plan *plan, CleaveTensor *constant, CleaveWeights *weights)
{
  gint64 first;
  CleaveTensor *base = cleave_weights_find_base (constant, 0, &first);
  const CleaveTensorType *type = cleave_tensor_get_type (base);
  CleaveDepthwise *d = &plan->common;

  if (type->shape.dim[0] != d->n_out)
    d->is_paired = FALSE;
  d->w_channel = type->shape.dim[0];
  d->w_step = type->shape.dim[0] * type->shape.dim[1] * (d->is_paired ? 2 : 1);
  plan->base.w =
      cleave_weights_get (weights, base, d->is_paired ? "taps first, twice" : "taps first",
                          n_packed_bytes (d, type), pack_constant, d);
  if (plan->base.w != NULL)
    plan->base.w += first;
}

static gboolean
can_serve (const CleaveKernelInstance *instance, CleaveDims dims)
{
  const CleaveView *x = &instance->operands[X];
  const CleaveView *y = &instance->results[0];

  if (instance->operands[W].type.shape.dim[1] > CLEAVE_VECTOR)
    return FALSE;
  return dims.n_spatial >= 1 && dims.n_spatial <= 3 && cleave_has_channels_innermost (x, dims.c) &&
         cleave_has_channels_innermost (y, dims.c) &&
         (!cleave_call_has (&instance->call, B) || y->type.shape.dim[dims.c] == 1 ||
          instance->operands[B].stride[0] == 1);
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  const CleaveConvAttrs *a = instance->call.attrs;
  const CleaveView *x = &instance->operands[X], *w = &instance->operands[W];
  CleaveDims dims = cleave_layout_dims (a->layout, x->type.shape.rank);
  Plan *plan;

  if (cleave_conv_is_transposed (&instance->call))
    return cleave_depthwise_transpose_prepare (instance, weights, state, n_scratch);
  if (!can_serve (instance, dims))
    return FALSE;
  plan = g_new0 (Plan, 1);
  cleave_depthwise_init (&plan->common, instance, w, dims);
  plan->c = dims.c;
  plan->n_batches = x->type.shape.dim[dims.n];
  plan->x_batch_step = x->stride[dims.n];
  plan->y_batch_step = instance->results[0].stride[dims.n];
  if (instance->constants[W] != NULL)
    pack_for_good (plan, instance->constants[W], weights);
  else
    *n_scratch = n_packed_bytes (&plan->common, &w->type);
  *state = plan;
  return TRUE;
}

/* Computes one plane of the result, which begins at element `y_at` of the result. */
static void
run_plane (const Plan *plan,
           const CleaveKernelInstance *instance,
           const float *x,
           const float *w,
           gint64 plane,
           gint64 y_at)
{
  const CleaveAxis *rows = &plan->common.axis[0];
  float *y = (float *) instance->results[0].data + y_at;
  CleaveEpilogue epilogue = cleave_epilogue_of (instance);
  CleaveDepthwiseRow row = { .planes = cleave_axis_taps (&plan->common.depth, plane),
                             .w = w,
                             .epilogue = epilogue.n == 0 ? NULL : &epilogue,
                             .bias = cleave_call_has (&instance->call, B)
                                         ? instance->operands[B].data
                                         : NULL };

  for (gint64 i = 0; i < rows->n_y; i++)
    {
      row.taps = cleave_axis_taps (rows, i);
      row.x = x + row.planes.at * plan->common.depth.x_step + row.taps.at * rows->x_step;
      row.y = y + i * rows->y_step;
      cleave_depthwise_run_row (&plan->common, &row);
      cleave_kernel_range_done (instance, y_at + i * rows->y_step, y_at + (i + 1) * rows->y_step);
    }
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Plan *plan = state;
  const float *x = instance->operands[X].data, *w = plan->base.w;

  if (plan->base.is_transposed)
    {
      cleave_depthwise_transpose_run (state, instance, scratch);
      return;
    }
  if (w == NULL)
    {
      cleave_depthwise_pack (&instance->operands[W], plan->common.is_paired, scratch);
      w = scratch;
    }
  for (gint64 n = 0; n < plan->n_batches; n++)
    for (gint64 plane = 0; plane < plan->common.depth.n_y; plane++)
      run_plane (plan, instance, x + n * plan->x_batch_step, w, plane,
                 n * plan->y_batch_step + plane * plan->common.depth.y_step);
}

static gboolean
reports_progress (gconstpointer state)
{
  const Plan *plan = state;
  const CleaveAxis *depth = &plan->common.depth;

  return !plan->base.is_transposed &&
         cleave_axes_nest (plan->common.axis, plan->common.n_out, depth->n_y, depth->y_step) &&
         (plan->n_batches == 1 || plan->y_batch_step >= depth->n_y * depth->y_step);
}

/* Returns whether `run` applies epilogue ops. Sets `along` to the dimension of the channels.
 * Epilogue ops need sums in vectors. The level without fused multiply-add has no sums in vectors if
 * the result has fewer channels than a vector has lanes. */
static gboolean
does_epilogue (gconstpointer state, const CleaveKernelInstance *instance, guint *along)
{
  const Plan *plan = state;

  *along = plan->c;
  return !plan->base.is_transposed && plan->common.multiplier == 1 &&
         (plan->common.n_out >= CLEAVE_VECTOR || CLEAVE_DEPTHWISE_PARTIAL);
}

static gboolean
reads (gconstpointer state, guint operand)
{
  const CleaveDepthwisePlan *plan = state;

  return plan->w == NULL || operand != W;
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_depthwise);
const CleaveKernelFamily
    CLEAVE_LEVELLED (cleave_kernel_depthwise) = { .prepare = prepare,
                                                  .run = run,
                                                  .free = g_free,
                                                  .reports_progress = reports_progress,
                                                  .does_epilogue = does_epilogue,
                                                  .reads = reads,
                                                  .n_state = sizeof (CleaveDepthwisePlan) };
