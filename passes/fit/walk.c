/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Walks over the steps of a graph backwards from a segment end, and appends a candidate for each
 * step at which a segment may begin. A border is a step before which a segment may begin or end.
 * The room of a step is a limit on the bytes of pieces: a walk stops if the pieces of the segment
 * take this number of bytes or more. */

#include "piece-bytes.h"

#include "../../lib/ir/range.h"
#include "../../lib/memory/cost.h"

/* In graphs with at least this many steps, segments begin and end only at local minima of
 * `crossing`: the bytes that are live both before and during a step. With this rule, DenseNet-121
 * needs a third of the walks and gets the same plans as without the rule. */
#define MIN_STEPS_OF_BORDERS 150

/* A step also counts as a local minimum if `crossing` of a neighboring step is slightly smaller: by
 * at most the peak divided by BORDER_TOLERANCE. For example, a segment can then end after a
 * pooling, although the result of the next convolution is slightly smaller. */
#define BORDER_TOLERANCE 100

/* Finds, for each step s, the buffers that are live both before and during step s. Sets
 * `crossing[s]` to the bytes of these buffers, and `largest[s]` to the bytes of the largest of
 * these buffers. */
static void
find_crossing (CleaveFitWalker *walker)
{
  const CleaveFitSteps *steps = walker->steps;

  walker->crossing = g_new0 (gint64, steps->n_steps + 2);
  walker->largest = g_new0 (gint64, steps->n_steps + 2);
  for (guint b = 0; b < steps->buffers->len; b++)
    {
      const CleaveFitBuffer *buffer = cleave_fit_buffer (steps, b);

      walker->crossing[buffer->first + 1] += buffer->n_bytes;
      walker->crossing[MIN (buffer->last + 1, (gint) steps->n_steps + 1)] -= buffer->n_bytes;
      for (gint s = buffer->first + 1; s <= MIN (buffer->last, (gint) steps->n_steps); s++)
        walker->largest[s] = MAX (walker->largest[s], buffer->n_bytes);
    }
  for (guint s = 1; s <= steps->n_steps; s++)
    walker->crossing[s] += walker->crossing[s - 1];
}

CleaveFitWalker *
cleave_fit_walker_new (const CleaveFitSteps *steps)
{
  CleaveFitWalker *walker = g_new0 (CleaveFitWalker, 1);

  walker->steps = steps;
  find_crossing (walker);
  for (guint s = 0; s < steps->n_steps; s++)
    walker->peak = MAX (walker->peak, steps->live[s]);
  walker->room = g_new0 (gint64, steps->n_steps + 1);
  walker->required = g_new0 (CleaveFitRequired, steps->values->len + 1);
  walker->piece_bytes = g_new0 (CleaveFitPieceBytes, steps->buffers->len + 1);
  walker->middle = g_new0 (gint64, steps->n_steps + 1);
  walker->first = g_new0 (gint64, steps->n_steps + 1);
  walker->top = g_new0 (gint64, steps->n_steps + 1);
  walker->read = g_array_new (FALSE, FALSE, sizeof (guint));
  walker->ends = g_array_new (FALSE, FALSE, sizeof (guint));
  walker->joins = g_array_new (FALSE, FALSE, sizeof (guint));
  return walker;
}

void
cleave_fit_walker_free (CleaveFitWalker *walker)
{
  g_free (walker->crossing);
  g_free (walker->largest);
  g_free (walker->room);
  g_free (walker->required);
  g_free (walker->piece_bytes);
  g_free (walker->middle);
  g_free (walker->first);
  g_free (walker->top);
  g_array_unref (walker->read);
  g_array_unref (walker->ends);
  g_array_unref (walker->joins);
  g_free (walker);
}

/* Returns the most bytes that pieces and carried rows take in a step of the segment. The result
 * never decreases while the walk adds steps. */
static gint64
find_inner (const CleaveFitState *state)
{
  return MAX (state->most_first,
              MAX (state->most_middle + state->carried,
                   state->most_top == 0 ? 0 : state->most_top + state->carried_top));
}

/* Returns the shift of an overlay of y on x: the bytes from the begin of y to the begin of x. With
 * this shift, the strips that write y overwrite no rows of x that a later strip reads. */
static gint64
find_shift (const CleaveFitState *state, const CleaveFitValue *x, const CleaveFitValue *y)
{
  const CleaveFitRequired *read =
      &state->walker->required[x - cleave_fit_value (state->walker->steps, 0)];
  const CleaveFitRequired *made =
      &state->walker->required[y - cleave_fit_value (state->walker->steps, 0)];
  const CleaveSpan *window = &read->range[CLEAVE_FIT_MIDDLE].dim[x->rows];
  gint64 x_rows = x->result->type.shape.dim[x->rows], y_rows = y->result->type.shape.dim[y->rows];
  gint64 first = made->range[CLEAVE_FIT_FIRST].dim[y->rows].end * y->row_bytes;
  gint64 middle =
      made->range[CLEAVE_FIT_MIDDLE].dim[y->rows].end * y->row_bytes - window->begin * x->row_bytes;
  gint64 last = y_rows * y->row_bytes - (x_rows - window->end + window->begin) * x->row_bytes;

  return MAX (MAX (first, middle), MAX (last, 0));
}

/* Returns the last step that reads a value in the memory of a buffer. The value may lie in another
 * buffer that takes over this memory (`after`). */
static guint
find_last (const CleaveFitSteps *steps, guint buffer)
{
  while (cleave_fit_buffer (steps, buffer)->after != CLEAVE_FIT_NONE)
    buffer = cleave_fit_buffer (steps, buffer)->after;
  return (guint) cleave_fit_buffer (steps, buffer)->last;
}

/* Replaces `overlay` by the overlay of value `made` on value `read`, if this overlay saves more
 * bytes than `overlay`. cleave_storage_lap() may make this overlay when a program of the split
 * graph is planned. */
static void
note_overlay (const CleaveFitState *state, guint read, guint made, CleaveFitOverlay *overlay)
{
  const CleaveFitSteps *steps = state->walker->steps;
  const CleaveFitValue *x = cleave_fit_value (steps, read), *y = cleave_fit_value (steps, made);
  CleaveFitOverlay found;

  if (x->rows < 0 || y->rows < 0 ||
      cleave_fit_buffer (steps, x->buffer)->last >= (gint) state->walk->end ||
      cleave_fit_buffer (steps, y->buffer)->last < (gint) state->walk->end ||
      cleave_range_holds_none (&state->walker->required[read].range[CLEAVE_FIT_MIDDLE]))
    return;
  found = (CleaveFitOverlay){ .operand = cleave_fit_buffer (steps, x->buffer)->n_bytes,
                              .result = cleave_fit_buffer (steps, y->buffer)->n_bytes,
                              .shift = find_shift (state, x, y),
                              .last = find_last (steps, y->buffer) };
  found.estimated_shift = found.shift;
  if (cleave_fit_overlay_get_saved (&found) > cleave_fit_overlay_get_saved (overlay))
    *overlay = found;
}

/* Returns the overlay that saves the most bytes, among overlays of a result of the segment on a
 * value that the segment reads. Removes from `read` the values that the segment computes. */
static CleaveFitOverlay
find_overlay (const CleaveFitState *state, guint begin)
{
  CleaveFitWalker *walker = state->walker;
  const CleaveFitSteps *steps = walker->steps;
  CleaveFitOverlay overlay = { 0 };

  for (guint i = walker->read->len; i-- > 0 && !state->walk->in_bands;)
    {
      guint value = g_array_index (walker->read, guint, i);

      if (cleave_fit_node (steps, cleave_fit_value (steps, value)->node)->step >= begin)
        {
          g_array_remove_index_fast (walker->read, i);
          continue;
        }
      for (guint e = 0; e < walker->ends->len; e++)
        note_overlay (state, value, g_array_index (walker->ends, guint, e), &overlay);
    }
  return overlay;
}

/* Returns the bytes of some operands of a join: operands that lie in the buffer of the join, and
 * that a step before the segment computes. If strips compute the join, the strips read Slices of
 * these operands, and the Slices need memory of their own. */
static gint64
count_earlier (const CleaveFitWalker *walker, const CleaveFitValue *join, guint begin)
{
  const CleaveFitSteps *steps = walker->steps;
  const CleaveFitNode *node = cleave_fit_node (steps, join->node);
  gint64 n_bytes = 0;

  for (guint o = 0; o < node->n_operands; o++)
    {
      guint x = g_array_index (steps->operands, CleaveFitOperand, node->first_operand + o).value;
      const CleaveFitValue *value = x == CLEAVE_FIT_NONE ? NULL : cleave_fit_value (steps, x);

      if (value != NULL && value->buffer == join->buffer &&
          cleave_fit_node (steps, value->node)->step < begin)
        n_bytes += cleave_tensor_type_n_bytes (&value->result->type);
    }
  return n_bytes;
}

/* Returns the most bytes that pieces take in one step of the segment that begins at step `begin`
 * (find_inner()), and adds bytes for some joins. If a step before the segment writes an operand of
 * a join into the buffer of the join, the whole buffer is live. The strips of the join then need
 * memory in addition to the buffer. */
static gint64
find_inner_of (const CleaveFitState *state, guint begin)
{
  const CleaveFitWalker *walker = state->walker;
  gint64 inner = find_inner (state), earlier = 0;

  for (guint i = 0; i < walker->joins->len; i++)
    {
      const CleaveFitValue *value =
          cleave_fit_value (walker->steps, g_array_index (walker->joins, guint, i));
      const CleaveFitBuffer *buffer = cleave_fit_buffer (walker->steps, value->buffer);
      const CleaveFitPieceBytes *in_buffer = &walker->piece_bytes[value->buffer];
      guint last = MIN ((guint) MAX (buffer->last, 0), state->walk->end - 1);

      if (buffer->first >= (gint) begin || in_buffer->set_by_walk != walker->walk_number)
        continue;
      if (buffer->last >= (gint) state->walk->end)
        earlier += count_earlier (walker, value, begin);
      if (in_buffer->is_whole || buffer->last >= (gint) state->walk->end)
        continue;
      for (guint s = cleave_fit_node (walker->steps, value->node)->step; s <= last; s++)
        inner = MAX (inner, MAX (walker->first[s] + in_buffer->first,
                                 walker->middle[s] + in_buffer->middle + state->carried +
                                     in_buffer->carried));
    }
  return inner + earlier;
}

/* Returns the bytes that are live while a segment runs: values that the segment reads, values that
 * are live after the segment, and the pieces. */
static gint64
find_peak (const CleaveFitState *state, guint begin)
{
  const gint64 *crossing = state->walker->crossing;

  return crossing[begin] + crossing[state->walk->end] - state->both + find_inner_of (state, begin);
}

/* Appends the candidate that begins at step `begin` to `found`, if the candidate needs less than
 * `most` bytes. */
static void
add_candidate (const CleaveFitState *state, guint begin, gint64 most, GArray *found)
{
  const CleaveFitWalk *walk = state->walk;
  const double n_more = cleave_fit_count_tiles (walk) - 1;
  const gint64 n_bytes = find_peak (state, begin);
  CleaveFitCandidate candidate;

  if (n_bytes - state->walker->largest[begin] >= most)
    return; /* even an overlay of the largest buffer does not save enough bytes */
  candidate = (CleaveFitCandidate){
    .begin = begin,
    .end = walk->end,
    .n_strips = walk->n_strips,
    .n_columns = walk->n_columns,
    .cut = walk->cut,
    .column_cut = walk->n_columns > 1 ? walk->column_cut : CLEAVE_FIT_NONE,
    .cuts_weights = state->cuts_weights,
    .halo = walk->halo,
    .in_bands = walk->in_bands,
    .n_bytes = n_bytes,
    .estimate = n_bytes,
    .overlay = find_overlay (state, begin),
    .macs = state->macs,
    .work = cleave_cost_of_macs_in_strips (state->macs) + state->idle_ns +
            (state->piece_ns + state->reread_ns) * n_more +
            cleave_cost_of_rows ((double) state->copied),
  };
  if (n_bytes - cleave_fit_overlay_get_saved (&candidate.overlay) < most)
    g_array_append_val (found, candidate);
}

gboolean
cleave_fit_walker_is_border (const CleaveFitWalker *walker, guint step)
{
  const gint64 *crossing = walker->crossing;
  const gint64 tolerance = walker->peak / BORDER_TOLERANCE;
  guint n = walker->steps->n_steps;

  return n < MIN_STEPS_OF_BORDERS || step == 0 || step >= n ||
         (crossing[step] <= crossing[step - 1] + tolerance &&
          crossing[step] <= crossing[step + 1] + tolerance);
}

gboolean
cleave_fit_walker_overlaps_wide (const CleaveFitWalker *walker)
{
  return walker->overlaps_wide;
}

guint64
cleave_fit_walker_get_n_visits (const CleaveFitWalker *walker)
{
  return walker->n_visits;
}

/* Returns the room of step `begin`: a limit on the bytes of the pieces of a candidate that begins
 * at this step. If the pieces take at least this many bytes, the candidate needs at least `most`
 * bytes. Returns 0 if no candidate may begin at the step. `after` is the size of the buffers that
 * are live after the candidate. `both` is the size of the buffers that are live before and after
 * the candidate. An overlay saves at most the largest buffer that is live before the candidate. */
static gint64
count_room (const CleaveFitWalker *walker, guint begin, gint64 most, gint64 after, gint64 both)
{
  const gint64 before = MAX (walker->crossing[begin] - both - walker->largest[begin], 0);

  return cleave_fit_walker_is_border (walker, begin) ? most - after - before : 0;
}

/* Sets `room[s]` for each step s from `least` to the end of a walk. If pieces take `room[s]` bytes
 * or more, no segment that begins at step s or at an earlier step can become a candidate. While a
 * walk adds steps, the bytes of pieces never decrease. So the walk stops at the first step s where
 * pieces take `room[s]` bytes or more. */
static void
find_room (CleaveFitWalker *walker, const CleaveFitWalk *walk, guint least)
{
  const CleaveFitSteps *steps = walker->steps;
  const gint64 after = walker->crossing[walk->end];
  gint64 both = after, most = 0, room = 0;

  if (walker->room_end == walk->end && walker->room_bytes == walk->max_bytes)
    return;
  walker->room_end = walk->end;
  walker->room_bytes = walk->max_bytes;
  for (guint s = walk->end; s-- > least;)
    {
      for (guint b = steps->first_buffer[s]; b < steps->first_buffer[s + 1]; b++)
        if (cleave_fit_buffer (steps, b)->last >= (gint) walk->end)
          both -= cleave_fit_buffer (steps, b)->n_bytes;
      most = MAX (most, steps->live[s]);
      walker->room[s] = count_room (walker, s, MIN (most, walk->max_bytes), after, both);
    }
  for (guint s = least; s < walk->end; s++)
    room = walker->room[s] = MAX (walker->room[s], room);
}

gboolean
cleave_fit_walker_walk (CleaveFitWalker *walker, const CleaveFitWalk *walk, GArray *found)
{
  const CleaveFitSteps *steps = walker->steps;
  guint least = walk->end > walk->max_steps ? walk->end - walk->max_steps : 0;
  CleaveFitState state = { .walker = walker,
                           .walk = walk,
                           .n_samples =
                               walk->n_columns > 1 ? CLEAVE_FIT_N_SAMPLES : CLEAVE_FIT_N_OF_STRIPS,
                           .both = walker->crossing[walk->end],
                           .overlaps = walk->n_columns > 1 };
  gint64 most = 0; /* peak in bytes of the visited steps if they are not split */

  walker->walk_number++;
  walker->overlaps_wide = FALSE;
  g_array_set_size (walker->read, 0);
  g_array_set_size (walker->ends, 0);
  g_array_set_size (walker->joins, 0);
  find_room (walker, walk, least);
  for (guint s = walk->end; s-- > least && find_inner (&state) < walker->room[s];)
    {
      walker->middle[s] = walker->first[s] = walker->top[s] = 0;
      most = MAX (most, steps->live[s]);
      for (guint i = steps->first_node[s + 1]; i-- > steps->first_node[s];)
        if (!cleave_fit_visit (&state, i))
          return state.overlaps;
      cleave_fit_add_buffers (&state, s);
      if (cleave_fit_walker_is_border (walker, s))
        add_candidate (&state, s, MIN (most, walk->max_bytes), found);
    }
  return state.overlaps;
}
