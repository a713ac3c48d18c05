/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "split-limits.h"

#include "arguments.h"

#include <math.h>

void
cleave_limits_clear (CleaveLimits *limits)
{
  g_free (limits->memory);
  g_free (limits->subgraph_memory);
  g_free (limits->schedule_memory);
  g_free (limits->added_macs);
  g_free (limits->pieces);
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
  return parse_size ("--max-memory", limits->memory, &constraint->max_memory, error) &&
         parse_size ("--max-subgraph-memory", limits->subgraph_memory,
                     &constraint->max_subgraph_memory, error) &&
         parse_size ("--max-schedule-memory", limits->schedule_memory,
                     &constraint->max_schedule_memory, error) &&
         parse_added_macs (limits->added_macs, &constraint->max_added_macs, error);
}
