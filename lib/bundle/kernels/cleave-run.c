/* SPDX-License-Identifier: 0BSD */

/* Runs the segments of a model. If a layer lacks rows of an operand, the layer that computes the
 * operand must run first. That layer may lack rows, too. So the loop goes back from layer to layer,
 * until one has all rows that it needs for its next row.
 *
 * CleaveRun stores the position of the run. So cleave_run_next() returns before a kernel is called,
 * and the stack never holds the frames of cleave_run_next() and of a kernel at the same time. */

#include "cleave-run.h"

/* Returns the address of the number of rows that a layer of the current segment has computed. */
static uint16_t *
made_of (const CleaveRun *run, uint32_t layer)
{
  return &run->made[layer - run->first];
}

/* Returns whether a layer of the current segment computes the value. */
static int
is_inner (const CleaveRun *run, uint32_t value)
{
  return value - run->first < run->segment->layers;
}

/* Returns the first column that a layer computes in the current band (`which` is 0), or the column
 * after the last (`which` is 1). */
static CLEAVE_APART uint16_t
column_of (const CleaveRun *run, uint32_t layer, uint32_t which)
{
  const CleaveSegment *segment = run->segment;
  const uint32_t at = (uint32_t) run->band * segment->layers + layer - run->first;

  if (segment->bands == 1)
    return which == 0 ? 0 : run->model->values[layer].width;
  return run->model->columns[run->columns + 2 * at + which];
}

/* Returns the bytes of a row of a value in memory. */
static uint32_t
row_bytes_of (const CleaveValue *value)
{
  return (uint32_t) value->width * value->pixel_bytes;
}

/* Returns the address of the current image of a value. */
static unsigned char *
begin_of (const CleaveRun *run, const CleaveValue *value)
{
  unsigned char *place;
  uint32_t offset = (uint32_t) value->offset * CLEAVE_OFFSET_UNIT;

  if (value->flags & CLEAVE_IMAGES)
    offset += run->call.image * (value->rows * row_bytes_of (value));
  if (value->flags & CLEAVE_OUTPUT)
    place = (unsigned char *) run->outputs[value->port];
  else
    place = run->arenas[value->port];
  return place + offset;
}

static const unsigned char *
begin_of_operand (const CleaveRun *run, const CleaveValue *value)
{
  const uint32_t image = value->flags & CLEAVE_IMAGES ? run->call.image : 0;

  if (!(value->flags & CLEAVE_INPUT))
    return begin_of (run, value);
  return (const unsigned char *) run->inputs[value->port] +
         image * (value->rows * row_bytes_of (value));
}

/* Returns the number of rows of an operand that must exist before row `row` of the result can be
 * computed. */
static int32_t
rows_needed (const CleaveRun *run, const CleaveRowMap *map, uint32_t operand, int32_t row)
{
  const CleaveValue *value = &run->model->values[operand];
  int32_t at = row * map->times + map->shift;
  int32_t begin, end;

  if (map->block != 1)
    at = (at < 0 ? at - map->block + 1 : at) / map->block;
  begin = at * map->stride + map->offset;
  end = begin + map->window;
  if (value->flags & CLEAVE_UPWARD)
    return begin > 0 ? value->rows - begin : value->rows;
  return end < value->rows ? end : value->rows;
}

/* Returns the index of the row that a layer computes next. */
static CLEAVE_APART uint16_t
next_row (const CleaveRun *run, uint32_t layer)
{
  const CleaveValue *value = &run->model->values[layer];
  const uint16_t made = *made_of (run, layer);

  return value->flags & CLEAVE_UPWARD ? (uint16_t) (value->rows - 1 - made) : made;
}

/* Returns a layer that must compute a row before `layer` can compute its next row; `layer` if all
 * rows that it needs exist. */
static uint32_t
find_missing (const CleaveRun *run, uint32_t layer)
{
  const CleaveLayer *l = &run->model->layers[layer];

  for (int i = 0; i < 2 && l->operands[i] != CLEAVE_NO_VALUE; i++)
    if (is_inner (run, l->operands[i]) &&
        *made_of (run, l->operands[i]) < rows_needed (run, &run->model->row_maps[l->row_map + i],
                                                      l->operands[i], next_row (run, layer)))
      return l->operands[i];
  return layer;
}

static CLEAVE_APART void
set_rows (const CleaveRun *run, uint32_t operand, CleaveRows *x)
{
  const CleaveValue *value = &run->model->values[operand];
  int32_t made = value->rows;

  x->data = begin_of_operand (run, value);
  x->row_bytes = row_bytes_of (value);
  x->capacity = value->capacity;
  x->begin = 0;
  if (is_inner (run, operand))
    {
      made = *made_of (run, operand);
      if (value->flags & CLEAVE_UPWARD)
        made = value->rows - made + value->capacity;
      if (value->flags & CLEAVE_RING)
        x->begin = column_of (run, operand, 0);
    }
  x->made = (uint16_t) made;
  x->slot = (uint16_t) (made % value->capacity);
}

/* Sets the call that computes the next row of a layer, and increments the layer's count of rows. */
static void
set_call (CleaveRun *run, uint32_t layer)
{
  const CleaveLayer *l = &run->model->layers[layer];
  const CleaveValue *value = &run->model->values[layer];
  CleaveCall *call = &run->call;

  call->params = l->params;
  call->row = next_row (run, layer);
  call->begin = column_of (run, layer, 0);
  call->end = column_of (run, layer, 1);
  call->y = begin_of (run, value) + (uint32_t) (call->row % value->capacity) * row_bytes_of (value);
  if (!(value->flags & CLEAVE_RING))
    call->y += (uint32_t) call->begin * value->pixel_bytes;
  for (int i = 0; i < 2 && l->operands[i] != CLEAVE_NO_VALUE; i++)
    set_rows (run, l->operands[i], &call->x[i]);
  ++*made_of (run, layer);
}

/* Begins a band of the current segment: sets the numbers of computed rows to 0. */
static CLEAVE_APART void
begin_band (CleaveRun *run)
{
  run->target = run->segment->layers;
  for (uint32_t i = 0; i < run->target; i++)
    run->made[i] = 0;
}

/* Moves to the next layer with a whole result. Returns 1; 0 if all layers have finished. */
static int
next_target (CleaveRun *run)
{
  const CleaveModel *model = run->model;

  for (;;)
    {
      while (run->target > 0)
        {
          run->layer = (uint16_t) (run->first + --run->target);
          if (!(model->values[run->layer].flags & CLEAVE_RING))
            return 1;
        }
      if (++run->band == run->segment->bands)
        {
          run->band = 0;
          if (++run->call.image == run->segment->images)
            {
              const uint32_t bands = run->segment->bands, layers = run->segment->layers;

              run->call.image = 0;
              run->first = (uint16_t) (run->first + layers);
              if (bands > 1)
                run->columns = (CleaveOffset) (run->columns + 2 * bands * layers);
              if (++run->segment == model->segments + model->n_segments)
                return 0;
            }
        }
      begin_band (run);
    }
}

/* Sets the call that computes the next row of the model. Returns the layer of that row; NULL if all
 * rows are computed. */
static const CleaveLayer *
cleave_run_next (CleaveRun *run)
{
  for (;;)
    {
      const uint16_t layer = run->layer;
      uint32_t missing;

      if (run->target == run->segment->layers ||
          run->made[run->target] >= run->model->values[run->first + run->target].rows)
        {
          if (!next_target (run))
            return NULL;
          continue;
        }
      missing = find_missing (run, layer);
      if (missing == layer)
        {
          set_call (run, layer);
          if (layer != run->first + run->target)
            run->layer = (uint16_t) (run->first + run->readers[layer - run->first]);
          return &run->model->layers[layer];
        }
      run->readers[missing - run->first] = (uint8_t) (layer - run->first);
      run->layer = (uint16_t) missing;
    }
}

void
cleave_run (CleaveRun *run)
{
  const CleaveModel *model = run->model;
  const CleaveLayer *layer;

  if (model->n_segments == 0)
    return;
  run->segment = model->segments;
  run->columns = 0;
  run->first = 0;
  run->call.image = 0;
  run->band = 0;
  begin_band (run);
  for (layer = cleave_run_next (run); layer != NULL; layer = cleave_run_next (run))
    if (layer->kernel != CLEAVE_NO_KERNEL)
      model->kernels[layer->kernel](&run->call);
    else
      {
        const int32_t at = (int32_t) (layer - model->layers);

        run->read_row (run->user_data, at,
                       run->call.row + (int32_t) run->call.image * model->values[at].rows,
                       run->call.y);
      }
}
