/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Counts the work of searches against their budgets, and limits the pieces and the nodes that a
 * search may make. The work of a search for one node also counts as work of the search for all
 * nodes (`all`). */

#include "work.h"

#include "../../lib/ir/graph-private.h"

#include "options.h"

/* Default budget of a search in units: a number for each graph, plus a number for each of its
 * nodes. In a graph of 40 nodes, a search that finds nothing ends after about 2 s. */
#define PER_GRAPH 500000
#define PER_NODE 2000
/* number of chunks that are planned in the time that it takes to make one piece */
#define PER_PIECE 5
/* a split may make at most MAX_MADE nodes, and MADE_PER_NODE more for each node of the graph; 2^20
 * nodes take about 5 s and 1.5 GiB */
#define MAX_MADE (1 << 20)
#define MADE_PER_NODE 64
/* a split with a search may make at least this many nodes, even with a small search budget: they
 * take 0.3 s */
#define MIN_MADE (1 << 14)

CleaveWork
cleave_work_init (const CleaveGraph *graph, const CleaveSplitRequest *requests, guint n)
{
  CleaveWork work = { 0 };

  for (guint i = 0; i < n; i++)
    {
      const CleaveConstraint *constraint = requests[i].constraint;

      if (constraint == NULL)
        continue;
      work.budget = MAX (work.budget, constraint->search_budget);
      if (constraint->cancellable != NULL)
        work.cancellable = constraint->cancellable;
      if (constraint->watch == NULL)
        continue;
      work.watch = constraint->watch;
      work.data = constraint->watch_data;
    }
  if (work.budget <= 0)
    work.budget = PER_GRAPH + PER_NODE * (gint64) cleave_graph_count_operators (graph);
  return work;
}

CleaveWork
cleave_work_share (CleaveWork *all, guint n)
{
  return (CleaveWork){ .budget = MAX (all->budget / MAX (n, 1), 1),
                       .all = all,
                       .cancellable = all->cancellable };
}

void
cleave_work_add (CleaveWork *work, gint64 n)
{
  work->done = g_cancellable_is_cancelled (work->cancellable) ? G_MAXINT64 / 2 : work->done + n;
  if (work->all != NULL)
    cleave_work_add (work->all, n);
  else if (work->watch != NULL)
    work->watch (MIN (work->done, work->budget), work->budget, work->data);
}

gboolean
cleave_work_is_cancelled (const CleaveWork *work, GError **error)
{
  return g_cancellable_set_error_if_cancelled (work->cancellable, error);
}

gboolean
cleave_work_is_over (const CleaveWork *work)
{
  return work->done >= work->budget;
}

void
cleave_work_give_up (CleaveWork *work)
{
  work->gave_up = TRUE;
  if (work->all != NULL)
    cleave_work_give_up (work->all);
}

gint64
cleave_work_max_pieces (const CleaveWork *work)
{
  return CLAMP (work->budget / PER_PIECE, 1, CLEAVE_MAX_CHUNKS);
}

CleaveMadeLimit
cleave_work_made_limit (const CleaveWork *work, const CleaveGraph *graph)
{
  gint64 growth = MADE_PER_NODE * (gint64) graph->n_nodes, max = MAX_MADE + growth;

  return work == NULL || work->budget / PER_PIECE > max
             ? (CleaveMadeLimit){ max, 0 }
             : (CleaveMadeLimit){ MAX (work->budget / PER_PIECE, MIN_MADE + growth), PER_PIECE };
}
