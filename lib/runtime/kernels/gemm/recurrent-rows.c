/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads and writes the rows of recurrent layers, whose views may have any strides. */

#include "../upcast.h"
#include "recurrent-walk.h"

#include "../../../ops/reference.h"

/* Reads n elements of a view as floats, from offset `at` on, `step` elements apart. `view` NULL:
 * writes zeros. */
static void
read_row (const CleaveView *view, gint64 at, gint64 step, float *to, gint64 n)
{
  if (view == NULL)
    memset (to, 0, (gsize) n * sizeof *to);
  else
    cleave_upcast (view->type.element, cleave_view_element (view, at), step, 0, to, n);
}

/* Stores n floats as elements of a view, from offset `at` on, `step` elements apart. `from` NULL:
 * stores zeros. */
static void
write_row (const CleaveView *view, gint64 at, gint64 step, const float *from, gint64 n)
{
  gpointer to = cleave_view_element (view, at);

  if (view->type.element == CLEAVE_FLOAT32)
    for (gint64 j = 0; j < n; j++)
      ((float *) to)[j * step] = from == NULL ? 0 : from[j];
  else if (from != NULL)
    cleave_narrow (view->type.element, from, to, step, n);
  else
    for (gint64 j = 0; j < n; j++)
      ((guint16 *) to)[j * step] = 0;
}

void
cleave_recurrent_round (const CleaveRecurrentWalk *walk, float *row)
{
  guint16 rounded[256];

  if (walk->plan->element == CLEAVE_FLOAT32)
    return;
  for (gint64 j = 0, n; j < walk->plan->n; j += n)
    {
      n = MIN (walk->plan->n - j, (gint64) G_N_ELEMENTS (rounded));
      cleave_narrow (walk->plan->element, row + j, rounded, 1, n);
      cleave_upcast (walk->plan->element, rounded, 1, 0, row + j, n);
    }
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
cleave_recurrent_read_inputs (const CleaveRecurrentWalk *walk,
                              gint64 step,
                              gint64 n_steps,
                              float *to)
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

          read_row (step + i < length ? view : NULL, at, view->stride[2],
                    to + (i * n_batch + b) * n, n);
        }
    }
}

static gint64
state_at (const CleaveRecurrentWalk *walk, const CleaveView *view, gint64 batch)
{
  CleaveRecurrentDims dims = cleave_recurrent_dims (walk->instance->call.attrs);

  return walk->direction * view->stride[dims.state_direction] +
         batch * view->stride[dims.state_batch];
}

static const CleaveView *
operand_or_null (const CleaveRecurrentWalk *walk, guint operand)
{
  return cleave_call_has (&walk->instance->call, operand) ? &walk->instance->operands[operand]
                                                          : NULL;
}

void
cleave_recurrent_read_states (const CleaveRecurrentWalk *walk, guint operand, float *to)
{
  const CleaveView *view = operand_or_null (walk, operand);

  for (gint64 b = 0; b < walk->plan->n_batch; b++)
    read_row (view, view == NULL ? 0 : state_at (walk, view, b), view == NULL ? 0 : view->stride[2],
              to + b * walk->plan->n, walk->plan->n);
}

void
cleave_recurrent_write_states (const CleaveRecurrentWalk *walk, guint result, const float *from)
{
  const CleaveView *view = &walk->instance->results[result];

  for (gint64 b = 0; b < walk->plan->n_batch; b++)
    write_row (view, state_at (walk, view, b), view->stride[2], from + b * walk->plan->n,
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

  write_row (y, at, y->stride[3], from, walk->plan->n);
}

void
cleave_recurrent_read_list (
    const CleaveRecurrentWalk *walk, guint operand, gint64 first, gint64 n, float *to)
{
  const CleaveView *view = operand_or_null (walk, operand);

  if (view == NULL)
    read_row (NULL, 0, 0, to, n);
  else
    read_row (view, walk->direction * view->stride[0] + first * view->stride[1], view->stride[1],
              to, n);
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
