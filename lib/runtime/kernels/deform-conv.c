/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of DeformConv of floats. For up to PLACES positions of the result, a run
 * samples the values of all taps into a buffer. It then multiplies the values by packed weights,
 * with the sums of COLUMNS channels in registers. The sums have the order of the reference kernel.
 * Each run packs the weights. */

#include "level.h"
#include "vector.h"

#include "../../ops/deform-taps.h"

/* PLACES: number of positions of the result whose sums are in registers at the same time. VECTORS:
 * number of vectors of result channels whose sums are in registers. */
#define PLACES 4
#define VECTORS 2
#define COLUMNS (VECTORS * CLEAVE_VECTOR)
/* Smallest number of result channels in a group that the family serves. With fewer channels, most
 * lanes would be unused. */
#define MIN_CHANNELS 4

typedef struct
{
  gint64 n_in, n_out, n_groups; /* number of channels that a group reads; number of channels that a
                                   group writes; number of groups */
  gint64 n_panels;              /* number of panels of COLUMNS channels in a group */
  gint64 n_channels, n_taps;
  gint64 n_values, n_packed; /* number of floats that are sampled for one position of the result;
                                number of floats of all packed weights */
} Plan;

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  const CleaveDeformConvAttrs *a = instance->call.attrs;
  const CleaveShape *w = &instance->operands[CLEAVE_DEFORM_W].type.shape;
  Plan *plan;

  *state = NULL;
  if (instance->operands[CLEAVE_DEFORM_X].type.element != CLEAVE_FLOAT32 ||
      w->dim[0] / a->group < MIN_CHANNELS)
    return FALSE;
  plan = g_new0 (Plan, 1);
  plan->n_in = w->dim[1];
  plan->n_out = w->dim[0] / a->group;
  plan->n_groups = a->group;
  plan->n_panels = (plan->n_out + COLUMNS - 1) / COLUMNS;
  plan->n_channels = plan->n_in * a->group;
  plan->n_taps = 1;
  for (guint d = 2; d < w->rank; d++)
    plan->n_taps *= w->dim[d];
  plan->n_values = plan->n_taps * plan->n_channels;
  plan->n_packed = plan->n_groups * plan->n_panels * plan->n_taps * plan->n_in * COLUMNS;
  *n_scratch = (gsize) (plan->n_packed + PLACES * plan->n_values) * sizeof (float);
  *state = plan;
  return TRUE;
}

/* Packs the weights in this order, outermost first: panel of COLUMNS channels, tap, operand
 * channel, result channel. Lanes beyond the last result channel are 0. */
static void
pack (const Plan *plan, const CleaveView *w, float *to)
{
  CleaveShape taps = { .rank = w->type.shape.rank - 2 };
  gint64 tap[CLEAVE_MAX_RANK];

  for (guint i = 0; i < taps.rank; i++)
    taps.dim[i] = w->type.shape.dim[2 + i];
  for (gint64 p = 0; p < plan->n_groups * plan->n_panels; p++)
    {
      gint64 first = p % plan->n_panels * COLUMNS, group = p / plan->n_panels;
      gint64 n = MIN (plan->n_out - first, COLUMNS);
      const float *from = (const float *) w->data + (group * plan->n_out + first) * w->stride[0];

      CLEAVE_EACH_INDEX (tap, &taps)
        for (gint64 c = 0; c < plan->n_in; c++, to += COLUMNS)
          for (gint64 o = 0; o < COLUMNS; o++)
            to[o] = o < n ? from[cleave_index_offset (taps.rank, tap, w->stride + 2) +
                                 c * w->stride[1] + o * w->stride[0]]
                          : 0;
    }
}

/* Samples n channels at one tap: interpolates between the same positions in each channel. */
static void
sample_channels (const CleaveDeformAround *around, const float *x, gint64 step, float *to, gint64 n)
{
  if (around->n == 4 && step == 1)
    for (gint64 c = 0; c < n; c++)
      {
        double sum = 0;

        CLEAVE_EACH (j, 4)
          sum += around->weight[j] * (double) x[around->offset[j] + c];
        to[c] = (float) sum;
      }
  else
    for (gint64 c = 0; c < n; c++)
      {
        double sum = 0;

        for (guint j = 0; j < around->n; j++)
          sum += around->weight[j] * (double) x[around->offset[j] + c * step];
        to[c] = (float) sum;
      }
}

/* Samples the values that one position of the result reads: all taps of all channels. Writes the
 * values to `to`. */
static void
sample (const Plan *plan, const CleaveDeformWalk *walk, float *to)
{
  const CleaveView *x = &walk->operands[CLEAVE_DEFORM_X];
  CleaveShape taps = { .rank = walk->n };
  gint64 tap[CLEAVE_MAX_RANK], k = 0;

  for (guint i = 0; i < walk->n; i++)
    taps.dim[i] = walk->windows[i].kernel;
  for (gboolean more = cleave_index_first (&taps, tap); more;
       more = cleave_index_next (&taps, tap), k++)
    for (gint64 c = 0; c < plan->n_channels; c += walk->shared, to += walk->shared)
      {
        CleaveDeformAround around;

        cleave_deform_find_around (walk, k, tap, c / walk->shared, &around);
        sample_channels (&around, (const float *) x->data + c * x->stride[1], x->stride[1], to,
                         walk->shared);
      }
}

/* Multiplies the sampled values of PLACES positions by one panel of weights, and adds the products
 * to `sums`. */
static void
add_products (const Plan *plan, const float *values, const float *weights, float *sums)
{
  CleaveVector sum[PLACES][VECTORS];

  CLEAVE_EACH (p, PLACES)
    CLEAVE_EACH (v, VECTORS)
      sum[p][v] = cleave_vector_load (sums + p * COLUMNS + v * CLEAVE_VECTOR);
  for (gint64 k = 0; k < plan->n_taps; k++, values += plan->n_channels)
    for (gint64 c = 0; c < plan->n_in; c++, weights += COLUMNS)
      {
        CleaveVector w[VECTORS];

        CLEAVE_EACH (v, VECTORS)
          w[v] = cleave_vector_load (weights + v * CLEAVE_VECTOR);
        CLEAVE_EACH (p, PLACES)
          {
            CleaveVector value = cleave_vector_all (values[p * plan->n_values + c]);

            CLEAVE_EACH (v, VECTORS)
              sum[p][v] = cleave_vector_fma (value, w[v], sum[p][v]);
          }
      }
  CLEAVE_EACH (p, PLACES)
    CLEAVE_EACH (v, VECTORS)
      cleave_vector_store (sums + p * COLUMNS + v * CLEAVE_VECTOR, sum[p][v]);
}

/* Stores the results at up to PLACES positions. `to`: address of channel 0 at each position. */
static void
finish_places (const Plan *plan,
               const CleaveKernelInstance *instance,
               const float *values,
               const float *packed,
               float *const *to,
               guint n_places)
{
  const CleaveView *b = cleave_call_has (&instance->call, CLEAVE_DEFORM_B)
                            ? &instance->operands[CLEAVE_DEFORM_B]
                            : NULL;
  gint64 step = instance->results[0].stride[1];
  float sums[PLACES * COLUMNS];

  for (gint64 panel = 0; panel < plan->n_groups * plan->n_panels; panel++)
    {
      gint64 group = panel / plan->n_panels, at = panel % plan->n_panels * COLUMNS;
      gint64 first = group * plan->n_out + at, n = MIN (plan->n_out - at, COLUMNS);

      for (gint64 o = 0; o < COLUMNS; o++)
        for (guint p = 0; p < PLACES; p++)
          sums[p * COLUMNS + o] =
              b == NULL || o >= n ? 0 : ((const float *) b->data)[(first + o) * b->stride[0]];
      add_products (plan, values + group * plan->n_in,
                    packed + panel * plan->n_taps * plan->n_in * COLUMNS, sums);
      for (guint p = 0; p < n_places; p++)
        for (gint64 o = 0; o < n; o++)
          to[p][(first + o) * step] = sums[p * COLUMNS + o];
    }
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Plan *plan = state;
  const CleaveView *y = &instance->results[0];
  float *packed = scratch, *values = packed + plan->n_packed, *to[PLACES];
  CleaveShape places = y->type.shape;
  gint64 at[CLEAVE_MAX_RANK];
  CleaveDeformWalk walk = cleave_deform_walk (&instance->call, instance->operands, at);
  guint n = 0;

  pack (plan, &instance->operands[CLEAVE_DEFORM_W], packed);
  memset (values, 0, (gsize) (PLACES * plan->n_values) * sizeof *values);
  places.dim[1] = MIN (places.dim[1], 1);
  CLEAVE_EACH_INDEX (at, &places)
    {
      sample (plan, &walk, values + n * plan->n_values);
      to[n++] = (float *) y->data + cleave_view_offset (y, at);
      if (n == PLACES)
        {
          finish_places (plan, instance, values, packed, to, n);
          n = 0;
        }
    }
  if (n > 0)
    finish_places (plan, instance, values, packed, to, n);
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_deform_conv);
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_deform_conv) = { .prepare = prepare,
                                                                         .run = run,
                                                                         .free = g_free };
