/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Skips rows of a segment that is in a steady state.
 *
 * A loop soon repeats itself. A period is a few rows of the last step, and the rows that other
 * steps compute meanwhile. Each period then computes as many rows of each step as the period
 * before, and leaves each ring with the same number of rows. So whole periods can be skipped. In
 * the example
 *
 *   conv 3x3 -> conv 3x3 stride 2         period: 1 row of the last step, 2 rows of the first step
 *
 * each ring has as many rows after row 3 of the last step as after row 2: the oldest rows were
 * dropped, and as many new rows were computed. The repetition ends when a window reaches the end of
 * an operand.
 *
 * In two cases, the number of rows in a ring grows from period to period. First, windows may reach
 * beyond the begin of the operand: a stack of dilated convolutions computes thousands of rows
 * before all windows lie inside the operand. Second, a reader of the ring may compute no row for a
 * while: the dry run currently computes the rows of step `target`, which does not need the reader.
 * The ring then keeps all rows for the reader. In both cases, the ring has the most rows in the
 * last period, so the last period is not skipped.
 *
 * The result of the segment may overlay a value. Once no window reaches beyond the begin of this
 * value, the distance in bytes between result and value changes by a constant amount in each
 * period. So the distance is largest in the first or in the last of these periods, and these two
 * periods are not skipped. */

#include <string.h>

#include "flow-parts.h"

/* The largest period that cleave_bundle_flow_skip() finds: a number of rows of step `target`. */
#define MAX_PERIOD 16

/* Returns the rows of an operand that row number `next` of step `s` needs. Rows are numbered in the
 * order in which they are computed. The returned rows may be outside the operand. */
static CleaveSpan
find_free_rows (const CleaveBundleFlow *flow, guint s, guint operand, gint64 next)
{
  const CleaveBundleStep *step = get_step (flow, s);
  gint64 extent = cleave_bundle_value (flow->model, step->operands[operand])->image.rows;
  gint64 row = flow->segment.is_upward ? get_result (flow, s)->image.rows - 1 - next : next;
  CleaveDimMap map = step->rows[operand];
  CleaveSpan span = { row, row + 1 };

  map.from = 0;
  span = cleave_dim_map_apply (&map, &span);
  return flow->segment.is_upward ? (CleaveSpan){ extent - span.end, extent - span.begin } : span;
}

/* Returns the number of rows that step `s` has computed in the current period, that is, since
 * `flow->made` was copied to `flow->mark`. */
static gint64
get_advance (const CleaveBundleFlow *flow, guint s)
{
  return *get_made (flow, s) - flow->mark[s - flow->segment.first];
}

/* Returns whether an operand of step `s` is a value that the result of a segment overlays. */
static gboolean
reads_overlaid (const CleaveBundleFlow *flow, guint s, guint operand)
{
  return flow->overlaid[s - flow->segment.first] >> operand & 1;
}

static gboolean
is_complete (const CleaveBundleFlow *flow, guint s)
{
  return *get_made (flow, s) == get_result (flow, s)->image.rows;
}

/* Returns whether, in the current period, the window of step `s` and the newest operand row have
 * advanced by the same number of rows. The caller passes a step `s` that has computed rows in the
 * period. For example, with stride 2, 3 new rows of `s` advance the window by 6 rows. A complete
 * operand need not advance.
 *
 * Also returns FALSE if all rows of the window lay in the padding before the operand when the
 * period began. If the result of the segment overlays the operand, one such row suffices. */
static gboolean
advances_with (const CleaveBundleFlow *flow, guint s, guint operand)
{
  const CleaveDimMap *map = &get_step (flow, s)->rows[operand];
  guint p = find_producer (flow, get_step (flow, s), operand);
  gint64 rows = get_advance (flow, s),
         advance = p == CLEAVE_BUNDLE_NONE ? 0 : get_advance (flow, p);
  CleaveSpan marked;

  if (map->stride == 0)
    return advance == 0;
  if (map->stride < 0 || rows * map->times % map->block != 0)
    return FALSE;
  if (p != CLEAVE_BUNDLE_NONE && (advance > 0 || !is_complete (flow, p)) &&
      advance != rows * map->times / map->block * map->stride)
    return FALSE;
  marked = find_free_rows (flow, s, operand, flow->mark[s - flow->segment.first]);
  return reads_overlaid (flow, s, operand) ? marked.begin >= 0 : marked.end > 0;
}

/* Returns whether the current period computed the first operand row that step `s` needs for its
 * next row. The caller passes a step `s` that has computed no row in the period. */
static gboolean
got_first_row (const CleaveBundleFlow *flow, guint s, guint operand)
{
  guint p = find_producer (flow, get_step (flow, s), operand);
  gint64 begin;

  if (p == CLEAVE_BUNDLE_NONE || get_advance (flow, p) == 0 || is_complete (flow, s))
    return FALSE;
  begin = find_free_rows (flow, s, operand, *get_made (flow, s)).begin;
  return begin >= flow->mark[p - flow->segment.first] && begin < *get_made (flow, p);
}

/* Returns whether the loop is in a steady state, that is, whether the next period repeats the
 * current one. A step that has computed rows in the period must have advanced in step with its
 * operands (advances_with()). For any other step, the period must not have computed the first
 * operand row that the step needs (got_first_row()). */
static gboolean
is_steady (const CleaveBundleFlow *flow)
{
  for (guint s = flow->segment.end; s-- > flow->segment.first;)
    for (guint i = 0; i < get_step (flow, s)->n_operands; i++)
      if (get_advance (flow, s) > 0 ? !advances_with (flow, s, i) : got_first_row (flow, s, i))
        return FALSE;
  return TRUE;
}

/* Returns the number of rows of step `s`, at most `rows`, whose windows of the operand end inside
 * the operand. */
static gint64
find_limit (const CleaveBundleFlow *flow, guint s, guint operand, gint64 rows)
{
  gint64 extent =
      cleave_bundle_value (flow->model, get_step (flow, s)->operands[operand])->image.rows;
  gint64 low = 0;

  while (low < rows)
    {
      gint64 middle = low + (rows - low) / 2;

      if (find_free_rows (flow, s, operand, middle).end <= extent)
        low = middle + 1;
      else
        rows = middle;
    }
  return low;
}

/* For a step `s` that computes no row in a period: returns how many periods can pass before the
 * operand has the first row that `s` needs. Returns G_MAXINT64 if the operand has this row already
 * or gets no rows, or if `s` has computed all its rows. */
static gint64
count_periods_apart (const CleaveBundleFlow *flow, guint s, guint operand)
{
  guint p = find_producer (flow, get_step (flow, s), operand);
  gint64 begin;

  if (p == CLEAVE_BUNDLE_NONE || get_advance (flow, p) == 0 || is_complete (flow, s))
    return G_MAXINT64;
  begin = find_free_rows (flow, s, operand, *get_made (flow, s)).begin;
  return begin < *get_made (flow, p) ? G_MAXINT64
                                     : (begin - *get_made (flow, p)) / get_advance (flow, p);
}

/* Returns how many repetitions of the current period can be skipped. */
static gint64
count_periods (const CleaveBundleFlow *flow)
{
  gint64 n = G_MAXINT64;

  for (guint s = flow->segment.first; s < flow->segment.end; s++)
    {
      gint64 limit = get_result (flow, s)->image.rows, rows = get_advance (flow, s);

      for (guint i = 0; i < get_step (flow, s)->n_operands; i++)
        if (rows == 0)
          n = MIN (n, count_periods_apart (flow, s, i));
        else if (get_step (flow, s)->rows[i].stride != 0)
          limit = find_limit (flow, s, i, limit);
      /* the next row after n skipped periods must be below `limit`, so that the window of this row
       * still ends inside each operand */
      if (rows > 0)
        n = MIN (n, (limit - 1 - *get_made (flow, s)) / rows);
    }
  return n - 1;
}

void
cleave_bundle_flow_skip (CleaveBundleFlow *flow, guint target)
{
  guint n = flow->segment.end - flow->segment.first;
  gint64 row = *get_made (flow, target), n_periods = 0;

  /* copy `made` to flow->mark when `target` has computed 0, 2, 6, 14 and 30 rows, then every 17
   * rows. An early copy alone is not enough: the loop repeats itself only after the windows have
   * left the padding before the operands. */
  if (row - flow->marked_row > MIN (MAX_PERIOD, flow->marked_row + 1))
    {
      memcpy (flow->mark, flow->made, n * sizeof *flow->mark);
      flow->marked_row = row;
    }
  else if (row > flow->marked_row && is_steady (flow))
    n_periods = MAX (count_periods (flow), 0);
  for (guint i = 0; i < n && n_periods > 0; i++)
    flow->made[i] += n_periods * (flow->made[i] - flow->mark[i]);
  flow->n_skipped += *get_made (flow, target) - row;
}
