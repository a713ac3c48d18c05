/* SPDX-License-Identifier: 0BSD */

/* Runs the segments of a model. If a layer lacks rows of an operand, the layer that computes the
 * operand must run first. That layer may lack rows, too. So the loop goes back from layer to layer,
 * until one has all rows that it needs for its next row.
 *
 * CleaveRun stores the position of the run. So cleave_run_next() returns before a kernel is called,
 * and the stack never holds the frames of cleave_run_next() and of a kernel at the same time. */

#include "cleave-run.h"

/* Returns whether a layer of the current segment computes the value. */
static int
is_inner (const CleaveRun *run, uint32_t value)
{
  return value - run->first < run->segment->layers;
}

/* Returns the columns that a layer computes in the current band: the first, and the column after
 * the last. Returns NULL if the segment has one band, in which a layer computes all columns. */
static CLEAVE_APART const uint16_t *
columns_of (const CleaveRun *run, uint32_t layer)
{
  const CleaveSegment *segment = run->segment;

  if (segment->bands == 1)
    return NULL;
  return run->columns + 2 * (run->band * segment->layers + layer - run->first);
}

/* Returns the bytes of a row of a value in memory. */
static uint32_t
row_bytes_of (const CleaveValue *value)
{
  return (uint32_t) value->width * value->pixel_bytes;
}

/* Returns the address of the current image of a value. */
static CLEAVE_APART unsigned char *
begin_of (const CleaveRun *run, const CleaveValue *value)
{
  unsigned char *begin = NULL;

  if (value->flags & CLEAVE_IO)
    {
      const void *from = (const unsigned char *) run->call.io + value->offset * sizeof begin;

#ifdef __GNUC__
      from = __builtin_assume_aligned (from, __alignof__(begin));
#endif
      memcpy (&begin, from, sizeof begin);
    }
  else
    begin =
        run->arenas[value->flags / CLEAVE_ARENA] + (uint32_t) value->offset * CLEAVE_OFFSET_UNIT;
  if (value->flags & CLEAVE_IMAGES)
    begin += run->call.image * (value->rows * row_bytes_of (value));
  return begin;
}

/* Returns the number of rows of a value that must exist before row `row` of the result can be
 * computed. */
static int32_t
rows_needed (const CleaveValue *value, const CleaveRowMap *map, int32_t row)
{
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

/* Returns a layer that must compute a row before `layer` can compute row `row`. Returns `layer` if
 * all rows exist that row `row` needs. */
static uint32_t
find_missing (const CleaveRun *run, uint32_t layer, int32_t row)
{
  const CleaveLayer *l = &run->model->layers[layer];
  const CleaveRowMap *map = &run->model->row_maps[l->row_map];

  for (int i = 0; i < 2; i++)
    {
      const uint32_t operand = l->operands[i];

      if (is_inner (run, operand) && run->made[operand - run->first] <
                                         rows_needed (&run->model->values[operand], map + i, row))
        return operand;
    }
  return layer;
}

static CLEAVE_APART void
set_rows (const CleaveRun *run, uint32_t operand, CleaveRows *x)
{
  const CleaveValue *value = &run->model->values[operand];
  int32_t made = value->rows;

  x->data = begin_of (run, value);
  x->row_bytes = row_bytes_of (value);
  x->capacity = value->capacity;
  x->begin = 0;
  if (is_inner (run, operand))
    {
      const uint16_t *columns = columns_of (run, operand);

      made = run->made[operand - run->first];
      if (value->flags & CLEAVE_UPWARD)
        made = value->rows - made + value->capacity;
      if ((value->flags & CLEAVE_RING) && columns != NULL)
        x->begin = columns[0];
    }
  x->made = (uint16_t) made;
  x->slot = (uint16_t) (made % value->capacity);
}

/* Sets the call that computes row `row` of a layer. */
static void
set_call (CleaveRun *run, uint32_t layer, int32_t row)
{
  const CleaveLayer *l = &run->model->layers[layer];
  const CleaveValue *value = &run->model->values[layer];
  const uint16_t *columns = columns_of (run, layer);
  CleaveCall *call = &run->call;

  call->params = l->params;
  call->row = (uint16_t) row;
  call->begin = columns == NULL ? 0 : columns[0];
  call->end = columns == NULL ? value->width : columns[1];
  call->y = begin_of (run, value) + (uint32_t) (row % value->capacity) * row_bytes_of (value);
  if (!(value->flags & CLEAVE_RING))
    call->y += (uint32_t) call->begin * value->pixel_bytes;
  for (int i = 0; i < 2 && l->operands[i] != CLEAVE_NO_VALUE; i++)
    set_rows (run, l->operands[i], &call->x[i]);
}

/* Prepares the next call of a kernel, and returns the kernel. The call computes the next row of the
 * target layer (run->target), or first an operand row that a layer needs for that row and that does
 * not exist yet.
 *
 * Sets run->layer, the layer at which the search for the following call begins. If only the next
 * layer of the segment reads the row of this call, that is the next layer. If not, it is the target
 * layer. */
static CLEAVE_APART CleaveKernel
cleave_run_next (CleaveRun *run)
{
  const uint32_t target = run->first + run->target;
  uint32_t layer, missing = run->layer;
  const CleaveValue *value;
  CleaveExtent *made;
  int32_t row;

  do
    {
      layer = missing;
      value = &run->model->values[layer];
      made = &run->made[layer - run->first];
      row = value->flags & CLEAVE_UPWARD ? value->rows - 1 - *made : *made;
      missing = find_missing (run, layer, row);
    }
  while (missing != layer);
  set_call (run, layer, row);
  ++*made;
  run->layer =
      (uint16_t) (layer != target && (value->flags & CLEAVE_CHAIN) != 0 ? layer + 1 : target);
  return run->model->kernels[run->model->layers[layer].kernel];
}

/* Computes a band of the current segment. */
static inline void
run_band (CleaveRun *run)
{
  run->target = run->segment->layers;
  memset (run->made, 0, run->target * sizeof *run->made);
  while (run->target > 0)
    {
      const CleaveValue *value;

      run->layer = (uint16_t) (run->first + --run->target);
      value = &run->model->values[run->layer];
      while ((value->flags & CLEAVE_RING) == 0 && run->made[run->target] < value->rows)
        cleave_run_next (run) (&run->call);
    }
}

void
cleave_run (CleaveRun *run)
{
  run->columns = run->model->columns;
  run->first = 0;
  for (run->segment = run->model->segments; run->segment->layers > 0; run->segment++)
    {
      for (run->call.image = 0; run->call.image < run->segment->images; run->call.image++)
        for (run->band = 0; run->band < run->segment->bands; run->band++)
          run_band (run);
      run->first += run->segment->layers;
      if (run->segment->bands > 1)
        run->columns += 2 * run->segment->bands * run->segment->layers;
    }
}
