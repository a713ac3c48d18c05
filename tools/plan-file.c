/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts a plan to JSON and back. Reading a plan also restores the options with which the search
 * found the plan. */

#include "plan-file.h"

#include "outputs.h"
#include "standard.h"

#include <json-glib/json-glib.h>
#include <string.h>

GBytes *
cleave_plan_file_write (const CleaveFitPlan *plan)
{
  g_autoptr (GVariant) data = cleave_fit_plan_to_data (plan);
  g_autoptr (JsonNode) node = json_gvariant_serialize (data);
  g_autofree char *json = json_to_string (node, TRUE);
  char *text = g_strconcat (json, "\n", NULL);

  return g_bytes_new_take (text, strlen (text));
}

/* Sets `options` to the options with which a plan was found. `data` is a valid plan. */
static void
set_options (GVariant *data, CleaveFitOptions *options)
{
  g_autoptr (GVariant) ort = g_variant_lookup_value (data, "ort", NULL);
  gint64 n_threads = 1;

  g_variant_lookup (data, "threads", "x", &n_threads);
  g_variant_lookup (data, "exclude_inputs", "b", &options->exclude_inputs);
  options->n_threads = (guint) n_threads;
  options->even_strips = ort != NULL;
}

CleaveFitPlan *
cleave_plan_file_read (const char *path,
                       const CleaveGraph *graph,
                       CleaveFitOptions *options,
                       GError **error)
{
  g_autofree char *text = NULL;
  g_autoptr (GVariant) data = NULL;
  CleaveFitPlan *plan;
  gsize length;

  cleave_outputs_protect (path);
  if (!cleave_read_file (path, &text, &length, error))
    return NULL;
  data = json_gvariant_deserialize_data (text, (gssize) length, "a{sv}", error);
  if (data == NULL)
    {
      g_prefix_error (error, "'%s' is not a plan: ", path);
      return NULL;
    }
  g_variant_ref_sink (data);
  plan = cleave_fit_plan_new_from_data (graph, data, error);
  if (plan == NULL)
    g_prefix_error (error, "'%s': ", path);
  else
    set_options (data, options);
  return plan;
}
