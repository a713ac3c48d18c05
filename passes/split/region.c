/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "region.h"

#include "../../lib/ir/topology.h"

#include "../views/strided-range.h"
#include "bands.h"
#include "constraint.h"
#include "pieces.h"

#include <string.h>

/* A region is planned consumers first: when a node's turn comes, all that read it have said what
 * they need.  Nothing is built and nothing changed. */

/* Parts and their needs. */

static CleavePart *
get_part (CleaveRegion *region, CleaveNode *node, const CleaveConstraint *constraint)
{
  CleavePart *part = region->at[node->id];

  if (part != NULL)
    return part;
  part = cleave_pool_alloc (region->pool, sizeof *part);
  part->node = node;
  part->op = node->op;
  part->n_results = node->n_results;
  part->constraint = constraint;
  part->depth = G_MAXUINT;
  region->at[node->id] = part;
  return part;
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
find_chunks (CleaveRegion *region, const CleavePart *part)
{
  g_auto (CleaveNodeCall) call;

  cleave_node_call_init (&call, part->node);
  for (guint i = 0; i < part->n_needs; i++)
    {
      CleaveNeed *need = &part->needs[i];

      if (need->result > 0)
        {
          CleaveRange chunk = find_chunk (&call.call, need->result, need->range);

          need->chunk = cleave_region_get_range (region, &chunk);
        }
      else
        need->chunk = need->range;
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

  if (cleave_node_is_input (node) || cleave_node_is_fixed (node))
    return source;
  source.part = get_part (region, node, reader->constraint);
  source.part->depth = MIN (source.part->depth, reader->depth + 1);
  source.need = source.part->n_needs++;
  source.part->needs =
      cleave_pool_grow (region->pool, source.part->needs, source.need, sizeof *need);
  source.part->needs[source.need] = *need;
  return source;
}

/* Who else reads a node. */

static gboolean
is_inside (const CleaveRegion *region, const CleaveNode *reader)
{
  const CleavePart *part = reader == NULL ? NULL : region->at[reader->id];

  return part != NULL && (part->is_split || (part->is_passed && !part->is_outside));
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

  for (guint i = 0; i < part->n_pieces; i++)
    if (cleave_range_equal (part->pieces[i].range, &whole))
      return TRUE;
  return FALSE;
}

CleavePlan *
cleave_part_plan (const CleavePart *part, GString *why)
{
  g_autofree CleaveRange *ranges = g_new (CleaveRange, part->n_pieces);

  for (guint i = 0; i < part->n_pieces; i++)
    ranges[i] = *part->pieces[i].range;
  return cleave_plan_new (part->node, ranges, part->n_pieces, why);
}

/* Cuts a node into the pieces that its needs come to, or, where these cannot be, into wider ones.
 * NULL: it cannot be, `why` says what stands against it; unless one of the pieces would be all of
 * it. */
static CleavePlan *
cut_part (CleaveRegion *region, CleavePart *part, GString *why)
{
  g_auto (CleaveNodeCall) call = { 0 };
  CleavePlan *plan = NULL;

  cleave_pieces_cut (region, part, NULL);
  if (has_whole_piece (part) || (plan = cleave_part_plan (part, why)) != NULL ||
      part->start != NULL)
    return plan;
  cleave_pieces_cut (region, part, cleave_plan_call_init (&call, part->node));
  return has_whole_piece (part) ? NULL : cleave_part_plan (part, NULL);
}

static gint64
plan_macs (const CleavePlan *plan)
{
  gint64 macs = 0;

  for (guint i = 0; i < plan->n_chunks; i++)
    macs = cleave_saturated_add (macs, plan->chunks[i].macs);
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
      !cleave_constraint_allows_macs (part->constraint, region->macs,
                                      cleave_saturated_add (region->added_macs, added), why))
    return FALSE;
  region->added_macs = cleave_saturated_add (region->added_macs, added);
  return TRUE;
}

/* What each piece reads, told to those who make it. */
static void
ask_for_operands (CleaveRegion *region, CleavePart *part, const CleavePlan *plan)
{
  guint n = part->node->n_operands;

  part->sources = cleave_pool_alloc (region->pool, part->n_pieces * n * sizeof *part->sources);
  for (guint i = 0; i < part->n_pieces; i++)
    {
      const CleaveChunk *chunk = cleave_plan_get_chunk (plan, i);

      for (guint j = 0; j < n; j++)
        if (chunk->kept[j])
          {
            const CleaveResult *value = part->node->operands[j].result;
            CleaveNeed need = { .k = part->pieces[i].k,
                                .result = value->index,
                                .range = cleave_region_get_range (region, &chunk->slices[j].range),
                                .reader = part->node,
                                .reader_piece = i,
                                .reader_operand = j };

            part->sources[i * n + j] = ask (region, part, value, &need);
          }
    }
}

/* Who makes the region end here. */
static void
explain_whole (const CleavePart *part, GString *why)
{
  CleaveRange whole = cleave_range_whole (&part->node->results[0].type.shape);

  g_string_assign (why, part->start != NULL ? "it would be one piece"
                                            : "its readers together need all of it for a piece");
  for (guint i = 0; i < part->n_needs && part->start == NULL; i++)
    if (cleave_range_equal (part->needs[i].chunk, &whole))
      {
        g_autofree char *label = cleave_node_dup_label (part->needs[i].reader);

        g_string_printf (why, "%s needs all of it for a piece", label);
        return;
      }
}

static void
split_part (CleaveRegion *region, CleavePart *part)
{
  g_autoptr (GString) why = g_string_new (NULL);
  g_autoptr (CleavePlan) plan = NULL;

  find_chunks (region, part);
  plan = cut_part (region, part, why);
  if (plan == NULL && why->len == 0)
    {
      explain_whole (part, why);
      add_stay (region, part->node, CLEAVE_NOT_SPLIT_ONE_PIECE, why->str);
    }
  else if (plan == NULL)
    add_stay (region, part->node, CLEAVE_NOT_SPLIT_REFUSED, why->str);
  else if (!meets_constraint (region, part, plan, why))
    add_stay (region, part->node, CLEAVE_NOT_SPLIT_CONSTRAINT, why->str);
  else
    {
      part->is_split = TRUE;
      ask_for_operands (region, part, plan);
      g_ptr_array_add (region->parts, part);
    }
}

/* Views: nothing is computed, so what is needed of them is needed of their operand. */

static gboolean
can_pass (const CleavePart *part)
{
  if (part->start != NULL)
    return FALSE;
  for (guint i = 0; i < part->n_needs; i++)
    {
      CleaveStridedRange window;

      if (!cleave_result_get_strided_range (&part->node->results[part->needs[i].result], &window))
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
  part->sources = cleave_pool_alloc (region->pool, part->n_needs * sizeof *part->sources);
  for (guint i = 0; i < part->n_needs; i++)
    {
      CleaveNeed need = part->needs[i];
      CleaveRange range = *need.range;
      CleaveStridedRange window;

      cleave_result_get_strided_range (&part->node->results[need.result], &window);
      for (guint d = 0; d < window.rank; d++)
        {
          range.dim[d].begin += window.begin[d];
          range.dim[d].end += window.begin[d];
        }
      need.range = cleave_region_get_range (region, &range);
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
  if (cleave_shape_n_elements (&node->results[0].type.shape) == 0)
    add_stay (region, part->node, CLEAVE_NOT_SPLIT_REFUSED, "it has no elements");
  else if (node->op->maps == NULL)
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
  cleave_strips_add (region, start->ranges);
}

static CleaveRegion *
region_new (CleaveGraph *graph, GPtrArray *order, const CleaveRecursion *recursion)
{
  CleaveRegion *region = g_new0 (CleaveRegion, 1);

  region->graph = graph;
  region->pool = cleave_pool_new ();
  region->recursion = *recursion;
  region->order = order;
  region->ranges = g_hash_table_new (cleave_range_hash, cleave_ranges_equal);
  region->at = g_new0 (CleavePart *, graph->n_ids + 1);
  region->parts = g_ptr_array_new ();
  region->stays = g_ptr_array_new_with_free_func (stay_free);
  region->strips = g_array_new (FALSE, FALSE, sizeof (CleaveStrip));
  region->macs = cleave_graph_get_macs (graph);
  return region;
}

void
cleave_region_free (CleaveRegion *region)
{
  if (region == NULL)
    return;
  g_ptr_array_unref (region->order);
  g_ptr_array_unref (region->parts);
  g_ptr_array_unref (region->stays);
  g_array_unref (region->strips);
  g_hash_table_unref (region->ranges);
  g_free (region->at);
  cleave_pool_free (region->pool);
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
      CleavePart *part = region->at[((CleaveNode *) g_ptr_array_index (order, i - 1))->id];

      if (part != NULL)
        visit (region, part);
    }
  return region;
}
