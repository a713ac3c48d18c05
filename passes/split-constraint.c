/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "split-constraint.h"

static gboolean
allows_memory (const CleaveConstraint *constraint, const CleavePlan *plan, GString *why)
{
  if (constraint->max_memory <= 0)
    return TRUE;
  for (guint i = 0; i < plan->n_bytes->len; i++)
    {
      gint64 n = g_array_index (plan->n_bytes, gint64, i);

      if (n > constraint->max_memory)
        return cleave_refuse (
            why, "piece %u needs %" G_GINT64_FORMAT " bytes, the limit is %" G_GINT64_FORMAT, i, n,
            constraint->max_memory);
    }
  return TRUE;
}

gboolean
cleave_constraint_allows (const CleaveConstraint *constraint, const CleavePlan *plan, GString *why)
{
  guint n = cleave_plan_get_n_chunks (plan);

  if (constraint == NULL)
    return TRUE;
  if (constraint->max_pieces > 0 && n > constraint->max_pieces)
    return cleave_refuse (why, "it would be %u pieces, the limit is %u", n, constraint->max_pieces);
  return allows_memory (constraint, plan, why) &&
         (constraint->predicate == NULL || constraint->predicate (plan, constraint->data, why));
}

gboolean
cleave_constraint_allows_macs (const CleaveConstraint *constraint,
                               gint64 macs,
                               gint64 added,
                               GString *why)
{
  double limit, part;

  if (constraint == NULL || constraint->max_added_macs == 0 || added <= 0)
    return TRUE;
  limit = MAX (constraint->max_added_macs, 0);
  part = (double) added / (double) MAX (macs, 1);
  if (part <= limit)
    return TRUE;
  return cleave_refuse (why,
                        "the halo would add %.4g %% to the MACs of the graph, the limit is %.4g %%",
                        100 * part, 100 * limit);
}
