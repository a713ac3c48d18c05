/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "start.h"

void
cleave_start_clear (gpointer data)
{
  CleaveStart *start = data;

  g_clear_pointer (&start->ranges, g_array_unref);
  g_clear_pointer (&start->message, g_free);
}

void
cleave_start_stay (CleaveStart *start, CleaveNotSplit reason, const char *message)
{
  g_clear_pointer (&start->ranges, g_array_unref);
  g_free (start->message);
  start->reason = reason;
  start->message = g_strdup (message);
}

gint64
cleave_start_most_bytes (CleaveNode *node, const GArray *ranges)
{
  CleaveRange whole = cleave_range_whole (&node->results[0].type.shape);
  g_autoptr (CleavePlan) plan =
      ranges != NULL ? cleave_plan_new (node, (const CleaveRange *) ranges->data, ranges->len, NULL)
                     : cleave_plan_new (node, &whole, 1, NULL);

  return plan != NULL ? cleave_plan_get_most_bytes (plan) : 0;
}
