/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Stores the clocks of steps (clocks.h). A clock is a row of counts: for each thread, the number of
 * steps that are done when the step begins. The latest clock of each thread is always known. The
 * clock of an earlier step is stored only as long as other steps still wait for this step. After
 * that, the row of this clock is reused for the clock of another step. */

#include "clocks.h"

#include <string.h>

/* Limits on the number of stored clocks. Each clock takes a row of n_threads counts. All rows
 * together have at most BYTES_PER_STEP bytes for each step of the schedule, but MIN_ROWS rows are
 * always allowed. With up to 16 threads, BYTES_PER_STEP allows one row per step. */
#define BYTES_PER_STEP 64
#define MIN_ROWS 4096

void
cleave_clocks_init (CleaveClocks *clocks, const CleaveSchedule *schedule)
{
  gsize n_threads = schedule->n_threads;
  gsize row_bytes = n_threads * sizeof (guint);

  *clocks = (CleaveClocks){
    .schedule = schedule,
    .latest = g_new0 (guint, n_threads * n_threads),
    .current = g_new (guint, n_threads),
    .row = g_new (guint, schedule->n_steps + 1),
    .n_waits = g_new0 (guint, schedule->n_steps + 1),
    .counts = g_array_new (FALSE, FALSE, sizeof (guint)),
    .n_users = g_array_new (FALSE, FALSE, sizeof (guint)),
    .unused = g_array_new (FALSE, FALSE, sizeof (guint)),
    .max_rows = MAX ((guint) (BYTES_PER_STEP * (gsize) schedule->n_steps / row_bytes), MIN_ROWS),
  };
  for (guint t = 0; t < n_threads; t++)
    clocks->current[t] = CLEAVE_NO_ROW;
}

void
cleave_clocks_clear (CleaveClocks *clocks)
{
  g_clear_pointer (&clocks->latest, g_free);
  g_clear_pointer (&clocks->current, g_free);
  g_clear_pointer (&clocks->row, g_free);
  g_clear_pointer (&clocks->n_waits, g_free);
  g_clear_pointer (&clocks->counts, g_array_unref);
  g_clear_pointer (&clocks->n_users, g_array_unref);
  g_clear_pointer (&clocks->unused, g_array_unref);
}

static guint
find_step (const CleaveClocks *clocks, CleaveWait wait)
{
  return clocks->schedule->sequence[wait.thread][wait.count - 1];
}

static guint *
find_latest (const CleaveClocks *clocks, guint step)
{
  const CleaveSchedule *schedule = clocks->schedule;

  return clocks->latest + (gsize) schedule->thread[step] * schedule->n_threads;
}

static guint *
find_row (const CleaveClocks *clocks, guint row)
{
  return &g_array_index (clocks->counts, guint, (gsize) row * clocks->schedule->n_threads);
}

static void
release_row (CleaveClocks *clocks, guint *row)
{
  if (*row != CLEAVE_NO_ROW && --g_array_index (clocks->n_users, guint, *row) == 0)
    g_array_append_val (clocks->unused, *row);
  *row = CLEAVE_NO_ROW;
}

/* Returns the index of a free row for the clock of a step, and notes that one thread refers to the
 * row. Returns CLEAVE_NO_ROW if `max_rows` rows are in use. */
static guint
take_row (CleaveClocks *clocks)
{
  guint row = clocks->n_users->len;

  if (clocks->unused->len > 0)
    {
      row = g_array_index (clocks->unused, guint, clocks->unused->len - 1);
      g_array_set_size (clocks->unused, clocks->unused->len - 1);
    }
  else if (row >= clocks->max_rows)
    return CLEAVE_NO_ROW;
  else
    {
      g_array_set_size (clocks->n_users, row + 1);
      g_array_set_size (clocks->counts, (row + 1) * clocks->schedule->n_threads);
    }
  g_array_index (clocks->n_users, guint, row) = 1;
  return row;
}

void
cleave_clocks_expect (CleaveClocks *clocks, CleaveWait wait)
{
  clocks->n_waits[find_step (clocks, wait)]++;
}

const guint *
cleave_clocks_begin (CleaveClocks *clocks, guint step)
{
  guint *latest = find_latest (clocks, step);

  latest[clocks->schedule->thread[step]] = clocks->schedule->index[step];
  clocks->row[step] = CLEAVE_NO_ROW;
  return latest;
}

/* Merges the clock of step `pred` into `clock`, the clock of a step that waits for `pred`: each
 * count becomes the larger one. Several steps of one thread share a row, so the row of `pred` may
 * be the clock of an earlier step of the thread that runs `pred`. The count of this thread in the
 * row is then too small. So the function takes the count of this thread from `wait`, the wait for
 * `pred`. */
static void
merge_row (CleaveClocks *clocks, guint *clock, guint pred, CleaveWait wait)
{
  guint row = clocks->row[pred];

  for (guint t = 0; row != CLEAVE_NO_ROW && t < clocks->schedule->n_threads; t++)
    clock[t] = MAX (clock[t], find_row (clocks, row)[t]);
  clock[wait.thread] = MAX (clock[wait.thread], wait.count);
}

gboolean
cleave_clocks_wait (CleaveClocks *clocks, guint step, CleaveWait wait)
{
  guint *clock = find_latest (clocks, step), pred = find_step (clocks, wait);
  gboolean is_new = clock[wait.thread] < wait.count;

  if (is_new)
    {
      merge_row (clocks, clock, pred, wait);
      release_row (clocks, &clocks->current[clocks->schedule->thread[step]]);
    }
  if (--clocks->n_waits[pred] == 0)
    release_row (clocks, &clocks->row[pred]);
  return is_new;
}

void
cleave_clocks_end (CleaveClocks *clocks, guint step)
{
  guint n_threads = clocks->schedule->n_threads;
  guint *current = &clocks->current[clocks->schedule->thread[step]];

  if (clocks->n_waits[step] == 0)
    return;
  if (*current == CLEAVE_NO_ROW)
    {
      *current = take_row (clocks);
      if (*current == CLEAVE_NO_ROW)
        return;
      memcpy (find_row (clocks, *current), find_latest (clocks, step), n_threads * sizeof (guint));
    }
  clocks->row[step] = *current;
  g_array_index (clocks->n_users, guint, *current)++;
}
