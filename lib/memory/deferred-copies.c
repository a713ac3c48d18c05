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

static guint *
find_near_peak (const CleaveStorage *storage, double part)
{
  double enough = part * (double) cleave_storage_get_peak (storage);
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

/* The wait of a buffer: the longest period, in steps, between two consecutive steps that complete a
 * value in the buffer. The buffer of a join contains its operands that are not staged. */
typedef struct
{
  guint last;          /* the last step that completes one of the values visited so far */
  guint before, after; /* the steps at the begin and at the end of the wait */
  guint peak;  /* a step between `before` and `after` with at least NEAR_PEAK of the peak in use, or
                * CLEAVE_NEVER */
  gint64 gain; /* bytes that staging saves during the wait: the bytes of the join minus the bytes of
                * the staged operands visited so far */
} Wait;

typedef struct
{
  const CleaveStorage *storage;
  guint *next_near_peak; /* indexed by step: this step or the next step with at least NEAR_PEAK of
                          * the peak in use; CLEAVE_NEVER: no step */
  Wait *waits;           /* indexed by buffer: the wait of the buffer */
  guint *latest; /* latest[v]: the value to stage in place of value v, which is v or a later value
                  * that overwrites v (find_latest()); CLEAVE_NEVER: staging saves nothing */
} Waiting;

static void
waiting_clear (Waiting *waiting)
{
  g_clear_pointer (&waiting->next_near_peak, g_free);
  g_clear_pointer (&waiting->waits, g_free);
  g_clear_pointer (&waiting->latest, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Waiting, waiting_clear)

/* Returns the wait of the buffer in which a value is stored; NULL if no step uses the buffer. */
static Wait *
get_wait (const Waiting *waiting, guint value)
{
  const CleaveStorage *storage = waiting->storage;
  guint buffer = storage->buffer[storage->assignments[value].location.root];

  return buffer == CLEAVE_NEVER ? NULL : &waiting->waits[buffer];
}

static gboolean
is_part (const CleaveStorage *storage, guint value)
{
  const CleaveAssignment *assignment = &storage->assignments[value];

  return assignment->base == value && assignment->ready != CLEAVE_NEVER &&
         storage->assignments[assignment->location.root].ready != CLEAVE_NEVER;
}

/* Finds the wait (Wait) of each buffer. Visits values in the order in which they are computed. */
static void
find_longest (Waiting *waiting)
{
  const CleaveStorage *storage = waiting->storage;

  for (guint v = 0; v < storage->n_values; v++)
    {
      guint ready = storage->assignments[v].ready;
      Wait *wait = get_wait (waiting, v);

      if (wait == NULL || !is_part (storage, v))
        continue;
      if (wait->last > 0 && ready > wait->last && ready - wait->last > wait->after - wait->before)
        {
          wait->before = wait->last;
          wait->after = ready;
        }
      wait->last = MAX (wait->last, ready);
    }
}

/* Returns a step near the peak (NEAR_PEAK) in the wait of a buffer. Returns CLEAVE_NEVER if there
 * is none, or if staging cannot help. From the end of the wait until the join is complete, staged
 * operands exist twice: in their own buffers and in the join. So staging cannot help if this period
 * is longer than the wait and also has a step near the peak. */
static guint
find_peak (const Waiting *waiting, guint buffer)
{
  const CleaveStorage *storage = waiting->storage;
  const Wait *wait = &waiting->waits[buffer];
  guint root = g_array_index (storage->buffers, CleaveBuffer, buffer).value;
  guint peak = wait->after > 0 ? waiting->next_near_peak[wait->before] : CLEAVE_NEVER;
  guint ready = storage->assignments[root].ready;

  return peak < wait->after && (wait->after - wait->before >= ready - wait->after ||
                                waiting->next_near_peak[wait->after] > ready)
             ? peak
             : CLEAVE_NEVER;
}

/* Sets `peak` in the wait of each buffer. Returns FALSE if all are CLEAVE_NEVER. */
static gboolean
find_peaks (Waiting *waiting)
{
  gboolean found = FALSE;

  for (guint b = 0; b < waiting->storage->buffers->len; b++)
    {
      waiting->waits[b].peak = find_peak (waiting, b);
      found |= waiting->waits[b].peak != CLEAVE_NEVER;
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
find_gains (Waiting *waiting)
{
  const CleaveStorage *storage = waiting->storage;
  g_autofree gboolean *counted = CLEAVE_NEW0 (gboolean, storage->n_values + 1);

  for (guint v = 0; v < storage->n_values; v++)
    {
      const CleaveAssignment *assignment = &storage->assignments[v];
      guint root = assignment->location.root;
      Wait *wait = get_wait (waiting, v);

      waiting->latest[v] = CLEAVE_NEVER;
      if (wait == NULL || wait->peak == CLEAVE_NEVER || assignment->ready > wait->before ||
          !is_small_part (storage, v))
        continue;
      waiting->latest[v] = find_latest (storage, v, wait->peak);
      if (counted[waiting->latest[v]])
        continue;
      if (wait->gain == 0)
        wait->gain = n_bytes (&storage->assignments[root]);
      wait->gain -= n_bytes (&storage->assignments[waiting->latest[v]]);
      counted[waiting->latest[v]] = TRUE;
    }
}

/* Returns whether staging operands of the join in one buffer saves at least `min_gain` bytes. */
static gboolean
is_worth (const Wait *wait, double min_gain)
{
  return wait->gain > 0 && (double) wait->gain >= min_gain;
}

static gboolean
find_staged (const CleaveStorage *storage, double part, gboolean **staged)
{
  double most = (double) cleave_storage_get_peak (storage), sum = 0;
  g_auto (Waiting) waiting = { .storage = storage };
  gboolean found = FALSE;

  if (!has_small_part (storage))
    return FALSE;
  waiting.next_near_peak = find_near_peak (storage, part);
  waiting.waits = g_new0 (Wait, storage->buffers->len + 1);
  find_longest (&waiting);
  if (!find_peaks (&waiting))
    return FALSE;
  if (*staged == NULL)
    *staged = CLEAVE_NEW0 (gboolean, storage->n_values + 1);
  waiting.latest = CLEAVE_NEW (guint, storage->n_values + 1);
  find_gains (&waiting);
  for (guint b = 0; b < storage->buffers->len; b++)
    if (is_worth (&waiting.waits[b], MIN_GAIN_OF_ONE * most))
      sum += (double) waiting.waits[b].gain;
  for (guint v = 0; v < storage->n_values; v++)
    {
      guint latest = waiting.latest[v];

      if (latest == CLEAVE_NEVER || !is_worth (get_wait (&waiting, v), MIN_GAIN_OF_ONE * most))
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
 * operand is stored in the buffer of the last window that reads the operand. So the buffer of a
 * window exists from the window's first operand on. If a window is four strips long, four buffers
 * exist at the same time. If all operands are staged, each operand exists once, and only one window
 * exists whole. Staging costs one more copy of each operand. */

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

/* Marks in `staged` all operands that several windows share. If one of them were not staged, the
 * buffer of the last window that reads it would be in memory early, and the peak would not fall. */
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
