/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "bundle.h"

#include <cleave/cleave-split.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "../ir/boxed.h"

#define MIN_ALIGN 4
#define MAX_EXTENT 32767

static void
bundle_clear (gpointer data)
{
  CleaveBundle *bundle = data;

  g_free (bundle->name);
  g_free (bundle->macro);
  g_free (bundle->type);
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

/* Options */

static gboolean
fail (GError **error, const char *format, ...)
{
  va_list arguments;
  g_autofree char *message = NULL;

  va_start (arguments, format);
  message = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error_literal (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION, message);
  return FALSE;
}

static gboolean
is_name (const CleaveGraph *graph, gboolean is_input, const char *name)
{
  guint n = is_input ? cleave_graph_get_n_inputs (graph) : cleave_graph_get_n_outputs (graph);

  for (guint i = 0; i < n; i++)
    if (strcmp (name, is_input ? cleave_graph_get_input (graph, i)->node->name
                               : cleave_graph_get_output_name (graph, i)) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
check_entries (const CleaveGraph *graph,
               const CleaveBundleOptions *o,
               gboolean is_input,
               GError **error)
{
  const CleaveBundleIo *entries = is_input ? o->inputs : o->outputs;
  guint n = is_input ? o->n_inputs : o->n_outputs;

  for (guint i = 0; i < n; i++)
    {
      if (entries[i].name != NULL && !is_name (graph, is_input, entries[i].name))
        return fail (error, "the graph has no %s named '%s'", is_input ? "input" : "output",
                     entries[i].name);
      if (!is_input && entries[i].where == CLEAVE_BUNDLE_ROWS)
        return fail (error,
                     "an output cannot be supplied row by row; place it in the arena or apart");
    }
  return TRUE;
}

static gboolean
check_options (const CleaveGraph *graph, const CleaveBundleOptions *o, GError **error)
{
  if (o->max_memory < 0)
    return fail (error, "max_memory is %" G_GINT64_FORMAT ", but must not be below 0",
                 o->max_memory);
  if (isnan (o->max_added_macs) ||
      (o->max_added_macs < 0 && o->max_added_macs != CLEAVE_NOTHING_ADDED))
    return fail (error, "max_added_macs is %g, but must not be below 0", o->max_added_macs);
  if (o->align != 0 && o->align != 4 && o->align != 8 && o->align != 16)
    return fail (error, "align is %u, but must be 4, 8 or 16", o->align);
  return check_entries (graph, o, TRUE, error) && check_entries (graph, o, FALSE, error);
}

/* The tables have 16 bits for extents. */
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

/* Planning */

static gint64
count_macs (const CleaveBundleModel *model)
{
  gint64 macs = 0;

  for (guint i = 0; i < model->steps->len; i++)
    macs += cleave_bundle_step (model, i)->macs;
  return macs;
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

/* Takes the plan with the fewest MACs whose layout meets the limit; without a limit, the plan with
 * the smallest layout. */
static gboolean
choose_plan (CleaveBundle *bundle, gint64 max_memory, double max_added_macs, GError **error)
{
  gint64 macs = count_macs (bundle->model);
  g_autoptr (GPtrArray) plans =
      cleave_bundle_plan_all (bundle->model, bundle->align, find_max_macs (macs, max_added_macs));
  gint64 least = G_MAXINT64;

  g_ptr_array_set_free_func (plans, NULL);
  for (guint i = 0; i < plans->len; i++)
    {
      CleaveBundleLayout *layout =
          cleave_bundle_layout_new (bundle->model, g_ptr_array_index (plans, i), bundle->align);
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
  for (guint i = 0; i < plans->len; i++)
    g_clear_pointer (&g_ptr_array_index (plans, i), cleave_bundle_plan_free);
  bundle->stats.least_bytes = least;
  if (max_memory == 0 || least <= max_memory)
    return TRUE;
  return cleave_fail (error, CLEAVE_ERROR_LIMIT,
                      "the smallest arena found has %" G_GINT64_FORMAT
                      " bytes, more than the limit of %" G_GINT64_FORMAT
                      "; allow more MACs, or keep inputs and outputs apart",
                      least, max_memory);
}

static void
fill_stats (CleaveBundle *bundle)
{
  CleaveBundlePlan *unsplit = cleave_bundle_plan_unsplit (bundle->model, bundle->align);
  g_autoptr (CleaveBundleLayout) layout =
      cleave_bundle_layout_new (bundle->model, unsplit, bundle->align);
  CleaveBundleStats *stats = &bundle->stats;

  stats->arena_bytes = bundle->layout->n_bytes;
  stats->unsplit_bytes = layout->n_bytes;
  stats->macs = bundle->plan->macs;
  stats->n_layers = bundle->model->steps->len;
  stats->n_segments = bundle->plan->segments->len;
  for (guint i = 0; i < bundle->model->pool->arrays->len; i++)
    stats->weight_bytes += (gint64) g_bytes_get_size (
        g_array_index (bundle->model->pool->arrays, CleaveBundleArray, i).bytes);
  cleave_bundle_plan_free (unsplit);
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
 * The time grows with the square of the number of nodes, up to 96 nodes, and linearly beyond.
 *
 * Fails with %CLEAVE_ERROR_MODEL if a bundle cannot compute a node, with %CLEAVE_ERROR_LIMIT if no
 * plan meets the limits, and with %CLEAVE_ERROR_OPTION if an option is wrong.
 *
 * Returns: (transfer full) (nullable): the bundle
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
  if (!check_options (graph, &o, error))
    return NULL;
  bundle = g_atomic_rc_box_new0 (CleaveBundle);
  bundle->name = cleave_bundle_dup_identifier (o.name != NULL ? o.name : graph->name);
  bundle->macro = g_ascii_strup (bundle->name, -1);
  bundle->type = cleave_bundle_dup_type_name (bundle->name);
  bundle->align = o.align == 0 ? MIN_ALIGN : o.align;
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
 * @stats: (out): return location for the figures
 *
 * Returns sizes and counts.
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
 * cleave_bundle_dup_files:
 * @bundle: a bundle
 * @error: return location for a [struct@GLib.Error]
 *
 * Returns the files of a bundle: the header, the tables, the weights, the kernels, a test, and a
 * README. The test runs the bundle on random inputs and compares the outputs with those of a
 * program of the graph.
 *
 * Fails if the program cannot run.
 *
 * Returns: (transfer full) (nullable) (element-type utf8 utf8): the texts by file name
 * Since: 0.2
 */
GHashTable *
cleave_bundle_dup_files (const CleaveBundle *bundle, GError **error)
{
  g_autoptr (GHashTable) files = NULL;
  char *test;

  g_return_val_if_fail (bundle != NULL, NULL);
  test = cleave_bundle_make_test (bundle, error);
  if (test == NULL)
    return NULL;
  files = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
#define ADD(ending, text)                                                                          \
  g_hash_table_insert (files, g_strconcat (bundle->name, ending, NULL), text)
  ADD (".h", cleave_bundle_make_header (bundle));
  ADD (".c", cleave_bundle_make_source (bundle));
  ADD ("-weights.h", cleave_bundle_make_weights_header (bundle));
  ADD ("-weights.c", cleave_bundle_make_weights (bundle));
  ADD ("-test.c", test);
#undef ADD
  g_hash_table_insert (files, g_strdup ("cleave-kernels.h"),
                       cleave_bundle_make_kernels_header ("cleave-kernels"));
  g_hash_table_insert (files, g_strdup ("cleave-run.h"),
                       cleave_bundle_make_kernels_header ("cleave-run"));
  g_hash_table_insert (files, g_strdup ("cleave-kernels.c"), cleave_bundle_make_kernels (bundle));
  g_hash_table_insert (files, g_strdup ("README"), cleave_bundle_make_readme (bundle));
  return g_steal_pointer (&files);
}

/**
 * cleave_bundle_write:
 * @bundle: a bundle
 * @folder: (type filename): the folder for the files; the function makes it if it does not exist
 * @error: return location for a [struct@GLib.Error]
 *
 * Writes the files of [method@Cleave.Bundle.dup_files] into a folder. Files of these names are
 * replaced.
 *
 * Returns: whether all files were written
 * Since: 0.2
 */
gboolean
cleave_bundle_write (const CleaveBundle *bundle, const char *folder, GError **error)
{
  g_autoptr (GHashTable) files = NULL;
  GHashTableIter iter;
  gpointer name, text;

  g_return_val_if_fail (bundle != NULL && folder != NULL, FALSE);
  files = cleave_bundle_dup_files (bundle, error);
  if (files == NULL)
    return FALSE;
  if (g_mkdir_with_parents (folder, 0777) != 0)
    return fail (error, "cannot make the folder '%s'", folder);
  g_hash_table_iter_init (&iter, files);
  while (g_hash_table_iter_next (&iter, &name, &text))
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (!g_file_set_contents (path, text, -1, error))
        return FALSE;
    }
  return TRUE;
}
