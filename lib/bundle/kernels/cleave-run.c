/* SPDX-License-Identifier: 0BSD */

/* Runs the segments of a model. In a segment, a layer that lacks rows of an operand asks the layer
 * that computes them, until a layer has all that it needs for its next row. */

#include "cleave-run.h"

typedef struct
{
  const CleaveModel *model;
  const CleaveRun *run;
  const CleaveSegment *segment;
  const uint16_t *columns; /* columns of the band */
  uint32_t image;
} Loop;

static CleaveState *
state_of (const Loop *loop, uint32_t layer)
{
  return &loop->run->states[layer - loop->segment->first];
}

/* Returns whether a layer of the segment computes the value. */
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

/* Returns the row that comes after `made` other rows of a value. */
static int32_t
row_after (const Loop *loop, uint32_t value, int32_t made)
{
  return loop->segment->is_upward ? (int32_t) loop->model->values[value].rows - 1 - made : made;
}

/* Returns how many rows of an operand must exist before a row of the result can be computed. */
static int32_t
rows_needed (const Loop *loop, const CleaveReach *reach, uint32_t operand, int32_t row)
{
  const int32_t rows = loop->model->values[operand].rows;
  int32_t at = row + reach->shift;
  int32_t begin, end;

  if (reach->block != 1)
    {
      at = row * reach->times + reach->shift;
      at = (at < 0 ? at - reach->block + 1 : at) / reach->block;
    }
  begin = at * reach->stride + reach->offset;
  end = begin + reach->window;
  if (loop->segment->is_upward)
    return begin > 0 ? rows - begin : rows;
  return end < rows ? end : rows;
}

/* Returns a layer that must compute a row first, or the layer itself. */
static uint32_t
find_missing (const Loop *loop, uint32_t layer)
{
  const CleaveLayer *l = &loop->model->layers[layer];
  int32_t row = row_after (loop, layer, state_of (loop, layer)->made);
  int i;

  for (i = 0; i < 2 && l->operands[i] != CLEAVE_NO_VALUE; i++)
    if (is_inner (loop, l->operands[i]) &&
        state_of (loop, l->operands[i])->made <
            rows_needed (loop, &l->reach[i], l->operands[i], row))
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
      if (loop->segment->is_upward)
        {
          x->made = value->rows - x->made + value->capacity;
          x->slot = x->slot + 1 == value->capacity ? 0 : x->slot + 1;
        }
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
  call.row = row_after (loop, layer, state->made);
  call.begin = first_column (loop, layer);
  call.end = end_column (loop, layer);
  call.y = begin_of_result (loop, value) + state->slot * (value->width * value->pixel_bytes);
  if (!value->is_ring)
    call.y += (uint32_t) call.begin * value->pixel_bytes;
  if (l->kernel == NULL)
    loop->run->read_row (loop->run->user_data, value->port,
                         call.row + (int32_t) loop->image * value->rows, call.y);
  else
    {
      for (i = 0; i < 2 && l->operands[i] != CLEAVE_NO_VALUE; i++)
        set_rows (loop, l->operands[i], &call.x[i]);
      l->kernel (&call);
    }
  state->made++;
  if (loop->segment->is_upward)
    state->slot = (uint16_t) (state->slot == 0 ? value->capacity - 1 : state->slot - 1);
  else
    state->slot = (uint16_t) (state->slot + 1 == value->capacity ? 0 : state->slot + 1);
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
      const CleaveValue *value = &loop->model->values[layer];
      uint16_t slot = 0;

      if (loop->segment->is_upward)
        for (slot = (uint16_t) (value->rows - 1); slot >= value->capacity;)
          slot = (uint16_t) (slot - value->capacity);
      state_of (loop, layer)->made = 0;
      state_of (loop, layer)->slot = slot;
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
