/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes a CleaveBundle: checks the options, and selects the plan that meets the limits
 * (choose.c). */

#include "bundle.h"

#include <cleave/cleave-split.h>
#include <glib/gstdio.h>
#include <string.h>

#include "../ir/boxed.h"
#include "options.h"

#define MIN_ALIGN 4

static void
bundle_clear (gpointer data)
{
  CleaveBundle *bundle = data;

  g_free (bundle->name);
  g_free (bundle->macro);
  g_free (bundle->type);
  g_strfreev (bundle->memories);
  g_free (bundle->memory_sizes);
  cleave_bundle_clear_plan (bundle);
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

/* Counts the layers, the layers that call CMSIS-NN, and the layers that do not. A step that only
 * reserves a context buffer is no layer. */
static void
count_layers (const CleaveBundleModel *model, CleaveBundleStats *stats)
{
  for (guint i = 0; i < model->steps->len; i++)
    {
      const CleaveBundleStep *step = cleave_bundle_step (model, i);
      const CleaveBundleLayer *layer = step->layer;

      if (cleave_bundle_is_context (step))
        continue;
      stats->n_layers++;
      if (step->node == NULL || step->is_sum)
        continue;
      if (layer->calls_cmsis)
        stats->n_calls++;
      else if (layer->call_bytes > 0)
        stats->n_larger_calls++;
      else
        stats->n_no_calls++;
      stats->context_bytes = MAX (stats->context_bytes, layer->context_bytes);
    }
}

/* Counts the segments that compute at least one layer. */
static guint
count_segments (const CleaveBundle *bundle)
{
  guint n = 0;

  for (guint i = 0; i < bundle->plan->segments->len; i++)
    {
      const CleaveBundleSegment *g =
          &g_array_index (bundle->plan->segments, CleaveBundleSegment, i);

      if (g->end - g->first > 1 ||
          !cleave_bundle_is_context (cleave_bundle_step (bundle->model, g->first)))
        n++;
    }
  return n;
}

static void
fill_stats (CleaveBundle *bundle)
{
  CleaveBundlePlan *unsplit = cleave_bundle_plan_unsplit (bundle->model, bundle->align);
  CleaveBundleStats *stats = &bundle->stats;

  stats->arena_bytes = bundle->layout->n_bytes;
  stats->unsplit_bytes = cleave_bundle_count_bytes (bundle, unsplit);
  stats->state_bytes = bundle->model->state_bytes;
  stats->macs = bundle->plan->macs;
  stats->n_segments = count_segments (bundle);
  count_layers (bundle->model, stats);
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
  if (!cleave_bundle_choose_plan (bundle, graph, &o, error))
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
