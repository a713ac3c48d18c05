/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Ranks the steps by the cost of their longest path to the end of the run: the step with the
 * longest path has rank 0. If two steps have equally long paths, the step with the smaller number
 * comes first. */

#include "urgency.h"

static int
compare_lengths (gconstpointer a, gconstpointer b, gpointer data)
{
  const double *length = data;
  guint x = *(const guint *) a, y = *(const guint *) b;

  return length[x] != length[y] ? (length[x] < length[y]) - (length[x] > length[y])
                                : (x > y) - (x < y);
}

void
cleave_urgency_init (CleaveUrgency *urgency, const CleaveScheduleTask *task)
{
  guint n = task->n_steps;
  g_autofree double *length =
      g_new0 (double, n + 1); /* indexed by step: cost in nanoseconds of the longest path from the
                                 step to the end of the run */

  urgency->rank = g_new (guint, n + 1);
  urgency->by_rank = g_new (guint, n + 1);
  for (guint s = n; s-- > 0;)
    {
      urgency->by_rank[s] = s;
      length[s] += task->cost[s];
      for (guint i = task->begin[s]; i < task->begin[s + 1]; i++)
        length[task->preds[i]] = MAX (length[task->preds[i]], length[s]);
    }
  g_qsort_with_data (urgency->by_rank, (gint) n, sizeof (guint), compare_lengths, length);
  for (guint i = 0; i < n; i++)
    urgency->rank[urgency->by_rank[i]] = i;
}

void
cleave_urgency_clear (CleaveUrgency *urgency)
{
  g_clear_pointer (&urgency->rank, g_free);
  g_clear_pointer (&urgency->by_rank, g_free);
}
