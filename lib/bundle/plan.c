/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "plan.h"

/* The longest segment, in steps. It bounds the time of the search: the time grows with its square. */
#define MAX_STEPS 96

/* Numbers of bands that are tried for each segment. */
static const guint bands[] = { 1, 2, 3, 4, 6, 8, 12, 16, 24, 32 };

/* The best way to compute the steps before a position. */
typedef struct
{
  gint64 peak_bytes, macs;
  CleaveBundleSegment segment; /* the last one */
  guint before;                /* label at the position where the segment begins */
} Label;

typedef struct
{
  const CleaveBundleModel *model;
  CleaveBundleFlow flow;
  gint64 align, max_macs;
  gint64 *macs_after; /* MACs of the steps from a position on, in the graph */
  GArray **labels;    /* Label, for each position, by rising MACs and falling bytes */
} Search;

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
  return cleave_bundle_align (cleave_bundle_value_bytes (cleave_bundle_value (s->model, value)),
                              s->align);
}

/* Returns the bytes of whole values in the arena while a segment runs. */
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

/* Returns the bytes that the end of a segment saves by lying over a value that dies. */
static gint64
count_overlaid (const Search *s, const CleaveBundleOverlay *overlay)
{
  gint64 end, value, lag;

  if (overlay->value == CLEAVE_BUNDLE_NONE)
    return 0;
  end = value_bytes (s, overlay->end);
  value = value_bytes (s, overlay->value);
  lag = MIN (cleave_bundle_align (MAX (overlay->lag, 0), s->align), end);
  return end + value - MAX (end, lag + value);
}

static gint64
count_bytes (const Search *s, const CleaveBundleSegment *g)
{
  return g->ring_bytes + count_whole (s, g) - count_overlaid (s, &g->overlay);
}

/* Adds a label unless another one is as good, and removes those that are worse. */
static void
add_label (GArray *labels, const Label *label)
{
  guint at = 0;

  while (at < labels->len && g_array_index (labels, Label, at).macs <= label->macs)
    if (g_array_index (labels, Label, at++).peak_bytes <= label->peak_bytes)
      return;
  while (at > 0 && g_array_index (labels, Label, at - 1).macs == label->macs)
    g_array_remove_index (labels, --at);
  while (at < labels->len && g_array_index (labels, Label, at).peak_bytes >= label->peak_bytes)
    g_array_remove_index (labels, at);
  g_array_insert_val (labels, at, *label);
}

/* Continues all plans up to a segment by it. */
static void
extend (Search *s, const CleaveBundleSegment *g)
{
  gint64 n_bytes = count_bytes (s, g);

  for (guint i = 0; i < s->labels[g->first]->len; i++)
    {
      const Label *before = &g_array_index (s->labels[g->first], Label, i);
      Label label = { MAX (before->peak_bytes, n_bytes), before->macs + g->macs, *g, i };

      if (label.macs + s->macs_after[g->end] <= s->max_macs)
        add_label (s->labels[g->end], &label);
    }
}

/* Tries the segments that end at a position. */
static void
search_end (Search *s, guint end, gint64 most)
{
  for (guint first = end; first-- > 0 && end - first <= MAX_STEPS;)
    {
      gint64 least = G_MAXINT64;

      for (guint i = 0; i < G_N_ELEMENTS (bands); i++)
        if (cleave_bundle_flow_run (&s->flow, first, end, bands[i]))
          {
            const CleaveBundleSegment *g = &s->flow.segment;

            least = MIN (least, g->ring_bytes);
            extend (s, g);
            if (g->macs > s->max_macs - s->macs_after[0] + s->macs_after[first] -
                              s->macs_after[end])
              break;
          }
        else if (bands[i] > 1)
          break;
      /* More steps have more rings. */
      if (least < G_MAXINT64 && least > most)
        break;
    }
}

static void
init (Search *s, const CleaveBundleModel *model, gint64 align, gint64 max_macs)
{
  guint n = model->steps->len;

  *s = (Search){ .model = model, .align = align, .max_macs = max_macs };
  cleave_bundle_flow_init (&s->flow, model, align);
  s->macs_after = g_new0 (gint64, n + 1);
  s->labels = g_new (GArray *, n + 1);
  for (guint i = n; i-- > 0;)
    s->macs_after[i] = s->macs_after[i + 1] + cleave_bundle_step (model, i)->macs;
  for (guint i = 0; i <= n; i++)
    s->labels[i] = g_array_new (FALSE, FALSE, sizeof (Label));
}

static void
clear (Search *s)
{
  for (guint i = 0; i <= s->model->steps->len; i++)
    g_array_unref (s->labels[i]);
  g_free (s->labels);
  g_free (s->macs_after);
  cleave_bundle_flow_clear (&s->flow);
}

static CleaveBundlePlan *
make_plan (const Search *s, guint end, guint index)
{
  const Label *label = &g_array_index (s->labels[end], Label, index);
  CleaveBundlePlan *plan = g_new0 (CleaveBundlePlan, 1);

  plan->peak_bytes = label->peak_bytes;
  plan->macs = label->macs;
  plan->segments = g_array_new (FALSE, FALSE, sizeof (CleaveBundleSegment));
  while (end > 0)
    {
      label = &g_array_index (s->labels[end], Label, index);
      g_array_prepend_val (plan->segments, label->segment);
      end = label->segment.first;
      index = label->before;
    }
  return plan;
}

/* Lets every other segment of a chain, in which each end lies over the one before, compute its rows
 * upward. */
static void
alternate (Search *s, CleaveBundlePlan *plan)
{
  for (guint i = 1; i < plan->segments->len; i++)
    {
      const CleaveBundleSegment *before =
          &g_array_index (plan->segments, CleaveBundleSegment, i - 1);
      CleaveBundleSegment *g = &g_array_index (plan->segments, CleaveBundleSegment, i);

      if (g->overlay.value != CLEAVE_BUNDLE_NONE && before->overlay.value != CLEAVE_BUNDLE_NONE &&
          g->overlay.value == before->overlay.end && !before->is_upward && g->n_bands == 1 &&
          cleave_bundle_flow_run_upward (&s->flow, g->first, g->end) &&
          s->flow.segment.overlay.value == g->overlay.value &&
          count_bytes (s, &s->flow.segment) <= plan->peak_bytes)
        *g = s->flow.segment;
    }
}

CleaveBundlePlan *
cleave_bundle_plan_unsplit (const CleaveBundleModel *model, gint64 align)
{
  CleaveBundlePlan *plan = g_new0 (CleaveBundlePlan, 1);
  Search s;

  init (&s, model, align, G_MAXINT64);
  plan->segments = g_array_new (FALSE, FALSE, sizeof (CleaveBundleSegment));
  for (guint i = 0; i < model->steps->len; i++)
    {
      guint n_steps = cleave_bundle_step (model, i)->is_sum ? 2 : 1;

      cleave_bundle_flow_run (&s.flow, i, i + n_steps, 1);
      i += n_steps - 1;
      plan->peak_bytes = MAX (plan->peak_bytes, count_bytes (&s, &s.flow.segment));
      plan->macs += s.flow.segment.macs;
      g_array_append_val (plan->segments, s.flow.segment);
    }
  alternate (&s, plan);
  clear (&s);
  return plan;
}

GPtrArray *
cleave_bundle_plan_all (const CleaveBundleModel *model, gint64 align, gint64 max_macs)
{
  GPtrArray *plans = g_ptr_array_new_with_free_func (cleave_bundle_plan_free);
  CleaveBundlePlan *unsplit = cleave_bundle_plan_unsplit (model, align);
  guint n = model->steps->len;
  Label none = { 0 };
  Search s;

  init (&s, model, align, max_macs);
  g_array_append_val (s.labels[0], none);
  for (guint end = 1; end <= n; end++)
    search_end (&s, end, unsplit->peak_bytes);
  for (guint i = 0; i < s.labels[n]->len; i++)
    {
      g_ptr_array_add (plans, make_plan (&s, n, i));
      alternate (&s, g_ptr_array_index (plans, i));
    }
  clear (&s);
  cleave_bundle_plan_free (unsplit);
  return plans;
}
