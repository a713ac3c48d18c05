/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Estimates the bytes that the pieces of each value take, and adds the bytes to the steps in which
 * the pieces are live. The walk knows only a few pieces of each value, the samples
 * (CleaveFitSample): for example, the first strip and the strip in the middle. A tile is a part of
 * a strip. */

#include "piece-bytes.h"

#include "../../lib/ir/range.h"
#include "../../lib/memory/buffers.h"

/* Adds bytes of pieces to the steps from `begin` to `last`, and updates the maxima over steps.
 * `middle` is the number of bytes while the strip in the middle runs, and `first` while the first
 * piece runs. `top` is the number of bytes while a tile in the middle of the first strip runs. */
static void
occupy (CleaveFitState *state, gint begin, gint last, gint64 middle, gint64 first, gint64 top)
{
  CleaveFitWalker *walker = state->walker;

  for (gint s = begin; s <= last; s++)
    {
      walker->middle[s] += middle;
      walker->first[s] += first;
      walker->top[s] += top;
      state->most_middle = MAX (state->most_middle, walker->middle[s]);
      state->most_first = MAX (state->most_first, walker->first[s]);
      state->most_top = MAX (state->most_top, walker->top[s]);
    }
}

/* If a node overwrites the value in `buffer`, lets the pieces of operand and result share memory in
 * the step of the node. Pieces do not share memory if rows are carried, since later strips read the
 * carried rows. */
static void
share_place (CleaveFitState *state, const CleaveFitBuffer *buffer, CleaveFitPieceBytes *in_buffer)
{
  CleaveFitWalker *walker = state->walker;
  const CleaveFitBuffer *after;
  const CleaveFitPieceBytes *next;

  if (buffer->after == CLEAVE_FIT_NONE || in_buffer->carried > 0)
    return;
  next = &walker->piece_bytes[buffer->after];
  after = cleave_fit_buffer (walker->steps, buffer->after);
  if (next->set_by_walk != walker->walk_number)
    return;
  in_buffer->is_whole |= next->is_whole;
  if (!in_buffer->is_whole)
    occupy (state, after->first, after->first, -MIN (in_buffer->middle, next->middle),
            -MIN (in_buffer->first, next->first), -MIN (in_buffer->top, next->top));
}

void
cleave_fit_add_buffers (CleaveFitState *state, guint step)
{
  CleaveFitWalker *walker = state->walker;
  const CleaveFitSteps *steps = walker->steps;

  for (guint b = steps->first_buffer[step]; b < steps->first_buffer[step + 1]; b++)
    {
      const CleaveFitBuffer *buffer = cleave_fit_buffer (steps, b);
      CleaveFitPieceBytes *in_buffer = &walker->piece_bytes[b];

      if (buffer->last >= (gint) state->walk->end)
        state->both -= buffer->n_bytes;
      if (in_buffer->set_by_walk != walker->walk_number)
        continue;
      in_buffer->is_whole |= buffer->last >= (gint) state->walk->end;
      share_place (state, buffer, in_buffer);
      if (!in_buffer->is_whole)
        {
          state->carried += in_buffer->carried;
          state->carried_top += in_buffer->carried_top;
          state->copied += in_buffer->carried * state->walk->n_strips;
          occupy (state, (gint) step, buffer->last, in_buffer->middle, in_buffer->first,
                  in_buffer->top);
        }
    }
}

static gint64
get_bytes (const CleaveFitValue *value, gint64 n_elements)
{
  gint64 n = n_elements * value->element_size;

  return (n + CLEAVE_BUFFER_ALIGNMENT - 1) / CLEAVE_BUFFER_ALIGNMENT * CLEAVE_BUFFER_ALIGNMENT;
}

static gint64
get_bytes_of (const CleaveFitValue *value,
              const CleaveFitRequired *required,
              CleaveFitSample sample)
{
  return get_bytes (value, cleave_range_count (&required->range[sample]));
}

/* Returns the number of elements that two ranges share. Sets `all` to TRUE if the ranges share
 * all elements of `a`, else to FALSE. */
static gint64
count_common (const CleaveRange *a, const CleaveRange *b, gboolean *all)
{
  gint64 n = 1;

  *all = TRUE;
  for (guint d = 0; d < a->rank; d++)
    {
      gint64 begin = MAX (a->dim[d].begin, b->dim[d].begin);
      gint64 end = MAX (MIN (a->dim[d].end, b->dim[d].end), begin);

      *all &= begin == a->dim[d].begin && end == a->dim[d].end;
      n *= end - begin;
    }
  return n;
}

/* Returns a range with the spans of `rows` in the dimensions that strips cut, and the spans of
 * `columns` in the other dimensions. */
static CleaveRange
replace_rows (const CleaveFitValue *value,
              const CleaveFitRequired *required,
              const CleaveRange *rows,
              const CleaveRange *columns)
{
  const CleaveRange *strip = &required->range[CLEAVE_FIT_MIDDLE];
  const CleaveShape *shape = &value->result->type.shape;
  CleaveRange range = *columns;

  for (guint d = 0; d < shape->rank; d++)
    if (strip->dim[d].end - strip->dim[d].begin < shape->dim[d])
      range.dim[d] = rows->dim[d];
  return range;
}

/* Returns the bytes of a tile in the middle of the first strip, for CLEAVE_HALO_CARRY_NARROW.
 * Returns 0 for other policies. No earlier strip carries rows to the first strip, so its tiles
 * recompute more rows than the tiles of later strips. */
static gint64
count_top (const CleaveFitState *state,
           const CleaveFitValue *value,
           const CleaveFitRequired *required)
{
  CleaveRange top;

  if (!cleave_fit_is_tiled (state->walk) || state->walk->halo != CLEAVE_HALO_CARRY_NARROW)
    return 0;
  top = replace_rows (value, required, &required->range[CLEAVE_FIT_FIRST],
                      &required->range[CLEAVE_FIT_TILE]);
  return get_bytes (value, cleave_range_count (&top));
}

/* Adds the bytes of the columns that tiles carry within a strip. Adds the bytes for the strip in
 * the middle to `n_carried`, and the bytes for the first strip to `n_carried_top`. Carried columns
 * overlap carried rows in a corner. If strips carry rows (`carries_rows`), `n_carried` already
 * counts the corner, so the function does not add the bytes of the corner. */
static void
add_carried_columns (const CleaveFitValue *value,
                     const CleaveFitRequired *required,
                     gboolean carries_rows,
                     gint64 *n_carried,
                     gint64 *n_carried_top)
{
  CleaveRange carried =
      cleave_range_intersect (&required->range[CLEAVE_FIT_TILE], &required->range[CLEAVE_FIT_LEFT]);
  CleaveRange twice = cleave_range_intersect (&carried, &required->range[CLEAVE_FIT_BEFORE]);
  CleaveRange top = replace_rows (value, required, &required->range[CLEAVE_FIT_FIRST], &carried);

  *n_carried += get_bytes (value, cleave_range_count (&carried)) -
                (carries_rows ? get_bytes (value, cleave_range_count (&twice)) : 0);
  *n_carried_top +=
      cleave_range_holds_none (&carried) ? 0 : get_bytes (value, cleave_range_count (&top));
}

/* Returns whether pieces of a join's operand need memory of their own, beside the pieces of the
 * join. The pieces need memory of their own if rows are carried, or if other nodes read more of the
 * operand than the join reads. */
static gboolean
has_own_memory (const CleaveFitValue *value,
                const CleaveFitRequired *required,
                gboolean carries_rows,
                gint64 n_carried)
{
  if (!value->is_part)
    return FALSE;
  return n_carried > 0 ||
         (!carries_rows && required->joined > 0 &&
          cleave_range_count (&required->range[CLEAVE_FIT_MIDDLE]) > required->joined);
}

/* Returns the bytes that pieces of a value take, including carried rows and columns. Sets
 * `carried_rows` to the bytes of the carried rows, without the carried columns. */
static CleaveFitPieceBytes
measure_pieces (const CleaveFitState *state,
                const CleaveFitValue *value,
                const CleaveFitRequired *required,
                gboolean carries_rows,
                gint64 *carried_rows)
{
  const CleaveRange *range = required->range;
  const gboolean is_tiled = cleave_fit_is_tiled (state->walk);
  CleaveFitPieceBytes pieces = { .first = get_bytes_of (value, required, CLEAVE_FIT_FIRST),
                                 .top = count_top (state, value, required) };
  gboolean all, all_later, carries, carries_columns;

  count_common (&range[CLEAVE_FIT_MIDDLE], &range[CLEAVE_FIT_BEFORE], &all);
  /* strips with equal ranges share one piece: the first strip computes its rows and carries them to
   * all later strips, with any halo policy */
  carries = carries_rows ||
            (all && cleave_range_equal (&range[CLEAVE_FIT_MIDDLE], &range[CLEAVE_FIT_FIRST]));
  carries_columns =
      is_tiled && (!all || !carries) &&
      (state->walk->halo != CLEAVE_HALO_RECOMPUTE || cleave_fit_is_once (state, range));
  *carried_rows = carries ? get_bytes (value, count_common (&range[CLEAVE_FIT_LATER],
                                                            &range[CLEAVE_FIT_BEFORE], &all_later))
                          : 0;
  pieces.carried = pieces.carried_top = *carried_rows;
  if (carries_columns)
    add_carried_columns (value, required, carries_rows, &pieces.carried, &pieces.carried_top);
  if (!all || !carries) /* if all rows of the piece are carried, `pieces.carried` already has their
                           bytes */
    pieces.middle = get_bytes_of (value, required, is_tiled ? CLEAVE_FIT_TILE : CLEAVE_FIT_MIDDLE);
  return pieces;
}

/* Records in the state of the walk whether two strips need the same elements of a node's result. */
static void
note_overlap (CleaveFitState *state, const CleaveFitNode *node, const CleaveFitRequired *required)
{
  gboolean all;
  const gboolean overlaps = count_common (&required->range[CLEAVE_FIT_MIDDLE],
                                          &required->range[CLEAVE_FIT_BEFORE], &all) > 0;

  state->overlaps |= overlaps;
  state->walker->overlaps_wide |= node->is_wide && overlaps;
}

void
cleave_fit_add_piece_bytes (CleaveFitState *state, guint index)
{
  const CleaveFitValue *value = cleave_fit_value (state->walker->steps, index);
  const CleaveFitNode *node = cleave_fit_node (state->walker->steps, value->node);
  const CleaveFitRequired *required = &state->walker->required[index];
  const gboolean carries_rows =
      state->walk->halo != CLEAVE_HALO_RECOMPUTE && !cleave_fit_is_wide (state, node);
  CleaveFitPieceBytes pieces, *in_buffer;
  gint64 carried_rows;

  note_overlap (state, node, required);
  if (value->buffer == CLEAVE_FIT_NONE)
    return;
  pieces = measure_pieces (state, value, required, carries_rows, &carried_rows);
  if (has_own_memory (value, required, carries_rows, carried_rows))
    {
      state->carried += pieces.carried;
      state->carried_top += pieces.carried_top;
      state->copied += pieces.carried * state->walk->n_strips;
      /* add bytes only to steps of the segment, since the walk has not set the bytes of later steps
       * to 0 */
      occupy (state, (gint) node->step, MIN (value->last_read, (gint) state->walk->end - 1),
              pieces.middle, pieces.first, pieces.top);
      return;
    }
  in_buffer = &state->walker->piece_bytes[value->buffer];
  if (in_buffer->set_by_walk != state->walker->walk_number)
    *in_buffer = (CleaveFitPieceBytes){ .set_by_walk = state->walker->walk_number };
  in_buffer->carried = MAX (in_buffer->carried, pieces.carried);
  in_buffer->carried_top = MAX (in_buffer->carried_top, pieces.carried_top);
  in_buffer->first = MAX (in_buffer->first, pieces.first);
  in_buffer->top = MAX (in_buffer->top, pieces.top);
  in_buffer->middle = MAX (in_buffer->middle, pieces.middle);
}
