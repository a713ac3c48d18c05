/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the required regions of the values of a segment, from its end backwards, for a few samples
 * of pieces (CleaveFitSample). Also finds the cost of the pieces that compute the regions. */

#include "required-regions.h"

#include "../../lib/memory/cost.h"
#include "../views/strided-range.h"
#include "piece-bytes.h"

#include <math.h>

/* Copies the used dimensions of a range. A search copies some million ranges, so this function does
 * not copy the unused dimensions. */

static void
copy_range (const CleaveRange *from, CleaveRange *to)
{
  to->rank = from->rank;
  for (guint d = 0; d < from->rank; d++)
    to->dim[d] = from->dim[d];
}

/* Extends `range` to the hull of both ranges. Neither range may be empty. */
static void
extend (CleaveRange *range, const CleaveRange *more)
{
  for (guint d = 0; d < range->rank; d++)
    {
      range->dim[d].begin = MIN (range->dim[d].begin, more->dim[d].begin);
      range->dim[d].end = MAX (range->dim[d].end, more->dim[d].end);
    }
}

/* Records that the walk reads a value. Returns TRUE if this is the first read; the caller must then
 * set the ranges of the required region. */
static gboolean
begin_required (CleaveFitState *state, guint value)
{
  CleaveFitRequired *required = &state->walker->required[value];

  if (required->set_by_walk == state->walker->walk_number)
    return FALSE;
  required->set_by_walk = state->walker->walk_number;
  required->joined = 0;
  g_array_append_val (state->walker->read, value);
  return TRUE;
}

/* Extends the required region of a value by the ranges that another node reads. The region must be
 * set already. */
static void
extend_required (CleaveFitState *state, guint value, const CleaveRange range[CLEAVE_FIT_N_SAMPLES])
{
  CleaveFitRequired *required = &state->walker->required[value];

  for (guint s = 0; s < state->n_samples; s++)
    if (cleave_range_holds_none (&required->range[s]))
      copy_range (&range[s], &required->range[s]);
    else if (!cleave_range_holds_none (&range[s]))
      extend (&required->range[s], &range[s]);
}

static gboolean
are_disjoint (const CleaveRange *a, const CleaveRange *b)
{
  for (guint d = 0; d < a->rank; d++)
    if (MAX (a->dim[d].begin, b->dim[d].begin) >= MIN (a->dim[d].end, b->dim[d].end))
      return TRUE;
  return FALSE;
}

/* Removes the elements of `made` from a range if the remaining elements form a box. Otherwise,
 * leaves the range unchanged. */
static void
subtract (CleaveRange *range, const CleaveRange *made)
{
  CleaveSpan rest = { range->dim[0].begin, range->dim[0].begin };
  guint n = 0, dim = 0;

  if (range->rank == 0 || are_disjoint (range, made))
    return;
  for (guint d = 0; d < range->rank; d++)
    {
      const CleaveSpan *x = &range->dim[d], *y = &made->dim[d];

      if (y->begin <= x->begin && x->end <= y->end)
        continue;
      if (++n > 1 || (x->begin < y->begin && y->end < x->end))
        return;
      dim = d;
      rest = y->begin <= x->begin ? (CleaveSpan){ y->end, x->end }
                                  : (CleaveSpan){ x->begin, y->begin };
    }
  range->dim[dim] = rest;
}

/* Extends the required region of a view's operand by the required region of a result, since a view
 * computes nothing. Shifts the region by the position where the result begins in the operand. */
static void
require_operand_of_view (CleaveFitState *state, const CleaveFitNode *node, guint result)
{
  const CleaveFitSteps *steps = state->walker->steps;
  const CleaveFitOperand *x =
      &g_array_index (steps->operands, CleaveFitOperand, node->first_operand);
  const CleaveFitRequired *required = &state->walker->required[node->first_value + result];
  CleaveRange ranges[CLEAVE_FIT_N_SAMPLES], *range = ranges;
  CleaveStridedRange view;
  gboolean is_new;

  if (x->value == CLEAVE_FIT_NONE || required->set_by_walk != state->walker->walk_number)
    return;
  cleave_result_get_strided_range (&node->node->results[result], &view);
  is_new = begin_required (state, x->value);
  if (is_new)
    range = state->walker->required[x->value].range;
  for (guint s = 0; s < state->n_samples; s++)
    {
      range[s].rank = view.rank;
      for (guint d = 0; d < view.rank; d++)
        range[s].dim[d] = (CleaveSpan){ required->range[s].dim[d].begin + view.begin[d],
                                        required->range[s].dim[d].end + view.begin[d] };
    }
  if (!is_new)
    extend_required (state, x->value, range);
}

static void
copy_whole (const CleaveShape *shape, CleaveRange *to)
{
  to->rank = shape->rank;
  for (guint d = 0; d < shape->rank; d++)
    to->dim[d] = (CleaveSpan){ 0, shape->dim[d] };
}

/* Sets `made` to the required region of result 0 of a node. The array has a range for each sample
 * of pieces (CleaveFitSample). */
static void
find_required (const CleaveFitState *state,
               const CleaveFitNode *node,
               CleaveRange made[CLEAVE_FIT_N_SAMPLES])
{
  const CleaveFitRequired *required = &state->walker->required[node->first_value];
  const CleaveShape *shape = &node->node->results[0].type.shape;

  for (guint s = 0; s < state->n_samples; s++)
    if (required->set_by_walk == state->walker->walk_number)
      copy_range (&required->range[s], &made[s]);
    else
      copy_whole (shape, &made[s]);
  /* the ranges of later results are not mapped to result 0: if a later result is read, assume that
   * all of result 0 is needed */
  for (guint r = 1; r < node->n_values; r++)
    if (required[r].set_by_walk == state->walker->walk_number)
      for (guint s = 0; s < state->n_samples; s++)
        copy_whole (shape, &made[s]);
  if (!node->can_split)
    {
      copy_whole (shape, &made[CLEAVE_FIT_FIRST]);
      copy_whole (shape, &made[CLEAVE_FIT_BEFORE]);
    }
}

/* Removes from `made` the elements that pieces carry from earlier pieces. */
static void
subtract_carried (const CleaveFitState *state,
                  const CleaveFitNode *node,
                  CleaveRange made[CLEAVE_FIT_N_SAMPLES])
{
  if (state->walk->halo == CLEAVE_HALO_RECOMPUTE || node->always_recomputes)
    return;
  if (cleave_fit_is_wide (state, node))
    {
      if (cleave_fit_is_tiled (state->walk))
        subtract (&made[CLEAVE_FIT_TILE], &made[CLEAVE_FIT_LEFT]);
      return;
    }
  subtract (&made[CLEAVE_FIT_MIDDLE], &made[CLEAVE_FIT_BEFORE]);
  subtract (&made[CLEAVE_FIT_LATER], &made[CLEAVE_FIT_BEFORE]);
  if (!cleave_fit_is_tiled (state->walk))
    return;
  subtract (&made[CLEAVE_FIT_TILE], &made[CLEAVE_FIT_BEFORE]);
  subtract (&made[CLEAVE_FIT_TILE], &made[CLEAVE_FIT_LEFT]);
}

/* Sets `made` to the ranges of result 0 that pieces of a node compute. The array has a range for
 * each sample of pieces (CleaveFitSample): the required region without the elements that are
 * carried from earlier pieces.
 *
 * If all tiles of a strip need the same region, the first tile of the strip computes this region
 * for all tiles. CLEAVE_FIT_TILE then has the range of this first tile. No tile lies on the left of
 * the first tile, so the range of CLEAVE_FIT_LEFT is empty. */
static void
find_made (const CleaveFitState *state,
           const CleaveFitNode *node,
           CleaveRange made[CLEAVE_FIT_N_SAMPLES])
{
  gboolean is_once;

  find_required (state, node, made);
  is_once = cleave_fit_is_once (state, made);
  subtract_carried (state, node, made);
  if (!is_once)
    return;
  copy_range (&made[CLEAVE_FIT_MIDDLE], &made[CLEAVE_FIT_TILE]);
  for (guint d = 0; d < made[CLEAVE_FIT_LEFT].rank; d++)
    made[CLEAVE_FIT_LEFT].dim[d] = (CleaveSpan){ 0, 0 };
}

/* Pieces of a node compute the ranges `made` of result 0. Sets `range` to the ranges of operand `x`
 * that these pieces read. Both arrays have a range for each sample of pieces (CleaveFitSample). */
static void
map_made (const CleaveFitState *state,
          const CleaveFitNode *node,
          const CleaveFitOperand *x,
          const CleaveRange made[CLEAVE_FIT_N_SAMPLES],
          CleaveRange range[CLEAVE_FIT_N_SAMPLES])
{
  const CleaveShape *shape = &cleave_fit_value (state->walker->steps, x->value)->result->type.shape;

  if (node->can_split)
    cleave_ranges_map (x->map, made, state->n_samples, shape, range);
  for (guint s = 0; s < state->n_samples; s++)
    if (!node->can_split)
      copy_whole (shape, &range[s]);
    else if (cleave_range_holds_none (&made[s]))
      for (guint d = 0; d < shape->rank; d++)
        range[s].dim[d] = (CleaveSpan){ 0, 0 };
}

/* Adds the ranges that a node reads to the required regions of its operands. */
static void
require_operands (CleaveFitState *state,
                  const CleaveFitNode *node,
                  const CleaveRange made[CLEAVE_FIT_N_SAMPLES])
{
  const CleaveFitSteps *steps = state->walker->steps;

  for (guint o = 0; o < node->n_operands; o++)
    {
      const CleaveFitOperand *x =
          &g_array_index (steps->operands, CleaveFitOperand, node->first_operand + o);
      CleaveRange ranges[CLEAVE_FIT_N_SAMPLES], *range = ranges;
      CleaveFitRequired *required;
      gboolean is_new;

      if (x->value == CLEAVE_FIT_NONE)
        continue;
      required = &state->walker->required[x->value];
      is_new = begin_required (state, x->value);
      if (is_new)
        range = required->range;
      map_made (state, node, x, made, range);
      if ((node->node->op->flags & CLEAVE_OP_JOIN) != 0)
        required->joined = MAX (required->joined, cleave_range_count (&range[CLEAVE_FIT_MIDDLE]));
      if (!is_new)
        extend_required (state, x->value, range);
    }
}

/* Returns an estimate of the elements of all `n` chunks of one dimension together. A chunk in the
 * middle has `middle` elements. A chunk at the border has less halo, and `border` elements. If
 * there are two chunks, the last chunk is treated as a chunk in the middle. */
static double
sum_pieces (double middle, double border, guint n)
{
  return n < 2    ? middle
         : n == 2 ? middle + border
                  : MIN (n * middle, (n - 2) * middle + 2 * border);
}

/* Returns the number of elements of the first strip, which is not a sample if strips are cut into
 * tiles. In each dimension that strips cut, the first strip has the extent of the first tile. In
 * all other dimensions, the first strip has the whole extent of the result. */
static double
count_first_strip (const CleaveRange made[CLEAVE_FIT_N_SAMPLES], const CleaveShape *shape)
{
  CleaveRange strip = made[CLEAVE_FIT_FIRST];

  for (guint d = 0; d < strip.rank; d++)
    if (made[CLEAVE_FIT_MIDDLE].dim[d].end - made[CLEAVE_FIT_MIDDLE].dim[d].begin == shape->dim[d])
      strip.dim[d] = made[CLEAVE_FIT_MIDDLE].dim[d];
  return (double) cleave_range_count (&strip);
}

/* Returns an estimate of the elements of result 0 that all pieces together compute. */
static double
count_made (const CleaveFitState *state,
            const CleaveFitNode *node,
            const CleaveRange made[CLEAVE_FIT_N_SAMPLES])
{
  const CleaveFitWalk *walk = state->walk;
  double first = (double) cleave_range_count (&made[CLEAVE_FIT_FIRST]), tile, edge;

  if (walk->n_columns == 1 || cleave_fit_is_once (state, made))
    return sum_pieces ((double) cleave_range_count (&made[CLEAVE_FIT_MIDDLE]), first,
                       walk->n_strips);
  if (cleave_fit_is_wide (state, node)) /* strips of a wide result overlap, but the tiles of one
                                           strip do not: they compute no element twice */
    return sum_pieces ((double) cleave_range_count (&made[CLEAVE_FIT_MIDDLE]),
                       count_first_strip (made, &node->node->results[0].type.shape),
                       walk->n_strips);
  tile = (double) cleave_range_count (&made[CLEAVE_FIT_TILE]);
  if (walk->in_bands)
    return sum_pieces (tile, (double) cleave_range_count (&made[CLEAVE_FIT_LEFT]), walk->n_columns);
  edge = sqrt (tile * first);
  return sum_pieces (sum_pieces (tile, edge, walk->n_columns),
                     sum_pieces (edge, first, walk->n_columns), walk->n_strips);
}

/* Adds the MACs that pieces compute more than once. */
static void
count_macs (CleaveFitState *state,
            const CleaveFitNode *node,
            const CleaveRange made[CLEAVE_FIT_N_SAMPLES])
{
  gint64 all = cleave_shape_n_elements (&node->node->results[0].type.shape);

  if (all > 0 && (state->walk->halo == CLEAVE_HALO_RECOMPUTE || state->walk->in_bands ||
                  cleave_fit_is_wide (state, node)))
    state->macs += (double) node->macs * MAX (count_made (state, node, made) / (double) all - 1, 0);
}

/* Records a join whose buffer is in use before the join runs, since an earlier step writes an
 * operand into the buffer. If that step is before the segment, a cut of the join into strips does
 * not free the buffer. The strips are then copies beside the buffer (find_inner_of() in walk.c). */
static void
note_join (CleaveFitState *state, const CleaveFitNode *node)
{
  const CleaveFitSteps *steps = state->walker->steps;
  guint buffer = cleave_fit_value (steps, node->first_value)->buffer;

  if ((node->node->op->flags & CLEAVE_OP_JOIN) != 0 && buffer != CLEAVE_FIT_NONE &&
      cleave_fit_buffer (steps, buffer)->first < (gint) node->step)
    g_array_append_val (state->walker->joins, node->first_value);
}

/* Adds the cost of reading weights once for each piece. A piece of some channels reads only the
 * weights of these channels, but leaves vector lanes empty. Any other piece reads all weights
 * again. If all pieces are equal, they become one piece, which reads the weights once. */
static void
count_weights (CleaveFitState *state,
               const CleaveFitNode *node,
               const CleaveRange made[CLEAVE_FIT_N_SAMPLES])
{
  const CleaveRange *middle = &made[CLEAVE_FIT_MIDDLE];

  if (node->channels < 0 || cleave_range_holds_none (middle) ||
      cleave_range_equal (middle, &made[CLEAVE_FIT_FIRST]))
    return;
  if (middle->dim[node->channels].end - middle->dim[node->channels].begin >=
      node->node->results[0].type.shape.dim[node->channels])
    state->reread_ns += node->reread_ns;
  else
    {
      state->idle_ns += cleave_cost_of_channels (node->node, middle);
      state->cuts_weights = TRUE;
    }
}

gboolean
cleave_fit_visit (CleaveFitState *state, guint index)
{
  const CleaveFitNode *node = cleave_fit_node (state->walker->steps, index);
  CleaveRange made[CLEAVE_FIT_N_SAMPLES];
  gboolean is_required = FALSE;

  for (guint r = 0; r < node->n_values; r++)
    is_required |=
        state->walker->required[node->first_value + r].set_by_walk == state->walker->walk_number;
  if (!is_required && !cleave_fit_begin_at (state, index))
    return FALSE;
  if (!is_required)
    g_array_append_val (state->walker->ends, node->first_value);
  for (guint r = 0; r < node->n_values; r++)
    if (state->walker->required[node->first_value + r].set_by_walk == state->walker->walk_number)
      cleave_fit_add_piece_bytes (state, node->first_value + r);
  note_join (state, node);
  state->piece_ns += node->piece_ns;
  state->walker->n_visits++;
  if (node->is_view && is_required)
    {
      for (guint r = 0; r < node->n_values; r++)
        require_operand_of_view (state, node, r);
      return TRUE;
    }
  find_made (state, node, made);
  count_macs (state, node, made);
  count_weights (state, node, made);
  require_operands (state, node, made);
  return TRUE;
}
