/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "fit-walk.h"

#include "../../lib/memory/buffers.h"
#include "../split/dimension-names.h"
#include "../views/strided-range.h"

/* A walk goes from the end of a segment towards its begin and tells what each value comes to in a
 * strip of the middle, and in the first: what all strips before have made of it, and what this one
 * needs.  Of strips that are cut into tiles, TILE is a tile of the middle and LEFT what all tiles
 * before it have made; MIDDLE is the whole strip, and FIRST the first tile. */
typedef enum { BEFORE, MIDDLE, FIRST, LEFT, TILE, N_SAMPLES } Sample;

#define N_SAMPLES_OF_STRIPS LEFT

/* Dimensions that are not looked for yet. */
#define UNKNOWN -2

typedef struct
{
  guint stamp; /* of the walk that needs it */
  CleaveRange range[N_SAMPLES];
} Need;

/* Bytes of what lies in a buffer, in a strip of the middle and in the first; and of what a strip
 * leaves to the next. */
typedef struct
{
  guint stamp;
  gint64 middle, first, carried;
  gboolean is_whole; /* it lies in a value that the segment leaves whole */
} Window;

struct _CleaveFitWalker
{
  const CleaveFitSteps *steps;
  GHashTable *letters;
  gint *dims;             /* of each node, for each cut */
  gint64 *crossing;       /* of each step: bytes of what is alive before it and in it */
  Need *needs;            /* of each value */
  Window *windows;        /* of each buffer */
  gint64 *middle, *first; /* of each step: bytes of windows */
  gint64 peak;            /* of the graph as it is */
  guint now;
};

/* A walk on its way. */
typedef struct
{
  CleaveFitWalker *walker;
  const CleaveFitWalk *walk;
  guint n_samples;
  gint64 both;                    /* bytes of what goes past the whole segment */
  gint64 carried;                 /* bytes between strips */
  gint64 most_middle, most_first; /* of all steps */
  gint64 copied;
  double macs;
  guint n_nodes;
} State;

static void
find_crossing (CleaveFitWalker *walker)
{
  const CleaveFitSteps *steps = walker->steps;

  walker->crossing = g_new0 (gint64, steps->n_steps + 2);
  for (guint b = 0; b < steps->buffers->len; b++)
    {
      const CleaveFitBuffer *buffer = cleave_fit_buffer (steps, b);

      walker->crossing[buffer->first + 1] += buffer->n_bytes;
      walker->crossing[MIN (buffer->last + 1, (gint) steps->n_steps + 1)] -= buffer->n_bytes;
    }
  for (guint s = 1; s <= steps->n_steps; s++)
    walker->crossing[s] += walker->crossing[s - 1];
}

CleaveFitWalker *
cleave_fit_walker_new (const CleaveFitSteps *steps)
{
  CleaveFitWalker *walker = g_new0 (CleaveFitWalker, 1);

  walker->steps = steps;
  walker->letters = g_hash_table_new (NULL, NULL);
  walker->dims = g_new (gint, CLEAVE_FIT_N_CUTS * steps->nodes->len + 1);
  for (guint i = 0; i < CLEAVE_FIT_N_CUTS * steps->nodes->len; i++)
    walker->dims[i] = UNKNOWN;
  find_crossing (walker);
  for (guint s = 0; s < steps->n_steps; s++)
    walker->peak = MAX (walker->peak, steps->live[s]);
  walker->needs = g_new0 (Need, steps->values->len + 1);
  walker->windows = g_new0 (Window, steps->buffers->len + 1);
  walker->middle = g_new0 (gint64, steps->n_steps + 1);
  walker->first = g_new0 (gint64, steps->n_steps + 1);
  return walker;
}

void
cleave_fit_walker_free (CleaveFitWalker *walker)
{
  g_hash_table_unref (walker->letters);
  g_free (walker->dims);
  g_free (walker->crossing);
  g_free (walker->needs);
  g_free (walker->windows);
  g_free (walker->middle);
  g_free (walker->first);
  g_free (walker);
}

/* Where a segment ends. */

static gint
find_dim (CleaveFitWalker *walker, const CleaveNode *node, CleaveFitCut cut)
{
  const CleaveShape *shape = &node->results[0].type.shape;
  const char *letters = cleave_letters_find (walker->letters, node, G_MAXUINT);
  const char *row = letters == NULL ? NULL : strchr (letters, 'H');
  const char *column = letters == NULL ? NULL : strchr (letters, 'W');
  guint rows = row != NULL ? (guint) (row - letters) : shape->rank > 1 ? shape->rank - 2 : 0;

  if (shape->rank == 0 || node->op->maps == NULL)
    return -1;
  if (rows >= shape->rank)
    rows = 0;
  if (cut == CLEAVE_FIT_COLUMNS)
    return column != NULL && (guint) (column - letters) < shape->rank ? (gint) (column - letters)
                                                                      : -1;
  if (cut == CLEAVE_FIT_ROWS)
    return shape->dim[rows] > 1 ? (gint) rows : -1;
  for (guint d = 0; d < shape->rank; d++)
    if (d != rows && shape->dim[d] > 1)
      return (gint) d;
  return -1;
}

gint
cleave_fit_walker_get_dim (CleaveFitWalker *walker, guint node, CleaveFitCut cut)
{
  gint *dim = &walker->dims[node * CLEAVE_FIT_N_CUTS + cut];

  if (*dim == UNKNOWN)
    *dim = find_dim (walker, cleave_fit_node (walker->steps, node)->node, cut);
  return *dim;
}

/* Where chunk k of an extent begins, if the larger ones come first. */
static gint64
find_begin (gint64 extent, gint64 n, gint64 k)
{
  return k * (extent / n) + MIN (k, extent % n);
}

/* Cuts the strip of the middle, and the first. */
static gboolean
begin_tile (State *state, guint index, Need *need)
{
  gint dim = cleave_fit_walker_get_dim (state->walker, index, CLEAVE_FIT_COLUMNS);
  gint64 n = state->walk->n_columns, k = n / 2, extent;

  if (dim < 0 || need->range[FIRST].dim[dim].end < n)
    return FALSE;
  extent = need->range[FIRST].dim[dim].end;
  need->range[FIRST].dim[dim].end = find_begin (extent, n, 1);
  need->range[LEFT] = need->range[TILE] = need->range[MIDDLE];
  need->range[LEFT].dim[dim].end = find_begin (extent, n, k);
  need->range[TILE].dim[dim] =
      (CleaveSpan){ find_begin (extent, n, k), find_begin (extent, n, k + 1) };
  return TRUE;
}

static gboolean
begin_at (State *state, guint index)
{
  const CleaveFitNode *node = cleave_fit_node (state->walker->steps, index);
  gint dim = cleave_fit_walker_get_dim (state->walker, index, state->walk->cut);
  Need *need = &state->walker->needs[node->first_value];
  gint64 n = state->walk->n_strips, k = n / 2, extent;
  CleaveRange whole;

  if (dim < 0 || node->node->results[0].type.shape.dim[dim] < n)
    return FALSE;
  whole = cleave_range_whole (&node->node->results[0].type.shape);
  extent = whole.dim[dim].end;
  need->stamp = state->walker->now;
  for (guint s = 0; s < state->n_samples; s++)
    need->range[s] = whole;
  need->range[BEFORE].dim[dim].end = find_begin (extent, n, k);
  need->range[MIDDLE].dim[dim] =
      (CleaveSpan){ find_begin (extent, n, k), find_begin (extent, n, k + 1) };
  need->range[FIRST].dim[dim].end = find_begin (extent, n, 1);
  return state->walk->n_columns == 1 || begin_tile (state, index, need);
}

/* Needs. */

static void
add_need (State *state, guint value, const CleaveRange range[N_SAMPLES])
{
  Need *need = &state->walker->needs[value];
  gboolean is_new = need->stamp != state->walker->now;

  need->stamp = state->walker->now;
  for (guint s = 0; s < state->n_samples; s++)
    if (is_new || cleave_range_is_empty (&need->range[s]))
      need->range[s] = range[s];
    else if (!cleave_range_is_empty (&range[s]))
      need->range[s] = cleave_range_hull (&need->range[s], &range[s]);
}

/* What of a range is not in another, if that is a box; else all of it. */
static CleaveRange
subtract (const CleaveRange *range, const CleaveRange *made)
{
  CleaveRange both = cleave_range_intersect (range, made), rest = *range;
  guint n = 0;

  if (cleave_range_is_empty (&both))
    return rest;
  for (guint d = 0; d < range->rank; d++)
    {
      const CleaveSpan *x = &range->dim[d], *y = &both.dim[d];

      if (x->begin == y->begin && x->end == y->end)
        continue;
      if (++n > 1 || (x->begin != y->begin && x->end != y->end))
        return *range;
      rest.dim[d] = x->begin == y->begin ? (CleaveSpan){ y->end, x->end }
                                         : (CleaveSpan){ x->begin, y->begin };
    }
  if (n == 0)
    rest.dim[0].end = rest.dim[0].begin;
  return rest;
}

static gint64
get_bytes (const CleaveFitValue *value, const CleaveRange *range)
{
  gint64 n = cleave_range_n_elements (range) * value->element_size;

  return (n + CLEAVE_BUFFER_ALIGNMENT - 1) / CLEAVE_BUFFER_ALIGNMENT * CLEAVE_BUFFER_ALIGNMENT;
}

/* What tiles keep besides the rows that strips do: the columns between two of a strip. */
static gint64
count_kept_columns (const CleaveFitValue *value, const Need *need)
{
  CleaveRange kept = cleave_range_intersect (&need->range[TILE], &need->range[LEFT]);
  CleaveRange twice = cleave_range_intersect (&kept, &need->range[BEFORE]);

  return get_bytes (value, &kept) - get_bytes (value, &twice);
}

static void
add_window (State *state, guint index)
{
  const CleaveFitValue *value = cleave_fit_value (state->walker->steps, index);
  const Need *need = &state->walker->needs[index];
  CleaveRange kept = cleave_range_intersect (&need->range[MIDDLE], &need->range[BEFORE]);
  gboolean all = cleave_range_equal (&kept, &need->range[MIDDLE]);
  gboolean carries = state->walk->halo != CLEAVE_HALO_RECOMPUTE;
  gint64 n_kept = carries ? get_bytes (value, &kept) : 0;
  Sample sample = state->n_samples == N_SAMPLES ? TILE : MIDDLE;
  Window *window;

  if (value->buffer == CLEAVE_FIT_NONE)
    return;
  window = &state->walker->windows[value->buffer];
  if (window->stamp != state->walker->now)
    *window = (Window){ .stamp = state->walker->now };
  if (carries && state->n_samples == N_SAMPLES && !all)
    n_kept += count_kept_columns (value, need);
  window->carried = MAX (window->carried, n_kept);
  window->first = MAX (window->first, get_bytes (value, &need->range[FIRST]));
  if (!all || !carries) /* else it stays where it is */
    window->middle = MAX (window->middle, get_bytes (value, &need->range[sample]));
}

/* A view has no range of its own; what is needed of it is needed of its operand. */
static void
ask_view (State *state, const CleaveFitNode *node, guint result)
{
  const CleaveFitSteps *steps = state->walker->steps;
  const CleaveFitOperand *x =
      &g_array_index (steps->operands, CleaveFitOperand, node->first_operand);
  const Need *need = &state->walker->needs[node->first_value + result];
  CleaveRange range[N_SAMPLES];
  CleaveStridedRange view;

  if (x->value == CLEAVE_FIT_NONE || need->stamp != state->walker->now)
    return;
  cleave_result_get_strided_range (&node->node->results[result], &view);
  for (guint s = 0; s < state->n_samples; s++)
    {
      range[s] = need->range[s];
      for (guint d = 0; d < view.rank; d++)
        {
          range[s].dim[d].begin += view.begin[d];
          range[s].dim[d].end += view.begin[d];
        }
    }
  add_need (state, x->value, range);
}

/* What a node makes of result 0 for all that is needed of its results. */
static void
find_made (const State *state, const CleaveFitNode *node, CleaveRange made[N_SAMPLES])
{
  const Need *need = &state->walker->needs[node->first_value];
  CleaveRange whole = cleave_range_whole (&node->node->results[0].type.shape);

  for (guint s = 0; s < state->n_samples; s++)
    made[s] = need->stamp == state->walker->now ? need->range[s] : whole;
  for (guint r = 1; r < node->n_values; r++)
    if (need[r].stamp == state->walker->now)
      for (guint s = 0; s < state->n_samples; s++)
        made[s] = whole; /* a part may do, which is not looked for */
  if (!node->can_split)
    made[FIRST] = made[BEFORE] = whole;
  if (state->walk->halo == CLEAVE_HALO_RECOMPUTE)
    return;
  made[MIDDLE] = subtract (&made[MIDDLE], &made[BEFORE]);
  if (state->n_samples < N_SAMPLES)
    return;
  made[TILE] = subtract (&made[TILE], &made[BEFORE]);
  made[TILE] = subtract (&made[TILE], &made[LEFT]);
}

static void
ask_operands (State *state, const CleaveFitNode *node, const CleaveRange made[N_SAMPLES])
{
  const CleaveFitSteps *steps = state->walker->steps;

  for (guint o = 0; o < node->n_operands; o++)
    {
      const CleaveFitOperand *x =
          &g_array_index (steps->operands, CleaveFitOperand, node->first_operand + o);
      CleaveRange range[N_SAMPLES];
      const CleaveShape *shape;

      if (x->value == CLEAVE_FIT_NONE)
        continue;
      shape = &cleave_fit_value (steps, x->value)->result->type.shape;
      for (guint s = 0; s < state->n_samples; s++)
        if (!node->can_split)
          range[s] = cleave_range_whole (shape);
        else if (cleave_range_is_empty (&made[s]))
          range[s] = (CleaveRange){ .rank = shape->rank };
        else
          range[s] = cleave_slice_map (x->map, &made[s], shape).range;
      add_need (state, x->value, range);
    }
}

static double
count_tiles (const CleaveFitWalk *walk)
{
  return (double) walk->n_strips * walk->n_columns;
}

static void
count_macs (State *state, const CleaveFitNode *node, const CleaveRange *made)
{
  gint64 all = cleave_shape_n_elements (&node->node->results[0].type.shape);
  double part = all == 0 ? 0 : (double) cleave_range_n_elements (made) / (double) all;

  if (state->walk->halo == CLEAVE_HALO_RECOMPUTE)
    state->macs += (double) node->macs * MAX (part * count_tiles (state->walk) - 1, 0);
}

/* FALSE: the segment cannot have this node. */
static gboolean
visit (State *state, guint index)
{
  const CleaveFitNode *node = cleave_fit_node (state->walker->steps, index);
  CleaveRange made[N_SAMPLES];
  gboolean is_needed = FALSE;

  for (guint r = 0; r < node->n_values; r++)
    is_needed |= state->walker->needs[node->first_value + r].stamp == state->walker->now;
  if (!is_needed && !begin_at (state, index))
    return FALSE;
  for (guint r = 0; r < node->n_values; r++)
    if (state->walker->needs[node->first_value + r].stamp == state->walker->now)
      add_window (state, node->first_value + r);
  state->n_nodes++;
  if (node->is_view && is_needed)
    {
      for (guint r = 0; r < node->n_values; r++)
        ask_view (state, node, r);
      return TRUE;
    }
  find_made (state, node, made);
  count_macs (state, node, &made[state->n_samples == N_SAMPLES ? TILE : MIDDLE]);
  ask_operands (state, node, made);
  return TRUE;
}

/* Memory. */

static void
occupy (State *state, gint begin, gint last, gint64 middle, gint64 first)
{
  CleaveFitWalker *walker = state->walker;

  for (gint s = begin; s <= last; s++)
    {
      walker->middle[s] += middle;
      walker->first[s] += first;
      state->most_middle = MAX (state->most_middle, walker->middle[s]);
      state->most_first = MAX (state->most_first, walker->first[s]);
    }
}

/* Strips of what is overwritten lie where strips of what overwrites it do, if no later strip reads
 * them. */
static void
share_place (State *state, const CleaveFitBuffer *buffer, Window *window)
{
  CleaveFitWalker *walker = state->walker;
  const CleaveFitBuffer *after;
  const Window *next;

  if (buffer->after == CLEAVE_FIT_NONE || window->carried > 0)
    return;
  next = &walker->windows[buffer->after];
  after = cleave_fit_buffer (walker->steps, buffer->after);
  if (next->stamp != walker->now)
    return;
  window->is_whole |= next->is_whole;
  if (!window->is_whole)
    occupy (state, after->first, after->first, -MIN (window->middle, next->middle),
            -MIN (window->first, next->first));
}

/* What begins at a step is in the segment from now on: whole if it outlives it. */
static void
add_buffers (State *state, guint step)
{
  CleaveFitWalker *walker = state->walker;
  const CleaveFitSteps *steps = walker->steps;

  for (guint b = steps->first_buffer[step]; b < steps->first_buffer[step + 1]; b++)
    {
      const CleaveFitBuffer *buffer = cleave_fit_buffer (steps, b);
      Window *window = &walker->windows[b];

      if (buffer->last >= (gint) state->walk->end)
        state->both -= buffer->n_bytes;
      if (window->stamp != walker->now)
        continue;
      window->is_whole |= buffer->last >= (gint) state->walk->end;
      share_place (state, buffer, window);
      if (!window->is_whole)
        {
          state->carried += window->carried;
          state->copied += window->carried * state->walk->n_strips;
          occupy (state, (gint) step, buffer->last, window->middle, window->first);
        }
    }
}

/* Bytes of strips alone; more steps do not make them fewer. */
static gint64
find_inner (const State *state)
{
  return MAX (state->most_first, state->most_middle + state->carried);
}

static gint64
find_peak (const State *state, guint begin)
{
  const gint64 *crossing = state->walker->crossing;

  return crossing[begin] + crossing[state->walk->end] - state->both + find_inner (state);
}

static void
add_edge (const State *state, guint begin, GArray *edges)
{
  const CleaveFitWalk *walk = state->walk;
  CleaveFitEdge edge = { .begin = begin,
                         .end = walk->end,
                         .n_strips = walk->n_strips,
                         .n_columns = walk->n_columns,
                         .cut = walk->cut,
                         .halo = walk->halo,
                         .n_bytes = find_peak (state, begin),
                         .macs = state->macs };

  edge.work = state->macs +
              CLEAVE_WORK_PER_NODE * (double) state->n_nodes * (count_tiles (walk) - 1) +
              CLEAVE_WORK_PER_BYTE * (double) state->copied;
  g_array_append_val (edges, edge);
}

void
cleave_fit_walker_walk (CleaveFitWalker *walker, const CleaveFitWalk *walk, GArray *edges)
{
  const CleaveFitSteps *steps = walker->steps;
  guint least = walk->end > walk->max_steps ? walk->end - walk->max_steps : 0;
  State state = { .walker = walker,
                  .walk = walk,
                  .n_samples = walk->n_columns > 1 ? N_SAMPLES : N_SAMPLES_OF_STRIPS,
                  .both = walker->crossing[walk->end] };
  gint64 most = 0; /* alive as it is */

  walker->now++;
  for (guint s = walk->end; s-- > least;)
    {
      walker->middle[s] = walker->first[s] = 0;
      most = MAX (most, steps->live[s]);
      for (guint i = steps->first_node[s + 1]; i-- > steps->first_node[s];)
        if (!visit (&state, i))
          return;
      add_buffers (&state, s);
      if (find_inner (&state) >= walker->peak)
        return;
      if (find_peak (&state, s) < most)
        add_edge (&state, s, edges);
    }
}
