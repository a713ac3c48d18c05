/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the value that the result of a segment's last step may overlay, and the lag between result
 * and value (flow.h). A single dry run of the longest segment finds the lags of all segments with
 * the same last step. */

#include <string.h>

#include "flow-parts.h"

/* Returns whether the result of the last step may overlay a value in a segment that begins at step
 * `first`. The value must be computed before the segment, be in the arena, have one image, and die
 * in the segment. */
static gboolean
may_overlay (const CleaveBundleFlow *flow, guint first, const CleaveBundleValue *value)
{
  return (value->producer == CLEAVE_BUNDLE_NONE || value->producer < first) &&
         value->place == CLEAVE_BUNDLE_ARENA && value->image.images == 1 &&
         value->last_reader < flow->segment.end;
}

static guint
find_base (const CleaveBundleFlow *flow, guint s, guint operand)
{
  return cleave_bundle_value (flow->model, get_step (flow, s)->operands[operand])->base;
}

/* Returns the largest value that the result of the last step may overlay in a segment that begins
 * at step `first`; CLEAVE_BUNDLE_NONE if there is none. */
static guint
choose_value (const CleaveBundleFlow *flow, guint first)
{
  guint chosen = CLEAVE_BUNDLE_NONE;
  gint64 most = 0;

  for (guint s = first; s < flow->segment.end; s++)
    for (guint i = 0; i < get_step (flow, s)->n_operands; i++)
      {
        guint base = find_base (flow, s, i);
        const CleaveBundleValue *value = cleave_bundle_value (flow->model, base);

        if (may_overlay (flow, first, value) && cleave_bundle_value_bytes (value) > most)
          {
            most = cleave_bundle_value_bytes (value);
            chosen = base;
          }
      }
  return chosen;
}

/* Appends to flow->readers an entry for each operand of step `s` that reads `value`. Returns the
 * number of these operands. */
static guint
list_readers (CleaveBundleFlow *flow, guint s, guint value)
{
  guint n = flow->readers->len;

  for (guint i = 0; i < get_step (flow, s)->n_operands; i++)
    if (find_base (flow, s, i) == value)
      {
        CleaveBundleReader reader = { s, i };

        g_array_append_val (flow->readers, reader);
        flow->overlaid[s - flow->segment.first] |= (guint8) (1u << i);
      }
  return flow->readers->len - n;
}

/* Adds a segment to flow->overlays, the list of groups (CleaveBundleOverlayGroup). The segment
 * begins at step `first`, and its result overlays `value`. The caller first adds the shortest
 * segment, then each time the segment that begins one step earlier. The segment joins the last
 * group if
 *
 *   - the group begins at step `first` + 1, and its segments overlay the same value
 *   - step `first` does not read the value, and does not use the memory of the segment's result
 *
 * If only the first condition holds, adds a new group. The new group shares the readers
 * (CleaveBundleReader) of the last group, and adds step `first` with each operand that reads the
 * value. If the first condition does not hold, adds a new group that shares no readers. */
static void
add_first (CleaveBundleFlow *flow, guint first, guint value)
{
  GArray *groups = flow->overlays;
  CleaveBundleOverlayGroup *last =
      groups->len == 0 ? NULL : &g_array_index (groups, CleaveBundleOverlayGroup, groups->len - 1);
  CleaveBundleOverlayGroup group = { .first = first, .end = first + 1 };
  gboolean is_same = last != NULL && last->first == first + 1 && last->overlay.value == value;
  guint n;

  group.overlay =
      (CleaveBundleOverlay){ get_step (flow, flow->segment.end - 1)->result, value, G_MININT64 };
  group.first_reader = is_same ? last->first_reader : flow->readers->len;
  if (!is_same)
    for (guint s = flow->segment.end; s-- > first + 1;)
      list_readers (flow, s, value);
  n = list_readers (flow, first, value);
  group.n_readers = flow->readers->len - group.first_reader;
  if (is_same && n == 0 && get_slot (flow, first)->shares != flow->end_slot)
    last->first = first;
  else
    g_array_append_val (groups, group);
}

void
cleave_bundle_flow_list_overlays (CleaveBundleFlow *flow)
{
  const CleaveBundleSegment *g = &flow->segment;
  const CleaveBundleValue *end = get_result (flow, g->end - 1);

  g_array_set_size (flow->overlays, 0);
  g_array_set_size (flow->readers, 0);
  memset (flow->overlaid, 0, g->end - g->first);
  if (g->n_bands > 1 || end->place != CLEAVE_BUNDLE_ARENA || end->image.images != 1)
    return;
  flow->end_slot = get_slot (flow, g->end - 1)->shares;
  for (guint first = g->end; first-- > g->first;)
    {
      guint value = choose_value (flow, first);

      if (value != CLEAVE_BUNDLE_NONE)
        add_first (flow, first, value);
    }
}

/* Returns the offset, in bytes from the begin of the overlaid value, of the first byte that a step
 * still reads when step `s` writes its next row. Returns G_MAXINT64 if no step reads a byte. */
static gint64
find_oldest_byte (const CleaveBundleFlow *flow, const CleaveBundleOverlayGroup *group, guint s)
{
  gint64 oldest = G_MAXINT64;

  for (guint k = 0; k < group->n_readers; k++)
    {
      CleaveBundleReader reader =
          g_array_index (flow->readers, CleaveBundleReader, group->first_reader + k);
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

void
cleave_bundle_flow_grow_lags (CleaveBundleFlow *flow, guint s)
{
  if (flow->overlays->len == 0 || get_slot (flow, s)->shares != flow->end_slot)
    return;
  for (guint i = 0; i < flow->overlays->len; i++)
    {
      CleaveBundleOverlayGroup *group =
          &g_array_index (flow->overlays, CleaveBundleOverlayGroup, i);
      gint64 oldest;

      if (group->first > s)
        continue;
      oldest = find_oldest_byte (flow, group, s);
      if (oldest < G_MAXINT64)
        group->overlay.lag = MAX (
            group->overlay.lag,
            (*get_made (flow, s) + 1) * cleave_bundle_row_bytes (get_result (flow, s)) - oldest);
    }
}
