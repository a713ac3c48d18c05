/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What the steps of recurrent layers read and write, whatever its strides. */

#include "recurrent-walk.h"

#include <string.h>

/* Copies n floats, either of which may be apart; `from` NULL: zeros. */
static void
copy_floats (float *to, gint64 to_step, const float *from, gint64 from_step, gint64 n)
{
  if (from == NULL)
    for (gint64 j = 0; j < n; j++)
      to[j * to_step] = 0;
  else if (to_step == 1 && from_step == 1)
    memcpy (to, from, (gsize) n * sizeof (float));
  else
    for (gint64 j = 0; j < n; j++)
      to[j * to_step] = from[j * from_step];
}

gint64
cleave_recurrent_length_of (const CleaveRecurrentWalk *walk, gint64 batch)
{
  const CleaveView *lengths = &walk->instance->operands[CLEAVE_RECURRENT_LENGTHS];

  if (!cleave_call_has (&walk->instance->call, CLEAVE_RECURRENT_LENGTHS))
    return walk->plan->n_times;
  return CLAMP (((const gint32 *) lengths->data)[batch * lengths->stride[0]], 0,
                walk->plan->n_times);
}

gint64
cleave_recurrent_time_of (const CleaveRecurrentWalk *walk, gint64 step, gint64 length)
{
  return walk->backwards ? length - 1 - step : step;
}

void
cleave_recurrent_read_inputs (const CleaveRecurrentWalk *walk, gint64 step, gint64 n_steps)
{
  const CleaveView *view = &walk->instance->operands[CLEAVE_RECURRENT_X];
  CleaveRecurrentDims dims = cleave_recurrent_dims (walk->instance->call.attrs);
  gint64 n = walk->plan->n_inputs, n_batch = walk->plan->n_batch;

  for (gint64 b = 0; b < n_batch; b++)
    {
      gint64 length = cleave_recurrent_length_of (walk, b);

      for (gint64 i = 0; i < n_steps; i++)
        {
          gint64 at =
              cleave_recurrent_time_of (walk, step + i, length) * view->stride[dims.x_time] +
              b * view->stride[dims.x_batch];

          copy_floats (walk->x + (i * n_batch + b) * n, 1,
                       step + i < length ? (const float *) view->data + at : NULL, view->stride[2],
                       n);
        }
    }
}

static float *
state_at (const CleaveRecurrentWalk *walk, const CleaveView *view, gint64 batch)
{
  CleaveRecurrentDims dims = cleave_recurrent_dims (walk->instance->call.attrs);

  return (float *) view->data + walk->direction * view->stride[dims.state_direction] +
         batch * view->stride[dims.state_batch];
}

void
cleave_recurrent_read_states (const CleaveRecurrentWalk *walk, guint operand, float *to)
{
  const CleaveView *view = &walk->instance->operands[operand];
  gboolean has = cleave_call_has (&walk->instance->call, operand);

  for (gint64 b = 0; b < walk->plan->n_batch; b++)
    copy_floats (to + b * walk->plan->n, 1, has ? state_at (walk, view, b) : NULL,
                 has ? view->stride[2] : 0, walk->plan->n);
}

void
cleave_recurrent_write_states (const CleaveRecurrentWalk *walk, guint result, const float *from)
{
  const CleaveView *view = &walk->instance->results[result];

  for (gint64 b = 0; b < walk->plan->n_batch; b++)
    copy_floats (state_at (walk, view, b), view->stride[2], from + b * walk->plan->n, 1,
                 walk->plan->n);
}

void
cleave_recurrent_write_row (const CleaveRecurrentWalk *walk,
                            gint64 time,
                            gint64 batch,
                            const float *from)
{
  const CleaveView *y = &walk->instance->results[0];
  CleaveRecurrentDims dims = cleave_recurrent_dims (walk->instance->call.attrs);
  gint64 at = time * y->stride[dims.y_time] + walk->direction * y->stride[dims.y_direction] +
              batch * y->stride[dims.y_batch];

  copy_floats ((float *) y->data + at, y->stride[3], from, 1, walk->plan->n);
}

/* The list of this direction; zeros where there is none. */
void
cleave_recurrent_read_list (
    const CleaveRecurrentWalk *walk, guint operand, gint64 first, gint64 n, float *to)
{
  gboolean has = cleave_call_has (&walk->instance->call, operand);
  const CleaveView *view = &walk->instance->operands[operand];
  gint64 at = has ? walk->direction * view->stride[0] + first * view->stride[1] : 0;

  copy_floats (to, 1, has ? (const float *) view->data + at : NULL, has ? view->stride[1] : 0, n);
}

void
cleave_recurrent_read_biases (const CleaveRecurrentWalk *walk)
{
  const CleaveRecurrentAttrs *a = walk->instance->call.attrs;
  gint64 n = walk->plan->n_columns;
  gint64 joined = walk->plan->is_gru && a->linear_before_reset ? 2 * walk->plan->n : n;

  cleave_recurrent_read_list (walk, CLEAVE_RECURRENT_B, 0, n, walk->bias);
  cleave_recurrent_read_list (walk, CLEAVE_RECURRENT_B, n, n, walk->bias_r);
  for (gint64 j = 0; j < joined; j++)
    walk->bias[j] += walk->bias_r[j];
}
