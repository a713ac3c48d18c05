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
/* At the beginning of a candidate, the search leaves fewer than this many iterations out of the
 * repeat. Because of halos, the nodes of the first strips may differ from the nodes of later
 * strips. */
#define MAX_SKIPPED 24
/* The search compares at most this many pairs of nodes in one file. To search for repeats with 100
 * nodes per iteration takes about 100,000 comparisons. */
#define MAX_WORK 200000000

typedef struct
{
  guint begin, period, end;
} Candidate;

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

/* Returns the longest repeat in `candidate` that begins at node `begin`, or fewer than MAX_SKIPPED
 * periods later. Returns NULL if there is none. If nodes outside the repeat read results that a
 * Loop cannot return, the repeat ends up to 3 iterations before the end of the candidate. */
static CleaveOnnxRepeat *
find_in_phase (Search *search, const Candidate *candidate, guint begin)
{
  for (guint skipped = 0; skipped < MAX_SKIPPED && search->work < MAX_WORK; skipped++)
    {
      guint from = begin + skipped * candidate->period;
      guint n = from >= candidate->end ? 0 : (candidate->end - from) / candidate->period;

      for (guint fewer = 0; fewer < 4 && n >= MIN_ITERATIONS + fewer; fewer++)
        {
          g_autoptr (CleaveOnnxRepeat) repeat = repeat_new (from, candidate->period, n - fewer);

          search->work += repeat->period * repeat->n_iterations;
          if (!cleave_onnx_check_iterations (search->list, repeat))
            break;
          if (cleave_onnx_check_readers (search->list, repeat))
            return g_steal_pointer (&repeat);
        }
    }
  return NULL;
}

/* Returns the bytes of all states of a repeat. A state is a result that later iterations read. */
static gint64
count_state_bytes (const CleaveOnnxList *list, const CleaveOnnxRepeat *repeat)
{
  gint64 n_bytes = 0;

  for (guint i = 0; i < repeat->states->len; i++)
    {
      const CleaveOnnxState *state = &g_array_index (repeat->states, CleaveOnnxState, i);

      n_bytes += state->lag * cleave_tensor_type_n_bytes (&list->types[state->first[0]]);
    }
  return n_bytes;
}

static gboolean
is_better (const CleaveOnnxList *list, const CleaveOnnxRepeat *repeat, const CleaveOnnxRepeat *best)
{
  if (best == NULL || repeat->n_iterations != best->n_iterations)
    return best == NULL || repeat->n_iterations > best->n_iterations;
  return count_state_bytes (list, repeat) < count_state_bytes (list, best);
}

static void
search_candidate (Search *search, const Candidate *candidate)
{
  g_autoptr (CleaveOnnxRepeat) best = NULL;

  for (guint i = 0; i < search->found->len; i++)
    {
      const CleaveOnnxRepeat *other = search->found->pdata[i];

      if (candidate->begin < cleave_onnx_repeat_end (other) && other->begin < candidate->end)
        return;
    }
  for (guint phase = 0; phase < candidate->period; phase++)
    {
      g_autoptr (CleaveOnnxRepeat) repeat =
          find_in_phase (search, candidate, candidate->begin + phase);

      if (repeat != NULL && is_better (search->list, repeat, best))
        {
          g_clear_pointer (&best, cleave_onnx_repeat_free);
          best = g_steal_pointer (&repeat);
        }
    }
  if (best != NULL)
    g_ptr_array_add (search->found, g_steal_pointer (&best));
}

static guint
get_saved (const Candidate *candidate)
{
  return candidate->end - candidate->begin - candidate->period;
}

static int
compare_candidates (gconstpointer a, gconstpointer b)
{
  const Candidate *x = a, *y = b;

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
      Candidate candidate = { i, period, 0 };

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
  g_autoptr (GArray) candidates = g_array_new (FALSE, FALSE, sizeof (Candidate));
  Search search = { list, found, 0 };

  for (guint i = 0; i < distances->len; i++)
    add_candidates (list, g_array_index (distances, Distance, i).period, candidates);
  g_array_sort (candidates, compare_candidates);
  for (guint i = 0; i < candidates->len; i++)
    search_candidate (&search, &g_array_index (candidates, Candidate, i));
  g_ptr_array_sort (found, compare_begins);
  drop_nested (found);
  return found;
}
