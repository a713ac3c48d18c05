/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "split-region.h"

#include "../lib/ir/topology.h"

#include "forward-slices.h"
#include "split-constraint.h"

#include <string.h>

/* A region is planned consumers first: when a node's turn comes, all that read it have said what
 * they need.  Nothing is built and nothing changed. */

static int
compare_spans (const CleaveSpan *a, const CleaveSpan *b)
{
  if (a->begin != b->begin)
    return a->begin < b->begin ? -1 : 1;
  return (a->end > b->end) - (a->end < b->end);
}

static int
compare_ranges (const CleaveRange *a, const CleaveRange *b)
{
  int order = 0;

  for (guint d = 0; d < a->rank && order == 0; d++)
    order = compare_spans (&a->dim[d], &b->dim[d]);
  return order;
}

static guint
range_hash (gconstpointer data)
{
  const CleaveRange *range = data;
  guint64 hash = range->rank;

  for (guint d = 0; d < range->rank; d++)
    hash = (hash ^ (guint64) range->dim[d].begin ^ ((guint64) range->dim[d].end << 32)) *
           0x9e3779b97f4a7c15u;
  return (guint) (hash ^ (hash >> 32));
}

static gboolean
range_equal (gconstpointer a, gconstpointer b)
{
  return cleave_range_equal (a, b);
}

/* Parts and their needs. */

static void
part_free (gpointer data)
{
  CleavePart *part = data;

  g_array_unref (part->needs);
  g_array_unref (part->pieces);
  g_array_unref (part->covers);
  cleave_plan_free (part->plan);
  g_free (part->sources);
  g_free (part->values);
  g_free (part->whole);
  g_free (part->name);
  g_free (part);
}

static CleavePart *
get_part (CleaveRegion *region, CleaveNode *node, const CleaveConstraint *constraint)
{
  CleavePart *part = region->at[node->mark];

  if (part != NULL)
    return part;
  part = g_new0 (CleavePart, 1);
  part->node = node;
  part->n_results = node->n_results;
  part->constraint = constraint;
  part->depth = G_MAXUINT;
  part->needs = g_array_new (FALSE, FALSE, sizeof (CleaveNeed));
  part->pieces = g_array_new (FALSE, FALSE, sizeof (CleavePiece));
  part->covers = g_array_new (FALSE, FALSE, sizeof (guint));
  region->at[node->mark] = part;
  return part;
}

static CleaveNeed *
get_need (const CleavePart *part, guint need)
{
  return &g_array_index (part->needs, CleaveNeed, need);
}

static CleavePiece *
get_piece (const CleavePart *part, guint piece)
{
  return &g_array_index (part->pieces, CleavePiece, piece);
}

/* The chunk of result 0 that comes with a range of another result, by turning the maps round where
 * they only move; the whole of the dimensions where they do more. */
static CleaveRange
find_chunk (const CleaveCall *call, guint result, const CleaveRange *range)
{
  CleaveRange whole = cleave_range_whole (&call->results[0].shape);
  CleaveDimMap map[CLEAVE_MAX_RANK];
  CleaveRange chunk = whole;
  CleaveRange comes;

  if (result == 0)
    return *range;
  if (call->op->result_maps != NULL)
    call->op->result_maps (call, result, map);
  for (guint d = 0; d < range->rank; d++)
    {
      CleaveDimMap m = call->op->result_maps != NULL ? map[d] : cleave_dim_map_same (d);

      if (m.stride == 1 && m.block == 1 && m.window == 1 && m.from < whole.rank)
        chunk.dim[m.from] = (CleaveSpan){ range->dim[d].begin - m.offset - m.shift,
                                          range->dim[d].end - m.offset - m.shift };
    }
  comes = cleave_call_result_range (call, result, &chunk);
  return cleave_range_contains (&whole, &chunk) && cleave_range_contains (&comes, range) ? chunk
                                                                                         : whole;
}

static void
find_chunks (CleavePart *part)
{
  g_auto (CleaveNodeCall) call;

  cleave_node_call_init (&call, part->node);
  for (guint i = 0; i < part->needs->len; i++)
    {
      CleaveNeed *need = get_need (part, i);

      need->chunk = find_chunk (&call.call, need->result, &need->range);
    }
}

/* Says what is read of a value: of one that the region may cut, a need. */
static CleaveSource
ask (CleaveRegion *region,
     const CleavePart *reader,
     const CleaveResult *value,
     const CleaveNeed *need)
{
  CleaveSource source = { .range = need->range };
  CleaveNode *node = value->node;

  if (cleave_node_is_input (node) || cleave_node_get_constant (node) != NULL)
    return source;
  source.part = get_part (region, node, reader->constraint);
  source.part->depth = MIN (source.part->depth, reader->depth + 1);
  source.need = source.part->needs->len;
  g_array_append_vals (source.part->needs, need, 1);
  return source;
}

/* Bands: chunks of a start that follow each other along one dimension and may use what those before
 * computed. */

/* The outermost dimension that the ranges cut: the one along which they never go back.  Its rank if
 * there is none. */
static guint
find_strip_dim (const GArray *ranges)
{
  const CleaveRange *range = (const CleaveRange *) ranges->data;

  for (guint d = 0; d < range[0].rank; d++)
    {
      gboolean moves = FALSE, back = FALSE;

      for (guint i = 1; i < ranges->len && !back; i++)
        {
          moves |= range[i].dim[d].begin > range[i - 1].dim[d].begin;
          back = range[i].dim[d].begin < range[i - 1].dim[d].begin;
        }
      if (moves && !back)
        return d;
    }
  return range[0].rank;
}

/* The strips of one column of a grid, and the band that the next of them joins. */
typedef struct
{
  CleaveRange key;
  guint n_strips, band;
} Column;

static guint
next_band (CleaveRegion *region, GHashTable *columns, CleaveRange key, guint strip_dim)
{
  guint per_band = region->recursion.strips_per_band;
  Column *column;

  if (strip_dim == key.rank)
    return region->n_bands++;
  key.dim[strip_dim] = (CleaveSpan){ 0, 0 };
  column = g_hash_table_lookup (columns, &key);
  if (column == NULL)
    {
      column = g_new0 (Column, 1);
      column->key = key;
      g_hash_table_insert (columns, &column->key, column);
    }
  if (column->n_strips == 0 || (per_band > 0 && column->n_strips % per_band == 0))
    column->band = region->n_bands++;
  column->n_strips++;
  return column->band;
}

static void
add_bands (CleaveRegion *region, const GArray *ranges)
{
  g_autoptr (GHashTable) columns = g_hash_table_new_full (range_hash, range_equal, NULL, g_free);
  guint strip_dim = find_strip_dim (ranges);

  for (guint k = 0; k < ranges->len; k++)
    {
      guint band = next_band (region, columns, g_array_index (ranges, CleaveRange, k), strip_dim);

      if (k >= region->bands->len)
        g_array_append_val (region->bands, band);
    }
}

static guint
get_band (const CleaveRegion *region, guint k)
{
  return g_array_index (region->bands, guint, k);
}

/* Pieces. */

/* The box that `need` lies in, once those that overlap are one. */
typedef struct
{
  guint need;
  guint k;
  CleaveRange box;
} Wish;

static int
compare_wishes (gconstpointer a, gconstpointer b)
{
  const Wish *v = a, *w = b;
  int order;

  if (v->k != w->k)
    return v->k < w->k ? -1 : 1;
  order = compare_ranges (&v->box, &w->box);
  return order != 0 ? order : (v->need > w->need) - (v->need < w->need);
}

static gboolean
overlap (const CleaveRange *a, const CleaveRange *b)
{
  CleaveRange both = cleave_range_intersect (a, b);

  return !cleave_range_is_empty (&both);
}

/* Boxes of one chunk index: overlapping ones become the box around both, until none do. */
static GArray *
merge_boxes (const Wish *wish, guint n)
{
  GArray *boxes = g_array_new (FALSE, FALSE, sizeof (CleaveRange));

  for (guint i = 0; i < n; i++)
    {
      CleaveRange box = wish[i].box;

      if (i > 0 && cleave_range_equal (&box, &wish[i - 1].box))
        continue;
      for (guint j = 0; j < boxes->len;)
        {
          CleaveRange *other = &g_array_index (boxes, CleaveRange, j);

          if (!overlap (other, &box))
            {
              j++;
              continue;
            }
          box = cleave_range_hull (other, &box);
          g_array_remove_index (boxes, j);
          j = 0;
        }
      g_array_append_val (boxes, box);
    }
  return boxes;
}

/* What all needs come to: for each chunk index the boxes to be had, and each need's box. */
static GArray *
collect_wishes (const CleavePart *part)
{
  GArray *wishes = g_array_sized_new (FALSE, FALSE, sizeof (Wish), part->needs->len);

  for (guint i = 0; i < part->needs->len; i++)
    {
      const CleaveNeed *need = get_need (part, i);
      Wish wish = { i, need->k, need->chunk };

      g_array_append_val (wishes, wish);
    }
  g_array_sort (wishes, compare_wishes);
  for (guint i = 0, end; i < wishes->len; i = end)
    {
      g_autoptr (GArray) boxes = NULL;

      for (end = i; end < wishes->len &&
                    g_array_index (wishes, Wish, end).k == g_array_index (wishes, Wish, i).k;)
        end++;
      boxes = merge_boxes (&g_array_index (wishes, Wish, i), end - i);
      for (guint w = i; w < end; w++)
        for (guint b = 0; b < boxes->len; b++)
          if (overlap (&g_array_index (boxes, CleaveRange, b),
                       &g_array_index (wishes, Wish, w).box))
            g_array_index (wishes, Wish, w).box = g_array_index (boxes, CleaveRange, b);
    }
  g_array_sort (wishes, compare_wishes);
  return wishes;
}

/* The piece with this range, a new one for chunk `k` if there is none yet. */
static guint
get_piece_of (CleavePart *part, GHashTable *by_range, guint k, const CleaveRange *range)
{
  CleavePiece piece = { k, *range };
  gpointer index;

  if (g_hash_table_lookup_extended (by_range, range, NULL, &index))
    return GPOINTER_TO_UINT (index);
  g_array_append_val (part->pieces, piece);
  g_hash_table_insert (by_range, g_memdup2 (range, sizeof *range),
                       GUINT_TO_POINTER (part->pieces->len - 1));
  return part->pieces->len - 1;
}

/* Where a region begins, the pieces are those of the request; who needs something else reads it
 * from these. */
static void
cut_as_told (CleavePart *part)
{
  g_autoptr (GHashTable) by_range = g_hash_table_new_full (range_hash, range_equal, g_free, NULL);

  for (guint k = 0; k < part->start->len; k++)
    get_piece_of (part, by_range, k, &g_array_index (part->start, CleaveRange, k));
}

static void
cut_recomputing (CleavePart *part, const GArray *wishes)
{
  g_autoptr (GHashTable) by_range = g_hash_table_new_full (range_hash, range_equal, g_free, NULL);

  for (guint i = 0; i < wishes->len; i++)
    {
      const Wish *wish = &g_array_index (wishes, Wish, i);
      guint piece = get_piece_of (part, by_range, wish->k, &wish->box);
      CleaveNeed *need = get_need (part, wish->need);

      need->first = part->covers->len;
      need->n = 1;
      g_array_append_val (part->covers, piece);
    }
}

/* What the strips of a band have produced so far. */
typedef struct
{
  GArray *boxes;  /* CleaveRange: together, all of it; neighbours that make a box are one */
  GArray *pieces; /* guint: in order; no two overlap */
} Produced;

static void
produced_free (gpointer data)
{
  Produced *produced = data;

  g_array_unref (produced->boxes);
  g_array_unref (produced->pieces);
  g_free (produced);
}

static Produced *
get_produced (GHashTable *bands, guint band)
{
  Produced *produced = g_hash_table_lookup (bands, GUINT_TO_POINTER (band));

  if (produced != NULL)
    return produced;
  produced = g_new (Produced, 1);
  produced->boxes = g_array_new (FALSE, FALSE, sizeof (CleaveRange));
  produced->pieces = g_array_new (FALSE, FALSE, sizeof (guint));
  g_hash_table_insert (bands, GUINT_TO_POINTER (band), produced);
  return produced;
}

/* What of a box is not produced yet.  FALSE: it is no box. */
static gboolean
find_new (const Produced *produced, CleaveRange *box)
{
  g_autoptr (GArray) left = g_array_new (FALSE, FALSE, sizeof (CleaveRange));

  g_array_append_val (left, *box);
  for (guint i = 0; i < produced->boxes->len && left->len > 0; i++)
    {
      g_autoptr (GArray) rest = g_array_new (FALSE, FALSE, sizeof (CleaveRange));

      for (guint j = 0; j < left->len; j++)
        cleave_range_subtract (&g_array_index (left, CleaveRange, j),
                               &g_array_index (produced->boxes, CleaveRange, i), rest);
      g_array_unref (left);
      left = g_steal_pointer (&rest);
    }
  if (left->len > 1)
    return FALSE;
  *box = left->len == 1 ? g_array_index (left, CleaveRange, 0) : (CleaveRange){ .rank = box->rank };
  return left->len == 1 || box->rank > 0;
}

/* Whether two boxes that do not overlap make a box. */
static gboolean
join (const CleaveRange *a, const CleaveRange *b, CleaveRange *both)
{
  *both = cleave_range_hull (a, b);
  return cleave_range_n_elements (both) ==
         cleave_range_n_elements (a) + cleave_range_n_elements (b);
}

static void
add_produced (Produced *produced, const CleaveRange *box, guint piece)
{
  CleaveRange all = *box;

  g_array_append_val (produced->pieces, piece);
  for (guint i = 0; i < produced->boxes->len; i++)
    {
      CleaveRange both;

      if (!join (&g_array_index (produced->boxes, CleaveRange, i), &all, &both))
        continue;
      all = both;
      g_array_remove_index_fast (produced->boxes, i);
      i = G_MAXUINT; /* begin again */
    }
  g_array_append_val (produced->boxes, all);
}

/* The pieces that together have what a need asks for, the latest first. */
static void
cover_need (CleavePart *part, CleaveNeed *need, const Produced *produced)
{
  gint64 left = cleave_range_n_elements (&need->chunk);

  need->first = part->covers->len;
  for (guint i = produced->pieces->len; i > 0 && left > 0; i--)
    {
      guint piece = g_array_index (produced->pieces, guint, i - 1);
      CleaveRange both = cleave_range_intersect (&get_piece (part, piece)->range, &need->chunk);

      if (cleave_range_is_empty (&both))
        continue;
      left -= cleave_range_n_elements (&both);
      g_array_append_val (part->covers, piece);
    }
  need->n = part->covers->len - need->first;
  g_assert (left == 0);
}

/* Each strip's range loses what earlier strips of its band produce, maybe all of it.  FALSE:
 * somewhere what is left is no box. */
static gboolean
cut_carrying (const CleaveRegion *region, CleavePart *part, const GArray *wishes)
{
  g_autoptr (GHashTable) bands = g_hash_table_new_full (NULL, NULL, NULL, produced_free);
  g_autoptr (GHashTable) by_range = g_hash_table_new_full (range_hash, range_equal, g_free, NULL);

  for (guint i = 0; i < wishes->len; i++)
    {
      const Wish *wish = &g_array_index (wishes, Wish, i);
      Produced *produced = get_produced (bands, get_band (region, wish->k));
      CleaveRange box = wish->box;

      if (!find_new (produced, &box))
        return FALSE;
      if (!cleave_range_is_empty (&box))
        add_produced (produced, &box, get_piece_of (part, by_range, wish->k, &box));
      cover_need (part, get_need (part, wish->need), produced);
    }
  return TRUE;
}

/* Who else reads a node. */

static gboolean
is_inside (const CleaveRegion *region, const CleaveNode *reader)
{
  const CleavePart *part = reader == NULL ? NULL : region->at[reader->mark];

  return part != NULL && (part->plan != NULL || (part->is_passed && !part->is_outside));
}

/* The first use of a node that is outside of the region. */
static const CleaveOperand *
find_outside (const CleaveRegion *region, const CleaveNode *node)
{
  for (guint r = 0; r < node->n_results; r++)
    for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
      if (!is_inside (region, use->node))
        return use;
  return NULL;
}

/* Pieces for what no piece has, where all is wanted: each a chunk of its own. */
static void
fill_gaps (CleaveRegion *region, CleavePart *part)
{
  CleaveRange whole = cleave_range_whole (&part->node->results[0].type.shape);
  g_autoptr (GArray) ranges = g_array_new (FALSE, FALSE, sizeof (CleaveRange));
  g_autoptr (GArray) left = g_array_new (FALSE, FALSE, sizeof (CleaveRange));

  for (guint i = 0; i < part->pieces->len; i++)
    g_array_append_val (ranges, get_piece (part, i)->range);
  if (cleave_ranges_cover ((const CleaveRange *) ranges->data, ranges->len, &whole, NULL))
    return;
  g_array_append_val (left, whole);
  for (guint i = 0; i < ranges->len; i++)
    {
      g_autoptr (GArray) rest = g_array_new (FALSE, FALSE, sizeof (CleaveRange));

      for (guint j = 0; j < left->len; j++)
        cleave_range_subtract (&g_array_index (left, CleaveRange, j),
                               &g_array_index (ranges, CleaveRange, i), rest);
      g_array_unref (left);
      left = g_steal_pointer (&rest);
    }
  for (guint i = 0; i < left->len; i++)
    {
      CleavePiece piece = { region->bands->len, g_array_index (left, CleaveRange, i) };

      g_array_append_val (region->bands, region->n_bands);
      region->n_bands++;
      g_array_append_val (part->pieces, piece);
    }
}

/* One node. */

static void
stay_free (gpointer data)
{
  CleaveStay *stay = data;

  g_free (stay->name);
  g_free (stay->message);
  g_free (stay);
}

static void
add_stay (CleaveRegion *region, CleaveNode *node, CleaveNotSplit reason, const char *message)
{
  CleaveStay *stay = g_new0 (CleaveStay, 1);

  stay->node = node;
  stay->op = node->op;
  stay->name = g_strdup (node->name);
  stay->reason = reason;
  stay->message = g_strdup (message);
  g_ptr_array_add (region->stays, stay);
}

static gboolean
has_whole_piece (const CleavePart *part)
{
  CleaveRange whole = cleave_range_whole (&part->node->results[0].type.shape);

  for (guint i = 0; i < part->pieces->len; i++)
    if (cleave_range_equal (&get_piece (part, i)->range, &whole))
      return TRUE;
  return FALSE;
}

static CleavePlan *
plan_pieces (const CleavePart *part, GString *why)
{
  g_autofree CleaveRange *ranges = g_new (CleaveRange, part->pieces->len);

  for (guint i = 0; i < part->pieces->len; i++)
    ranges[i] = get_piece (part, i)->range;
  return cleave_plan_new (part->node, ranges, part->pieces->len, why);
}

/* Cuts a node into the pieces that its needs come to.  NULL: it cannot be, `why` says what stands
 * against it; unless one of the pieces would be all of it. */
static CleavePlan *
cut_part (CleaveRegion *region, CleavePart *part, gboolean carry, GString *why)
{
  g_autoptr (GArray) wishes = collect_wishes (part);

  g_array_set_size (part->pieces, 0);
  g_array_set_size (part->covers, 0);
  if (part->start != NULL)
    cut_as_told (part);
  else if (!carry)
    cut_recomputing (part, wishes);
  else if (!cut_carrying (region, part, wishes))
    return NULL;
  if (part->is_outside)
    fill_gaps (region, part);
  return has_whole_piece (part) ? NULL : plan_pieces (part, why);
}

static gint64
plan_macs (const CleavePlan *plan)
{
  gint64 macs = 0;

  for (guint i = 0; i < plan->macs->len; i++)
    macs += g_array_index (plan->macs, gint64, i);
  return macs;
}

static gboolean
meets_constraint (CleaveRegion *region,
                  const CleavePart *part,
                  const CleavePlan *plan,
                  GString *why)
{
  gint64 added = plan_macs (plan) - cleave_node_get_macs (part->node);

  if (!cleave_constraint_allows (part->constraint, plan, why) ||
      !cleave_constraint_allows_macs (part->constraint, region->macs, region->added_macs + added,
                                      why))
    return FALSE;
  region->added_macs += added;
  return TRUE;
}

/* What each piece reads, told to those who make it. */
static void
ask_for_operands (CleaveRegion *region, CleavePart *part)
{
  guint n = part->node->n_operands;

  part->sources = g_new0 (CleaveSource, part->pieces->len * n + 1);
  for (guint i = 0; i < part->pieces->len; i++)
    {
      const CleaveChunk *chunk = cleave_plan_get_chunk (part->plan, i);

      for (guint j = 0; j < n; j++)
        if (chunk->kept[j])
          {
            const CleaveResult *value = part->node->operands[j].result;
            CleaveNeed need = { .k = get_piece (part, i)->k,
                                .result = value->index,
                                .range = chunk->slices[j].range,
                                .reader = part->node,
                                .reader_piece = i,
                                .reader_operand = j };

            part->sources[i * n + j] = ask (region, part, value, &need);
          }
    }
}

static void
split_part (CleaveRegion *region, CleavePart *part)
{
  g_autoptr (GString) why = g_string_new (NULL);
  g_autoptr (CleavePlan) plan = NULL;

  find_chunks (part);
  if (region->recursion.halo == CLEAVE_HALO_CARRY && part->start == NULL)
    plan = cut_part (region, part, TRUE, NULL);
  if (plan == NULL)
    plan = cut_part (region, part, FALSE, why);
  if (plan == NULL && has_whole_piece (part))
    add_stay (region, part->node, CLEAVE_NOT_SPLIT_ONE_PIECE,
              part->start != NULL ? "it would be one piece" : "a chunk needs all of it");
  else if (plan == NULL)
    add_stay (region, part->node, CLEAVE_NOT_SPLIT_REFUSED, why->str);
  else if (!meets_constraint (region, part, plan, why))
    add_stay (region, part->node, CLEAVE_NOT_SPLIT_CONSTRAINT, why->str);
  else
    {
      part->plan = g_steal_pointer (&plan);
      ask_for_operands (region, part);
      g_ptr_array_add (region->parts, part);
    }
}

/* Views: nothing is computed, so what is needed of them is needed of their operand. */

static gboolean
can_pass (const CleavePart *part)
{
  if (part->start != NULL)
    return FALSE;
  for (guint i = 0; i < part->needs->len; i++)
    {
      CleaveWindow window;

      if (!cleave_result_get_window (&part->node->results[get_need (part, i)->result], &window))
        return FALSE;
      for (guint d = 0; d < window.rank; d++)
        if (window.step[d] != 1)
          return FALSE;
    }
  return TRUE;
}

static void
pass_part (CleaveRegion *region, CleavePart *part)
{
  const CleaveResult *value = part->node->operands[0].result;

  part->is_passed = TRUE;
  part->sources = g_new0 (CleaveSource, part->needs->len);
  for (guint i = 0; i < part->needs->len; i++)
    {
      CleaveNeed need = *get_need (part, i);
      CleaveWindow window;

      cleave_result_get_window (&part->node->results[need.result], &window);
      for (guint d = 0; d < window.rank; d++)
        {
          need.range.dim[d].begin += window.begin[d];
          need.range.dim[d].end += window.begin[d];
        }
      need.result = value->index;
      part->sources[i] = ask (region, part, value, &need);
    }
  g_ptr_array_add (region->parts, part);
}

static void
visit (CleaveRegion *region, CleavePart *part)
{
  const CleaveNode *node = part->node;
  const CleaveOperand *outside = find_outside (region, node);

  if (part->depth > region->recursion.depth)
    return;
  part->is_outside = part->start != NULL || outside != NULL;
  if (node->op->maps == NULL)
    {
      g_autofree char *message = g_strdup_printf ("%s cannot be split", node->op->name);

      add_stay (region, part->node, CLEAVE_NOT_SPLIT_UNSUPPORTED, message);
    }
  else if (outside != NULL && region->recursion.single_use && part->start == NULL)
    {
      g_autofree char *message =
          outside->node != NULL
              ? g_strdup_printf ("%s '%s' uses it, too", outside->node->op->name,
                                 outside->node->name)
              : g_strdup_printf ("it is the output '%s'", cleave_operand_get_name (outside));

      add_stay (region, part->node, CLEAVE_NOT_SPLIT_OUTSIDE_USER, message);
    }
  else if (can_pass (part))
    pass_part (region, part);
  else
    split_part (region, part);
}

/* The region. */

static void
add_start (CleaveRegion *region, const CleaveStart *start)
{
  CleavePart *part;

  if (start->ranges == NULL)
    {
      add_stay (region, start->node, start->reason, start->message);
      return;
    }
  part = get_part (region, start->node, start->constraint);
  part->start = start->ranges;
  part->depth = 1;
  add_bands (region, start->ranges);
}

static CleaveRegion *
region_new (CleaveGraph *graph, GPtrArray *order, const CleaveRecursion *recursion)
{
  CleaveRegion *region = g_new0 (CleaveRegion, 1);

  region->graph = graph;
  region->recursion = *recursion;
  region->order = order;
  region->at = g_new0 (CleavePart *, cleave_graph_number (graph) + 1);
  region->parts = g_ptr_array_new ();
  region->stays = g_ptr_array_new_with_free_func (stay_free);
  region->bands = g_array_new (FALSE, FALSE, sizeof (guint));
  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    region->macs += cleave_node_get_macs (node);
  return region;
}

void
cleave_region_free (CleaveRegion *region)
{
  if (region == NULL)
    return;
  for (guint i = 0; i < region->order->len; i++)
    if (region->at[i] != NULL)
      part_free (region->at[i]);
  g_free (region->at);
  g_ptr_array_unref (region->order);
  g_ptr_array_unref (region->parts);
  g_ptr_array_unref (region->stays);
  g_array_unref (region->bands);
  g_free (region);
}

CleaveRegion *
cleave_region_plan (CleaveGraph *graph,
                    const CleaveStart *starts,
                    guint n_starts,
                    const CleaveRecursion *recursion,
                    GError **error)
{
  GPtrArray *order = cleave_topology_sort (graph, error);
  CleaveRegion *region;

  if (order == NULL)
    return NULL;
  region = region_new (graph, order, recursion);
  for (guint i = 0; i < n_starts; i++)
    add_start (region, &starts[i]);
  for (guint i = order->len; i > 0; i--)
    {
      CleavePart *part = region->at[((CleaveNode *) g_ptr_array_index (order, i - 1))->mark];

      if (part != NULL)
        visit (region, part);
    }
  return region;
}
