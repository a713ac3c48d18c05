/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Chooses laps: overlays a value that is computed strip by strip over a value that dies meanwhile.
 * Makes a lap only if the lap lowers the peak. */

#include "laps.h"

#include "../ir/align.h"

/* Laps: a value that is computed strip by strip may share memory with a value that dies meanwhile.
 * Each strip is written to bytes that neither this strip nor a later step reads. Here y, of 16
 * rows, is computed from x, also of 16 rows, in 4 strips. Each strip of 4 rows also reads one row
 * of x above and one row below these rows. The two lines of a picture show the same 21 rows of
 * memory. In the line of x, the digit s is a row of x whose last reader is strip s. In the line of
 * y, the digit s is a row that strip s has written, and a dot is a row that is not written yet:
 *
 *   before strip 3:   x  |            333344444|
 *                     y  |11112222........     |
 *   after strip 3:    x  |                44444|
 *                     y  |111122223333....     |
 *
 * In the picture, x begins 5 rows after y. Strip 3 writes y up to row 11 and reads x from row 7 on,
 * so row 7 of x must come after row 11 of y. While x and y are both in use, they take 21 rows of
 * memory. While only one of them is in use, it takes 16 rows, and other values may use the other 5
 * rows (fragments.h). A value may overlay several values, and a value that overlays another may
 * itself be overlaid. A lap is valid if steps run one after the other, so only programs of one
 * thread have laps. */

/* The bisection for the best `target` (LapSearch) ends when the interval of possible targets is at
 * most 1/PRECISION of the peak. */
#define PRECISION 256
/* If one of the two values of a lap is an input or output of the graph, each run must copy the
 * input or output. So the lap must save at least 1/BOUND_GAIN of the bytes of the smaller value. */
#define BOUND_GAIN 4

/* The state of one search for laps. A lap moves a buffer x into a buffer y. The search makes a lap
 * only if, without the lap, more than `target` bytes are in use at a step while x and y both
 * exist. */
typedef struct
{
  const CleaveLapTable *table;
  gint64 target; /* bytes */
  /* TRUE: prefer the lap that saves the most bytes; FALSE: prefer the lap that saves the most bytes
   * above `target` */
  gboolean prefers_large;
  gint64 *live;    /* indexed by step: bytes in use */
  GArray *edges;   /* CleaveLapEdge: pairs of steps that must keep their order because of laps */
  GArray *buffers; /* CleaveLapBuffer: a copy of `table->buffers`; the laps of this search change
                    * only the copy */
  GArray *alive;   /* guint: indices in `buffers` of the buffers that are in use and that no lap has
                    * moved */
} LapSearch;

/* The names x and y in the functions below: strips of the buffer y are written over the buffer x,
 * which dies meanwhile. */

/* Returns an offset of x from the beginning of y, in bytes. With this offset, no write to y
 * destroys bytes of x that the same step or a later step reads or writes. */
static gint64
find_shift (const CleaveLapBuffer *x, const CleaveLapBuffer *y)
{
  const gint64 to = CLEAVE_BUFFER_ALIGNMENT;
  gint64 shift = 0, needed = G_MAXINT64;
  guint next = x->accesses->len;

  for (guint i = y->accesses->len; i-- > 0;)
    {
      const CleaveLapAccess *write = &g_array_index (y->accesses, CleaveLapAccess, i);

      for (; next > 0 && g_array_index (x->accesses, CleaveLapAccess, next - 1).step >= write->step;
           next--)
        needed = MIN (needed, g_array_index (x->accesses, CleaveLapAccess, next - 1).begin);
      if (write->writes && needed < G_MAXINT64)
        shift = MAX (shift, write->end - needed);
    }
  return cleave_align_up (shift, to);
}

/* Returns the first step with the most bytes in use, from step `begin` to step `last`. */
static guint
find_busiest (const gint64 *live, guint begin, guint last)
{
  guint busiest = begin;

  for (guint s = begin; s <= last; s++)
    if (live[s] > live[busiest])
      busiest = s;
  return busiest;
}

static int
compare_begins (gconstpointer a, gconstpointer b)
{
  const CleaveLapMember *x = a, *y = b;

  return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Returns the members of y and of x, with x moved to offset `shift` of y. Leaves out members that
 * no step from `earliest` on uses. */
static GArray *
join_members (const CleaveLapBuffer *x, const CleaveLapBuffer *y, gint64 shift, guint earliest)
{
  GArray *members = g_array_new (FALSE, FALSE, sizeof (CleaveLapMember));

  for (guint i = 0; i < x->members->len + y->members->len; i++)
    {
      const gboolean is_of_x = i < x->members->len;
      CleaveLapMember member =
          is_of_x ? g_array_index (x->members, CleaveLapMember, i)
                  : g_array_index (y->members, CleaveLapMember, i - x->members->len);

      member.begin += is_of_x ? shift : 0;
      member.end += is_of_x ? shift : 0;
      if (member.last >= earliest)
        g_array_append_val (members, member);
    }
  g_array_sort (members, compare_begins);
  return members;
}

/* Returns the bytes that a lap saves at a step. `joined` has the members of x and y
 * (join_members()).
 */
static gint64
count_saved (const CleaveLapBuffer *x, const CleaveLapBuffer *y, const GArray *joined, guint step)
{
  return cleave_fragments_count_bytes (x->members, step) +
         cleave_fragments_count_bytes (y->members, step) -
         cleave_fragments_count_bytes (joined, step);
}

/* Returns the gain of a lap of y over x: the bytes that the lap saves at one step. This is the step
 * with the most bytes in use, among the steps while x and y both exist. Unless `prefers_large` is
 * set, counts only bytes above `target`. Returns 0 if at most `target` bytes are in use at the
 * step, or if BOUND_GAIN forbids the lap. */
static gint64
find_gain (const LapSearch *l, const CleaveLapBuffer *x, const CleaveLapBuffer *y, gint64 shift)
{
  const guint busiest = find_busiest (l->live, y->own_first, x->last);
  g_autoptr (GArray) joined = NULL;
  gint64 saved;

  if (l->live[busiest] <= l->target)
    return 0;
  joined = join_members (x, y, shift, busiest);
  saved = count_saved (x, y, joined, busiest);
  if ((x->is_bound || y->is_bound) && BOUND_GAIN * saved < MIN (x->n_bytes, y->n_bytes))
    return 0;
  return l->prefers_large ? saved : MIN (l->live[busiest] - l->target, saved);
}

static void
add_edge (GArray *edges, guint before, guint after)
{
  CleaveLapEdge edge = { before, after };

  if (before != CLEAVE_NEVER && before != after)
    g_array_append_val (edges, edge);
}

/* Adds edges that make each step that writes y wait for all earlier steps that read or write x. */
static void
add_edges (GArray *edges, const CleaveLapBuffer *x, const CleaveLapBuffer *y)
{
  guint next = 0, before = CLEAVE_NEVER;

  for (guint i = 0; i < y->accesses->len; i++)
    {
      const CleaveLapAccess *write = &g_array_index (y->accesses, CleaveLapAccess, i);

      if (!write->writes || write->step == before)
        continue;
      for (; next < x->accesses->len &&
             g_array_index (x->accesses, CleaveLapAccess, next).step <= write->step;
           next++)
        add_edge (edges, g_array_index (x->accesses, CleaveLapAccess, next).step, write->step);
      add_edge (edges, before, write->step);
      before = write->step;
    }
}

/* Merges the accesses of x into the accesses of y, sorted by step. Leaves out accesses before step
 * `earliest`. */
static void
merge_accesses (const CleaveLapBuffer *x, CleaveLapBuffer *y, gint64 shift, guint earliest)
{
  GArray *merged = g_array_new (FALSE, FALSE, sizeof (CleaveLapAccess));
  guint next = 0;

  for (guint i = 0; i <= y->accesses->len; i++)
    {
      const CleaveLapAccess *own =
          i < y->accesses->len ? &g_array_index (y->accesses, CleaveLapAccess, i) : NULL;

      for (; next < x->accesses->len &&
             (own == NULL || g_array_index (x->accesses, CleaveLapAccess, next).step <= own->step);
           next++)
        {
          CleaveLapAccess access = g_array_index (x->accesses, CleaveLapAccess, next);

          access.begin += shift;
          access.end += shift;
          if (access.step >= earliest)
            g_array_append_val (merged, access);
        }
      if (own != NULL && own->step >= earliest)
        g_array_append_vals (merged, own, 1);
    }
  g_array_unref (y->accesses);
  y->accesses = merged;
}

/* Subtracts the bytes that a lap of y over x saves from the bytes in use at each step. */
static void
subtract_saved (LapSearch *l,
                const CleaveLapBuffer *x,
                const CleaveLapBuffer *y,
                const GArray *joined)
{
  for (guint begin = y->own_first, end; begin <= x->last; begin = end)
    {
      const gint64 saved = count_saved (x, y, joined, begin);

      end = x->last + 1;
      for (guint i = 0; i < joined->len; i++)
        {
          const CleaveLapMember *member = &g_array_index (joined, CleaveLapMember, i);

          if (member->first > begin)
            end = MIN (end, member->first);
          if (member->last >= begin)
            end = MIN (end, member->last + 1);
        }
      for (guint s = begin; s < end; s++)
        l->live[s] -= saved;
    }
}

/* Moves the buffer `under` into the buffer `over`. No buffer that is in use, except these two, was
 * used before step `earliest`. */
static void
overlay_buffer (LapSearch *l, guint under, guint over, gint64 shift, guint earliest)
{
  CleaveLapBuffer *x = cleave_lap_buffer (l->buffers, under),
                  *y = cleave_lap_buffer (l->buffers, over);
  GArray *joined = join_members (x, y, shift, MIN (earliest, y->own_first));

  subtract_saved (l, x, y, joined);
  add_edges (l->edges, x, y);
  merge_accesses (x, y, shift, MIN (earliest, y->own_first));
  x->over = over;
  x->shift = shift;
  y->n_bytes = MAX (y->n_bytes, shift + x->n_bytes);
  y->first = MIN (y->first, x->first);
  y->is_shared = TRUE;
  g_array_unref (y->members);
  y->members = joined;
}

/* Finds the buffer x whose lap into the buffer with the index `over` has the largest gain, and
 * moves x into this buffer. Returns FALSE if no lap saves memory. */
static gboolean
overlay_best (LapSearch *l, guint over)
{
  const CleaveLapBuffer *y = cleave_lap_buffer (l->buffers, over);
  guint best = CLEAVE_NEVER, n_alive = 0, earliest = CLEAVE_NEVER;
  gint64 most = 0, shift = 0;

  for (guint i = 0; i < l->alive->len; i++)
    {
      guint under = g_array_index (l->alive, guint, i);
      const CleaveLapBuffer *x = cleave_lap_buffer (l->buffers, under);
      gint64 here, gain;

      if (x->over != CLEAVE_NEVER || x->last < y->own_first)
        continue;
      g_array_index (l->alive, guint, n_alive++) = under;
      earliest = MIN (earliest, x->first);
      if (x->own_first >= y->own_first || x->last >= y->last)
        continue;
      here = find_shift (x, y);
      gain = find_gain (l, x, y, here);
      if (gain > most)
        {
          best = under;
          most = gain;
          shift = here;
        }
    }
  g_array_set_size (l->alive, n_alive);
  if (best != CLEAVE_NEVER)
    overlay_buffer (l, best, over, shift, earliest);
  return best != CLEAVE_NEVER;
}

static void
search_clear (LapSearch *l)
{
  g_clear_pointer (&l->alive, g_array_unref);
  g_clear_pointer (&l->buffers, g_array_unref);
  g_clear_pointer (&l->edges, g_array_unref);
  g_clear_pointer (&l->live, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (LapSearch, search_clear)

/* Finds laps that lower memory use to `target` bytes if possible. Returns the peak with these laps.
 */
static gint64
lap_to (LapSearch *l, const CleaveLapTable *table, gint64 target, gboolean prefers_large)
{
  const CleaveStorage *storage = table->storage;
  const guint n = storage->steps->len;
  gint64 peak;

  *l = (LapSearch){ .table = table, .target = target, .prefers_large = prefers_large };
  l->live = g_memdup2 (storage->live, (n + 1) * sizeof *l->live);
  l->alive = g_array_new (FALSE, FALSE, sizeof (guint));
  l->edges = g_array_new (FALSE, FALSE, sizeof (CleaveLapEdge));
  l->buffers = cleave_lap_table_copy_buffers (table);
  for (guint i = 0; i < l->buffers->len; i++)
    {
      while (overlay_best (l, i))
        ;
      g_array_append_val (l->alive, i);
    }
  peak = l->live[find_busiest (l->live, 0, n)];
  for (guint i = 0; i < l->buffers->len; i++)
    peak = MAX (peak, cleave_lap_buffer (l->buffers, i)->n_bytes);
  return peak;
}

/* Runs a search with a target. If its peak is at most `least` bytes, replaces `best` by the search.
 * Returns the peak. */
static gint64
try_target (LapSearch *best,
            const CleaveLapTable *table,
            gint64 target,
            gboolean prefers_large,
            gint64 least)
{
  g_auto (LapSearch) l = { 0 };
  const gint64 peak = lap_to (&l, table, target, prefers_large);

  if (peak > least)
    return peak;
  search_clear (best);
  *best = l;
  l = (LapSearch){ 0 };
  return peak;
}

/* Finds the laps with the lowest peak: tries several values of `target` (LapSearch), chosen by
 * bisection. `least` is the lowest peak known before the call. If the call finds a lower peak, sets
 * `best` to the search with this peak. Returns the lowest peak. */
static gint64
lap_least (LapSearch *best, const CleaveLapTable *table, gboolean prefers_large, gint64 least)
{
  const gint64 peak_before = table->storage->peak;

  for (gint64 low = 0; least - low > peak_before / PRECISION;)
    {
      const gint64 target = low + (least - low) / 2;
      const gint64 peak = try_target (best, table, target, prefers_large, least - 1);

      if (peak > target)
        low = target + 1;
      least = MIN (least, peak);
    }
  return least;
}

gboolean
cleave_laps_find (CleaveLaps *laps, const CleaveLapTable *table)
{
  g_auto (LapSearch) best = { 0 };
  gint64 least = table->storage->peak;

  for (guint i = 0; i < 2 && table->buffers->len > 1; i++)
    least = lap_least (&best, table, i == 0, least);
  if (best.table == NULL)
    return FALSE;
  try_target (&best, table, least, best.prefers_large, least);
  laps->edges = g_steal_pointer (&best.edges);
  laps->buffers = g_steal_pointer (&best.buffers);
  return TRUE;
}

void
cleave_laps_clear (CleaveLaps *laps)
{
  g_clear_pointer (&laps->edges, g_array_unref);
  g_clear_pointer (&laps->buffers, g_array_unref);
}
