/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The search for plans (plan.h). A position p is the border between steps p - 1 and p. For each
 * position, finds the best partial plans: plans of the steps before the position. */

#include "plan.h"

/* The search keeps at most this many partial plans for each position and state: the plans whose
 * bytes differ the most. The limit bounds the time of the search if many MACs may be added. */
#define MAX_PARTIAL_PLANS 48

/* Numbers of bands that the search tries for each segment. */
static const guint bands[] = { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32 };

/* The state of a plan: the direction in which the result of its last segment overlays a value
 * (flow.h). In a chain of segments, each result may overlay the previous result. The direction must
 * then alternate, since otherwise each result would begin further down, or further up, than the
 * previous one. */
typedef enum { APART, DOWNWARD, UPWARD, N_STATES } State;

/* A partial plan: segments that cover the steps before a position. No other partial plan for these
 * steps dominates it. */
typedef struct
{
  gint64 peak_bytes, macs;
  guint n_overlays; /* number of segments whose overlay saves bytes; 0 if `prefers_few_overlays` is
                       FALSE */
  CleaveBundleSegment segment; /* the last segment of the plan */
  State state_before; /* state_before and before: state and index of the partial plan that this plan
                       * continues; that plan ends where the last segment begins */
  guint before;
} PartialPlan;

typedef struct
{
  const CleaveBundleModel *model;
  CleaveBundleFlow flow;
  gint64 align, max_macs;
  gboolean prefers_few_overlays; /* of two plans with the same bytes and MACs, the plan with fewer
                                  * overlays is better */
  gint64 max_bytes;   /* bytes of the plan with one segment for each step; the search drops plans
                       * that need more */
  gint64 *macs_after; /* indexed by position: MACs of the steps from this position on, without added
                       * MACs */
  GArray **partials;  /* PartialPlan, indexed by position and state: each array is sorted by
                       * rising MACs and falling bytes (compare_partial_plans()) */
} Search;

static GArray *
get_partial_plans (const Search *s, guint position, State state)
{
  return s->partials[position * N_STATES + state];
}

void
cleave_bundle_plan_free (gpointer data)
{
  CleaveBundlePlan *plan = data;

  g_array_unref (plan->segments);
  g_free (plan);
}

static gint64
value_bytes (const Search *s, guint value)
{
  return cleave_align_up (cleave_bundle_value_bytes (cleave_bundle_value (s->model, value)),
                          s->align);
}

/* Returns the bytes of the whole values that are in the arena while a segment runs. */
static gint64
count_whole (const Search *s, const CleaveBundleSegment *g)
{
  gint64 n_bytes = 0;

  for (guint i = 0; i < s->model->values->len; i++)
    {
      const CleaveBundleValue *value = cleave_bundle_value (s->model, i);
      gboolean is_before = value->producer == CLEAVE_BUNDLE_NONE || value->producer < g->first;

      if (value->base != i || value->place != CLEAVE_BUNDLE_ARENA)
        continue;
      if ((is_before && value->last_reader >= g->first) ||
          (!is_before && value->producer < g->end && value->last_reader >= g->end))
        n_bytes += value_bytes (s, i);
    }
  return n_bytes;
}

/* Returns the bytes that an overlay saves; 0 if there is no overlay. */
static gint64
count_overlaid (const Search *s, const CleaveBundleOverlay *overlay)
{
  gint64 end, value, lag, both;

  if (overlay->value == CLEAVE_BUNDLE_NONE)
    return 0;
  end = value_bytes (s, overlay->end);
  value = value_bytes (s, overlay->value);
  lag = MIN (MAX (overlay->lag, 0), end);
  both = lag + cleave_bundle_value_bytes (cleave_bundle_value (s->model, overlay->value));
  return end + value - MAX (end, cleave_align_up (both, s->align));
}

/* Removes the partial plan whose bytes are closest to the bytes of the plan before it in the array.
 * Keeps the first plan (fewest MACs) and the last plan (fewest bytes). */
static void
thin_out (GArray *partials)
{
  guint least = 1;

  for (guint i = 1; i + 1 < partials->len; i++)
    if (g_array_index (partials, PartialPlan, i - 1).peak_bytes -
            g_array_index (partials, PartialPlan, i).peak_bytes <
        g_array_index (partials, PartialPlan, least - 1).peak_bytes -
            g_array_index (partials, PartialPlan, least).peak_bytes)
      least = i;
  g_array_remove_index (partials, least);
}

/* Compares the bytes of two plans, then their numbers of overlays. */
static int
compare_partial_plans (const PartialPlan *a, const PartialPlan *b)
{
  if (a->peak_bytes != b->peak_bytes)
    return a->peak_bytes < b->peak_bytes ? -1 : 1;
  return a->n_overlays < b->n_overlays ? -1 : a->n_overlays > b->n_overlays;
}

/* Adds a partial plan unless another plan in `partials` has at most as many MACs and at most as
 * many bytes. Removes the partial plans that the new plan dominates. */
static void
add_partial_plan (GArray *partials, const PartialPlan *partial)
{
  guint at = 0;

  while (at < partials->len && g_array_index (partials, PartialPlan, at).macs <= partial->macs)
    if (compare_partial_plans (&g_array_index (partials, PartialPlan, at++), partial) <= 0)
      return;
  while (at > 0 && g_array_index (partials, PartialPlan, at - 1).macs == partial->macs)
    g_array_remove_index (partials, --at);
  while (at < partials->len &&
         compare_partial_plans (&g_array_index (partials, PartialPlan, at), partial) >= 0)
    g_array_remove_index (partials, at);
  g_array_insert_val (partials, at, *partial);
}

/* Adds a partial plan, and limits the number of partial plans to MAX_PARTIAL_PLANS. */
static void
add_bounded (GArray *partials, const PartialPlan *partial)
{
  add_partial_plan (partials, partial);
  if (partials->len > MAX_PARTIAL_PLANS)
    thin_out (partials);
}

/* Returns whether the segment `g`, appended to the plan `before`, must not overlay the value
 * g->overlay.value. This is so if that value is the result of the last segment of `before`, which
 * overlays another value, and both segments compute their rows in the same direction. `state`: the
 * overlay of that last segment. */
static gboolean
is_blocked (const PartialPlan *before, State state, const CleaveBundleSegment *g)
{
  return state == (g->is_upward ? UPWARD : DOWNWARD) &&
         before->segment.overlay.end == g->overlay.value;
}

/* Appends the segment `g` to a partial plan that ends where `g` begins. Adds the longer plan.
 * `state` and `index` select the partial plan. `n_bytes`: bytes of the segment; `saved`: bytes that
 * the overlay of the segment saves. */
static void
extend (
    Search *s, const CleaveBundleSegment *g, gint64 n_bytes, gint64 saved, State state, guint index)
{
  const PartialPlan *before =
      &g_array_index (get_partial_plans (s, g->first, state), PartialPlan, index);
  gint64 least = is_blocked (before, state, g) ? n_bytes : n_bytes - saved;
  PartialPlan partial = { .peak_bytes = MAX (before->peak_bytes, least),
                          .macs = before->macs + g->macs,
                          .n_overlays =
                              before->n_overlays + (s->prefers_few_overlays && least < n_bytes),
                          .segment = *g,
                          .state_before = state,
                          .before = index };
  State after = least == n_bytes ? APART : g->is_upward ? UPWARD : DOWNWARD;

  if (partial.macs + s->macs_after[g->end] <= s->max_macs && partial.peak_bytes <= s->max_bytes)
    add_bounded (get_partial_plans (s, g->end, after), &partial);
}

/* Appends the segment `g` to all partial plans that end where `g` begins. */
static void
extend_all (Search *s, const CleaveBundleSegment *g)
{
  gint64 n_bytes = g->ring_bytes + count_whole (s, g);
  gint64 saved = count_overlaid (s, &g->overlay);

  for (State state = 0; state < N_STATES; state++)
    for (guint i = 0; i < get_partial_plans (s, g->first, state)->len; i++)
      extend (s, g, n_bytes, saved, state, i);
}

/* Adds all partial plans whose last segment ends at position `end`. */
static void
search_end (Search *s, guint end)
{
  for (guint first = end; first-- > 0 && end - first <= CLEAVE_BUNDLE_MAX_STEPS;)
    {
      gint64 least = G_MAXINT64;

      for (guint i = 0; i < G_N_ELEMENTS (bands); i++)
        if (cleave_bundle_flow_run (&s->flow, first, end, bands[i]))
          {
            const CleaveBundleSegment *g = &s->flow.segment;

            least = MIN (least, g->ring_bytes);
            extend_all (s, g);
            if (g->macs >
                s->max_macs - s->macs_after[0] + s->macs_after[first] - s->macs_after[end])
              break;
          }
        else if (bands[i] > 1)
          break;
      if (cleave_bundle_flow_run_upward (&s->flow, first, end))
        extend_all (s, &s->flow.segment);
      /* a longer segment with this end has larger rings, so it also exceeds the limit */
      if (least < G_MAXINT64 && least > s->max_bytes)
        break;
    }
}

static void
init (Search *s, const CleaveBundleModel *model, gint64 align, gint64 max_macs)
{
  guint n = model->steps->len;

  *s = (Search){ .model = model, .align = align, .max_macs = max_macs, .max_bytes = G_MAXINT64 };
  cleave_bundle_flow_init (&s->flow, model, align);
  s->macs_after = g_new0 (gint64, n + 1);
  s->partials = g_new (GArray *, (n + 1) * N_STATES);
  for (guint i = n; i-- > 0;)
    s->macs_after[i] = s->macs_after[i + 1] + cleave_bundle_step (model, i)->macs;
  for (guint i = 0; i < (n + 1) * N_STATES; i++)
    s->partials[i] = g_array_new (FALSE, FALSE, sizeof (PartialPlan));
}

static void
clear (Search *s)
{
  for (guint i = 0; i < (s->model->steps->len + 1) * N_STATES; i++)
    g_array_unref (s->partials[i]);
  g_free (s->partials);
  g_free (s->macs_after);
  cleave_bundle_flow_clear (&s->flow);
}

static CleaveBundlePlan *
make_plan (const Search *s, State state, guint index)
{
  guint end = s->model->steps->len;
  const PartialPlan *partial =
      &g_array_index (get_partial_plans (s, end, state), PartialPlan, index);
  CleaveBundlePlan *plan = g_new0 (CleaveBundlePlan, 1);

  plan->peak_bytes = partial->peak_bytes;
  plan->macs = partial->macs;
  plan->segments = g_array_new (FALSE, FALSE, sizeof (CleaveBundleSegment));
  while (end > 0)
    {
      partial = &g_array_index (get_partial_plans (s, end, state), PartialPlan, index);
      g_array_prepend_val (plan->segments, partial->segment);
      end = partial->segment.first;
      state = partial->state_before;
      index = partial->before;
    }
  return plan;
}

/* Makes a plan in which each step is a segment. There is one exception: a step that sums rows, and
 * the step that reads the sum, are one segment of two steps. Returns the bytes of the plan. */
static gint64
search_unsplit (Search *s)
{
  gint64 most = 0;

  for (guint i = 0; i < s->model->steps->len; i++)
    {
      guint end = i + (cleave_bundle_step (s->model, i)->is_sum ? 2 : 1);

      if (cleave_bundle_flow_run_upward (&s->flow, i, end))
        extend_all (s, &s->flow.segment);
      if (!cleave_bundle_flow_run (&s->flow, i, end, 1))
        g_assert_not_reached ();
      extend_all (s, &s->flow.segment);
      most = MAX (most, s->flow.segment.ring_bytes + count_whole (s, &s->flow.segment));
      i = end - 1;
    }
  return most;
}

static int
compare_plans (gconstpointer a, gconstpointer b)
{
  const CleaveBundlePlan *x = *(CleaveBundlePlan *const *) a, *y = *(CleaveBundlePlan *const *) b;

  if (x->macs != y->macs)
    return x->macs < y->macs ? -1 : 1;
  return x->peak_bytes < y->peak_bytes ? -1 : x->peak_bytes > y->peak_bytes;
}

/* Returns the plans (CleaveBundlePlan) of the whole model that no other plan dominates. Takes the
 * partial plans that cover all steps, from each State. */
static GPtrArray *
list_plans (const Search *s)
{
  GPtrArray *plans = g_ptr_array_new_with_free_func (cleave_bundle_plan_free);

  for (State state = 0; state < N_STATES; state++)
    for (guint i = 0; i < get_partial_plans (s, s->model->steps->len, state)->len; i++)
      g_ptr_array_add (plans, make_plan (s, state, i));
  g_ptr_array_sort (plans, compare_plans);
  for (guint i = 1; i < plans->len;)
    if (((CleaveBundlePlan *) plans->pdata[i])->peak_bytes >=
        ((CleaveBundlePlan *) plans->pdata[i - 1])->peak_bytes)
      g_ptr_array_remove_index (plans, i);
    else
      i++;
  return plans;
}

static void
begin (Search *s)
{
  PartialPlan none = { .segment.overlay = { CLEAVE_BUNDLE_NONE, CLEAVE_BUNDLE_NONE, 0 } };

  g_array_append_val (get_partial_plans (s, 0, APART), none);
}

CleaveBundlePlan *
cleave_bundle_plan_unsplit (const CleaveBundleModel *model, gint64 align)
{
  g_autoptr (GPtrArray) plans = NULL;
  Search s;

  init (&s, model, align, G_MAXINT64);
  begin (&s);
  search_unsplit (&s);
  plans = list_plans (&s);
  clear (&s);
  return g_ptr_array_steal_index (plans, plans->len - 1);
}

static GPtrArray *
search (const CleaveBundleModel *model,
        gint64 align,
        gint64 max_macs,
        gboolean prefers_few_overlays)
{
  GPtrArray *plans;
  Search s;

  init (&s, model, align, max_macs);
  s.prefers_few_overlays = prefers_few_overlays;
  begin (&s);
  s.max_bytes = search_unsplit (&s);
  for (guint end = 1; end <= model->steps->len; end++)
    search_end (&s, end);
  plans = list_plans (&s);
  clear (&s);
  return plans;
}

GPtrArray *
cleave_bundle_plan_all (const CleaveBundleModel *model, gint64 align, gint64 max_macs)
{
  return search (model, align, max_macs, FALSE);
}

CleaveBundlePlan *
cleave_bundle_plan_few_overlays (const CleaveBundleModel *model, gint64 align, gint64 max_macs)
{
  g_autoptr (GPtrArray) plans = search (model, align, max_macs, TRUE);

  return g_ptr_array_steal_index (plans, plans->len - 1);
}
