/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "split-limits.h"

#include "arguments.h"

#include <math.h>
#include <stdio.h>

void
cleave_limits_clear (CleaveLimits *limits)
{
  g_free (limits->memory);
  g_free (limits->subgraph_memory);
  g_free (limits->schedule_memory);
  g_free (limits->added_macs);
  g_free (limits->pieces);
  g_free (limits->search_budget);
}

gboolean
cleave_limits_is_given (const CleaveLimits *limits)
{
  return limits->memory != NULL || limits->subgraph_memory != NULL ||
         limits->schedule_memory != NULL || limits->added_macs != NULL || limits->pieces != NULL;
}

static gboolean
parse_size (const char *option, const char *text, gint64 *bytes, GError **error)
{
  if (text == NULL)
    return TRUE;
  if (!cleave_argument_size (option, text, bytes, error))
    return FALSE;
  return *bytes > 0 || cleave_argument_fail (error, "%s must be more than 0", option);
}

/* Per cent; none at all is less than nothing to the library, where 0 is no limit. */
static gboolean
parse_added_macs (const char *text, double *part, GError **error)
{
  char *end;

  if (text == NULL)
    return TRUE;
  *part = g_ascii_strtod (text, &end) / 100;
  if (end == text || *end != '\0' || !isfinite (*part) || *part < 0)
    return cleave_argument_fail (error, "--max-added-macs expects per cent from 0, not '%s'", text);
  if (*part <= 0)
    *part = -1;
  return TRUE;
}

gboolean
cleave_limits_parse (const CleaveLimits *limits, CleaveConstraint *constraint, GError **error)
{
  gint64 pieces = 0;

  *constraint = (CleaveConstraint){ 0 };
  if (limits->pieces != NULL &&
      !cleave_argument_int ("--max-pieces", limits->pieces, 1, G_MAXUINT32, &pieces, error))
    return FALSE;
  constraint->max_pieces = (guint) pieces;
  if (limits->search_budget != NULL &&
      !cleave_argument_int ("--search-budget", limits->search_budget, 1, G_MAXINT64,
                            &constraint->search_budget, error))
    return FALSE;
  return parse_size ("--max-memory", limits->memory, &constraint->max_memory, error) &&
         parse_size ("--max-subgraph-memory", limits->subgraph_memory,
                     &constraint->max_subgraph_memory, error) &&
         parse_size ("--max-schedule-memory", limits->schedule_memory,
                     &constraint->max_schedule_memory, error) &&
         parse_added_macs (limits->added_macs, &constraint->max_added_macs, error);
}

char *
cleave_limit_dup_number (CleaveLimitKind kind, double number)
{
  return kind == CLEAVE_LIMIT_ADDED_MACS ? g_strdup_printf ("%.9g %%", 100 * number)
                                         : g_strdup_printf ("%" G_GINT64_FORMAT, (gint64) number);
}

gboolean
cleave_limits_judge (const CleaveSplitReport *report)
{
  gboolean all_met = TRUE;

  for (guint i = 0; i < cleave_split_report_get_n_limits (report); i++)
    {
      const CleaveSplitLimit *limit = cleave_split_report_get_limit (report, i);
      g_autofree char *reached = cleave_limit_dup_number (limit->kind, limit->reached);
      g_autofree char *asked = cleave_limit_dup_number (limit->kind, limit->asked);

      if (limit->is_met)
        continue;
      all_met = FALSE;
      fprintf (stderr, "cleave: limit not met: %s > %s (--%s)\n", reached, asked,
               cleave_limit_kind_get_name (limit->kind));
    }
  return all_met;
}
