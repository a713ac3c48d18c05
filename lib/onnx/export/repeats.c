/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Searches for repeats (repeats.h). First lists candidates: ranges of nodes in which each node has
 * the same kind as the node `period` nodes later. Then looks for the longest repeat in each
 * candidate. */

#include "repeats.h"

/* A Loop has at least MIN_ITERATIONS iterations and saves at least MIN_SAVED nodes. Copies of
 * carried values would take more memory than a smaller Loop saves. */
#define MIN_ITERATIONS 3
#define MIN_SAVED 8
/* The search tries at most this many periods in one file. A period is the number of nodes of one
 * iteration. A plan with a dozen segments has fewer periods. */
#define MAX_PERIODS 64
/* The search leaves at most this many iterations of a candidate out of the repeat. Because of
 * halos, the nodes of the first strips may differ from the nodes of later strips. */
#define MAX_SKIPPED 27
/* A repeat ends fewer than this many periods before the end of the candidate. */
#define MAX_LEFT 4
/* The search compares at most MAX_WORK pairs of nodes for each node of the file. In files of 40
 * networks, it compared at most 17 pairs for each node. */
#define MAX_WORK 500

typedef struct
{
  const CleaveOnnxList *list;
  GPtrArray *found;
  gint64 work;
} Search;

void
cleave_onnx_repeat_free (CleaveOnnxRepeat *repeat)
{
  g_array_unref (repeat->states);
  g_array_unref (repeat->stacks);
  g_free (repeat);
}

/* The functions below search one candidate for repeats. */

static CleaveOnnxRepeat *
repeat_new (guint begin, guint period, guint n_iterations)
{
  CleaveOnnxRepeat *repeat = g_new (CleaveOnnxRepeat, 1);

  *repeat = (CleaveOnnxRepeat){ .begin = begin, .period = period, .n_iterations = n_iterations };
  repeat->states = g_array_new (FALSE, FALSE, sizeof (CleaveOnnxState));
  repeat->stacks = g_array_new (FALSE, FALSE, sizeof (CleaveOnnxStack));
  return repeat;
}

/* A part of a candidate that may be a repeat. */
typedef struct
{
  guint begin;
  gint64 n_bytes; /* of the states: results that later iterations read */
} Part;

static int
compare_parts (gconstpointer a, gconstpointer b)
{
  const Part *x = a, *y = b;

  if (x->n_bytes != y->n_bytes)
    return x->n_bytes < y->n_bytes ? -1 : 1;
  return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Lists the parts of `n` iterations that end fewer than MAX_LEFT periods before the end of the
 * candidate, and that cleave_onnx_bound_repeats() does not rule out. The parts with the fewest
 * bytes of states come first. */
static GArray *
list_parts (const CleaveOnnxCandidate *candidate, guint n, const guint *least, const gint64 *bytes)
{
  GArray *parts = g_array_new (FALSE, FALSE, sizeof (Part));
  guint n_nodes = n * candidate->period, n_phases = MAX_LEFT * candidate->period;
  guint last = candidate->end - n_nodes;

  for (guint begin = last - MIN (last - candidate->begin, n_phases - 1); begin <= last; begin++)
    {
      guint offset = begin - candidate->begin;
      Part part = { begin, bytes[offset % candidate->period] };

      if (begin >= least[offset + n_nodes])
        g_array_append_val (parts, part);
    }
  g_array_sort (parts, compare_parts);
  return parts;
}

/* Returns the first repeat of `n` iterations among the parts, or NULL if there is none. */
static CleaveOnnxRepeat *
find_repeat (Search *search, const CleaveOnnxCandidate *candidate, guint n, const GArray *parts)
{
  const gint64 max_work = (gint64) MAX_WORK * search->list->n_nodes;

  for (guint i = 0; i < parts->len && search->work < max_work; i++)
    {
      g_autoptr (CleaveOnnxRepeat) repeat =
          repeat_new (g_array_index (parts, Part, i).begin, candidate->period, n);

      search->work += candidate->period * n;
      if (cleave_onnx_check_iterations (search->list, repeat) &&
          cleave_onnx_check_readers (search->list, repeat))
        return g_steal_pointer (&repeat);
    }
  return NULL;
}

/* Adds to `found` the repeat of the candidate with the most iterations, and of these, with the
 * fewest bytes of states. */
static void
search_candidate (Search *search, const CleaveOnnxCandidate *candidate)
{
  guint n = (candidate->end - candidate->begin) / candidate->period;
  guint fewest = MAX (MIN_ITERATIONS, n < MAX_SKIPPED ? 0 : n - MAX_SKIPPED);
  g_autofree guint *least = NULL;
  g_autofree gint64 *bytes = NULL;
  CleaveOnnxRepeat *repeat = NULL;

  for (guint i = 0; i < search->found->len; i++)
    {
      const CleaveOnnxRepeat *other = search->found->pdata[i];

      if (candidate->begin < cleave_onnx_repeat_end (other) && other->begin < candidate->end)
        return;
    }
  least = g_new (guint, candidate->end - candidate->begin + 1);
  bytes = g_new (gint64, candidate->period + 1);
  cleave_onnx_bound_repeats (search->list, candidate, least, bytes);
  for (; repeat == NULL && n >= fewest; n--)
    {
      g_autoptr (GArray) parts = list_parts (candidate, n, least, bytes);

      repeat = find_repeat (search, candidate, n, parts);
    }
  if (repeat != NULL)
    g_ptr_array_add (search->found, repeat);
}

static guint
get_saved (const CleaveOnnxCandidate *candidate)
{
  return candidate->end - candidate->begin - candidate->period;
}

static int
compare_candidates (gconstpointer a, gconstpointer b)
{
  const CleaveOnnxCandidate *x = a, *y = b;

  if (get_saved (x) != get_saved (y))
    return get_saved (x) < get_saved (y) ? 1 : -1;
  if (x->period != y->period)
    return x->period < y->period ? -1 : 1;
  return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void
add_candidates (const CleaveOnnxList *list, guint period, GArray *candidates)
{
  const guint *kinds = list->kinds;

  for (guint i = 0; i + period < list->n_nodes; i++)
    {
      CleaveOnnxCandidate candidate = { i, period, 0 };

      while (i + period < list->n_nodes && kinds[i] == kinds[i + period])
        i++;
      candidate.end = i + period;
      if (candidate.end - candidate.begin >= MIN_ITERATIONS * period &&
          get_saved (&candidate) >= MIN_SAVED)
        g_array_append_val (candidates, candidate);
    }
}

typedef struct
{
  guint period, n;
} Distance;

static int
compare_distances (gconstpointer a, gconstpointer b)
{
  const Distance *x = a, *y = b;

  if ((guint64) x->period * x->n != (guint64) y->period * y->n)
    return (guint64) x->period * x->n < (guint64) y->period * y->n ? 1 : -1;
  return x->period < y->period ? -1 : x->period > y->period;
}

/* Returns the most promising periods. A period is the distance between a node and the next node of
 * its kind. The order is by period * n, where n is the number of nodes with this distance: the
 * largest product first. */
static GArray *
find_distances (const CleaveOnnxList *list)
{
  GArray *distances = g_array_new (FALSE, FALSE, sizeof (Distance));
  g_autofree guint *counts = g_new0 (guint, list->n_nodes + 1);
  g_autofree guint *last = g_new0 (guint, list->n_nodes + 2);

  for (guint i = 0; i < list->n_nodes; i++)
    {
      if (last[list->kinds[i]] > 0)
        counts[i + 1 - last[list->kinds[i]]]++;
      last[list->kinds[i]] = i + 1;
    }
  for (guint i = 1; i < list->n_nodes; i++)
    {
      Distance distance = { i, counts[i] };

      if (counts[i] >= MIN_ITERATIONS - 1)
        g_array_append_val (distances, distance);
    }
  g_array_sort (distances, compare_distances);
  g_array_set_size (distances, MIN (distances->len, MAX_PERIODS));
  return distances;
}

static int
compare_begins (gconstpointer a, gconstpointer b)
{
  const CleaveOnnxRepeat *x = *(CleaveOnnxRepeat *const *) a, *y = *(CleaveOnnxRepeat *const *) b;

  return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Removes a repeat if a Concat that joins its results is a node of another repeat. */
static void
drop_nested (GPtrArray *found)
{
  for (guint i = found->len; i-- > 0;)
    {
      const CleaveOnnxRepeat *repeat = found->pdata[i];
      gboolean is_nested = FALSE;

      for (guint k = 0; k < repeat->stacks->len; k++)
        for (guint j = 0; j < found->len; j++)
          {
            const CleaveOnnxRepeat *other = found->pdata[j];
            guint reader = g_array_index (repeat->stacks, CleaveOnnxStack, k).reader;

            is_nested |= reader >= other->begin && reader < cleave_onnx_repeat_end (other);
          }
      if (is_nested)
        g_ptr_array_remove_index (found, i);
    }
}

GPtrArray *
cleave_onnx_find_repeats (const CleaveOnnxList *list)
{
  GPtrArray *found = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_onnx_repeat_free);
  g_autoptr (GArray) distances = find_distances (list);
  g_autoptr (GArray) candidates = g_array_new (FALSE, FALSE, sizeof (CleaveOnnxCandidate));
  Search search = { list, found, 0 };

  for (guint i = 0; i < distances->len; i++)
    add_candidates (list, g_array_index (distances, Distance, i).period, candidates);
  g_array_sort (candidates, compare_candidates);
  for (guint i = 0; i < candidates->len; i++)
    search_candidate (&search, &g_array_index (candidates, CleaveOnnxCandidate, i));
  g_ptr_array_sort (found, compare_begins);
  drop_nested (found);
  return found;
}
