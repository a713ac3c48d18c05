/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "path.h"

/* The number of ways to each step that the search keeps: cheap ways, and more expensive ways that
 * leave more room for an overlay. With one way, the plan for ResNet-50 needs 3.3 % more memory than
 * with four. With two, it needs 0.3 % more. With eight, it needs the same. */
#define MAX_WAYS 4

/* A way to a step: a sequence of segments and unsplit steps before the step. */
typedef struct
{
  double cost;
  gint64 last;     /* live bytes of the last segment or step */
  gint64 extra;    /* bytes by which an overlay enlarges a live buffer */
  gint64 n_bytes;  /* peak so far */
  guint until;     /* last step that reads the enlarged buffer */
  guint candidate; /* index of the last segment; CLEAVE_FIT_NONE: an unsplit step */
  guint before;    /* index of the way before the last segment or step */
} Way;

typedef struct
{
  guint n;
  Way way[MAX_WAYS]; /* sorted by cost */
} Ways;

/* Adds a way, unless another way is at least as good. Removes ways that are worse in everything,
 * and the most expensive way if there are too many. */
static void
add_way (Ways *ways, const Way *way)
{
  guint n = 0, at;

  for (guint i = 0; i < ways->n; i++)
    if (ways->way[i].cost <= way->cost && ways->way[i].last <= way->last &&
        ways->way[i].extra <= way->extra)
      return;
  for (guint i = 0; i < ways->n; i++)
    if (ways->way[i].cost < way->cost || ways->way[i].last < way->last ||
        ways->way[i].extra < way->extra)
      ways->way[n++] = ways->way[i];
  ways->n = n;
  for (at = n; at > 0 && ways->way[at - 1].cost > way->cost; at--)
    ;
  if (at == MAX_WAYS)
    return;
  ways->n = MIN (n + 1, MAX_WAYS);
  for (guint i = ways->n - 1; i > at; i--)
    ways->way[i] = ways->way[i - 1];
  ways->way[at] = *way;
}

/* Appends to a way a segment or step that ends at step `end` and needs `next.last` bytes. Does
 * nothing if that exceeds `max_bytes`. In the last segment or step of the way, `grown` more bytes
 * are live. */
static void
append (Ways *to, const Way *from, Way next, gint64 grown, guint end, gint64 max_bytes)
{
  if (next.last > max_bytes || from->last + grown > max_bytes)
    return;
  if (next.until < end)
    next.extra = 0;
  next.n_bytes = MAX (MAX (from->n_bytes, from->last + grown), next.last);
  add_way (to, &next);
}

static void
append_segment (Ways *ways,
                const CleaveFitCandidates *candidates,
                guint index,
                const CleaveFitPathQuery *query)
{
  const CleaveFitCandidate *segment = cleave_fit_candidate (candidates, index);
  const CleaveFitOverlay *overlay = &segment->overlay;
  const Ways *from = &ways[segment->begin];
  const double cost = segment->work + query->mac_price * segment->macs;
  const gboolean has_overlay =
      overlay->result > 0 &&
      (double) overlay->shift <=
          query->max_ahead * (double) MIN (overlay->operand, overlay->result);

  if (segment->n_bytes - (has_overlay ? cleave_fit_overlay_get_saved (overlay) : 0) >
      query->max_bytes)
    return;
  for (guint i = 0; i < from->n; i++)
    {
      const Way *way = &from->way[i];
      Way next = { .cost = way->cost + cost,
                   .last = segment->n_bytes + way->extra,
                   .extra = way->extra,
                   .until = way->until,
                   .candidate = index,
                   .before = i };
      gint64 buffer;

      append (&ways[segment->end], way, next, 0, segment->end, query->max_bytes);
      if (!has_overlay)
        continue;
      buffer = cleave_fit_overlay_get_bytes (overlay, way->extra);
      next.last = segment->n_bytes - overlay->operand - overlay->result + buffer;
      next.extra = buffer - overlay->result;
      next.until = overlay->last;
      append (&ways[segment->end], way, next, buffer - overlay->operand - way->extra, segment->end,
              query->max_bytes);
    }
}

static void
append_step (Ways *ways, const CleaveFitSteps *steps, guint step, gint64 max_bytes)
{
  for (guint i = 0; i < ways[step].n; i++)
    {
      const Way *way = &ways[step].way[i];
      Way next = *way;

      next.last = steps->live[step] + way->extra;
      next.candidate = CLEAVE_FIT_NONE;
      next.before = i;
      append (&ways[step + 1], way, next, 0, step + 1, max_bytes);
    }
}

void
cleave_fit_path_free (CleaveFitPath *path)
{
  if (path == NULL)
    return;
  g_array_unref (path->segments);
  g_free (path);
}

static CleaveFitPath *
make_path (const CleaveFitCandidates *candidates, const Ways *ways)
{
  const guint n = candidates->steps->n_steps;
  g_autoptr (GArray) reversed = g_array_new (FALSE, FALSE, sizeof (guint));
  CleaveFitPath *path = g_new0 (CleaveFitPath, 1);

  path->segments = g_array_new (FALSE, FALSE, sizeof (CleaveFitCandidate));
  path->n_bytes = ways[n].way[0].n_bytes;
  for (guint end = n, i = 0; end > 0;)
    {
      const Way *way = &ways[end].way[i];

      i = way->before;
      if (way->candidate == CLEAVE_FIT_NONE)
        {
          end--;
          continue;
        }
      g_array_append_val (reversed, way->candidate);
      end = cleave_fit_candidate (candidates, way->candidate)->begin;
    }
  for (guint i = reversed->len; i-- > 0;)
    {
      const CleaveFitCandidate *segment =
          cleave_fit_candidate (candidates, g_array_index (reversed, guint, i));

      g_array_append_vals (path->segments, segment, 1);
      path->macs += segment->macs;
      path->work += segment->work;
    }
  return path;
}

CleaveFitPath *
cleave_fit_path_find (const CleaveFitCandidates *candidates, const CleaveFitPathQuery *query)
{
  const CleaveFitSteps *steps = candidates->steps;
  g_autofree Ways *ways = g_new0 (Ways, steps->n_steps + 1);

  ways[0] = (Ways){ .n = 1, .way = { { .candidate = CLEAVE_FIT_NONE } } };
  for (guint end = 1; end <= steps->n_steps; end++)
    {
      append_step (ways, steps, end - 1, query->max_bytes);
      for (guint c = candidates->first[end]; c < candidates->first[end + 1]; c++)
        append_segment (ways, candidates, c, query);
    }
  return ways[steps->n_steps].n == 0 ? NULL : make_path (candidates, ways);
}

static gboolean
is_same (const CleaveFitCandidate *a, const CleaveFitCandidate *b)
{
  return a->begin == b->begin && a->end == b->end && a->n_strips == b->n_strips &&
         a->n_columns == b->n_columns && a->cut == b->cut && a->column_cut == b->column_cut &&
         a->halo == b->halo && a->in_bands == b->in_bands;
}

gboolean
cleave_fit_path_equal (const CleaveFitPath *a, const CleaveFitPath *b)
{
  if (a->segments->len != b->segments->len)
    return FALSE;
  for (guint i = 0; i < a->segments->len; i++)
    if (!is_same (&g_array_index (a->segments, CleaveFitCandidate, i),
                  &g_array_index (b->segments, CleaveFitCandidate, i)))
      return FALSE;
  return TRUE;
}
