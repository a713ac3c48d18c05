/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "flow.h"

#include <string.h>

#define MAX_BANDS 64

void
cleave_bundle_flow_init (CleaveBundleFlow *flow, const CleaveBundleModel *model, gint64 align)
{
  guint n = model->steps->len;

  *flow = (CleaveBundleFlow){ .model = model, .align = align };
  flow->slots = g_new (CleaveBundleSlot, n);
  flow->columns = g_new (CleaveSpan, (gsize) n * MAX_BANDS);
  flow->made = g_new (gint64, n);
  flow->asker = g_new (guint, n);
}

void
cleave_bundle_flow_clear (CleaveBundleFlow *flow)
{
  g_free (flow->slots);
  g_free (flow->columns);
  g_free (flow->made);
  g_free (flow->asker);
}

static const CleaveBundleStep *
get_step (const CleaveBundleFlow *flow, guint s)
{
  return cleave_bundle_step (flow->model, s);
}

static const CleaveBundleValue *
get_result (const CleaveBundleFlow *flow, guint s)
{
  return cleave_bundle_value (flow->model, get_step (flow, s)->result);
}

static CleaveBundleSlot *
get_slot (const CleaveBundleFlow *flow, guint s)
{
  return &flow->slots[s - flow->segment.first];
}

static gint64 *
get_made (const CleaveBundleFlow *flow, guint s)
{
  return &flow->made[s - flow->segment.first];
}

gboolean
cleave_bundle_is_read_after (const CleaveBundleModel *model, guint value, guint end)
{
  return cleave_bundle_value (model, cleave_bundle_value (model, value)->base)->last_reader >= end;
}

/* Returns the step of the segment that produces an operand, or CLEAVE_BUNDLE_NONE. */
static guint
find_producer (const CleaveBundleFlow *flow, const CleaveBundleStep *step, guint operand)
{
  guint producer = cleave_bundle_value (flow->model, step->operands[operand])->producer;

  return producer == CLEAVE_BUNDLE_NONE || producer < flow->segment.first ? CLEAVE_BUNDLE_NONE
                                                                           : producer;
}

/* Whether all operands are values, not views with other rows, or come from outside. */
static gboolean
has_no_inner_views (const CleaveBundleFlow *flow)
{
  for (guint s = flow->segment.first; s < flow->segment.end; s++)
    for (guint i = 0; i < get_step (flow, s)->n_operands; i++)
      {
        guint value = get_step (flow, s)->operands[i];

        if (cleave_bundle_value (flow->model, value)->base != value &&
            find_producer (flow, get_step (flow, s), i) != CLEAVE_BUNDLE_NONE)
          return FALSE;
      }
  return TRUE;
}

/* All images of the steps of a segment run one after the other, so their numbers must agree. */
static gboolean
has_one_batch (const CleaveBundleFlow *flow)
{
  for (guint s = flow->segment.first + 1; s < flow->segment.end; s++)
    if (get_result (flow, s)->image.images != get_result (flow, s - 1)->image.images)
      return FALSE;
  return TRUE;
}

static void
set_slots (CleaveBundleFlow *flow)
{
  for (guint s = flow->segment.first; s < flow->segment.end; s++)
    {
      const CleaveBundleValue *result = get_result (flow, s);
      gboolean is_whole =
          cleave_bundle_is_read_after (flow->model, get_step (flow, s)->result, flow->segment.end);

      *get_slot (flow, s) =
          (CleaveBundleSlot){ is_whole, s, is_whole ? result->image.rows : 0, 0 };
    }
}

/* Whether some value besides that of the last step is read after the segment. */
static gboolean
has_more_ends (const CleaveBundleFlow *flow)
{
  for (guint s = flow->segment.first; s + 1 < flow->segment.end; s++)
    if (get_slot (flow, s)->is_whole)
      return TRUE;
  return FALSE;
}

/* Columns */

static CleaveSpan
join_spans (CleaveSpan a, CleaveSpan b)
{
  if (a.begin >= a.end)
    return b;
  return b.begin >= b.end
             ? a
             : (CleaveSpan){ MIN (a.begin, b.begin), MAX (a.end, b.end) };
}

/* Sets the columns that each step computes for a band of the last step. */
static void
set_columns (CleaveBundleFlow *flow, guint band)
{
  const CleaveBundleSegment *g = &flow->segment;
  guint n = g->end - g->first;
  CleaveSpan *columns = &flow->columns[(gsize) band * n];
  gint64 extent = get_result (flow, g->end - 1)->image.columns;

  memset (columns, 0, n * sizeof (CleaveSpan));
  columns[n - 1] = (CleaveSpan){ extent * band / g->n_bands, extent * (band + 1) / g->n_bands };
  for (guint s = g->end; s-- > g->first;)
    for (guint i = 0; i < get_step (flow, s)->n_operands; i++)
      {
        guint p = find_producer (flow, get_step (flow, s), i);

        if (p != CLEAVE_BUNDLE_NONE)
          columns[p - g->first] = join_spans (
              columns[p - g->first],
              cleave_bundle_step_columns (flow->model, get_step (flow, s), i,
                                          columns[s - g->first]));
      }
}

static void
set_bands (CleaveBundleFlow *flow)
{
  CleaveBundleSegment *g = &flow->segment;
  guint n = g->end - g->first;

  g->macs = 0;
  for (guint band = 0; band < g->n_bands; band++)
    {
      set_columns (flow, band);
      for (guint s = g->first; s < g->end; s++)
        {
          gint64 whole = get_result (flow, s)->image.columns;
          CleaveSpan *columns = &flow->columns[(gsize) band * n + s - g->first];
          CleaveBundleSlot *slot = get_slot (flow, s);

          if (g->n_bands == 1)
            *columns = (CleaveSpan){ 0, whole };
          slot->columns = slot->is_whole ? whole
                                         : MAX (slot->columns, columns->end - columns->begin);
          if (whole > 0)
            g->macs += get_step (flow, s)->macs * (columns->end - columns->begin) / whole;
        }
    }
}

/* Sharing */

/* Whether a step may write a row over the same row of an operand. */
static gboolean
is_in_place (const CleaveBundleFlow *flow, guint s, guint operand)
{
  const CleaveBundleStep *step = get_step (flow, s);

  return !step->is_sum && (step->layer->in_place >> operand & 1);
}

/* Whether row r of a step needs exactly row r of an operand, with the same columns. */
static gboolean
is_same_place (const CleaveBundleFlow *flow, guint s, guint operand, guint p)
{
  const CleaveDimMap *rows = &get_step (flow, s)->rows[operand];
  const CleaveBundleImage *x = &get_result (flow, p)->image, *y = &get_result (flow, s)->image;

  return x->rows == y->rows && x->columns == y->columns && x->pixel_bytes == y->pixel_bytes &&
         (x->rows == 1 || (rows->stride == 1 && rows->block == 1 && rows->shift == 0 &&
                           rows->offset == 0 && rows->window == 1)) &&
         get_slot (flow, s)->columns == get_slot (flow, p)->columns;
}

static guint
count_readers (const CleaveBundleFlow *flow, guint p)
{
  guint value = get_step (flow, p)->result, n = 0;

  for (guint s = p + 1; s < flow->segment.end; s++)
    for (guint i = 0; i < get_step (flow, s)->n_operands; i++)
      n += get_step (flow, s)->operands[i] == value;
  return n;
}

/* Lets steps write their rows over those of an operand that nothing else reads. */
static void
share_slots (CleaveBundleFlow *flow)
{
  for (guint s = flow->segment.first; s < flow->segment.end; s++)
    for (guint i = 0; i < get_step (flow, s)->n_operands; i++)
      {
        guint p = find_producer (flow, get_step (flow, s), i);
        CleaveBundleSlot *slot = get_slot (flow, s);

        if (slot->shares == s && p != CLEAVE_BUNDLE_NONE && !get_slot (flow, p)->is_whole &&
            is_in_place (flow, s, i) && is_same_place (flow, s, i, p) &&
            count_readers (flow, p) == 1 &&
            get_result (flow, s)->place == CLEAVE_BUNDLE_ARENA)
          slot->shares = get_slot (flow, p)->shares;
      }
  /* If the result is whole, so is the memory of all steps that it shares. */
  for (guint s = flow->segment.first; s < flow->segment.end; s++)
    if (get_slot (flow, s)->is_whole)
      get_slot (flow, get_slot (flow, s)->shares)->capacity = get_result (flow, s)->image.rows;
}

/* Rows, counted in the order in which they are computed */

/* Returns the first and the last row of an operand, in their order, that row number `next` of a step
 * needs. */
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

/* Enlarges the ring that has the rows of step `p`, which has just computed one. Steps that share a
 * ring follow each other: the first one has the newest row. */
static void
grow_ring (CleaveBundleFlow *flow, guint p)
{
  guint owner = get_slot (flow, p)->shares;
  CleaveBundleSlot *slot = get_slot (flow, owner);
  gint64 oldest = *get_made (flow, owner) - 1;

  if (slot->capacity == get_result (flow, owner)->image.rows)
    return;
  for (guint s = owner + 1; s < flow->segment.end; s++)
    for (guint i = 0; i < get_step (flow, s)->n_operands; i++)
      {
        guint x = find_producer (flow, get_step (flow, s), i);

        if (x != CLEAVE_BUNDLE_NONE && get_slot (flow, x)->shares == owner)
          oldest = MIN (oldest, find_oldest_row (flow, s, i, *get_made (flow, s)));
      }
  slot->capacity = MAX (slot->capacity, *get_made (flow, owner) - oldest);
}

/* Whether an end may lie over a value: the value dies here, and each byte is read once. */
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

  for (guint q = flow->segment.first; q < flow->segment.end; q++)
    for (guint i = 0; i < get_step (flow, q)->n_operands; i++)
      {
        const CleaveBundleValue *x =
            cleave_bundle_value (flow->model, get_step (flow, q)->operands[i]);
        gboolean in_place = q == s && is_in_place (flow, q, i);
        gint64 row;

        if (x->base != flow->segment.overlay.value)
          continue;
        row = find_oldest_row (flow, q, i, *get_made (flow, q) + (in_place ? 1 : 0));
        if (row < G_MAXINT64)
          oldest = MIN (oldest, row * cleave_bundle_row_bytes (x));
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

/* Computes all rows of step `target`, and the rows of other steps that they need. */
static void
pull (CleaveBundleFlow *flow, guint target)
{
  guint s = target;

  while (*get_made (flow, target) < get_result (flow, target)->image.rows)
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

static void
run_rows (CleaveBundleFlow *flow)
{
  CleaveBundleSegment *g = &flow->segment;

  memset (flow->made, 0, (g->end - g->first) * sizeof (gint64));
  for (guint s = g->end; s-- > g->first;)
    if (get_slot (flow, s)->is_whole || s + 1 == g->end)
      pull (flow, s);
}

/* Chooses what the end lies over: the largest value that dies here. */
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

static void
add_rings (CleaveBundleFlow *flow)
{
  CleaveBundleSegment *g = &flow->segment;

  g->ring_bytes = 0;
  for (guint s = g->first; s < g->end; s++)
    {
      const CleaveBundleSlot *slot = get_slot (flow, s);
      gboolean is_whole = FALSE;

      for (guint q = s; q < g->end; q++)
        is_whole |= get_slot (flow, q)->shares == s && get_slot (flow, q)->is_whole;
      if (slot->shares == s && !is_whole)
        g->ring_bytes += cleave_bundle_align (
            slot->capacity * slot->columns * (gint64) get_result (flow, s)->image.pixel_bytes,
            flow->align);
    }
}

/* Whether the caller supplies rows of the segment: each whole row once, the first one first. */
static gboolean
has_rows_of_caller (const CleaveBundleFlow *flow)
{
  for (guint s = flow->segment.first; s < flow->segment.end; s++)
    if (get_step (flow, s)->node == NULL)
      return TRUE;
  return FALSE;
}

static gboolean
has_sum (const CleaveBundleFlow *flow)
{
  for (guint s = flow->segment.first; s < flow->segment.end; s++)
    if (get_step (flow, s)->is_sum)
      return TRUE;
  return FALSE;
}

/* A sum is complete in its last row only. */
static gboolean
has_whole_sum (const CleaveBundleFlow *flow)
{
  for (guint s = flow->segment.first; s < flow->segment.end; s++)
    if (get_step (flow, s)->is_sum && get_slot (flow, s)->is_whole)
      return TRUE;
  return FALSE;
}

static gboolean
run (CleaveBundleFlow *flow)
{
  CleaveBundleSegment *g = &flow->segment;
  guint end = g->end, n_bands = g->n_bands;

  if (((g->is_upward || n_bands > 1) && has_rows_of_caller (flow)) ||
      (g->is_upward && has_sum (flow)))
    return FALSE;
  if (n_bands > MAX_BANDS || n_bands > MAX (get_result (flow, end - 1)->image.columns, 1) ||
      !has_no_inner_views (flow) || !has_one_batch (flow))
    return FALSE;
  set_slots (flow);
  if ((n_bands > 1 && has_more_ends (flow)) || has_whole_sum (flow))
    return FALSE;
  set_bands (flow);
  share_slots (flow);
  choose_overlay (flow);
  run_rows (flow);
  if (g->overlay.value != CLEAVE_BUNDLE_NONE)
    g->overlay.lag =
        MAX (g->overlay.lag,
             -cleave_bundle_value_bytes (cleave_bundle_value (flow->model, g->overlay.value)));
  add_rings (flow);
  return TRUE;
}

gboolean
cleave_bundle_flow_run (CleaveBundleFlow *flow, guint first, guint end, guint n_bands)
{
  flow->segment = (CleaveBundleSegment){ .first = first, .end = end, .n_bands = n_bands };
  return run (flow);
}

gboolean
cleave_bundle_flow_run_upward (CleaveBundleFlow *flow, guint first, guint end)
{
  flow->segment =
      (CleaveBundleSegment){ .first = first, .end = end, .n_bands = 1, .is_upward = TRUE };
  return run (flow);
}

void
cleave_bundle_flow_repeat (CleaveBundleFlow *flow, const CleaveBundleSegment *segment)
{
  gboolean done = segment->is_upward
                      ? cleave_bundle_flow_run_upward (flow, segment->first, segment->end)
                      : cleave_bundle_flow_run (flow, segment->first, segment->end,
                                                segment->n_bands);

  g_assert (done);
}
