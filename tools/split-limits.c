/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Names the limits of `cleave split` as options of the command, and prints each limit that a split
 * does not meet. */

#include "split-limits.h"

#include <stdio.h>

char *
cleave_limit_dup_number (CleaveLimitKind kind, double number)
{
  return kind == CLEAVE_LIMIT_ADDED_MACS ? g_strdup_printf ("%.9g %%", 100 * number)
                                         : g_strdup_printf ("%" G_GINT64_FORMAT, (gint64) number);
}

const char *
cleave_limit_get_option (CleaveLimitKind kind)
{
  return cleave_split_name_option (cleave_limit_kind_get_name (kind));
}

/* Returns the option of the command for an option of the library. In the command, --max-memory
 * limits the whole model, so the option that limits a piece is --max-piece-memory. */
const char *
cleave_split_name_option (const char *option)
{
  return g_str_equal (option, "max-memory") ? "max-piece-memory" : option;
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
      fprintf (stderr, "cleave: limit not met: --%s is %s, the smallest value found is %s\n",
               cleave_limit_get_option (limit->kind), asked, reached);
    }
  return all_met;
}
