/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Lays out segments. A dry run of the loop of a segment finds the number of rows of each ring
 * (CleaveBundleRun). If possible, takes these numbers from an earlier dry run: for a longer segment
 * with the same last step, or for the same segment with another number of bands.
 *
 * As long as the same steps share memory, the number of rows of a ring depends neither on the first
 * step of the segment nor on the columns of bands. For each last step, the planner lays out the
 * segments from the shortest to the longest. If a segment is one step longer than the segment of
 * the last dry run, the next dry run runs the loop of a segment with 4 times as many steps. The
 * segments of up to this length with the same last step then need no dry run. */

#include <string.h>

#include "flow-parts.h"

static CleaveBundleRun *
get_run (CleaveBundleFlow *flow, gboolean is_upward, gboolean has_bands)
{
  return &flow->runs[is_upward ? 2 : has_bands];
}

/* Returns whether the dry run `run` has found the number of rows of each ring of the current
 * segment. */
static gboolean
has_rows (const CleaveBundleFlow *flow, const CleaveBundleRun *run)
{
  const CleaveBundleSegment *g = &flow->segment;

  if (flow->walks_all || run->end != g->end || run->first > g->first)
    return FALSE;
  for (guint s = g->first; s < g->end; s++)
    if (run->next[s - run->first] != get_slot (flow, s)->next)
      return FALSE;
  return TRUE;
}

static void
take_rows (CleaveBundleFlow *flow, const CleaveBundleRun *run)
{
  CleaveBundleSegment *g = &flow->segment;
  CleaveBundleOverlay none = { CLEAVE_BUNDLE_NONE, CLEAVE_BUNDLE_NONE, G_MININT64 };

  g->overlay = g->n_bands > 1 ? none : run->overlays[g->first - run->first];
  for (guint s = g->first; s < g->end; s++)
    if (get_slot (flow, s)->shares == s)
      get_slot (flow, s)->capacity = run->capacity[s - run->first];
}

/* Stores the result of a dry run of the current segment's loop in `run`: the number of rows of each
 * ring. Also stores the overlays of the segment and of all shorter segments with the same last
 * step. */
static void
keep_rows (CleaveBundleFlow *flow, CleaveBundleRun *run)
{
  const CleaveBundleSegment *g = &flow->segment;

  run->first = g->first;
  run->end = g->end;
  for (guint s = g->first; s < g->end; s++)
    {
      run->next[s - g->first] = get_slot (flow, s)->next;
      run->capacity[s - g->first] = get_slot (flow, s)->capacity;
      run->overlays[s - g->first] =
          (CleaveBundleOverlay){ CLEAVE_BUNDLE_NONE, CLEAVE_BUNDLE_NONE, G_MININT64 };
    }
  for (guint i = 0; i < flow->overlays->len; i++)
    {
      CleaveBundleOverlayGroup *group =
          &g_array_index (flow->overlays, CleaveBundleOverlayGroup, i);
      CleaveBundleOverlay *overlay = &group->overlay;

      overlay->lag =
          MAX (overlay->lag,
               -cleave_bundle_value_bytes (cleave_bundle_value (flow->model, overlay->value)));
      for (guint s = group->first; s < group->end; s++)
        run->overlays[s - g->first] = *overlay;
    }
}

/* Makes `first` the first step of the segment, and initializes the CleaveBundleSlot of each step.
 * Returns FALSE if the steps from `first` on cannot be a segment. */
static gboolean
begin_at (CleaveBundleFlow *flow, guint first)
{
  flow->segment.first = first;
  return cleave_bundle_flow_begin (flow);
}

/* Makes the segment begin at step `first`. If the steps from `first` on cannot be a segment,
 * chooses the first later step s for which the steps from s on can be a segment. Uses binary
 * search: if a range of steps can be a segment, each shorter range with the same end can be one,
 * too. */
static void
begin_early (CleaveBundleFlow *flow, guint first)
{
  guint low = first, high = flow->segment.first;

  if (begin_at (flow, low))
    return;
  while (low + 1 < high)
    {
      guint middle = low + (high - low) / 2;

      if (begin_at (flow, middle))
        high = middle;
      else
        low = middle;
    }
  if (!begin_at (flow, high))
    g_assert_not_reached ();
}

/* Returns the step at which the dry run for the current segment begins, usually the first step of
 * the segment. If the current segment is one step longer than the segment of the last dry run,
 * returns an earlier step. The dry run then has up to four times as many steps as the current
 * segment, and serves longer segments with the same end, too. */
static guint
find_begin (const CleaveBundleFlow *flow, const CleaveBundleRun *run)
{
  const CleaveBundleSegment *g = &flow->segment;
  guint n = MIN (4 * (g->end - g->first), MAX (CLEAVE_BUNDLE_MAX_STEPS, g->end - g->first));

  if (flow->walks_all || run->end != g->end || run->first != g->first + 1)
    return g->first;
  return g->end > n ? g->end - n : 0;
}

/* Sets the number of rows of each ring of the segment, and the overlay of the segment. Takes both
 * from one of the dry runs in flow->runs. If none of these dry runs has counted the rows of the
 * segment's rings, makes a new dry run. */
static void
set_rows (CleaveBundleFlow *flow)
{
  CleaveBundleSegment *g = &flow->segment;
  CleaveBundleRun *run = get_run (flow, g->is_upward, g->n_bands > 1);
  guint first = g->first;

  if (g->n_bands > 1 && has_rows (flow, get_run (flow, FALSE, FALSE)))
    run = get_run (flow, FALSE, FALSE);
  else if (!has_rows (flow, run))
    {
      begin_early (flow, find_begin (flow, run));
      cleave_bundle_flow_list_overlays (flow);
      cleave_bundle_flow_run_rows (flow);
      keep_rows (flow, run);
      begin_at (flow, first);
    }
  take_rows (flow, run);
}

static void
add_rings (CleaveBundleFlow *flow)
{
  CleaveBundleSegment *g = &flow->segment;

  g->ring_bytes = 0;
  for (guint s = g->first; s < g->end; s++)
    if (get_slot (flow, s)->shares == s &&
        cleave_bundle_flow_find_whole (flow, s) == CLEAVE_BUNDLE_NONE)
      g->ring_bytes += cleave_align_up (get_slot (flow, s)->capacity * get_slot (flow, s)->columns *
                                            (gint64) get_result (flow, s)->image.pixel_bytes,
                                        flow->align);
}

static gboolean
run (CleaveBundleFlow *flow)
{
  if (!cleave_bundle_flow_begin (flow))
    return FALSE;
  set_rows (flow);
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
  gboolean done =
      segment->is_upward
          ? cleave_bundle_flow_run_upward (flow, segment->first, segment->end)
          : cleave_bundle_flow_run (flow, segment->first, segment->end, segment->n_bands);

  g_assert (done);
}
