/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Chooses laps: overlays a value that is computed strip by strip over a value that dies meanwhile.
 * Makes a lap only if the lap lowers the peak. ordering.c calls cleave_storage_lap() on the best
 * order. */

#include "lap-table.h"

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
 * The shared buffer is larger than x or y alone by the rows of x that one strip still needs: 5 rows
 * in the picture. This buffer exists as long as x or y, so laps are made only where memory use is
 * high. A lap is valid if steps run one after the other, so only programs of one thread have laps.
 */

/* The bisection for the best `target` (LapSearch) ends when the interval of possible targets is at
 * most 1/PRECISION of the peak. */
#define PRECISION 256
/* If one of the two values of a lap is an input or output of the graph, each run must copy the
 * input or output. So the lap must save at least 1/BOUND_GAIN of the bytes of the smaller value. */
#define BOUND_GAIN 4

/* The state of one search for laps. A lap moves a buffer x into a buffer y, so y grows. The search
 * makes a lap only if, without the lap, more than `target` bytes are in use while x and y both
 * exist. While only x or only y exists, the lap takes more bytes than before. If `may_exceed` is
 * set, memory use may exceed the target during these steps. A later lap often saves these bytes
 * again, as in a chain of residual blocks. */
typedef struct
{
  const CleaveLapTable *table;
  gint64 target; /* bytes */
  gboolean may_exceed;
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

static gint64
find_most (const gint64 *live, guint begin, guint end)
{
  gint64 most = 0;

  for (guint s = begin; s < end; s++)
    most = MAX (most, live[s]);
  return most;
}

static gint64
count_both (const CleaveLapBuffer *x, const CleaveLapBuffer *y, gint64 shift)
{
  return MAX (y->n_bytes, shift + x->n_bytes);
}

/* Returns whether to make a lap of y over x. The lap must save bytes. While x and y both exist,
 * more than `target` bytes must be in use without the lap. While only x or only y exists, memory
 * use with the lap must stay within `target`, unless `may_exceed` is set. BOUND_GAIN limits the
 * laps of inputs and outputs further. */
static gboolean
is_gain (const LapSearch *l, const CleaveLapBuffer *x, const CleaveLapBuffer *y, gint64 shift)
{
  const gint64 *live = l->live, both = count_both (x, y, shift);
  const gint64 saved = x->n_bytes + y->n_bytes - both;

  if (saved <= 0 || find_most (live, y->first, x->last + 1) <= l->target ||
      ((x->is_bound || y->is_bound) && BOUND_GAIN * saved < MIN (x->n_bytes, y->n_bytes)))
    return FALSE;
  return l->may_exceed ||
         ((both == x->n_bytes ||
           find_most (live, x->first, y->first) + both - x->n_bytes <= l->target) &&
          (both == y->n_bytes ||
           find_most (live, x->last + 1, y->last + 1) + both - y->n_bytes <= l->target));
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

/* Merges the accesses of x into the accesses of y, sorted by step. */
static void
merge_accesses (const CleaveLapBuffer *x, CleaveLapBuffer *y, gint64 shift)
{
  GArray *merged = g_array_sized_new (FALSE, FALSE, sizeof (CleaveLapAccess),
                                      x->accesses->len + y->accesses->len);
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
          g_array_append_val (merged, access);
        }
      if (own != NULL)
        g_array_append_vals (merged, own, 1);
    }
  g_array_unref (y->accesses);
  y->accesses = merged;
}

static void
overlay_buffer (LapSearch *l, guint under, guint over, gint64 shift)
{
  CleaveLapBuffer *x = cleave_lap_buffer (l->buffers, under),
                  *y = cleave_lap_buffer (l->buffers, over);
  gint64 *live = l->live, both = count_both (x, y, shift);

  for (guint s = x->first; s <= y->last; s++)
    live[s] += both - (s <= x->last ? x->n_bytes : 0) - (s >= y->first ? y->n_bytes : 0);
  add_edges (l->edges, x, y);
  merge_accesses (x, y, shift);
  x->over = over;
  x->shift = shift;
  y->n_bytes = both;
  y->first = x->first;
}

/* Finds the buffer x whose lap into the buffer with the index `over` saves the most memory, and
 * moves x into this buffer. Does nothing if no lap saves memory. */
static void
overlay_best (LapSearch *l, guint over)
{
  const CleaveLapBuffer *y = cleave_lap_buffer (l->buffers, over);
  guint best = CLEAVE_NEVER, n_alive = 0;
  gint64 most = 0, shift = 0;

  for (guint i = 0; i < l->alive->len; i++)
    {
      guint under = g_array_index (l->alive, guint, i);
      const CleaveLapBuffer *x = cleave_lap_buffer (l->buffers, under);
      gint64 here, saved;

      if (x->over != CLEAVE_NEVER || x->last < y->first)
        continue;
      g_array_index (l->alive, guint, n_alive++) = under;
      if (x->first >= y->first || x->last >= y->last)
        continue;
      here = find_shift (x, y);
      saved = x->n_bytes + y->n_bytes - count_both (x, y, here);
      if (saved > most && is_gain (l, x, y, here))
        {
          best = under;
          most = saved;
          shift = here;
        }
    }
  if (best != CLEAVE_NEVER)
    overlay_buffer (l, best, over, shift);
  g_array_set_size (l->alive, n_alive);
  g_array_append_val (l->alive, over);
}

/* Updates the location of each value whose buffer was moved into another buffer. */
static void
move_values (const LapSearch *l)
{
  CleaveStorage *storage = l->table->storage;

  for (guint v = 0; v < storage->n_values; v++)
    {
      CleaveAssignment *assignment = &storage->assignments[v];
      gint64 size = (gint64) cleave_element_size (assignment->result->type.element);
      guint buffer = storage->buffer[assignment->location.root];
      guint at = buffer == CLEAVE_NEVER ? CLEAVE_NEVER : l->table->index_of[buffer];
      CleaveLapMove move = { v, assignment->location.root, assignment->location.offset };

      if (at != CLEAVE_NEVER && cleave_lap_buffer (l->buffers, at)->over != CLEAVE_NEVER)
        g_array_append_val (storage->lap_moves, move);
      for (; at != CLEAVE_NEVER && cleave_lap_buffer (l->buffers, at)->over != CLEAVE_NEVER;
           at = cleave_lap_buffer (l->buffers, at)->over)
        {
          const CleaveLapBuffer *over =
              cleave_lap_buffer (l->buffers, cleave_lap_buffer (l->buffers, at)->over);

          assignment->location.root =
              g_array_index (storage->buffers, CleaveBuffer, over->buffer).value;
          assignment->location.offset += cleave_lap_buffer (l->buffers, at)->shift / size;
          assignment->flags |= CLEAVE_ASSIGNMENT_LAPPED;
        }
    }
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
lap_to (LapSearch *l, const CleaveLapTable *table, gint64 target, gboolean may_exceed)
{
  const CleaveStorage *storage = table->storage;
  const guint n = storage->steps->len;

  *l = (LapSearch){ .table = table, .target = target, .may_exceed = may_exceed };
  l->live = g_memdup2 (storage->live, (n + 1) * sizeof *l->live);
  l->alive = g_array_new (FALSE, FALSE, sizeof (guint));
  l->edges = g_array_new (FALSE, FALSE, sizeof (CleaveLapEdge));
  l->buffers = cleave_lap_table_copy_buffers (table);
  for (guint i = 0; i < l->buffers->len; i++)
    overlay_best (l, i);
  return find_most (l->live, 0, n);
}

/* Finds the laps with the lowest peak: tries several values of `target` (LapSearch), chosen by
 * bisection. `least` is the lowest peak known before the call. `best` is the search that found the
 * laps with this peak, or is empty if no laps are needed for this peak. If the call finds laps with
 * a lower peak, replaces `best` and returns this peak. If not, returns `least`. */
static gint64
lap_least (LapSearch *best, const CleaveLapTable *table, gint64 least, gboolean may_exceed)
{
  const gint64 peak_before = table->storage->peak;
  gint64 low = peak_before / 2; /* one lap saves at most half of the bytes that are in use */

  while (least - low > peak_before / PRECISION)
    {
      const gint64 target = low + (least - low) / 2;
      g_auto (LapSearch) l = { 0 };
      const gint64 peak = lap_to (&l, table, target, may_exceed);

      if (peak > target)
        low = target + 1;
      if (peak >= least)
        continue;
      least = peak;
      search_clear (best);
      *best = l;
      l = (LapSearch){ 0 };
    }
  return least;
}

void
cleave_storage_lap (CleaveStorage *storage, const CleaveGraph *graph)
{
  g_auto (CleaveLapTable) table = { 0 };
  g_auto (LapSearch) best = { 0 };
  gint64 least = storage->peak;

  cleave_lap_table_init (&table, storage, graph);
  for (guint may_exceed = 0; may_exceed < 2 && table.buffers->len > 1; may_exceed++)
    least = lap_least (&best, &table, least, may_exceed != 0);
  if (best.table == NULL)
    return;
  storage->lap_edges = g_steal_pointer (&best.edges);
  storage->lap_moves = g_array_new (FALSE, FALSE, sizeof (CleaveLapMove));
  storage->live_before_laps = g_steal_pointer (&storage->live);
  move_values (&best);
  cleave_storage_measure (storage, graph);
}

void
cleave_storage_unlap (CleaveStorage *storage, const CleaveGraph *graph)
{
  for (guint i = 0; i < storage->lap_moves->len; i++)
    {
      const CleaveLapMove *move = &g_array_index (storage->lap_moves, CleaveLapMove, i);
      CleaveAssignment *assignment = &storage->assignments[move->value];

      assignment->location.root = move->root;
      assignment->location.offset = move->offset;
      assignment->flags &= ~(guint) CLEAVE_ASSIGNMENT_LAPPED;
    }
  g_clear_pointer (&storage->lap_edges, g_array_unref);
  g_clear_pointer (&storage->lap_moves, g_array_unref);
  g_clear_pointer (&storage->live_before_laps, g_free);
  cleave_storage_measure (storage, graph);
}
