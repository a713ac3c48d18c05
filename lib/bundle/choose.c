/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Lowers a graph to a model, and chooses the plan that meets the limits. With the kernels cmsis-nn,
 * also chooses the layers that call CMSIS-NN. */

#include "bundle.h"

#include <math.h>

/* Fails if a value is empty, has over 2 GiB, or has more rows, columns or images than
 * CLEAVE_BUNDLE_MAX_EXTENT. */
static gboolean
check_extents (const CleaveBundleModel *model, GError **error)
{
  for (guint i = 0; i < model->values->len; i++)
    {
      const CleaveBundleValue *value = cleave_bundle_value (model, i);
      g_autofree char *name = cleave_result_dup_name (value->result);

      if (value->image.rows > CLEAVE_BUNDLE_MAX_EXTENT ||
          value->image.columns > CLEAVE_BUNDLE_MAX_EXTENT ||
          value->image.images > CLEAVE_BUNDLE_MAX_EXTENT)
        return cleave_fail (error, CLEAVE_ERROR_MODEL,
                            "value '%s' has %" G_GINT64_FORMAT " rows and %" G_GINT64_FORMAT
                            " columns; a bundle can have at most %d",
                            name, value->image.rows, value->image.columns,
                            CLEAVE_BUNDLE_MAX_EXTENT);
      if (cleave_bundle_value_bytes (value) > G_MAXINT32)
        return cleave_fail (error, CLEAVE_ERROR_MODEL, "value '%s' has over 2 GiB", name);
      if (cleave_bundle_value_bytes (value) == 0)
        return cleave_fail (error, CLEAVE_ERROR_MODEL,
                            "value '%s' is empty; a bundle needs elements to compute", name);
    }
  return TRUE;
}

/* The functions below choose the plan of a model. */

static gint64
find_max_macs (gint64 macs, double max_added)
{
  double most = (double) macs * (1 + max_added);

  if (max_added < 0)
    return macs;
  return max_added == 0 || !(most < (double) G_MAXINT64) ? G_MAXINT64 : (gint64) most;
}

static void
take_plan (CleaveBundle *bundle, GPtrArray *plans, guint index, CleaveBundleLayout *layout)
{
  g_clear_pointer (&bundle->layout, cleave_bundle_layout_free);
  bundle->layout = layout;
  g_clear_pointer (&bundle->plan, cleave_bundle_plan_free);
  bundle->plan = g_ptr_array_index (plans, index);
  g_ptr_array_index (plans, index) = NULL;
}

/* Lays out a plan in one memory. If the layout needs more bytes than the peak of the plan, also
 * lays out a plan with few overlays and at most as many MACs. If the second layout is smaller,
 * replaces the plan by the second plan. */
static CleaveBundleLayout *
lay_out (const CleaveBundle *bundle, CleaveBundlePlan **plan)
{
  const CleaveBundleMemories one = { 0 };
  CleaveBundleLayout *layout = cleave_bundle_layout_new (bundle->model, *plan, &one, bundle->align);
  gint64 max_macs = MAX ((*plan)->macs, cleave_bundle_count_macs (bundle->model));
  CleaveBundleLayout *other_layout;
  CleaveBundlePlan *other;

  if (layout->n_bytes <= (*plan)->peak_bytes)
    return layout;
  other = cleave_bundle_plan_few_overlays (bundle->model, bundle->align, max_macs);
  other_layout = cleave_bundle_layout_new (bundle->model, other, &one, bundle->align);
  if (other_layout->n_bytes >= layout->n_bytes)
    {
      cleave_bundle_layout_free (other_layout);
      cleave_bundle_plan_free (other);
      return layout;
    }
  cleave_bundle_layout_free (layout);
  cleave_bundle_plan_free (*plan);
  *plan = other;
  return other_layout;
}

/* Selects the plan with the fewest MACs whose layout needs at most `max_memory` bytes. Without a
 * limit, selects the plan with the smallest layout. Returns the bytes of the smallest layout. */
static gint64
try_plans (CleaveBundle *bundle, GPtrArray *plans, gint64 max_memory)
{
  gint64 least = G_MAXINT64;

  for (guint i = 0; i < plans->len; i++)
    {
      CleaveBundleLayout *layout =
          lay_out (bundle, (CleaveBundlePlan **) &g_ptr_array_index (plans, i));
      gboolean is_met = max_memory > 0 && layout->n_bytes <= max_memory;

      if (layout->n_bytes < least)
        {
          least = layout->n_bytes;
          take_plan (bundle, plans, i, layout);
        }
      else
        cleave_bundle_layout_free (layout);
      if (is_met)
        break;
    }
  return least;
}

/* Selects the plan with the fewest MACs whose buffers fit into the memories of the device. Returns
 * FALSE if no plan fits. */
static gboolean
try_memories (CleaveBundle *bundle, GPtrArray *plans)
{
  const CleaveBundleMemories memories = { bundle->n_memories, bundle->memory_sizes };
  gint64 n_bytes = cleave_bundle_memory_begin (&memories, memories.n);

  for (guint i = 0; i < plans->len; i++)
    {
      const CleaveBundlePlan *plan = g_ptr_array_index (plans, i);
      CleaveBundleLayout *layout =
          plan->peak_bytes > n_bytes
              ? NULL
              : cleave_bundle_layout_new (bundle->model, plan, &memories, bundle->align);

      if (layout == NULL)
        continue;
      take_plan (bundle, plans, i, layout);
      bundle->stats.least_bytes = layout->n_bytes;
      return TRUE;
    }
  return FALSE;
}

static gboolean
choose_plan (CleaveBundle *bundle, const CleaveBundleOptions *o, GError **error)
{
  gint64 macs = cleave_bundle_count_macs (bundle->model), max_memory = o->max_memory;
  g_autoptr (GPtrArray) plans = cleave_bundle_plan_all (bundle->model, bundle->align,
                                                        find_max_macs (macs, o->max_added_macs));
  gboolean is_met;

  g_ptr_array_set_free_func (plans, NULL);
  if (bundle->n_memories > 0)
    {
      is_met = try_memories (bundle, plans);
      if (!is_met)
        bundle->stats.least_bytes =
            cleave_bundle_count_bytes (bundle, g_ptr_array_index (plans, plans->len - 1));
    }
  else
    {
      bundle->stats.least_bytes = try_plans (bundle, plans, max_memory);
      is_met = max_memory == 0 || bundle->stats.least_bytes <= max_memory;
    }
  for (guint i = 0; i < plans->len; i++)
    g_clear_pointer (&g_ptr_array_index (plans, i), cleave_bundle_plan_free);
  return is_met || cleave_bundle_refuse (bundle, o, error);
}

/* The functions below lower the graph, and choose the calls of CMSIS-NN. */

void
cleave_bundle_clear_plan (CleaveBundle *bundle)
{
  g_clear_pointer (&bundle->layout, cleave_bundle_layout_free);
  g_clear_pointer (&bundle->plan, cleave_bundle_plan_free);
  g_clear_pointer (&bundle->model, cleave_bundle_model_free);
}

/* Lowers the graph, and selects the plan that meets the limits. A layer calls CMSIS-NN only if the
 * call needs at most `max_call_bytes` (`call_bytes` in layer.h). */
static gboolean
plan (CleaveBundle *bundle,
      const CleaveGraph *graph,
      const CleaveBundleOptions *o,
      gint64 max_call_bytes,
      GError **error)
{
  bundle->model =
      cleave_bundle_model_new ((CleaveGraph *) graph, o, max_call_bytes, bundle->by_memory, error);
  return bundle->model != NULL && check_extents (bundle->model, error) &&
         choose_plan (bundle, o, error);
}

/* Returns a bundle with the same names and limits, and without a plan. */
static CleaveBundle
make_trial (const CleaveBundle *bundle)
{
  CleaveBundle trial = *bundle;

  trial.model = NULL;
  trial.plan = NULL;
  trial.layout = NULL;
  return trial;
}

/* Replaces the plan of a bundle by the plan of `trial`. */
static void
take_trial (CleaveBundle *bundle, const CleaveBundle *trial)
{
  cleave_bundle_clear_plan (bundle);
  *bundle = *trial;
}

/* Plans the bundle again, with another `max_call_bytes`, and keeps the new plan if it meets the
 * limits. Returns whether it does. */
static gboolean
try_calls (CleaveBundle *bundle,
           const CleaveGraph *graph,
           const CleaveBundleOptions *o,
           gint64 max_call_bytes)
{
  CleaveBundle trial = make_trial (bundle);

  if (!plan (&trial, graph, o, max_call_bytes, NULL))
    {
      cleave_bundle_clear_plan (&trial);
      return FALSE;
    }
  take_trial (bundle, &trial);
  return TRUE;
}

static int
compare_bytes (gconstpointer a, gconstpointer b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return x < y ? -1 : x > y;
}

/* Replaces layers by calls of CMSIS-NN, the calls with the fewest bytes first, as long as the arena
 * meets the limit. Without a limit of the caller, the limit is the arena of the plan without calls.
 * A call needs its whole operands in memory, so each call may make the arena larger. */
static void
add_calls (CleaveBundle *bundle, const CleaveGraph *graph, const CleaveBundleOptions *options)
{
  CleaveBundleOptions o = *options;
  g_autoptr (GArray) bytes = g_array_new (FALSE, FALSE, sizeof (gint64));
  guint most = 0, end; /* `most` calls meet the limit; `end` calls do not */

  for (guint i = 0; i < bundle->model->steps->len; i++)
    if (cleave_bundle_step (bundle->model, i)->layer->call_bytes > 0)
      g_array_append_val (bytes, cleave_bundle_step (bundle->model, i)->layer->call_bytes);
  g_array_sort (bytes, compare_bytes);
  if (o.max_memory == 0 && o.n_memories == 0)
    o.max_memory = bundle->layout->n_bytes;
  for (end = bytes->len + 1; end - most > 1;)
    {
      guint n = end == bytes->len + 1 ? bytes->len : most + (end - most) / 2;

      if (try_calls (bundle, graph, &o, g_array_index (bytes, gint64, n - 1)))
        most = n;
      else
        end = n;
    }
}

/* Returns whether two models of one graph have the same steps in the same order. */
static gboolean
has_same_order (const CleaveBundleModel *a, const CleaveBundleModel *b)
{
  gboolean is_same = a->steps->len == b->steps->len;

  for (guint i = 0; is_same && i < a->steps->len; i++)
    {
      const CleaveNode *x = cleave_bundle_step (a, i)->node, *y = cleave_bundle_step (b, i)->node;

      is_same = x == NULL || y == NULL ? x == y : g_str_equal (x->name, y->name);
    }
  return is_same;
}

/* Returns whether plan `a` is better than plan `b`. With a limit on memory, the plan with fewer
 * MACs is better. Without a limit, or with equal MACs, the plan with fewer bytes is better. */
static gboolean
is_better (const CleaveBundle *a, const CleaveBundle *b, const CleaveBundleOptions *o)
{
  const gboolean has_limit = o->max_memory > 0 || o->n_memories > 0;

  return has_limit && a->plan->macs != b->plan->macs ? a->plan->macs < b->plan->macs
                                                     : a->layout->n_bytes < b->layout->n_bytes;
}

/* Plans the layers in the order in which the nodes were built, and in the order of the least memory
 * if each value is whole. Keeps the better plan that meets the limits. If no plan meets the limits,
 * the error names the smaller plan. */
static gboolean
plan_orders (CleaveBundle *bundle,
             const CleaveGraph *graph,
             const CleaveBundleOptions *o,
             gint64 max_call_bytes,
             GError **error)
{
  g_autoptr (GError) reason = NULL, other_reason = NULL;
  const gboolean is_met = plan (bundle, graph, o, max_call_bytes, &reason);
  CleaveBundle other = make_trial (bundle);
  gboolean is_other_met = FALSE;

  other.by_memory = TRUE;
  if (is_met || g_error_matches (reason, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT))
    other.model = cleave_bundle_model_new ((CleaveGraph *) graph, o, max_call_bytes, TRUE, NULL);
  if (other.model != NULL && !has_same_order (bundle->model, other.model))
    is_other_met = choose_plan (&other, o, &other_reason);
  if (is_other_met && (!is_met || is_better (&other, bundle, o)))
    {
      take_trial (bundle, &other);
      return TRUE;
    }
  cleave_bundle_clear_plan (&other);
  if (is_met)
    return TRUE;
  if (other_reason != NULL && other.stats.least_bytes < bundle->stats.least_bytes)
    g_propagate_error (error, g_steal_pointer (&other_reason));
  else
    g_propagate_error (error, g_steal_pointer (&reason));
  return FALSE;
}

gboolean
cleave_bundle_choose_plan (CleaveBundle *bundle,
                           const CleaveGraph *graph,
                           const CleaveBundleOptions *options,
                           GError **error)
{
  gboolean calls_cmsis = options->kernels == CLEAVE_BUNDLE_KERNELS_CMSIS_NN;

  if (!plan_orders (bundle, graph, options, calls_cmsis ? 0 : -1, error))
    return FALSE;
  if (calls_cmsis)
    add_calls (bundle, graph, options);
  return TRUE;
}
