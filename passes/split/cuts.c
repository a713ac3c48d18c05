/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Lists the cuts of each dimension of a node's result. For each cut, computes how many elements a
 * chunk reads of each value along the cut dimension (cuts.h). */

#include "cut-chunks.h"

/* Not every number of chunks is listed. From FINE chunks on, each listed number is at least 1/512
 * larger than the listed number before. The search then finds the smallest number of pieces with an
 * error of at most 0.2 %. With this rule, 2^40 rows have 4,000 cuts. */
#define FINE 512
/* A cut is compared with at most this many earlier cuts. Comparing each cut with all earlier cuts
 * takes quadratic time. */
#define MAX_COMPARED 1024
/* Cuts into very many chunks are not listed. note_finer() visits a sample of these cuts: each
 * visited cut has 1/8 more chunks than the cut visited before. */
#define FINER 8

CleaveCut *
cleave_cuts_get (const CleaveCuts *cuts, guint d, guint i)
{
  return &g_array_index (cuts->cuts[d], CleaveCut, i);
}

static void
add_value (CleaveCuts *cuts, const char *name, const CleaveTensorType *type, gboolean is_constant)
{
  CleaveCutValue *value = &cuts->values[cuts->n_values++];

  value->name = name;
  value->is_constant = is_constant;
  value->shape = type->shape;
  value->fixed = (gint64) cleave_element_size (type->element);
  for (guint d = 0; d < type->shape.rank; d++)
    if (value->map[d].stride == 0)
      value->fixed *= type->shape.dim[d];
}

static void
list_values (CleaveCuts *cuts)
{
  const CleaveCall *call = &cuts->call.call;

  cuts->values = g_new0 (CleaveCutValue, call->n_operands + call->n_results);
  for (guint i = 0; i < call->n_operands; i++)
    if (cleave_call_has (call, i))
      {
        call->op->maps (call, i, cuts->values[cuts->n_values].map);
        add_value (cuts, cleave_op_operand_name (call->op, i), &call->operands[i],
                   cleave_node_get_constant (cuts->node->operands[i].result->node) != NULL);
      }
  for (guint r = 0; r < call->n_results; r++)
    {
      CleaveDimMap *map = cuts->values[cuts->n_values].map;

      if (cuts->node->results[r].n_uses == 0)
        continue;
      for (guint d = 0; d < call->results[r].shape.rank; d++)
        map[d] = cleave_dim_map_same (d);
      if (r > 0 && call->op->result_maps != NULL)
        call->op->result_maps (call, r, map);
      add_value (cuts, cleave_op_result_name (call->op, r), &call->results[r], FALSE);
    }
}

/* Returns the extent of a value that a span of dimension `d` of the result reads. For example, 4
 * result rows of a 3x3 convolution read 6 rows of the operand. If several dimensions of the value
 * depend on `d`, multiplies their extents. */
static gint64
find_extent (const CleaveCutValue *value, guint d, CleaveSpan span)
{
  CleaveSpan spans[CLEAVE_MAX_RANK];
  gint64 extent = 1;

  spans[d] = span;
  for (guint i = 0; i < value->shape.rank; i++)
    if (value->map[i].stride != 0 && value->map[i].from == d)
      {
        CleaveSpan read = cleave_dim_map_apply (&value->map[i], spans);

        extent *= MAX (MIN (read.end, value->shape.dim[i]) - MAX (read.begin, 0), 0);
      }
  return extent;
}

/* Sets `cut->low` to the extents that the largest chunk of a cut reads, one extent for each value.
 * The largest chunk is the chunk with the largest sum of these extents. Visits only a sample of the
 * chunks. */
static void
find_low (const CleaveCuts *cuts, guint d, CleaveCut *cut)
{
  gint64 sample[CLEAVE_CUT_N_SAMPLES] = { 0 };
  guint n = cleave_cut_pick_samples (cut, cuts->shape.dim[d], sample);
  gint64 most = -1;

  cut->low = g_new0 (gint64, cuts->n_values + 1);
  for (guint i = 0; i < n; i++)
    {
      CleaveSpan span = cleave_cut_span (cut, cuts->shape.dim[d], sample[i]);
      gint64 sum = 0;

      for (guint v = 0; v < cuts->n_values; v++)
        sum += find_extent (&cuts->values[v], d, span);
      if (sum <= most)
        continue;
      most = sum;
      for (guint v = 0; v < cuts->n_values; v++)
        cut->low[v] = find_extent (&cuts->values[v], d, span);
    }
}

/* Sets `cut->high`, one extent for each value: the largest extent that a chunk of the cut reads. If
 * there are more than CLEAVE_CUT_MAX_ALL chunks, visits only a sample of the chunks. */
static void
find_high (const CleaveCuts *cuts, guint d, CleaveCut *cut)
{
  gint64 sample[CLEAVE_CUT_N_SAMPLES] = { 0 };
  gboolean all = cut->n <= CLEAVE_CUT_MAX_ALL;
  gint64 n = all ? cut->n : cleave_cut_pick_samples (cut, cuts->shape.dim[d], sample);

  if (cut->high != NULL)
    return;
  cut->high = g_new0 (gint64, cuts->n_values + 1);
  for (gint64 i = 0; i < n; i++)
    {
      CleaveSpan span = cleave_cut_span (cut, cuts->shape.dim[d], all ? i : sample[i]);

      for (guint v = 0; v < cuts->n_values; v++)
        cut->high[v] = MAX (cut->high[v], find_extent (&cuts->values[v], d, span));
    }
}

/* Returns whether each chunk of `cut` reads at most as much of each value as the largest chunk of
 * `other` reads. */
static gboolean
is_as_good (const CleaveCuts *cuts, guint d, CleaveCut *cut, const CleaveCut *other)
{
  for (guint v = 0; v < cuts->n_values; v++)
    if (other->low[v] < cut->low[v])
      return FALSE;
  find_high (cuts, d, cut);
  for (guint v = 0; v < cuts->n_values; v++)
    if (other->low[v] < cut->high[v])
      return FALSE;
  return TRUE;
}

/* Returns whether an earlier cut in the list dominates `cut`. The earlier cut then has at most as
 * many chunks, and each of its chunks reads at most as much of each value as the largest chunk of
 * `cut`. */
static gboolean
is_dominated (const CleaveCuts *cuts, guint d, const CleaveCut *cut)
{
  guint n = cuts->cuts[d]->len, end = n > MAX_COMPARED ? n - MAX_COMPARED : 0;

  for (guint i = n; i-- > end;)
    {
      CleaveCut *other = cleave_cuts_get (cuts, d, i);

      if (!other->is_dominated && other->n <= cut->n && is_as_good (cuts, d, other, cut))
        return TRUE;
    }
  return FALSE;
}

static void
cut_clear (gpointer data)
{
  CleaveCut *cut = data;

  g_free (cut->low);
  g_free (cut->high);
  g_clear_pointer (&cut->kinds, g_array_unref);
}

/* Returns whether the chunks of a cut are legal, so that the cut may be listed. If the cut has many
 * chunks, or if another cut is at least as good (`is_dominated`), checks only a sample of the
 * chunks. The other chunks are checked only if the search chooses the cut. If the cut has more than
 * CLEAVE_CUT_MAX_CHECKED chunks, and one of the other chunks is not legal, cleave_cut_find_kinds()
 * sets `is_surprised`. */
static gboolean
is_legal (CleaveCuts *cuts, guint d, CleaveCut *cut)
{
  gint64 max_checked = cuts->list.exact ? CLEAVE_CUT_MAX_ALL : CLEAVE_CUT_MAX_CHECKED;
  gboolean was_surprised = cuts->is_surprised, good;

  if (cut->n == 1)
    return TRUE;
  good = cleave_cut_seems_legal (cuts, d, cut) &&
         (cut->is_dominated || cut->n > max_checked || cleave_cut_find_kinds (cuts, d, cut, NULL));
  cuts->is_surprised = was_surprised;
  return good;
}

/* Returns whether a chunk of the cut is smaller than the minimum. Chunks differ by at most one unit
 * of the alignment, and the last chunk may end with a partial unit. */
static gboolean
is_too_fine (const CleaveCuts *cuts, guint d, const CleaveCut *cut)
{
  gint64 extent = cuts->shape.dim[d], min = cuts->space->rules[d].min_chunk;
  CleaveSpan last = cleave_cut_span (cut, extent, cut->n - 1);

  return cut->n > 1 && (cleave_ceil_div (extent, cut->align) / cut->n * cut->align < min ||
                        last.end - last.begin < min);
}

static void
add_cut (CleaveCuts *cuts, guint d, CleaveCut cut, gboolean all)
{
  if (is_too_fine (cuts, d, &cut))
    return;
  find_low (cuts, d, &cut);
  cut.is_dominated = is_dominated (cuts, d, &cut);
  if ((cut.is_dominated && !all) || !is_legal (cuts, d, &cut))
    cut_clear (&cut);
  else
    g_array_append_val (cuts->cuts[d], cut);
}

/* Returns the next larger number of chunks after `n` for which the search lists cuts. For a small
 * extent, this number is `n` + 1. For a large extent, this number is the smallest number for which
 * the largest chunk becomes smaller. From FINE chunks on, the next number is also at least `n` +
 * `n` / FINE. */
static gint64
next_number (gint64 units, gint64 n)
{
  if (units <= CLEAVE_CUT_MAX_ALL || n == units)
    return n + 1;
  return MIN (MAX (cleave_ceil_div (units, cleave_ceil_div (units, n) - 1), n + n / FINE), units);
}

static void
add_cuts (CleaveCuts *cuts, guint d, gint64 align)
{
  gint64 units = cleave_ceil_div (cuts->shape.dim[d], align);
  gint64 max_n = MIN (units, cuts->list.max_pieces);

  for (gint64 n = 2; n <= max_n; n = next_number (units, n))
    {
      add_cut (cuts, d, (CleaveCut){ .n = n, .align = align }, cuts->list.dominated);
      for (CleaveLarger larger = CLEAVE_LARGER_LAST; larger <= CLEAVE_LARGER_AT_ENDS; larger++)
        if (units % n > (larger == CLEAVE_LARGER_AT_ENDS))
          add_cut (cuts, d, (CleaveCut){ .n = n, .align = align, .larger = larger }, FALSE);
    }
  cuts->is_truncated |= max_n < units;
}

static int
compare_cuts (gconstpointer a, gconstpointer b)
{
  const CleaveCut *c = a, *e = b;

  if (c->n != e->n)
    return c->n < e->n ? -1 : 1;
  return c->align != e->align ? (c->align < e->align ? -1 : 1)
                              : (c->larger > e->larger) - (c->larger < e->larger);
}

static gint64
find_multiple (gint64 a, gint64 b)
{
  gint64 x = a, y = b, multiple;

  while (y != 0)
    {
      gint64 rest = x % y;

      x = y;
      y = rest;
    }
  return __builtin_mul_overflow (a / x, b, &multiple) ? G_MAXINT64 : multiple;
}

/* Lists the cuts of a dimension. Chunks end at multiples of the alignment. If the dimension map of
 * an operand has blocks, also lists cuts whose chunks end at the ends of blocks. */
static void
list_cuts (CleaveCuts *cuts, guint d)
{
  gint64 align = cuts->space->rules[d].alignment, done = align;

  cuts->cuts[d] = g_array_new (FALSE, FALSE, sizeof (CleaveCut));
  g_array_set_clear_func (cuts->cuts[d], cut_clear);
  add_cut (cuts, d, (CleaveCut){ .n = 1, .align = 1 }, FALSE);
  if (!cuts->space->may_cut[d] || cuts->shape.dim[d] <= align)
    return;
  add_cuts (cuts, d, align);
  for (guint v = 0; v < cuts->n_values; v++)
    for (guint i = 0; i < cuts->values[v].shape.rank; i++)
      {
        const CleaveDimMap *map = &cuts->values[v].map[i];
        gint64 multiple;

        if (map->stride == 0 || map->from != d || map->block <= 1 || map->times > 1)
          continue;
        multiple = find_multiple (align, map->block);
        if (multiple == done || multiple == align || multiple >= cuts->shape.dim[d])
          continue;
        done = multiple;
        add_cuts (cuts, d, done);
      }
  g_array_sort (cuts->cuts[d], compare_cuts);
}

static void
note_least (CleaveCuts *cuts, guint d, const CleaveCut *cut)
{
  for (guint v = 0; v < cuts->n_values; v++)
    cuts->least[d][v] = MIN (cuts->least[d][v], cut->low[v]);
}

/* Lowers `cuts->least` by the cuts that are not listed, since they have too many chunks.
 * `cuts->least` has the smallest extent of each value that the largest chunk of a cut reads
 * (`low`). Visits a sample of the cuts that are not listed, and the finest cut. */
static void
note_finer (CleaveCuts *cuts, guint d)
{
  gint64 align = cuts->space->rules[d].alignment;
  gint64 units = cleave_ceil_div (cuts->shape.dim[d], align);

  for (gint64 n = cuts->list.max_pieces + 1; n <= units;
       n = n == units ? units + 1 : MIN (n + n / FINER + 1, units))
    {
      CleaveCut cut = { .n = n, .align = align };

      if (!is_too_fine (cuts, d, &cut) && cleave_cut_seems_legal (cuts, d, &cut))
        {
          find_low (cuts, d, &cut);
          note_least (cuts, d, &cut);
        }
      cut_clear (&cut);
    }
}

static void
find_least (CleaveCuts *cuts, guint d)
{
  cuts->least[d] =
      g_memdup2 (cleave_cuts_get (cuts, d, 0)->low, (cuts->n_values + 1) * sizeof (gint64));
  for (guint i = 1; i < cuts->cuts[d]->len; i++)
    note_least (cuts, d, cleave_cuts_get (cuts, d, i));
  if (cuts->space->may_cut[d])
    note_finer (cuts, d);
}

void
cleave_cuts_init (CleaveCuts *cuts,
                  CleaveNode *node,
                  const CleaveSpace *space,
                  const CleaveCutsToList *list)
{
  *cuts = (CleaveCuts){
    .node = node, .shape = node->results[0].type.shape, .space = space, .list = *list
  };
  cleave_plan_call_init (&cuts->call, node);
  list_values (cuts);
  for (guint d = 0; d < cuts->shape.rank; d++)
    {
      list_cuts (cuts, d);
      find_least (cuts, d);
    }
}

GArray *
cleave_cuts_grid (const CleaveCuts *cuts, const guint *at)
{
  GArray *ranges = g_array_new (FALSE, FALSE, sizeof (CleaveRange));
  guint n = 1, inner;

  for (guint d = 0; d < cuts->shape.rank; d++)
    n *= (guint) cleave_cuts_get (cuts, d, at[d])->n;
  inner = n;
  g_array_set_size (ranges, n);
  for (guint i = 0; i < n; i++)
    g_array_index (ranges, CleaveRange, i).rank = cuts->shape.rank;
  for (guint d = 0; d < cuts->shape.rank; d++)
    {
      const CleaveCut *cut = cleave_cuts_get (cuts, d, at[d]);

      inner /= (guint) cut->n;
      for (guint i = 0; i < n; i++)
        g_array_index (ranges, CleaveRange, i).dim[d] =
            cleave_cut_span (cut, cuts->shape.dim[d], i / inner % cut->n);
    }
  return ranges;
}

void
cleave_cuts_clear (CleaveCuts *cuts)
{
  for (guint d = 0; d < cuts->shape.rank; d++)
    {
      g_array_unref (cuts->cuts[d]);
      g_free (cuts->least[d]);
    }
  g_free (cuts->values);
  cleave_node_call_clear (&cuts->call);
}
