/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Checks that steps can be a segment (flow-parts.h), and owns the memory of a CleaveBundleFlow. */

#include "flow-parts.h"

/* a segment has at most this many bands */
#define MAX_BANDS 64

void
cleave_bundle_flow_init (CleaveBundleFlow *flow, const CleaveBundleModel *model, gint64 align)
{
  guint n = model->steps->len;

  *flow = (CleaveBundleFlow){ .model = model, .align = align };
  flow->slots = g_new (CleaveBundleSlot, n);
  flow->columns = g_new (CleaveSpan, (gsize) n * MAX_BANDS);
  flow->made = g_new (gint64, n);
  flow->mark = g_new (gint64, n);
  flow->reader = g_new (guint, n);
  for (guint i = 0; i < G_N_ELEMENTS (flow->runs); i++)
    {
      flow->runs[i].next = g_new (guint, n);
      flow->runs[i].capacity = g_new (gint64, n);
      flow->runs[i].overlays = g_new (CleaveBundleOverlay, n);
    }
  flow->overlays = g_array_new (FALSE, FALSE, sizeof (CleaveBundleOverlayGroup));
  flow->readers = g_array_new (FALSE, FALSE, sizeof (CleaveBundleReader));
  flow->overlaid = g_new (guint8, n);
}

void
cleave_bundle_flow_clear (CleaveBundleFlow *flow)
{
  g_free (flow->slots);
  g_free (flow->columns);
  g_free (flow->made);
  g_free (flow->mark);
  g_free (flow->reader);
  for (guint i = 0; i < G_N_ELEMENTS (flow->runs); i++)
    {
      g_free (flow->runs[i].next);
      g_free (flow->runs[i].capacity);
      g_free (flow->runs[i].overlays);
    }
  g_array_unref (flow->overlays);
  g_array_unref (flow->readers);
  g_free (flow->overlaid);
}

/* Returns whether all views that the segment reads have bases that are computed before the
 * segment. */
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

/* Returns whether all steps of the segment have the same number of images. A segment requires this,
 * since its loop runs once for each image. */
static gboolean
has_one_batch (const CleaveBundleFlow *flow)
{
  for (guint s = flow->segment.first + 1; s < flow->segment.end; s++)
    if (get_result (flow, s)->image.images != get_result (flow, s - 1)->image.images)
      return FALSE;
  return TRUE;
}

guint
cleave_bundle_flow_find_whole (const CleaveBundleFlow *flow, guint owner)
{
  for (guint s = owner; s != CLEAVE_BUNDLE_NONE; s = get_slot (flow, s)->next)
    if (get_slot (flow, s)->is_whole)
      return s;
  return CLEAVE_BUNDLE_NONE;
}

/* Returns whether a step of the segment reads rows of an input from the caller of the run function.
 * The caller supplies each row whole, once and in order, so the segment cannot have several bands,
 * and its loop cannot compute rows upward (from the last to the first). */
static gboolean
has_rows_of_caller (const CleaveBundleFlow *flow)
{
  for (guint s = flow->segment.first; s < flow->segment.end; s++)
    if (get_step (flow, s)->node == NULL)
      return TRUE;
  return FALSE;
}

/* Returns whether a step computes a whole image as one row, which bands must not divide. */
static gboolean
has_flat_layer (const CleaveBundleFlow *flow)
{
  for (guint s = flow->segment.first; s < flow->segment.end; s++)
    if (get_step (flow, s)->layer->is_flat)
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

/* Returns whether a step that sums rows has a whole result, which a step after the segment reads.
 * This is not allowed: only the last row of the result is the complete sum, so the reader of the
 * sum must be in the same segment. */
static gboolean
has_whole_sum (const CleaveBundleFlow *flow)
{
  for (guint s = flow->segment.first; s < flow->segment.end; s++)
    if (get_step (flow, s)->is_sum && get_slot (flow, s)->is_whole)
      return TRUE;
  return FALSE;
}

gboolean
cleave_bundle_flow_begin (CleaveBundleFlow *flow)
{
  CleaveBundleSegment *g = &flow->segment;
  guint end = g->end, n_bands = g->n_bands;

  if (((g->is_upward || n_bands > 1) && has_rows_of_caller (flow)) ||
      (n_bands > 1 && has_flat_layer (flow)) || (g->is_upward && has_sum (flow)))
    return FALSE;
  if (n_bands > MAX_BANDS || n_bands > MAX (get_result (flow, end - 1)->image.columns, 1) ||
      !has_no_inner_views (flow) || !has_one_batch (flow))
    return FALSE;
  return cleave_bundle_flow_set_slots (flow) && !has_whole_sum (flow);
}
