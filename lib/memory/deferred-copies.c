/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Chooses the operands of joins that are staged: stored in a separate buffer, and copied into the
 * join later. buffers.c stages them if that lowers the peak. */

#include "buffers.h"

#include "../ir/memory.h"

/* Staging. Without staging, a step writes an operand of a join straight into the join's buffer, so
 * the whole buffer must exist from this step on. If the other operands are computed much later,
 * most of that buffer is unused while memory use is at its peak:
 *
 *    part ── peak ── join (much larger)
 *
 * A staged operand has a small buffer of its own. The operand is copied into the join when the
 * other operands are computed. */

/* A join is much larger than an operand if it has at least this many times the bytes of the
 * operand. If no operand or every operand were staged, U-nets split for 2 threads would need a
 * third more memory. Super-resolution in strips would need a sixth more. */
#define MUCH_LARGER 2

/* A step is near the peak if its bytes in use are at least this fraction of the peak. The strips of
 * a band need about the same memory, so every strip has steps near the peak. */
#define NEAR_PEAK 0.95

/* Staging must save at least this fraction of the peak in total. */
#define MIN_GAIN 0.05
/* Staging the operands of one join must save at least this fraction of the peak. The fraction is
 * small because tiles have many small joins, each of which saves little. Together, the joins of
 * tiles save 35 % of the peak in two blocks of MobileNetV2. */
#define MIN_GAIN_OF_ONE 0.002

static gint64
n_bytes (const CleaveAssignment *assignment)
{
  return cleave_tensor_type_n_bytes (&assignment->result->type);
}

/* Returns `next_near_peak` of GapSearch. `fraction` of the peak or more counts as near the peak. */
static guint *
find_near_peak (const CleaveStorage *storage, double fraction)
{
  double enough = fraction * (double) cleave_storage_get_peak (storage);
  guint *next_near_peak = CLEAVE_NEW (guint, storage->steps->len + 1);

  next_near_peak[storage->steps->len] = CLEAVE_NEVER;
  for (guint s = storage->steps->len; s-- > 0;)
    next_near_peak[s] = (double) storage->live[s] >= enough ? s : next_near_peak[s + 1];
  return next_near_peak;
}

/* Returns the result of the first node that reads a value and stores its result in the value's
 * buffer: a join, or an op that overwrites the value. Skips joins whose buffer is a part of a later
 * join's buffer. NULL: there is no such node. */
static const CleaveAssignment *
find_next (const CleaveStorage *storage, const CleaveAssignment *assignment)
{
  const CleaveAssignment *first = NULL;

  for (const CleaveOperand *use = assignment->result->first_use; use != NULL; use = use->next_use)
    {
      const CleaveAssignment *next;

      if (use->node == NULL || use->node->n_results == 0 ||
          (first != NULL && first->result->node->id < use->node->id))
        continue;
      next = cleave_storage_assignment (storage, &use->node->results[0]);
      if (next->location.root == assignment->location.root &&
          (next->flags & CLEAVE_ASSIGNMENT_INNER_JOIN) == 0 &&
          next->base == (guint) (next - storage->assignments))
        first = next;
    }
  return first;
}

/* Returns the index of the value to stage: `value`, or a later value that overwrites it. Follows
 * find_next() to the first value that is computed after step `peak`. Stops before the join, and
 * before a value with more than 1 / MUCH_LARGER of the join's bytes. */
static guint
find_latest (const CleaveStorage *storage, guint value, guint peak)
{
  const CleaveAssignment *root = &storage->assignments[storage->assignments[value].location.root];
  const CleaveAssignment *assignment = &storage->assignments[value];

  while (assignment->ready <= peak)
    {
      const CleaveAssignment *next = find_next (storage, assignment);

      if (next == NULL || next == root || MUCH_LARGER * n_bytes (next) > n_bytes (root))
        break;
      assignment = next;
    }
  return (guint) (assignment - storage->assignments);
}

/* The gap of a buffer: the longest period in which no step completes a value in the buffer. A step
 * that completes a value is at each end of the gap. The buffer of a join contains its operands that
 * are not staged. */
typedef struct
{
  guint last;          /* the last step that completes one of the values visited so far */
  guint before, after; /* the steps at the begin and at the end of the gap */
  guint peak;  /* a step of the gap near the peak; CLEAVE_NEVER: none, or staging cannot help */
  gint64 gain; /* bytes that staging saves during the gap: the bytes of the join minus the bytes of
                * the staged operands visited so far */
} Gap;

typedef struct
{
  const CleaveStorage *storage;
  guint *next_near_peak; /* indexed by step s: first step near the peak, from s on; CLEAVE_NEVER:
                          * none */
  Gap *gaps;             /* indexed by buffer: the gap of the buffer */
  guint *latest; /* latest[v]: the value to stage: value v, or a later value that overwrites v
                  * (find_latest()); CLEAVE_NEVER: staging saves nothing */
} GapSearch;

static void
search_clear (GapSearch *search)
{
  g_clear_pointer (&search->next_near_peak, g_free);
  g_clear_pointer (&search->gaps, g_free);
  g_clear_pointer (&search->latest, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GapSearch, search_clear)

/* Returns the gap of the buffer in which a value is stored; NULL if no step uses the buffer. */
static Gap *
get_gap (const GapSearch *search, guint value)
{
  const CleaveStorage *storage = search->storage;
  guint buffer = storage->buffer[storage->assignments[value].location.root];

  return buffer == CLEAVE_NEVER ? NULL : &search->gaps[buffer];
}

static gboolean
is_part (const CleaveStorage *storage, guint value)
{
  const CleaveAssignment *assignment = &storage->assignments[value];

  return assignment->base == value && assignment->ready != CLEAVE_NEVER &&
         storage->assignments[assignment->location.root].ready != CLEAVE_NEVER;
}

/* Sets `before` and `after` of each Gap. Visits values in the order in which they are computed. */
static void
find_gaps (GapSearch *search)
{
  const CleaveStorage *storage = search->storage;

  for (guint v = 0; v < storage->n_values; v++)
    {
      guint ready = storage->assignments[v].ready;
      Gap *gap = get_gap (search, v);

      if (gap == NULL || !is_part (storage, v))
        continue;
      if (gap->last > 0 && ready > gap->last && ready - gap->last > gap->after - gap->before)
        {
          gap->before = gap->last;
          gap->after = ready;
        }
      gap->last = MAX (gap->last, ready);
    }
}

/* Returns a step near the peak in the gap of a buffer. Returns CLEAVE_NEVER if the gap has none, or
 * if staging cannot help. From the end of the gap until the join is complete, staged operands exist
 * twice: in their own buffers and in the join. So staging cannot help if this period is longer than
 * the gap and also has a step near the peak. */
static guint
find_peak (const GapSearch *search, guint buffer)
{
  const CleaveStorage *storage = search->storage;
  const Gap *gap = &search->gaps[buffer];
  guint root = g_array_index (storage->buffers, CleaveBuffer, buffer).value;
  guint peak = gap->after > 0 ? search->next_near_peak[gap->before] : CLEAVE_NEVER;
  guint ready = storage->assignments[root].ready;

  return peak < gap->after && (gap->after - gap->before >= ready - gap->after ||
                               search->next_near_peak[gap->after] > ready)
             ? peak
             : CLEAVE_NEVER;
}

/* Sets the field `peak` of each Gap. Returns FALSE if `peak` is CLEAVE_NEVER in all of them. */
static gboolean
find_peaks (GapSearch *search)
{
  gboolean found = FALSE;

  for (guint b = 0; b < search->storage->buffers->len; b++)
    {
      search->gaps[b].peak = find_peak (search, b);
      found |= search->gaps[b].peak != CLEAVE_NEVER;
    }
  return found;
}

static gboolean
is_small_part (const CleaveStorage *storage, guint value)
{
  const CleaveAssignment *assignment = &storage->assignments[value];

  return (assignment->flags & CLEAVE_ASSIGNMENT_MOVED) != 0 && is_part (storage, value) &&
         MUCH_LARGER * n_bytes (assignment) <=
             n_bytes (&storage->assignments[assignment->location.root]);
}

static gboolean
has_small_part (const CleaveStorage *storage)
{
  for (guint v = 0; v < storage->n_values; v++)
    if (is_small_part (storage, v))
      return TRUE;
  return FALSE;
}

static void
find_gains (GapSearch *search)
{
  const CleaveStorage *storage = search->storage;
  g_autofree gboolean *counted = CLEAVE_NEW0 (gboolean, storage->n_values + 1);

  for (guint v = 0; v < storage->n_values; v++)
    {
      const CleaveAssignment *assignment = &storage->assignments[v];
      guint root = assignment->location.root;
      Gap *gap = get_gap (search, v);

      search->latest[v] = CLEAVE_NEVER;
      if (gap == NULL || gap->peak == CLEAVE_NEVER || assignment->ready > gap->before ||
          !is_small_part (storage, v))
        continue;
      search->latest[v] = find_latest (storage, v, gap->peak);
      if (counted[search->latest[v]])
        continue;
      if (gap->gain == 0)
        gap->gain = n_bytes (&storage->assignments[root]);
      gap->gain -= n_bytes (&storage->assignments[search->latest[v]]);
      counted[search->latest[v]] = TRUE;
    }
}

/* Returns whether staging operands of the join in one buffer saves at least `min_gain` bytes. */
static gboolean
is_worth (const Gap *gap, double min_gain)
{
  return gap->gain > 0 && (double) gap->gain >= min_gain;
}

static gboolean
find_staged (const CleaveStorage *storage, double fraction, gboolean **staged)
{
  double most = (double) cleave_storage_get_peak (storage), sum = 0;
  g_auto (GapSearch) search = { .storage = storage };
  gboolean found = FALSE;

  if (!has_small_part (storage))
    return FALSE;
  search.next_near_peak = find_near_peak (storage, fraction);
  search.gaps = g_new0 (Gap, storage->buffers->len + 1);
  find_gaps (&search);
  if (!find_peaks (&search))
    return FALSE;
  if (*staged == NULL)
    *staged = CLEAVE_NEW0 (gboolean, storage->n_values + 1);
  search.latest = CLEAVE_NEW (guint, storage->n_values + 1);
  find_gains (&search);
  for (guint b = 0; b < storage->buffers->len; b++)
    if (is_worth (&search.gaps[b], MIN_GAIN_OF_ONE * most))
      sum += (double) search.gaps[b].gain;
  for (guint v = 0; v < storage->n_values; v++)
    {
      guint latest = search.latest[v];

      if (latest == CLEAVE_NEVER || !is_worth (get_gap (&search, v), MIN_GAIN_OF_ONE * most))
        continue;
      found |= !(*staged)[latest];
      (*staged)[latest] = TRUE;
    }
  return found && sum >= MIN_GAIN * most;
}

gboolean
cleave_storage_find_staged (const CleaveStorage *storage, gboolean **staged)
{
  return find_staged (storage, NEAR_PEAK, staged);
}

gboolean
cleave_storage_find_waiting (const CleaveStorage *storage, gboolean **staged)
{
  return find_staged (storage, 0, staged);
}

/* Sliding windows: joins of consecutive strips of an image. Neighboring joins share operands. An
 * operand is stored in the buffer of the last window that reads the operand. So if a window is four
 * strips long, the buffers of four windows exist at the same time. If all operands are staged, only
 * one window exists whole, and each operand exists once. Each operand is copied one more time. */

static gboolean
is_join (const CleaveNode *node)
{
  return node != NULL && (node->op->flags & CLEAVE_OP_JOIN) != 0;
}

/* Returns whether several joins read a value or a view of it. */
static gboolean
is_in_windows (const CleaveResult *value)
{
  guint n = 0;

  for (const CleaveOperand *use = value->first_use; use != NULL && n < 2; use = use->next_use)
    if (is_join (use->node))
      n++;
    else if (use->node != NULL && (use->node->op->flags & CLEAVE_OP_VIEW) != 0 &&
             use->node->n_results == 1)
      for (const CleaveOperand *of_view = use->node->results[0].first_use; of_view != NULL;
           of_view = of_view->next_use)
        n += is_join (of_view->node) ? 1 : 0;
  return n >= 2;
}

static gboolean
note_in_windows (const CleaveStorage *storage, const CleaveResult *value, gboolean **staged)
{
  guint v = (guint) (cleave_storage_assignment (storage, value) - storage->assignments);

  if ((*staged != NULL && (*staged)[v]) || !is_small_part (storage, v) || !is_in_windows (value))
    return FALSE;
  if (*staged == NULL)
    *staged = CLEAVE_NEW0 (gboolean, storage->n_values + 1);
  (*staged)[v] = TRUE;
  return TRUE;
}

/* Marks in `staged` all operands that several windows share. If one operand were not staged, the
 * buffer of the last window that reads it would be allocated early, and the peak would not fall. */
gboolean
cleave_storage_find_windows (const CleaveStorage *storage, gboolean **staged)
{
  gboolean found = FALSE;

  for (guint j = 0; j < storage->joins->len && storage->joins->len > 1; j++)
    {
      const CleaveNode *join = storage->joins->pdata[j];

      for (guint i = 0; i < join->n_operands; i++)
        {
          const CleaveNode *part = join->operands[i].result->node;

          found |= note_in_windows (storage, join->operands[i].result, staged);
          for (guint o = 0; o < part->n_operands && (part->op->flags & CLEAVE_OP_VIEW) != 0; o++)
            if (part->operands[o].result != NULL)
              found |= note_in_windows (storage, part->operands[o].result, staged);
        }
    }
  return found;
}

/* Subtracts the bytes of a value's buffer from the memory use, unless left_out[buffer] is set.
 * change[step] is the memory use at a step minus the memory use at the step before. */
static void
leave_out (const CleaveStorage *storage, guint value, gboolean *left_out, gint64 *change)
{
  guint b = storage->buffer[storage->assignments[value].location.root];
  const CleaveBuffer *buffer;

  if (b == CLEAVE_NEVER || left_out[b])
    return;
  left_out[b] = TRUE;
  buffer = &g_array_index (storage->buffers, CleaveBuffer, b);
  change[buffer->first] -= buffer->n_bytes;
  change[buffer->last + 1] += buffer->n_bytes;
}

gint64
cleave_storage_bound_staged (const CleaveStorage *storage,
                             const gboolean *before,
                             const gboolean *staged)
{
  g_autofree gboolean *left_out = CLEAVE_NEW0 (gboolean, storage->buffers->len + 1);
  g_autofree gint64 *change = CLEAVE_NEW0 (gint64, storage->steps->len + 1);
  gint64 less = 0, bound = 0;

  for (guint v = 0; v < storage->n_values; v++)
    if (staged[v] && (before == NULL || !before[v]))
      leave_out (storage, v, left_out, change);
  for (guint s = 0; s < storage->steps->len; s++)
    {
      less += change[s];
      bound = MAX (bound, storage->live[s] + less);
    }
  return bound;
}
