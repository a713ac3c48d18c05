/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Frees a root, records the reason why a root stays whole, and counts the bytes of the largest
 * piece of a root. */

#include "root.h"

void
cleave_root_clear (gpointer data)
{
  CleaveRoot *root = data;

  g_clear_pointer (&root->ranges, g_array_unref);
  g_clear_pointer (&root->message, g_free);
}

void
cleave_root_keep_whole (CleaveRoot *root, CleaveNotSplit reason, const char *message)
{
  g_clear_pointer (&root->ranges, g_array_unref);
  g_free (root->message);
  root->reason = reason;
  root->message = g_strdup (message);
}

gint64
cleave_root_most_bytes (CleaveNode *node, const GArray *ranges)
{
  CleaveRange whole = cleave_range_whole (&node->results[0].type.shape);
  g_autoptr (CleavePlan) plan =
      ranges != NULL ? cleave_plan_new (node, (const CleaveRange *) ranges->data, ranges->len, NULL)
                     : cleave_plan_new (node, &whole, 1, NULL);

  return plan != NULL ? cleave_plan_get_most_bytes (plan) : 0;
}
