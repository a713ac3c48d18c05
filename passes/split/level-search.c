/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Searches for a split of several nodes by levels. The level is a limit on the bytes of a piece.
 * Lowers the level until a split of a copy of the graph meets the limits on the graph, and stores
 * the ranges of this split in the roots. A member is a root that the search cuts. A cut (CleaveCut)
 * is one way to divide a dimension; the cuts of a dimension are listed from coarse to fine. */

#include "level-search.h"

#include "cuts.h"

#include <string.h>

/* To get the next level, the search multiplies the level by this factor. */
#define LESS 3 / 4
/* The search counts its work in units; planning one chunk takes one unit. A look compares the bytes
 * of the pieces of one cut with the level. This many looks take one unit. */
#define LOOKS_PER_UNIT 64
/* The search checks whether a cut is legal only if the cut has at most this many chunks. Cuts into
 * more chunks are checked later, when the graph is split. */
#define MAX_CHECKED 512
/* At each level, the search tries one split for each dimension d. The split for d cuts all nodes
 * along d first. If this many splits for one d in a row do not lower the peak, the search tries no
 * more splits for this d. */
#define PATIENCE 6

/* A node that the search cuts. `at[d]` is the index of the current cut of dimension d. */
typedef struct
{
  CleaveCuts cuts;
  CleaveSpace space;
  const CleaveConstraint *constraint;
  guint at[CLEAVE_MAX_RANK];
  gint64 n; /* number of pieces into which the current cuts divide the node */
  /* number of looks (LOOKS_PER_UNIT) that are not counted in the trial's work yet */
  gint64 n_looks;
  gboolean is_low; /* the largest piece has at most as many bytes as the level */
} Member;

struct _CleaveLevelSearch
{
  CleaveTrial *trial;
  GPtrArray *members; /* Member: the nodes that are split together */
  /* Both arrays are indexed by the dimension d along which a split cuts all nodes first
   * (try_level()). The trial of a split measures the peaks for which there are limits, in bytes.
   * `least[d]` is the smallest sum of these peaks among the splits for d. `n_splits_ago[d]` is the
   * number of splits for d that the search has tried since the split with this sum. */
  gint64 least[CLEAVE_MAX_RANK];
  guint n_splits_ago[CLEAVE_MAX_RANK];
};

static void
member_free (gpointer data)
{
  Member *member = data;

  cleave_cuts_clear (&member->cuts);
  g_free (member);
}

CleaveLevelSearch *
cleave_level_search_new (CleaveTrial *trial)
{
  CleaveLevelSearch *search = g_new0 (CleaveLevelSearch, 1);

  search->trial = trial;
  search->members = g_ptr_array_new_with_free_func (member_free);
  return search;
}

void
cleave_level_search_free (CleaveLevelSearch *search)
{
  if (search == NULL)
    return;
  g_ptr_array_unref (search->members);
  g_free (search);
}

void
cleave_level_search_add (CleaveLevelSearch *search,
                         const CleaveSplitRequest *request,
                         const CleaveSpace *space)
{
  const CleaveCutsToList list = { .max_pieces = cleave_work_max_pieces (search->trial->work) };
  Member *member = g_new0 (Member, 1);

  member->space = *space;
  member->constraint = request->constraint;
  cleave_cuts_init (&member->cuts, request->node, &member->space, &list);
  g_ptr_array_add (search->members, member);
}

/* Returns the bytes of the values that the largest piece reads and computes. If `weights` is TRUE,
 * includes the bytes of constants. */
static gint64
piece_bytes (const Member *member, gboolean weights)
{
  const CleaveCuts *cuts = &member->cuts;
  gint64 sum = 0;

  for (guint v = 0; v < cuts->n_values; v++)
    {
      gint64 n = cuts->values[v].fixed;

      if (cuts->values[v].is_constant && !weights)
        continue;
      for (guint d = 0; d < cuts->shape.rank; d++)
        n *= cleave_cuts_get (cuts, d, member->at[d])->low[v];
      sum += n;
    }
  return sum;
}

static gboolean
fits (const Member *member, gint64 level)
{
  gint64 limit = member->constraint->max_memory;

  return piece_bytes (member, FALSE) <= level &&
         (limit == 0 || piece_bytes (member, TRUE) <= limit);
}

/* Returns the index of the coarsest cut of dimension `d` with pieces of at most `level` bytes. If
 * there is no such cut, returns the index of the cut with the smallest pieces. */
static guint
pick_cut (Member *member, guint d, gint64 level, gint64 max_n)
{
  guint best = 0;
  gint64 least = G_MAXINT64;

  for (guint i = 0; i < member->cuts.cuts[d]->len && !member->is_low; i++)
    {
      const CleaveCut *cut = cleave_cuts_get (&member->cuts, d, i);

      if (cut->n > max_n / member->n)
        break;
      member->n_looks++;
      if (cut->is_refused)
        continue;
      member->at[d] = i;
      member->is_low = fits (member, level);
      if (!member->is_low && piece_bytes (member, FALSE) >= least)
        continue;
      least = piece_bytes (member, FALSE);
      best = i;
    }
  return best;
}

static void
cut_dimension (Member *member, guint d, gint64 level, gint64 max_n)
{
  gboolean was_low = member->is_low;
  CleaveCut *cut;
  guint best;

  /* if a chunk of a cut is not legal, mark the cut as refused and pick the next cut */
  do
    {
      member->is_low = was_low;
      best = pick_cut (member, d, level, max_n);
      cut = cleave_cuts_get (&member->cuts, d, best);
    }
  while (cut->n > 1 && cut->n <= MAX_CHECKED &&
         !cleave_cut_find_kinds (&member->cuts, d, cut, NULL));
  member->at[d] = best;
  member->n *= cleave_cuts_get (&member->cuts, d, best)->n;
}

/* Cuts a node into the fewest pieces of at most `level` bytes along dimension `first`. If even the
 * smallest pieces along `first` have more bytes, also cuts the node along the other dimensions.
 * Returns whether this changes the cuts of the node. */
static gboolean
cut_member (Member *member, guint first, gint64 level, gint64 max_n)
{
  guint before[CLEAVE_MAX_RANK], rank = member->cuts.shape.rank;

  if (member->constraint->max_pieces > 0)
    max_n = MIN (max_n, member->constraint->max_pieces);
  memcpy (before, member->at, sizeof before);
  memset (member->at, 0, sizeof member->at);
  member->n = 1;
  member->is_low = fits (member, level);
  if (first < rank)
    cut_dimension (member, first, level, max_n);
  for (guint d = 0; d < rank; d++)
    if (d != first)
      cut_dimension (member, d, level, max_n);
  return memcmp (before, member->at, sizeof before) != 0;
}

/* Cuts all nodes of the search into pieces of at most `level` bytes, first along dimension `first`
 * (cut_member()). Returns whether this changes the cuts of any node. */
static gboolean
cut_all (CleaveLevelSearch *search, guint first, gint64 level)
{
  gint64 max_n = cleave_work_max_pieces (search->trial->work) / MAX (search->members->len, 1);
  gint64 n_looks = 0;
  gboolean is_new = FALSE;

  for (guint i = 0; i < search->members->len; i++)
    {
      Member *member = search->members->pdata[i];

      member->n_looks = 0;
      is_new |= cut_member (member, first, level, MAX (max_n, 1));
      n_looks += member->n_looks;
    }
  cleave_work_add (search->trial->work, search->members->len + n_looks / LOOKS_PER_UNIT);
  return is_new;
}

static void
set_roots (const CleaveLevelSearch *search, GArray *roots)
{
  guint m = 0;

  for (guint i = 0; i < roots->len && m < search->members->len; i++)
    {
      CleaveRoot *root = &g_array_index (roots, CleaveRoot, i);
      const Member *member = search->members->pdata[m];

      if (root->node != member->cuts.node)
        continue;
      m++;
      g_clear_pointer (&root->ranges, g_array_unref);
      if (member->n > 1)
        root->ranges = cleave_cuts_grid (&member->cuts, member->at);
    }
}

static gboolean
try_all (CleaveLevelSearch *search, GArray *roots)
{
  set_roots (search, roots);
  return cleave_trial_run (search->trial, (const CleaveRoot *) roots->data, roots->len);
}

static void
note (CleaveLevelSearch *search, guint first)
{
  CleavePeaks peaks = search->trial->last;
  gint64 sum = peaks.schedule + peaks.subgraph;

  search->n_splits_ago[first]++;
  if (search->least[first] != 0 && sum >= search->least[first])
    return;
  search->least[first] = sum;
  search->n_splits_ago[first] = 0;
}

static gboolean
may_go_on (const CleaveLevelSearch *search)
{
  if (!cleave_work_is_over (search->trial->work))
    return !cleave_trial_is_done (search->trial);
  cleave_work_give_up (search->trial->work);
  return FALSE;
}

/* Tries at most one split for each dimension d. The split for d cuts all nodes, along d first,
 * until the pieces of each node have at most `level` bytes (cut_all()). Some nodes have no pieces
 * that small. Returns TRUE as soon as a split meets the limits. Sets `*is_last` to TRUE if no node
 * has pieces of at most `level` bytes in any of these splits. Lower levels then need not be tried.
 */
static gboolean
try_level (CleaveLevelSearch *search, gint64 level, GArray *roots, gboolean *is_last)
{
  guint rank = 1;

  *is_last = TRUE;
  for (guint i = 0; i < search->members->len; i++)
    rank = MAX (rank, ((Member *) search->members->pdata[i])->cuts.shape.rank);
  for (guint first = 0; first < rank && may_go_on (search); first++)
    {
      gboolean is_new;

      if (search->n_splits_ago[first] >= PATIENCE)
        continue;
      is_new = cut_all (search, first, level);
      for (guint i = 0; i < search->members->len; i++)
        *is_last &= !((Member *) search->members->pdata[i])->is_low;
      if (is_new && try_all (search, roots))
        return TRUE;
      if (is_new)
        note (search, first);
    }
  return FALSE;
}

static gboolean
try_levels (CleaveLevelSearch *search, GArray *roots)
{
  gint64 level = 0;
  gboolean is_last = FALSE;

  for (guint i = 0; i < search->members->len; i++)
    {
      Member *member = search->members->pdata[i];

      member->n = 1;
      level = MAX (level, piece_bytes (member, FALSE));
    }
  if (try_all (search, roots))
    return TRUE;
  for (; !is_last && level > 0 && may_go_on (search); level = level * LESS)
    if (try_level (search, level, roots, &is_last))
      return TRUE;
  return FALSE;
}

static void
keep_all_whole (const CleaveLevelSearch *search, GArray *roots)
{
  g_autoptr (GString) why = g_string_new (NULL);
  guint m = 0;

  cleave_trial_explain (search->trial, why);
  if (search->trial->work->gave_up)
    g_string_append_printf (why, "; not found within a search budget of %" G_GINT64_FORMAT,
                            search->trial->work->budget);
  for (guint i = 0; i < roots->len && m < search->members->len; i++)
    {
      CleaveRoot *root = &g_array_index (roots, CleaveRoot, i);

      if (root->node != ((Member *) search->members->pdata[m])->cuts.node)
        continue;
      m++;
      cleave_root_keep_whole (root, CLEAVE_NOT_SPLIT_CONSTRAINT, why->str);
    }
}

void
cleave_level_search_run (CleaveLevelSearch *search, GArray *roots)
{
  if (search->members->len == 0)
    return;
  cleave_trial_find_bound (search->trial, (const CleaveRoot *) roots->data, roots->len);
  if (!try_levels (search, roots))
    keep_all_whole (search, roots);
}
