/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes a CleaveBundle: checks the options, lowers the graph, and selects the plan that meets the
 * limits. */

#include "bundle.h"

#include <cleave/cleave-split.h>
#include <glib/gstdio.h>
#include <string.h>

#include "../ir/boxed.h"
#include "options.h"

#define MIN_ALIGN 4
#define MAX_EXTENT 32767

static void
bundle_clear (gpointer data)
{
  CleaveBundle *bundle = data;

  g_free (bundle->name);
  g_free (bundle->macro);
  g_free (bundle->type);
  g_strfreev (bundle->memories);
  g_free (bundle->memory_sizes);
  g_clear_pointer (&bundle->layout, cleave_bundle_layout_free);
  g_clear_pointer (&bundle->plan, cleave_bundle_plan_free);
  g_clear_pointer (&bundle->model, cleave_bundle_model_free);
}

/**
 * cleave_bundle_ref:
 * @bundle: a bundle
 *
 * Takes a reference.
 *
 * Returns: (transfer full): the bundle
 *
 * Since: 0.2
 */

/**
 * cleave_bundle_unref:
 * @bundle: (transfer full) (nullable): a bundle
 *
 * Drops a reference.
 *
 * Since: 0.2
 */
CLEAVE_DEFINE_COUNTED (CleaveBundle, bundle, bundle_clear)

/* Fails if a value is empty, has over 2 GiB, or has more rows, columns or images than
 * MAX_EXTENT. */
static gboolean
check_extents (const CleaveBundleModel *model, GError **error)
{
  for (guint i = 0; i < model->values->len; i++)
    {
      const CleaveBundleValue *value = cleave_bundle_value (model, i);
      g_autofree char *name = cleave_result_dup_name (value->result);

      if (value->image.rows > MAX_EXTENT || value->image.columns > MAX_EXTENT ||
          value->image.images > MAX_EXTENT)
        return cleave_fail (error, CLEAVE_ERROR_MODEL,
                            "value '%s' has %" G_GINT64_FORMAT " rows and %" G_GINT64_FORMAT
                            " columns; a bundle can have at most %d",
                            name, value->image.rows, value->image.columns, MAX_EXTENT);
      if (cleave_bundle_value_bytes (value) > G_MAXINT32)
        return cleave_fail (error, CLEAVE_ERROR_MODEL, "value '%s' has over 2 GiB", name);
      if (cleave_bundle_value_bytes (value) == 0)
        return cleave_fail (error, CLEAVE_ERROR_MODEL,
                            "value '%s' is empty; a bundle needs elements to compute", name);
    }
  return TRUE;
}

/* The functions below choose the plan of a bundle. */

static gint64
count_macs (const CleaveBundleModel *model)
{
  gint64 macs = 0;

  for (guint i = 0; i < model->steps->len; i++)
    macs += cleave_bundle_step (model, i)->macs;
  return macs;
}

/* Returns the bytes that the buffers of a plan need in one arena. */
static gint64
count_bytes (const CleaveBundle *bundle, const CleaveBundlePlan *plan)
{
  const CleaveBundleMemories one = { 0 };
  g_autoptr (CleaveBundleLayout) layout =
      cleave_bundle_layout_new (bundle->model, plan, &one, bundle->align);

  return layout->n_bytes;
}

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

/* Selects the plan with the fewest MACs whose layout needs at most `max_memory` bytes. Without a
 * limit, selects the plan with the smallest layout. Returns the bytes of the smallest layout. */
static gint64
try_plans (CleaveBundle *bundle, GPtrArray *plans, gint64 max_memory)
{
  const CleaveBundleMemories one = { 0 };
  gint64 least = G_MAXINT64;

  for (guint i = 0; i < plans->len; i++)
    {
      CleaveBundleLayout *layout = cleave_bundle_layout_new (
          bundle->model, g_ptr_array_index (plans, i), &one, bundle->align);
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
choose_plan (CleaveBundle *bundle, gint64 max_memory, double max_added_macs, GError **error)
{
  gint64 macs = count_macs (bundle->model);
  g_autoptr (GPtrArray) plans =
      cleave_bundle_plan_all (bundle->model, bundle->align, find_max_macs (macs, max_added_macs));
  gboolean is_met;

  g_ptr_array_set_free_func (plans, NULL);
  if (bundle->n_memories > 0)
    {
      is_met = try_memories (bundle, plans);
      if (!is_met)
        bundle->stats.least_bytes = count_bytes (bundle, g_ptr_array_index (plans, plans->len - 1));
    }
  else
    {
      bundle->stats.least_bytes = try_plans (bundle, plans, max_memory);
      is_met = max_memory == 0 || bundle->stats.least_bytes <= max_memory;
    }
  for (guint i = 0; i < plans->len; i++)
    g_clear_pointer (&g_ptr_array_index (plans, i), cleave_bundle_plan_free);
  if (is_met)
    return TRUE;
  if (bundle->n_memories > 0)
    return cleave_fail (error, CLEAVE_ERROR_LIMIT,
                        "no plan fits into the memories; in one memory, the smallest arena found "
                        "has %" G_GINT64_FORMAT
                        " bytes; allow more MACs, or keep inputs and outputs apart",
                        bundle->stats.least_bytes);
  return cleave_fail (error, CLEAVE_ERROR_LIMIT,
                      "the limit of %" G_GINT64_FORMAT
                      " bytes is below the smallest arena found, which has %" G_GINT64_FORMAT
                      " bytes; allow more MACs, or keep inputs and outputs apart",
                      max_memory, bundle->stats.least_bytes);
}

static void
fill_stats (CleaveBundle *bundle)
{
  CleaveBundlePlan *unsplit = cleave_bundle_plan_unsplit (bundle->model, bundle->align);
  CleaveBundleStats *stats = &bundle->stats;

  stats->arena_bytes = bundle->layout->n_bytes;
  stats->unsplit_bytes = count_bytes (bundle, unsplit);
  stats->state_bytes = bundle->model->state_bytes;
  stats->macs = bundle->plan->macs;
  stats->n_layers = bundle->model->steps->len;
  stats->n_segments = bundle->plan->segments->len;
  for (guint i = 0; i < bundle->model->pool->arrays->len; i++)
    stats->weight_bytes += (gint64) g_bytes_get_size (
        g_array_index (bundle->model->pool->arrays, CleaveBundleArray, i).bytes);
  cleave_bundle_plan_free (unsplit);
}

static void
set_memories (CleaveBundle *bundle, const CleaveBundleOptions *o)
{
  bundle->n_memories = o->n_memories;
  bundle->memories = g_new0 (char *, o->n_memories + 1);
  bundle->memory_sizes = g_new0 (gint64, o->n_memories + 1);
  for (guint i = 0; i < o->n_memories; i++)
    {
      bundle->memories[i] = g_strdup (o->memories[i].name);
      bundle->memory_sizes[i] = o->memories[i].n_bytes / bundle->align * bundle->align;
    }
}

/* Makes a bundle without a plan. The options must have been checked. */
static CleaveBundle *
make (const CleaveGraph *graph, const CleaveBundleOptions *o)
{
  CleaveBundle *bundle = g_atomic_rc_box_new0 (CleaveBundle);

  bundle->name = cleave_bundle_dup_identifier (o->name != NULL ? o->name : graph->name);
  bundle->macro = g_ascii_strup (bundle->name, -1);
  bundle->type = cleave_bundle_dup_type_name (bundle->name);
  bundle->align = o->align == 0 ? MIN_ALIGN : o->align;
  bundle->kernels = o->kernels;
  bundle->is_single_file = o->is_single_file;
  bundle->has_object_weights = o->has_object_weights;
  set_memories (bundle, o);
  return bundle;
}

/**
 * cleave_bundle_new:
 * @graph: a graph
 * @options: (nullable): how to plan; %NULL: the least memory without added MACs
 * @error: return location for a [struct@GLib.Error]
 *
 * Plans a bundle: lowers the graph to layers, groups the layers into loops, and places all values
 * in one arena.
 *
 * The time grows with the square of the number of nodes up to 96 nodes, and linearly for more
 * nodes.
 *
 * Fails with %CLEAVE_ERROR_MODEL if a bundle cannot compute a node, with %CLEAVE_ERROR_LIMIT if no
 * plan meets the limits, and with %CLEAVE_ERROR_OPTION if an option is wrong.
 *
 * Returns: (transfer full) (nullable): the bundle
 *
 * Since: 0.2
 */
CleaveBundle *
cleave_bundle_new (const CleaveGraph *graph, const CleaveBundleOptions *options, GError **error)
{
  CleaveBundleOptions o = { .max_added_macs = CLEAVE_NOTHING_ADDED };
  g_autoptr (CleaveBundle) bundle = NULL;

  g_return_val_if_fail (graph != NULL, NULL);
  if (options != NULL)
    o = *options;
  g_return_val_if_fail (o.n_inputs == 0 || o.inputs != NULL, NULL);
  g_return_val_if_fail (o.n_outputs == 0 || o.outputs != NULL, NULL);
  g_return_val_if_fail (o.n_memories == 0 || o.memories != NULL, NULL);
  g_return_val_if_fail (o.n_states == 0 || o.states != NULL, NULL);
  g_return_val_if_fail ((guint) o.kernels <= CLEAVE_BUNDLE_KERNELS_CMSIS_NN, NULL);
  g_return_val_if_fail ((guint) o.io_type <= CLEAVE_BUNDLE_IO_FLOAT, NULL);
  if (!cleave_bundle_check_options (graph, &o, error))
    return NULL;
  bundle = make (graph, &o);
  o.name = bundle->name;
  bundle->model = cleave_bundle_model_new ((CleaveGraph *) graph, &o, error);
  if (bundle->model == NULL || !check_extents (bundle->model, error) ||
      !choose_plan (bundle, o.max_memory, o.max_added_macs, error))
    return NULL;
  fill_stats (bundle);
  return g_steal_pointer (&bundle);
}

/**
 * cleave_bundle_get_stats:
 * @bundle: a bundle
 * @stats: (out caller-allocates): return location for the figures
 *
 * Gets the sizes and counts of a bundle, such as the bytes of its arena.
 *
 * Since: 0.2
 */
void
cleave_bundle_get_stats (const CleaveBundle *bundle, CleaveBundleStats *stats)
{
  g_return_if_fail (bundle != NULL && stats != NULL);
  *stats = bundle->stats;
}

/**
 * cleave_bundle_get_memory_bytes:
 * @bundle: a bundle
 * @memory: name of one of the memories in the options
 *
 * Returns the bytes that the bundle needs in one of several memories.
 *
 * Returns: the bytes; -1 if the options have no such memory
 *
 * Since: 0.2
 */
gint64
cleave_bundle_get_memory_bytes (const CleaveBundle *bundle, const char *memory)
{
  g_return_val_if_fail (bundle != NULL && memory != NULL, -1);
  for (guint i = 0; i < bundle->n_memories; i++)
    if (strcmp (bundle->memories[i], memory) == 0)
      return bundle->layout->memory_bytes[i];
  return -1;
}
