/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the cheapest plan within a number of bytes (dynamic programming over the steps), and a
 * lower bound of the bytes of all plans. A prefix is a plan for the steps before a step. Each
 * prefix is extended by an unsplit step, or by a segment candidate that begins at the step. */

#include "path.h"

/* The search keeps at most this many prefixes for each step: the cheapest prefix, and more
 * expensive prefixes with less drift, which leaves more room for overlays. With one prefix, the
 * plan for ResNet-50 needs 3.3 % more memory than with four, and with two, 0.3 % more. With eight
 * prefixes, the plan needs the same memory as with four. */
#define MAX_PREFIXES 4

/* A plan for the steps before a step: a sequence of segments and unsplit steps.
 *
 * Drift: if overlays follow each other, each value begins `shift` bytes below the value that it
 * overlays. So the values move down through the arena. Other values can use the bytes above and
 * below these values, but a large value may fit into neither gap. So the search counts the drift as
 * bytes in use, as long as the last overlay is in use. */
typedef struct
{
  double cost;
  gint64 drift;    /* sum of the shifts of overlays that follow each other, in bytes; 0: no
                      overlay */
  gint64 n_bytes;  /* peak in bytes from the first step to the end of the prefix */
  guint until;     /* last step that reads the result of the last overlay */
  guint candidate; /* index of the last segment among the candidates; CLEAVE_FIT_NONE: the prefix
                      ends with an unsplit step */
  guint before;    /* index of the shorter prefix that this prefix extends by one segment or step */
} Prefix;

typedef struct
{
  guint n;
  Prefix prefix[MAX_PREFIXES]; /* sorted by cost */
} Prefixes;

/* Adds a prefix, unless another prefix dominates it. Removes the prefixes that the new prefix
 * dominates, and the most expensive prefix if there are more than MAX_PREFIXES. */
static void
add_prefix (Prefixes *prefixes, const Prefix *prefix)
{
  guint n = 0, at;

  for (guint i = 0; i < prefixes->n; i++)
    if (prefixes->prefix[i].cost <= prefix->cost && prefixes->prefix[i].drift <= prefix->drift)
      return;
  for (guint i = 0; i < prefixes->n; i++)
    if (prefixes->prefix[i].cost < prefix->cost || prefixes->prefix[i].drift < prefix->drift)
      prefixes->prefix[n++] = prefixes->prefix[i];
  prefixes->n = n;
  for (at = n; at > 0 && prefixes->prefix[at - 1].cost > prefix->cost; at--)
    ;
  if (at == MAX_PREFIXES)
    return;
  prefixes->n = MIN (n + 1, MAX_PREFIXES);
  for (guint i = prefixes->n - 1; i > at; i--)
    prefixes->prefix[i] = prefixes->prefix[i - 1];
  prefixes->prefix[at] = *prefix;
}

/* Keeps the cheaper one of `prefix` and the only prefix in `prefixes`. Without overlays, the more
 * expensive prefix cannot begin a better plan. */
static void
keep_cheaper (Prefixes *prefixes, const Prefix *prefix)
{
  const Prefix *kept = &prefixes->prefix[0];

  if (prefixes->n > 0 && (kept->cost < prefix->cost ||
                          (kept->cost == prefix->cost && kept->n_bytes <= prefix->n_bytes)))
    return;
  prefixes->prefix[0] = *prefix;
  prefixes->n = 1;
}

/* Adds the prefix `next` to `to`. `next` extends a prefix by one segment or step, which ends at
 * step `end` and needs `n_bytes` bytes. Does nothing if `n_bytes` exceeds `query->max_bytes`. */
static void
append (Prefixes *to, Prefix next, gint64 n_bytes, guint end, const CleaveFitPathQuery *query)
{
  if (n_bytes > query->max_bytes)
    return;
  if (next.until < end)
    next.drift = 0;
  next.n_bytes = MAX (next.n_bytes, n_bytes);
  if (query->max_ahead < 0)
    keep_cheaper (to, &next);
  else
    add_prefix (to, &next);
}

static void
append_segment (Prefixes *prefixes,
                const CleaveFitCandidates *candidates,
                guint index,
                const CleaveFitPathQuery *query)
{
  const CleaveFitCandidate *segment = cleave_fit_candidate (candidates, index);
  const CleaveFitOverlay *overlay = &segment->overlay;
  const Prefixes *from = &prefixes[segment->begin];
  const double cost = segment->work + query->mac_price * segment->macs;
  const gboolean has_overlay =
      overlay->result > 0 &&
      (double) overlay->shift <=
          query->max_ahead * (double) MIN (overlay->operand, overlay->result);

  for (guint i = 0; i < from->n; i++)
    {
      Prefix next = from->prefix[i];
      const gint64 drift = next.drift;

      next.cost += cost;
      next.candidate = index;
      next.before = i;
      append (&prefixes[segment->end], next, segment->n_bytes + drift, segment->end, query);
      if (!has_overlay)
        continue;
      next.drift = drift + overlay->shift;
      next.until = overlay->last;
      append (&prefixes[segment->end], next, cleave_fit_candidate_get_least (segment) + drift,
              segment->end, query);
    }
}

static void
append_step (Prefixes *prefixes,
             const CleaveFitSteps *steps,
             guint step,
             const CleaveFitPathQuery *query)
{
  for (guint i = 0; i < prefixes[step].n; i++)
    {
      Prefix next = prefixes[step].prefix[i];

      next.candidate = CLEAVE_FIT_NONE;
      next.before = i;
      append (&prefixes[step + 1], next, steps->live[step] + next.drift, step + 1, query);
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
make_path (const CleaveFitCandidates *candidates, const Prefixes *prefixes)
{
  const guint n = candidates->steps->n_steps;
  g_autoptr (GArray) reversed = g_array_new (FALSE, FALSE, sizeof (guint));
  CleaveFitPath *path = g_new0 (CleaveFitPath, 1);

  path->segments = g_array_new (FALSE, FALSE, sizeof (CleaveFitCandidate));
  path->n_bytes = prefixes[n].prefix[0].n_bytes;
  for (guint end = n, i = 0; end > 0;)
    {
      const Prefix *prefix = &prefixes[end].prefix[i];

      i = prefix->before;
      if (prefix->candidate == CLEAVE_FIT_NONE)
        {
          end--;
          continue;
        }
      g_array_append_val (reversed, prefix->candidate);
      end = cleave_fit_candidate (candidates, prefix->candidate)->begin;
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
  g_autofree Prefixes *prefixes = g_new0 (Prefixes, steps->n_steps + 1);

  prefixes[0] = (Prefixes){ .n = 1, .prefix = { { .candidate = CLEAVE_FIT_NONE } } };
  for (guint end = 1; end <= steps->n_steps; end++)
    {
      append_step (prefixes, steps, end - 1, query);
      for (guint c = candidates->first[end]; c < candidates->first[end + 1]; c++)
        if (candidates->least_bytes[c] <= query->max_bytes)
          append_segment (prefixes, candidates, c, query);
    }
  return prefixes[steps->n_steps].n == 0 ? NULL : make_path (candidates, prefixes);
}

gint64
cleave_fit_path_bound (const CleaveFitCandidates *candidates, gboolean has_overlays)
{
  const CleaveFitSteps *steps = candidates->steps;
  g_autofree gint64 *least = g_new0 (gint64, steps->n_steps + 1);

  for (guint end = 1; end <= steps->n_steps; end++)
    {
      least[end] = MAX (least[end - 1], steps->live[end - 1]);
      for (guint c = candidates->first[end]; c < candidates->first[end + 1]; c++)
        if (candidates->least_bytes[c] < least[end])
          {
            const CleaveFitCandidate *segment = cleave_fit_candidate (candidates, c);
            const gint64 n_bytes = has_overlays ? candidates->least_bytes[c] : segment->n_bytes;

            least[end] = MIN (least[end], MAX (least[segment->begin], n_bytes));
          }
    }
  return least[steps->n_steps];
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
