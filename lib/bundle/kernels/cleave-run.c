/* SPDX-License-Identifier: 0BSD */

/* Runs the segments of a model. In a segment, a layer that lacks rows of an operand asks the layer
 * that computes them, until a layer has all that it needs for its next row. */

#include "cleave-run.h"

typedef struct
{
  const CleaveModel *model;
  const CleaveRun *run;
  const CleaveSegment *segment;
  const uint16_t *columns; /* of the band */
  uint32_t image;
} Loop;

static CleaveState *
state_of (const Loop *loop, uint32_t layer)
{
  return &loop->run->states[layer - loop->segment->first];
}

/* Whether a layer of the segment computes the value. */
static int
is_inner (const Loop *loop, uint32_t value)
{
  return value >= loop->segment->first && value < loop->segment->end;
}

static int32_t
first_column (const Loop *loop, uint32_t layer)
{
  return loop->columns == NULL ? 0 : loop->columns[2 * (layer - loop->segment->first)];
}

static int32_t
end_column (const Loop *loop, uint32_t layer)
{
  return loop->columns == NULL ? (int32_t) loop->model->values[layer].columns
                               : (int32_t) loop->columns[2 * (layer - loop->segment->first) + 1];
}

/* Returns where the image of a value begins that a layer computes. */
static unsigned char *
begin_of_result (const Loop *loop, const CleaveValue *value)
{
  const CleaveRun *run = loop->run;
  unsigned char *place =
      value->place == CLEAVE_OUTPUT ? (unsigned char *) run->outputs[value->port] : run->arena;

  return place + value->offset + loop->image * value->image_bytes;
}

static const unsigned char *
begin_of_operand (const Loop *loop, const CleaveValue *value)
{
  if (value->place == CLEAVE_INPUT)
    return (const unsigned char *) loop->run->inputs[value->port] +
           loop->image * value->image_bytes;
  return begin_of_result (loop, value);
}

/* Returns the end of the rows of an operand that a row of the result needs. */
static int32_t
rows_end (const CleaveReach *reach, int32_t row, int32_t rows)
{
  int32_t at = row;
  int32_t end;

  if (reach->block != 1)
    {
      at = at * reach->times + reach->shift;
      at = (at < 0 ? at - reach->block + 1 : at) / reach->block;
    }
  else
    at += reach->shift;
  end = at * reach->stride + reach->offset + reach->window;
  return end < rows ? end : rows;
}

/* Returns a layer that must compute a row first, or the layer itself. */
static uint32_t
find_missing (const Loop *loop, uint32_t layer)
{
  const CleaveLayer *l = &loop->model->layers[layer];
  int32_t row = state_of (loop, layer)->made;
  int i;

  for (i = 0; i < 2 && l->operands[i] != CLEAVE_NO_VALUE; i++)
    if (is_inner (loop, l->operands[i]) &&
        state_of (loop, l->operands[i])->made <
            rows_end (&l->reach[i], row, loop->model->values[l->operands[i]].rows))
      return l->operands[i];
  return layer;
}

static void
set_rows (const Loop *loop, uint32_t operand, CleaveRows *x)
{
  const CleaveValue *value = &loop->model->values[operand];

  x->data = begin_of_operand (loop, value);
  x->row_bytes = value->width * value->pixel_bytes;
  x->capacity = value->capacity;
  x->made = value->rows;
  x->slot = 0;
  x->begin = 0;
  if (is_inner (loop, operand))
    {
      x->made = state_of (loop, operand)->made;
      x->slot = state_of (loop, operand)->slot;
      x->begin = value->is_ring ? first_column (loop, operand) : 0;
    }
}

/* Computes the next row of a layer. */
static void
compute_row (const Loop *loop, uint32_t layer)
{
  const CleaveLayer *l = &loop->model->layers[layer];
  const CleaveValue *value = &loop->model->values[layer];
  CleaveState *state = state_of (loop, layer);
  CleaveCall call;
  int i;

  call.params = l->params;
  call.row = state->made;
  call.begin = first_column (loop, layer);
  call.end = end_column (loop, layer);
  call.y = begin_of_result (loop, value) + state->slot * (value->width * value->pixel_bytes);
  if (!value->is_ring)
    call.y += (uint32_t) call.begin * value->pixel_bytes;
  if (l->kernel == NULL)
    loop->run->read_row (loop->run->user_data, value->port, call.row, call.y);
  else
    {
      for (i = 0; i < 2 && l->operands[i] != CLEAVE_NO_VALUE; i++)
        set_rows (loop, l->operands[i], &call.x[i]);
      l->kernel (&call);
    }
  state->made++;
  if (++state->slot == value->capacity)
    state->slot = 0;
}

/* Computes all rows of a layer, and the rows of other layers that they need. */
static void
pull (const Loop *loop, uint32_t target)
{
  uint32_t layer = target;

  while (state_of (loop, target)->made < loop->model->values[target].rows)
    {
      uint32_t missing = find_missing (loop, layer);

      if (missing != layer)
        {
          state_of (loop, missing)->asker = (uint16_t) layer;
          layer = missing;
          continue;
        }
      compute_row (loop, layer);
      if (layer != target)
        layer = state_of (loop, layer)->asker;
    }
}

static void
run_band (const Loop *loop)
{
  uint32_t layer;

  for (layer = loop->segment->first; layer < loop->segment->end; layer++)
    {
      state_of (loop, layer)->made = 0;
      state_of (loop, layer)->slot = 0;
    }
  for (layer = loop->segment->end; layer-- > loop->segment->first;)
    if (!loop->model->values[layer].is_ring)
      pull (loop, layer);
}

void
cleave_run (const CleaveModel *model, const CleaveRun *run)
{
  Loop loop;
  uint32_t s, band;

  loop.model = model;
  loop.run = run;
  for (s = 0; s < model->n_segments; s++)
    {
      loop.segment = &model->segments[s];
      for (loop.image = 0; loop.image < loop.segment->images; loop.image++)
        for (band = 0; band < loop.segment->bands; band++)
          {
            loop.columns = loop.segment->columns;
            if (loop.columns != NULL)
              loop.columns += 2u * band * (uint32_t) (loop.segment->end - loop.segment->first);
            run_band (&loop);
          }
    }
}
