/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "fit-best.h"

/* Of one begin. */
static int
compare_edges (gconstpointer a, gconstpointer b, gpointer data)
{
  const CleaveFitEdge *x = *(CleaveFitEdge *const *) a, *y = *(CleaveFitEdge *const *) b;
  const CleaveFitLaps *laps = data;
  gint64 x_bytes = cleave_fit_get_foreseen (x, *laps), y_bytes = cleave_fit_get_foreseen (y, *laps);

  if (x_bytes != y_bytes)
    return x_bytes < y_bytes ? -1 : 1;
  return (x->work > y->work) - (x->work < y->work);
}

/* Whether an edge costs less than all that need less memory. */
static gboolean
is_of_use (const CleaveFitEdge *edge, const CleaveFitEdge *last)
{
  return last == NULL || edge->work < last->work ||
         edge->work + edge->again < last->work + last->again || edge->macs < last->macs ||
         (last->is_thin && !edge->is_thin);
}

/* Notes those that no other betters, of one end and begin; they are sorted. */
static void
find_best (CleaveFitEdge *const *found, guint n, CleaveFitLaps laps)
{
  const CleaveFitEdge *last = NULL;

  for (guint i = 0; i < n; i++)
    {
      CleaveFitEdge *edge = found[i];

      if ((edge->halo == CLEAVE_HALO_CARRY_NARROW && laps < CLEAVE_FIT_NARROW) ||
          !is_of_use (edge, last))
        continue;
      edge->best_of |= 1U << laps;
      last = edge;
    }
}

static void
sort (CleaveFitEdge **found, guint n, CleaveFitLaps laps)
{
  if (n > 1)
    g_qsort_with_data (found, (gint) n, sizeof *found, compare_edges, &laps);
}

static void
add_best_of (CleaveFitEdge **found, guint n, gboolean is_fine, GArray *best)
{
  const CleaveFitLaps last = is_fine ? CLEAVE_FIT_FINE : CLEAVE_FIT_NARROW;
  gboolean has_laps = FALSE; /* else the order is one for all */

  for (guint i = 0; i < n; i++)
    {
      found[i]->best_of = 0;
      has_laps |= found[i]->lapped != found[i]->apart || found[i]->bold != found[i]->apart;
    }
  sort (found, n, last);
  find_best (found, n, last);
  for (CleaveFitLaps laps = is_fine ? CLEAVE_FIT_APART : last; laps-- > CLEAVE_FIT_APART;)
    {
      if (has_laps)
        sort (found, n, laps);
      find_best (found, n, laps);
    }
  for (guint i = 0; i < n; i++)
    if (found[i]->best_of != 0)
      g_array_append_vals (best, found[i], 1);
}

/* Of one end: by begin, each as it was found.  `first` tells where those of each begin are, from
 * the least on. */
static CleaveFitEdge **
list_by_begin (GArray *found, guint least, guint end, guint *first)
{
  CleaveFitEdge **list = g_new (CleaveFitEdge *, found->len + 1);

  for (guint i = 0; i < found->len; i++)
    first[g_array_index (found, CleaveFitEdge, i).begin - least]++;
  for (guint b = 1; b <= end - least; b++)
    first[b] += first[b - 1];
  for (guint i = found->len; i-- > 0;)
    {
      CleaveFitEdge *edge = &g_array_index (found, CleaveFitEdge, i);

      list[--first[edge->begin - least]] = edge;
    }
  return list;
}

GArray *
cleave_fit_list_best (GArray *found, guint end, gboolean is_fine)
{
  GArray *best = g_array_new (FALSE, FALSE, sizeof (CleaveFitEdge));
  g_autofree CleaveFitEdge **list = NULL;
  g_autofree guint *first = NULL;
  guint least = end;

  for (guint i = 0; i < found->len; i++)
    least = MIN (least, g_array_index (found, CleaveFitEdge, i).begin);
  first = g_new0 (guint, end - least + 1);
  list = list_by_begin (found, least, end, first);
  for (guint b = 0; b < end - least; b++)
    add_best_of (&list[first[b]], first[b + 1] - first[b], is_fine, best);
  return best;
}
