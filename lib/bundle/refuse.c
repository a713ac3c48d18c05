/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes the message about a limit that no plan meets, with the options that lower the bytes. */

#include "bundle.h"

#include <math.h>

/* Appends the value of --max-added-macs with which a plan has a smaller arena, and the bytes of
 * this arena. Selects the first plan that meets the limit, else the plan with the fewest bytes. */
static void
suggest_macs (const CleaveBundle *bundle, gint64 max_memory, GString *message)
{
  const double macs = (double) cleave_bundle_count_macs (bundle->model);
  g_autoptr (GPtrArray) plans = cleave_bundle_plan_all (bundle->model, bundle->align, G_MAXINT64);
  gint64 least = bundle->stats.least_bytes;
  double per_cent = 0;

  for (guint i = 0; i < plans->len && (least > max_memory || per_cent == 0); i++)
    {
      const CleaveBundlePlan *plan = plans->pdata[i];
      gint64 n_bytes = cleave_bundle_count_bytes (bundle, plan);

      if (n_bytes >= least || macs <= 0)
        continue;
      least = n_bytes;
      per_cent = ceil (10000 * ((double) plan->macs - macs) / macs) / 100;
    }
  if (per_cent > 0)
    g_string_append_printf (message,
                            "; with --max-added-macs %g, the arena has %" G_GINT64_FORMAT " bytes",
                            per_cent, least);
}

/* Appends the options that place inputs and outputs apart, if some of them are in the arena. */
static void
suggest_apart (const CleaveBundleModel *model, GString *message)
{
  gboolean has_input = FALSE, has_output = FALSE;

  for (guint i = 0; i < model->values->len; i++)
    {
      const CleaveBundleValue *value = cleave_bundle_value (model, i);

      has_input |= value->producer == CLEAVE_BUNDLE_NONE && value->place == CLEAVE_BUNDLE_ARENA;
    }
  for (guint i = 0; i < model->graph->outputs->len; i++)
    {
      guint base = cleave_bundle_value (model, model->outputs[i])->base;

      has_output |= cleave_bundle_find_kept (model, i, FALSE) == NULL &&
                    cleave_bundle_value (model, base)->place == CLEAVE_BUNDLE_ARENA;
    }
  if (has_input)
    g_string_append (message, "; --input apart keeps the inputs out of the arena");
  if (has_output)
    g_string_append (message, "; --output apart keeps the outputs out of the arena");
}

gboolean
cleave_bundle_refuse (const CleaveBundle *bundle, const CleaveBundleOptions *o, GError **error)
{
  g_autoptr (GString) message = g_string_new (NULL);

  if (error == NULL)
    return FALSE;
  if (bundle->n_memories > 0)
    g_string_append_printf (message,
                            "no plan fits into the memories; in one memory, the smallest arena "
                            "found has %" G_GINT64_FORMAT " bytes",
                            bundle->stats.least_bytes);
  else
    g_string_append_printf (message,
                            "the limit of %" G_GINT64_FORMAT " bytes is below the smallest arena "
                            "found, which has %" G_GINT64_FORMAT " bytes; try --max-memory "
                            "%" G_GINT64_FORMAT,
                            o->max_memory, bundle->stats.least_bytes, bundle->stats.least_bytes);
  if (o->max_added_macs != 0)
    suggest_macs (bundle, o->max_memory, message);
  suggest_apart (bundle->model, message);
  return cleave_fail (error, CLEAVE_ERROR_LIMIT, "%s", message->str);
}
