/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <string.h>

#include "flow-parts.h"

/* Rows, counted in the order in which they are computed */

/* Returns the first and the last row of an operand, in their order, that row number `next` of a
 * step needs. */
static CleaveSpan
find_rows (const CleaveBundleFlow *flow, guint s, guint operand, gint64 next)
{
  const CleaveBundleStep *step = get_step (flow, s);
  gint64 rows = get_result (flow, s)->image.rows;
  gint64 extent = cleave_bundle_value (flow->model, step->operands[operand])->image.rows;
  CleaveSpan span;

  if (!flow->segment.is_upward)
    return cleave_bundle_step_rows (flow->model, step, operand, next);
  span = cleave_bundle_step_rows (flow->model, step, operand, rows - 1 - next);
  return (CleaveSpan){ extent - span.end, extent - span.begin };
}

/* Returns the oldest row of an operand that a step still needs, or G_MAXINT64. `next` is the number
 * of the next row that the step computes. */
static gint64
find_oldest_row (const CleaveBundleFlow *flow, guint s, guint operand, gint64 next)
{
  gint64 rows = get_result (flow, s)->image.rows;

  return next >= rows ? G_MAXINT64 : find_rows (flow, s, operand, next).begin;
}

/* Returns the oldest row of a step's result that another step of the segment still needs. */
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

/* Enlarges the ring of step `p`, which has just computed a row. If several steps share a ring, the
 * first of them has the newest row. */
static void
grow_ring (CleaveBundleFlow *flow, guint p)
{
  guint owner = get_slot (flow, p)->shares;
  CleaveBundleSlot *slot = get_slot (flow, owner);
  gint64 made = *get_made (flow, owner), oldest = made - 1;

  if (slot->capacity == get_result (flow, owner)->image.rows)
    return;
  for (guint s = owner; s != CLEAVE_BUNDLE_NONE; s = get_slot (flow, s)->next)
    oldest = MIN (oldest, find_oldest_needed (flow, s));
  slot->capacity = MAX (slot->capacity, made - oldest);
}

/* Returns whether an end may overlay a value: the value dies here, and each byte is read once. */
static gboolean
may_overlay (const CleaveBundleFlow *flow, const CleaveBundleValue *value)
{
  return value->place == CLEAVE_BUNDLE_ARENA && value->image.images == 1 &&
         value->last_reader < flow->segment.end && flow->segment.n_bands == 1;
}

/* Returns the first byte of the overlaid value that is still needed when step `s`, which writes the
 * end, computes its next row. */
static gint64
find_oldest_byte (const CleaveBundleFlow *flow, guint s)
{
  gint64 oldest = G_MAXINT64;

  for (guint k = 0; k < flow->over->len; k++)
    {
      CleaveBundleReader reader = g_array_index (flow->over, CleaveBundleReader, k);
      guint value = get_step (flow, reader.step)->operands[reader.operand];
      gboolean in_place = reader.step == s && is_in_place (flow, s, reader.operand);
      gint64 row = find_oldest_row (flow, reader.step, reader.operand,
                                    *get_made (flow, reader.step) + (in_place ? 1 : 0));

      if (row < G_MAXINT64)
        oldest =
            MIN (oldest, row * cleave_bundle_row_bytes (cleave_bundle_value (flow->model, value)));
    }
  return oldest;
}

/* Accounts for the write of the next row of step `s`. */
static void
grow_lag (CleaveBundleFlow *flow, guint s)
{
  CleaveBundleOverlay *overlay = &flow->segment.overlay;
  gint64 oldest;

  if (overlay->value == CLEAVE_BUNDLE_NONE || get_slot (flow, s)->shares != flow->end_slot)
    return;
  oldest = find_oldest_byte (flow, s);
  if (oldest < G_MAXINT64)
    overlay->lag =
        MAX (overlay->lag,
             (*get_made (flow, s) + 1) * cleave_bundle_row_bytes (get_result (flow, s)) - oldest);
}

/* Returns the step that must compute a row before step `s` can compute its next one, or `s`. */
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

/* Computes the next row of step `target`, and the rows of other steps that it needs. */
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
          flow->asker[p - flow->segment.first] = s;
          s = p;
          continue;
        }
      grow_lag (flow, s);
      ++*get_made (flow, s);
      grow_ring (flow, s);
      if (s != target)
        s = flow->asker[s - flow->segment.first];
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

static void
run_rows (CleaveBundleFlow *flow)
{
  CleaveBundleSegment *g = &flow->segment;

  memset (flow->made, 0, (g->end - g->first) * sizeof (gint64));
  for (guint s = g->end; s-- > g->first;)
    if (get_slot (flow, s)->is_whole || s + 1 == g->end)
      pull (flow, s);
}

/* The rows of rings do not depend on the columns of bands, except through the steps that share
 * memory. So a segment runs once for most numbers of bands. */

/* Sets the rows of rings from the last run, if that was of the same segment with the same sharing.
 * Returns FALSE if the segment must run. A segment of one band always runs, since its end may
 * overlay a value. */
static gboolean
take_known_rows (CleaveBundleFlow *flow)
{
  const CleaveBundleSegment *g = &flow->segment;
  guint n = g->end - g->first;

  if (g->n_bands == 1 || flow->known_first != g->first || flow->known_end != g->end)
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (flow->slots[i].shares != flow->known[i].shares)
      return FALSE;
  for (guint i = 0; i < n; i++)
    flow->slots[i].capacity = flow->known[i].capacity;
  return TRUE;
}

static void
keep_rows (CleaveBundleFlow *flow)
{
  const CleaveBundleSegment *g = &flow->segment;

  if (g->is_upward)
    return;
  flow->known_first = g->first;
  flow->known_end = g->end;
  memcpy (flow->known, flow->slots, (g->end - g->first) * sizeof *flow->slots);
}

/* Chooses the value that the end overlays: the largest one that dies here. */
static void
choose_overlay (CleaveBundleFlow *flow)
{
  CleaveBundleSegment *g = &flow->segment;
  gint64 most = 0;

  g->overlay = (CleaveBundleOverlay){ CLEAVE_BUNDLE_NONE, CLEAVE_BUNDLE_NONE, G_MININT64 };
  if (get_result (flow, g->end - 1)->place != CLEAVE_BUNDLE_ARENA ||
      get_result (flow, g->end - 1)->image.images != 1)
    return;
  flow->end_slot = get_slot (flow, g->end - 1)->shares;
  for (guint s = g->first; s < g->end; s++)
    for (guint i = 0; i < get_step (flow, s)->n_operands; i++)
      {
        guint base = cleave_bundle_value (flow->model, get_step (flow, s)->operands[i])->base;
        const CleaveBundleValue *value = cleave_bundle_value (flow->model, base);

        if ((value->producer == CLEAVE_BUNDLE_NONE || value->producer < g->first) &&
            may_overlay (flow, value) && cleave_bundle_value_bytes (value) > most)
          {
            most = cleave_bundle_value_bytes (value);
            g->overlay.value = base;
            g->overlay.end = get_step (flow, g->end - 1)->result;
          }
      }
}

/* Lists the operands that read the value under the end. */
static void
list_over (CleaveBundleFlow *flow)
{
  g_array_set_size (flow->over, 0);
  for (guint s = flow->segment.first; s < flow->segment.end; s++)
    for (guint i = 0; i < get_step (flow, s)->n_operands; i++)
      {
        CleaveBundleReader reader = { s, i };
        guint value = get_step (flow, s)->operands[i];

        if (cleave_bundle_value (flow->model, value)->base == flow->segment.overlay.value)
          g_array_append_val (flow->over, reader);
      }
}

void
cleave_bundle_flow_set_rows (CleaveBundleFlow *flow)
{
  CleaveBundleOverlay *overlay = &flow->segment.overlay;

  choose_overlay (flow);
  list_over (flow);
  if (!take_known_rows (flow))
    {
      run_rows (flow);
      keep_rows (flow);
    }
  if (overlay->value != CLEAVE_BUNDLE_NONE)
    overlay->lag =
        MAX (overlay->lag,
             -cleave_bundle_value_bytes (cleave_bundle_value (flow->model, overlay->value)));
}
