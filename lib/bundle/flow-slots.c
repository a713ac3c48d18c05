/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the columns that each step of a segment computes in each band, and the steps that share
 * memory (flow-parts.h). */

#include <string.h>

#include "flow-parts.h"

static void
set_slots (CleaveBundleFlow *flow)
{
  for (guint s = flow->segment.first; s < flow->segment.end; s++)
    {
      const CleaveBundleValue *result = get_result (flow, s);
      gboolean is_whole =
          cleave_bundle_is_read_after (flow->model, get_step (flow, s)->result, flow->segment.end);

      *get_slot (flow, s) = (CleaveBundleSlot){ .is_whole = is_whole,
                                                .shares = s,
                                                .before = CLEAVE_BUNDLE_NONE,
                                                .next = CLEAVE_BUNDLE_NONE,
                                                .capacity = is_whole ? result->image.rows : 0 };
    }
}

/* Returns whether a step of the segment, other than the last step, has a whole result. A result is
 * whole if a step after the segment reads it, or if it is an output of the graph. */
static gboolean
has_earlier_whole_result (const CleaveBundleFlow *flow)
{
  for (guint s = flow->segment.first; s + 1 < flow->segment.end; s++)
    if (get_slot (flow, s)->is_whole)
      return TRUE;
  return FALSE;
}

/* The functions below find the columns that each step computes in a band. */

static CleaveSpan
join_spans (CleaveSpan a, CleaveSpan b)
{
  if (a.begin >= a.end)
    return b;
  return b.begin >= b.end ? a : (CleaveSpan){ MIN (a.begin, b.begin), MAX (a.end, b.end) };
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
              columns[p - g->first], cleave_bundle_step_columns (flow->model, get_step (flow, s), i,
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
          slot->columns =
              slot->is_whole ? whole : MAX (slot->columns, columns->end - columns->begin);
          if (whole > 0)
            g->macs += get_step (flow, s)->macs * (columns->end - columns->begin) / whole;
        }
    }
}

/* The functions below find the steps that share memory. */

/* Returns whether the results of steps `s` and `p` have the same extents, and row r of `s` needs
 * only row r of `operand`, the result of `p`. */
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
  guint value = get_step (flow, p)->result;

  return flow->model->first_reader[value + 1] - flow->model->first_reader[value];
}

/* Returns whether step `s` can write its rows over the rows of an operand. Step `p` must compute
 * the operand, and only `s` may read it. Returns FALSE if the result of `s` is whole and has
 * several images. Each image of a whole result needs separate bytes, but all images of the operand
 * use the same ring. */
static gboolean
can_share (const CleaveBundleFlow *flow, guint s, guint operand, guint p)
{
  return p != CLEAVE_BUNDLE_NONE && !get_slot (flow, p)->is_whole &&
         !(get_slot (flow, s)->is_whole && get_result (flow, s)->image.images > 1) &&
         is_in_place (flow, s, operand) && is_same_place (flow, s, operand, p) &&
         count_readers (flow, p) == 1 && get_result (flow, s)->place == CLEAVE_BUNDLE_ARENA;
}

/* Lets a step write over the rows of an operand, and links the CleaveBundleSlot of each step that
 * shares memory. If the result of one of these steps is whole, the shared memory holds all its
 * rows. If a step could overwrite several operands, it overwrites the operand that was computed
 * last, so that the choice does not depend on the first step of the segment. */
static void
share_slots (CleaveBundleFlow *flow)
{
  for (guint s = flow->segment.first; s < flow->segment.end; s++)
    {
      CleaveBundleSlot *slot = get_slot (flow, s);
      guint last = CLEAVE_BUNDLE_NONE;

      for (guint i = 0; i < get_step (flow, s)->n_operands; i++)
        {
          guint p = find_producer (flow, get_step (flow, s), i);

          if (can_share (flow, s, i, p) && (last == CLEAVE_BUNDLE_NONE || p > last))
            last = p;
        }
      if (last != CLEAVE_BUNDLE_NONE)
        {
          slot->shares = get_slot (flow, last)->shares;
          slot->before = last;
          get_slot (flow, last)->next = s;
        }
      if (slot->is_whole)
        for (guint p = slot->before; p != CLEAVE_BUNDLE_NONE; p = get_slot (flow, p)->before)
          get_slot (flow, p)->capacity = get_result (flow, s)->image.rows;
    }
}

gboolean
cleave_bundle_flow_set_slots (CleaveBundleFlow *flow)
{
  set_slots (flow);
  if (flow->segment.n_bands > 1 && has_earlier_whole_result (flow))
    return FALSE;
  set_bands (flow);
  share_slots (flow);
  return TRUE;
}
