/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Checks the options of a bundle. */

#include "options.h"

#include <cleave/cleave-split.h>
#include <math.h>
#include <string.h>

#include "bundle.h"

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
        return cleave_fail (error, CLEAVE_ERROR_OPTION, "the graph has no %s named '%s'",
                            is_input ? "input" : "output", entries[i].name);
      if (!is_input && entries[i].where == CLEAVE_BUNDLE_ROWS)
        return cleave_fail (
            error, CLEAVE_ERROR_OPTION,
            "an output cannot be supplied row by row; place it in the arena or apart");
    }
  return TRUE;
}

/* Checks the memories. Their names become parameters of a C function, besides `state` and `io`. */
static gboolean
check_memories (const CleaveBundleOptions *o, GError **error)
{
  g_autoptr (GHashTable) names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  g_hash_table_add (names, g_strdup ("state"));
  g_hash_table_add (names, g_strdup ("io"));
  if (o->n_memories > 0 && o->max_memory > 0)
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "max_memory limits one arena, and memories have sizes of their own; give "
                        "one of them");
  if (o->n_memories > CLEAVE_BUNDLE_MAX_MEMORIES)
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "a bundle has at most %d memories, but there are %u",
                        CLEAVE_BUNDLE_MAX_MEMORIES, o->n_memories);
  for (guint i = 0; i < o->n_memories; i++)
    {
      if (o->memories[i].name == NULL || o->memories[i].n_bytes <= 0)
        return cleave_fail (error, CLEAVE_ERROR_OPTION,
                            "memory %u needs a name, and a size above 0", i);
      if (!g_hash_table_add (names, cleave_bundle_dup_identifier (o->memories[i].name)))
        return cleave_fail (
            error, CLEAVE_ERROR_OPTION,
            "a memory is named '%s'; names must differ from each other, and from state "
            "and io",
            o->memories[i].name);
    }
  return TRUE;
}

gboolean
cleave_bundle_check_options (const CleaveGraph *graph, const CleaveBundleOptions *o, GError **error)
{
  if (o->max_memory < 0)
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "max_memory is %" G_GINT64_FORMAT ", but must not be below 0",
                        o->max_memory);
  if (isnan (o->max_added_macs) ||
      (o->max_added_macs < 0 && o->max_added_macs != CLEAVE_NOTHING_ADDED))
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "max_added_macs is %g, but must not be below 0",
                        o->max_added_macs);
  if (o->align != 0 && o->align != 4 && o->align != 8 && o->align != 16)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "align is %u, but must be 4, 8 or 16",
                        o->align);
  if (o->is_single_file && o->has_object_weights)
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "a single file has its weights as C; give single-file, or weights object");
  return check_memories (o, error) && check_entries (graph, o, TRUE, error) &&
         check_entries (graph, o, FALSE, error);
}
