/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs the loop of a segment without computing, and counts the rows that each ring must hold
 * (flow-parts.h). */

#include <string.h>

#include "flow-parts.h"

/* Returns the oldest row of the result of step `p` that another step of the segment still needs. */
static gint64
find_oldest_needed (const CleaveBundleFlow *flow, guint p)
{
  const CleaveBundleModel *model = flow->model;
  guint value = get_step (flow, p)->result;
  gint64 oldest = G_MAXINT64;

  for (guint k = model->first_reader[value]; k < model->first_reader[value + 1]; k++)
    {
      CleaveBundleReader reader = model->readers[k];

      if (reader.step >= flow->segment.end)
        break;
      oldest = MIN (oldest, find_oldest_row (flow, reader.step, reader.operand,
                                             *get_made (flow, reader.step)));
    }
  return oldest;
}

/* Increases the capacity of the ring of step `p`, which has just computed a row. The capacity is
 * the number of rows from the oldest row that a reader still needs to the newest row.
 *
 * Several steps may share the ring. Then each of these steps s has a capacity in its
 * CleaveBundleSlot: the rows that the ring needs in a segment that begins at s. The newest row is
 * the last row that s has computed. The readers are the steps that read the result of s or of a
 * later step with the same ring. */
static void
grow_rings (CleaveBundleFlow *flow, guint p)
{
  gint64 oldest = G_MAXINT64;
  guint s = p;

  if (get_slot (flow, p)->capacity == get_result (flow, p)->image.rows)
    return;
  while (get_slot (flow, s)->next != CLEAVE_BUNDLE_NONE)
    s = get_slot (flow, s)->next;
  for (; s != CLEAVE_BUNDLE_NONE; s = get_slot (flow, s)->before)
    {
      CleaveBundleSlot *slot = get_slot (flow, s);
      gint64 made = *get_made (flow, s);

      oldest = MIN (oldest, find_oldest_needed (flow, s));
      if (s <= p)
        slot->capacity = MAX (slot->capacity, made - MIN (oldest, made - 1));
    }
}

/* Returns the step that must compute a row before step `s` can compute its next row; `s` itself if
 * all rows that `s` needs exist. */
static guint
find_missing (const CleaveBundleFlow *flow, guint s)
{
  const CleaveBundleStep *step = get_step (flow, s);

  for (guint i = 0; i < step->n_operands; i++)
    {
      guint p = find_producer (flow, step, i);

      if (p != CLEAVE_BUNDLE_NONE &&
          *get_made (flow, p) < find_rows (flow, s, i, *get_made (flow, s)).end)
        return p;
    }
  return s;
}

/* Computes the next row of step `target`, and before it the rows of other steps that this row
 * needs. */
static void
pull_row (CleaveBundleFlow *flow, guint target)
{
  const gint64 made = *get_made (flow, target);
  guint s = target;

  while (*get_made (flow, target) == made)
    {
      guint p = find_missing (flow, s);

      if (p != s)
        {
          flow->reader[p - flow->segment.first] = s;
          s = p;
          continue;
        }
      cleave_bundle_flow_grow_lags (flow, s);
      ++*get_made (flow, s);
      grow_rings (flow, s);
      if (s != target)
        s = flow->reader[s - flow->segment.first];
    }
}

/* Computes all rows of step `target`. */
static void
pull (CleaveBundleFlow *flow, guint target)
{
  flow->marked_row = G_MININT32;
  while (*get_made (flow, target) < get_result (flow, target)->image.rows)
    {
      if (!flow->walks_all)
        cleave_bundle_flow_skip (flow, target);
      pull_row (flow, target);
    }
}

void
cleave_bundle_flow_run_rows (CleaveBundleFlow *flow)
{
  CleaveBundleSegment *g = &flow->segment;

  flow->n_runs++;
  memset (flow->made, 0, (g->end - g->first) * sizeof (gint64));
  for (guint s = g->end; s-- > g->first;)
    if (get_slot (flow, s)->is_whole || s + 1 == g->end)
      pull (flow, s);
}
