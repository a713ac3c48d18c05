/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs the convolutions that narrow.c has planned: convolutions with few result channels. */

#include "direct.h"
#include "narrow-plan.h"

/* Number of rows of y that a run computes for one tile of columns before it goes on to the next
 * tile, if a row consists of several tiles. */
#define BAND 16
typedef struct
{
  const CleaveNarrow *n;
  const float *x, *a;
  float *lines; /* transposed rows of x, in scratch */
  /* indexed by slot of scratch: the index of the row of x that the slot holds; negative: no row */
  gint64 row[MAX_SLOTS];
  gint64 begin, end; /* the tile consists of the pixels [begin, end) of each row */
  CleaveNarrowWork work;
} Run;

/* Finds the row of x that a tap reads for a row of y. Returns FALSE if the tap reads padding. */
static gboolean
find_row (const CleaveAxis *axis, gboolean transposed, gint64 y_row, gint64 tap, gint64 *row)
{
  gint64 at;

  if (!transposed)
    {
      *row = y_row * axis->stride + tap * axis->dilation - axis->pad;
      return *row >= 0 && *row < axis->n_x;
    }
  at = y_row + axis->pad - tap * axis->dilation;
  *row = at / axis->stride;
  return at >= 0 && at % axis->stride == 0 && *row < axis->n_x;
}

/* Transposes the pixels of row `row` of x that the tile reads. Writes them to `to`. */
static void
make_lines (const Run *run, gint64 row, float *to)
{
  const CleaveNarrow *n = run->n;
  const CleaveAxis *axis = &n->columns;
  gint64 n_channels = n->n_groups * n->n_in;
  gint64 origin = run->begin + n->least_shift;
  const float *x = run->x + row * n->rows.x_step;

  for (gint64 phase = 0; phase < n->n_phases; phase++, to += n_channels * n->line)
    {
      gint64 n_x = MAX (axis->n_x - phase + n->n_phases - 1, 0) / n->n_phases;
      gint64 begin = MAX (origin, 0), end = MIN (run->end + n->least_shift + n->spread, n_x);

      if (begin < end)
        cleave_narrow_transpose (x + (begin * n->n_phases + phase) * axis->x_step,
                                 n->n_phases * axis->x_step, end - begin, n_channels, n->line,
                                 to + begin - origin);
    }
}

static const float *
get_lines (Run *run, gint64 row)
{
  const CleaveNarrow *n = run->n;
  gint64 slot = row % n->n_slots;
  float *lines = run->lines + slot * n->n_phases * n->n_groups * n->n_in * n->line;

  if (run->row[slot] != row)
    make_lines (run, row, lines);
  run->row[slot] = row;
  return lines;
}

static void
run_row (Run *run, gint64 y_row, float *y)
{
  const CleaveNarrow *n = run->n;
  CleaveNarrowWork *work = &run->work;
  gint64 row, channel = 0;

  work->n_rows = 0;
  work->y = y + y_row * n->rows.y_step;
  for (gint64 tap = 0; tap < n->rows.n_taps; tap++)
    if (find_row (&n->rows, n->transposed, y_row, tap, &row))
      work->row[work->n_rows++] =
          (CleaveNarrowRow){ get_lines (run, row) - run->begin, run->a + tap * n->a_row };
  for (guint j = 0; j < n->jobs->len; j++)
    {
      const CleaveNarrowJob *job = &g_array_index (n->jobs, CleaveNarrowJob, j);
      gint64 begin = MAX (job->begin, run->begin), end = MIN (job->end, run->end);

      for (guint r = 0; r < work->n_rows; r++)
        work->row[r].x += (job->channel - channel) * n->line;
      channel = job->channel;
      if (begin < end)
        cleave_narrow_sum (work, job, begin, end);
    }
}

static void
do_epilogue (const CleaveNarrow *n, const CleaveEpilogue *epilogue, float *y)
{
  gint64 n_channels = n->n_groups * n->n_out, step = n->columns.y_step;

  if (step == n_channels && !epilogue->by_channels)
    cleave_direct_do_epilogue (epilogue, y, 0, 1, n->columns.n_y * n_channels);
  else
    cleave_direct_do_epilogue (epilogue, y, step, n->columns.n_y, n_channels);
}

static void
run_tile (Run *run, gint64 begin, gint64 first_row, gint64 end_row, float *y)
{
  if (run->begin != begin)
    for (gint64 i = 0; i < MAX_SLOTS; i++)
      run->row[i] = -1;
  run->begin = begin;
  run->end = MIN (begin + run->n->tile, run->n->end);
  for (gint64 row = first_row; row < end_row; row++)
    run_row (run, row, y);
}

void
cleave_narrow_run (const CleaveNarrow *n,
                   const float *x,
                   const float *a,
                   const float *bias,
                   const CleaveKernelInstance *instance,
                   gint64 y_at,
                   float *scratch)
{
  CleaveEpilogue epilogue = cleave_epilogue_of (instance);
  float *y = (float *) instance->results[0].data + y_at;
  gint64 y_step = n->rows.y_step;
  Run run = { .n = n,
              .x = x,
              .a = a,
              .lines = scratch,
              .begin =
                  n->begin -
                  1, /* no slot holds a row of x yet, so the first tile transposes all its rows */
              .work = { .x_line = n->line,
                        .lda = n->lda,
                        .k = n->n_in,
                        .taps = (const CleaveNarrowTap *) (gpointer) n->taps->data,
                        .bias = bias } };

  for (gint64 row = 0, end; row < n->rows.n_y; row = end)
    {
      end = MIN (row + BAND, n->rows.n_y);
      for (gint64 begin = n->begin; begin < n->end; begin += n->tile)
        run_tile (&run, begin, row, end, y);
      for (gint64 i = row; i < end && epilogue.n > 0; i++)
        do_epilogue (n, &epilogue, y + i * y_step);
      cleave_kernel_range_done (instance, y_at + row * y_step, y_at + end * y_step);
    }
}
