/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Plans a recursive split. Walks from the roots towards the inputs, and collects the demands on
 * each node and the pieces that meet them. When the walk visits a node, all readers of the node
 * have added their demands. Does not change the graph.
 *
 * Over 400 lines: this file walks over a region once, in steps that call each other. */

#include "region.h"

#include "../../lib/ir/memory.h"
#include "../../lib/ir/node-queries.h"
#include "../../lib/ir/topology.h"
#include "../views/strided-range.h"
#include "bands.h"
#include "constraint.h"
#include "count-made.h"
#include "pieces.h"
#include "wide.h"

#include <string.h>

static CleaveRegionNode *
get_member (CleaveRegion *region, CleaveNode *node, const CleaveConstraint *constraint)
{
  CleaveRegionNode *member = region->at[node->id];

  if (member != NULL)
    return member;
  member = cleave_pool_alloc (region->pool, sizeof *member);
  member->node = node;
  member->op = node->op;
  member->n_results = node->n_results;
  member->constraint = constraint;
  member->depth = G_MAXUINT;
  region->at[node->id] = member;
  return member;
}

/* Returns the range of result 0 that a piece must compute, so that the piece also computes `range`
 * of result number `result`. Inverts the dimension maps between the results. If the map of a
 * dimension is not a translation, the returned range contains all elements of this dimension. If a
 * piece with this range would not compute all of `range`, returns the whole range of result 0. */
static CleaveRange
find_chunk (const CleaveCall *call, guint result, const CleaveRange *range)
{
  CleaveRange whole = cleave_range_whole (&call->results[0].shape);
  CleaveDimMap map[CLEAVE_MAX_RANK];
  CleaveRange chunk = whole, comes;

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
find_chunks (CleaveRegion *region, const CleaveRegionNode *member)
{
  g_auto (CleaveNodeCall) call;

  cleave_node_call_init (&call, member->node);
  for (guint i = 0; i < member->n_demands; i++)
    {
      CleaveDemand *demand = &member->demands[i];

      if (demand->result > 0)
        {
          CleaveRange chunk = find_chunk (&call.call, demand->result, demand->range);

          demand->chunk = cleave_region_get_range (region, &chunk);
        }
      else
        demand->chunk = demand->range;
    }
}

/* Returns the CleaveSource of an operand of a piece of `reader`. The operand reads the range
 * `demand->range` of `value`. If the region may cut the node that computes `value`, adds `demand`
 * to this node. */
static CleaveSource
add_demand (CleaveRegion *region,
            const CleaveRegionNode *reader,
            const CleaveResult *value,
            const CleaveDemand *demand)
{
  CleaveSource source = { .range = demand->range };
  CleaveNode *node = value->node;

  if (cleave_node_is_source (node))
    return source;
  source.member = get_member (region, node, reader->constraint);
  source.member->depth = MIN (source.member->depth, reader->depth + 1);
  source.demand = source.member->n_demands++;
  source.member->demands =
      cleave_pool_grow (region->pool, source.member->demands, source.demand, sizeof *demand);
  source.member->demands[source.demand] = *demand;
  return source;
}

static gboolean
is_inside (const CleaveRegion *region, const CleaveNode *reader)
{
  const CleaveRegionNode *member = reader == NULL ? NULL : region->at[reader->id];

  return member != NULL && (member->is_split || (member->is_passed && !member->is_outside));
}

/* Returns the first use of a node's results outside the region; NULL if there is none. */
static const CleaveOperand *
find_outside (const CleaveRegion *region, const CleaveNode *node)
{
  for (guint r = 0; r < node->n_results; r++)
    for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
      if (!is_inside (region, use->node))
        return use;
  return NULL;
}

static void
add_missed (CleaveRegion *region, CleaveNode *node, CleaveNotSplit reason, const char *message)
{
  CleaveMissed *missed = cleave_pool_alloc (region->pool, sizeof *missed);

  missed->node = node;
  missed->op = node->op;
  missed->name = cleave_pool_strdup (region->pool, node->name);
  missed->reason = reason;
  missed->message = cleave_pool_strdup (region->pool, message);
  g_ptr_array_add (region->missed, missed);
}

static gboolean
has_whole_piece (const CleaveRegionNode *member)
{
  CleaveRange whole = cleave_range_whole (&member->node->results[0].type.shape);

  for (guint i = 0; i < member->n_pieces; i++)
    if (cleave_range_equal (member->pieces[i].range, &whole))
      return TRUE;
  return FALSE;
}

CleavePlan *
cleave_region_node_plan (const CleaveRegionNode *member, GString *why)
{
  g_autofree CleaveRange *ranges = g_new (CleaveRange, member->n_pieces);

  for (guint i = 0; i < member->n_pieces; i++)
    ranges[i] = *member->pieces[i].range;
  return cleave_plan_new (member->node, ranges, member->n_pieces, why);
}

/* Cuts a node into the pieces that its demands need. Enlarges pieces that are not legal. Returns
 * NULL, with the reason in `why`, if there are no legal pieces. Returns NULL, with `why` empty, if
 * one piece would be the whole node. */
static CleavePlan *
cut_member (CleaveRegion *region, CleaveRegionNode *member, GString *why)
{
  CleaveNodeCall call;
  CleavePlan *plan = NULL;

  cleave_pieces_cut (region, member, NULL);
  if (has_whole_piece (member) || (plan = cleave_region_node_plan (member, why)) != NULL ||
      member->root != NULL)
    return plan;
  cleave_pieces_cut (region, member, cleave_plan_call_init (&call, member->node));
  cleave_node_call_clear (&call);
  return has_whole_piece (member) ? NULL : cleave_region_node_plan (member, NULL);
}

static gint64
plan_macs (const CleavePlan *plan)
{
  gint64 macs = 0;

  for (guint i = 0; i < plan->n_chunks; i++)
    macs = cleave_saturated_add (macs, plan->chunks[i].macs);
  return macs;
}

/* Returns the MACs of the graph, counted on first use; 0 if `constraint` has no limit on MACs. */
static gint64
count_macs_before (CleaveRegion *region, const CleaveConstraint *constraint)
{
  if (constraint == NULL || constraint->max_added_macs == 0)
    return 0;
  if (region->macs < 0)
    region->macs = cleave_graph_get_macs (region->graph);
  return region->macs;
}

static gboolean
meets_constraint (CleaveRegion *region,
                  const CleaveRegionNode *member,
                  const CleavePlan *plan,
                  GString *why)
{
  gint64 added = plan_macs (plan) - cleave_node_get_macs (member->node);

  if (!cleave_constraint_allows (member->constraint, plan, why) ||
      !cleave_constraint_allows_macs (member->constraint,
                                      count_macs_before (region, member->constraint),
                                      cleave_saturated_add (region->added_macs, added), why))
    return FALSE;
  region->added_macs = cleave_saturated_add (region->added_macs, added);
  return TRUE;
}

/* Returns whether a piece reads an operand through a new Slice: the operand is a part of a value
 * that the region does not compute. */
static gboolean
is_slice (const CleaveSource *source, const CleaveResult *value)
{
  CleaveRange whole = cleave_range_whole (&value->type.shape);

  return source->member == NULL && !cleave_range_equal (source->range, &whole);
}

/* Sets `member->sources`: the source (CleaveSource) of each operand of each piece. Adds a demand to
 * each region node that computes such an operand. */
static void
add_demands (CleaveRegion *region, CleaveRegionNode *member, const CleavePlan *plan)
{
  guint n = member->node->n_operands;

  member->sources =
      cleave_pool_alloc (region->pool, member->n_pieces * n * sizeof *member->sources);
  for (guint i = 0; i < member->n_pieces; i++)
    {
      const CleaveChunk *chunk = cleave_plan_get_chunk (plan, i);

      for (guint j = 0; j < n; j++)
        if (chunk->has[j])
          {
            const CleaveResult *value = member->node->operands[j].result;
            CleaveDemand demand = { .k = member->pieces[i].k,
                                    .result = value->index,
                                    .range =
                                        cleave_region_get_range (region, &chunk->slices[j].range),
                                    .reader = member->node,
                                    .reader_piece = i,
                                    .reader_operand = j };

            member->sources[i * n + j] = add_demand (region, member, value, &demand);
            region->n_made += is_slice (&member->sources[i * n + j], value);
          }
    }
}

/* Writes to `why` the reason why the region node stays whole: a piece of some reader needs the
 * whole value. Names this reader. */
static void
explain_whole (const CleaveRegionNode *member, GString *why)
{
  CleaveRange whole = cleave_range_whole (&member->node->results[0].type.shape);

  g_string_assign (why, member->root != NULL
                            ? "it would be one piece"
                            : "its readers together need the whole value for one piece");
  for (guint i = 0; i < member->n_demands && member->root == NULL; i++)
    if (cleave_range_equal (member->demands[i].chunk, &whole))
      {
        g_autofree char *label = cleave_node_dup_label (member->demands[i].reader);

        g_string_printf (why, "%s needs the whole value for one piece", label);
        return;
      }
}

static void
split_member (CleaveRegion *region, CleaveRegionNode *member)
{
  GString *why = g_string_truncate (region->why, 0);
  g_autoptr (CleavePlan) plan = NULL;

  find_chunks (region, member);
  plan = cut_member (region, member, why);
  if (plan == NULL && why->len == 0)
    {
      explain_whole (member, why);
      add_missed (region, member->node, CLEAVE_NOT_SPLIT_ONE_PIECE, why->str);
    }
  else if (plan == NULL)
    add_missed (region, member->node, CLEAVE_NOT_SPLIT_REFUSED, why->str);
  else if (!meets_constraint (region, member, plan, why))
    add_missed (region, member->node, CLEAVE_NOT_SPLIT_CONSTRAINT, why->str);
  else
    {
      member->is_split = TRUE;
      add_demands (region, member, plan);
      g_ptr_array_add (region->members, member);
    }
}

/* Returns whether a node is a view whose demands become demands on its operand. */

static gboolean
can_pass (const CleaveRegionNode *member)
{
  if (member->root != NULL)
    return FALSE;
  for (guint i = 0; i < member->n_demands; i++)
    {
      CleaveStridedRange window;

      if (!cleave_result_get_strided_range (&member->node->results[member->demands[i].result],
                                            &window))
        return FALSE;
      for (guint d = 0; d < window.rank; d++)
        if (window.step[d] != 1)
          return FALSE;
    }
  return TRUE;
}

static void
pass_member (CleaveRegion *region, CleaveRegionNode *member)
{
  const CleaveResult *value = member->node->operands[0].result;

  member->is_passed = TRUE;
  member->sources = cleave_pool_alloc (region->pool, member->n_demands * sizeof *member->sources);
  for (guint i = 0; i < member->n_demands; i++)
    {
      CleaveDemand demand = member->demands[i];
      CleaveRange range = *demand.range;
      CleaveStridedRange window;

      cleave_result_get_strided_range (&member->node->results[demand.result], &window);
      for (guint d = 0; d < window.rank; d++)
        {
          range.dim[d].begin += window.begin[d];
          range.dim[d].end += window.begin[d];
        }
      demand.range = cleave_region_get_range (region, &range);
      demand.result = value->index;
      member->sources[i] = add_demand (region, member, value, &demand);
      region->n_made += is_slice (&member->sources[i], value);
    }
  g_ptr_array_add (region->members, member);
}

static void
visit (CleaveRegion *region, CleaveRegionNode *member)
{
  const CleaveNode *node = member->node;
  const CleaveOperand *outside = find_outside (region, node);

  if (member->depth > region->recursion.depth)
    return;
  member->is_outside = member->root != NULL || outside != NULL;
  if (cleave_shape_n_elements (&node->results[0].type.shape) == 0)
    add_missed (region, member->node, CLEAVE_NOT_SPLIT_REFUSED, "it has no elements");
  else if (node->op->maps == NULL)
    {
      g_autofree char *message = g_strdup_printf ("%s cannot be split", node->op->name);

      add_missed (region, member->node, CLEAVE_NOT_SPLIT_UNSUPPORTED, message);
    }
  else if (outside != NULL && region->recursion.single_use && member->root == NULL)
    {
      g_autofree char *message =
          outside->node != NULL
              ? g_strdup_printf ("%s '%s' reads it, too", outside->node->op->name,
                                 outside->node->name)
              : g_strdup_printf ("it is the output '%s'", cleave_operand_get_name (outside));

      add_missed (region, member->node, CLEAVE_NOT_SPLIT_OUTSIDE_USER, message);
    }
  else if (can_pass (member))
    pass_member (region, member);
  else
    split_member (region, member);
}

static void
add_root (CleaveRegion *region, const CleaveRoot *root)
{
  CleaveRegionNode *member;

  if (root->ranges == NULL)
    {
      add_missed (region, root->node, root->reason, root->message);
      return;
    }
  member = get_member (region, root->node, root->constraint);
  member->root = root->ranges;
  member->depth = 1;
  cleave_strips_add (region, root);
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
  region->at = CLEAVE_NEW0 (CleaveRegionNode *, graph->n_ids + 1);
  region->members = g_ptr_array_new ();
  region->missed = g_ptr_array_new ();
  region->why = g_string_new (NULL);
  region->strips = g_array_new (FALSE, FALSE, sizeof (CleaveStrip));
  region->wide =
      recursion->halo == CLEAVE_HALO_CARRY_NARROW ? cleave_find_wide (graph, order) : NULL;
  region->macs = -1;
  return region;
}

void
cleave_region_free (CleaveRegion *region)
{
  if (region == NULL)
    return;
  g_ptr_array_unref (region->order);
  g_ptr_array_unref (region->members);
  g_ptr_array_unref (region->missed);
  g_string_free (region->why, TRUE);
  g_array_unref (region->strips);
  g_hash_table_unref (region->ranges);
  g_free (region->at);
  g_free (region->wide);
  cleave_pool_free (region->pool);
  g_free (region);
}

static void
plan (CleaveRegion *region, const CleaveRoot *roots, guint n_roots)
{
  for (guint i = 0; i < n_roots; i++)
    add_root (region, &roots[i]);
  for (guint i = region->order->len; i > 0 && !cleave_region_makes_far_too_many (region); i--)
    {
      const CleaveNode *node = region->order->pdata[i - 1];
      CleaveRegionNode *member = region->at[node->id];

      if (member == NULL)
        continue;
      visit (region, member);
      cleave_region_count_made (region, member);
    }
}

CleaveRegion *
cleave_region_plan_within (CleaveGraph *graph,
                           const CleaveRoot *roots,
                           guint n_roots,
                           const CleaveRecursion *recursion,
                           CleaveMadeLimit limit,
                           GError **error)
{
  GPtrArray *order = cleave_topology_sort (graph, error);
  g_autoptr (CleaveRegion) region = NULL;

  if (order == NULL)
    return NULL;
  region = region_new (graph, order, recursion);
  region->limit = limit;
  plan (region, roots, n_roots);
  return cleave_region_check_made (region, error) ? g_steal_pointer (&region) : NULL;
}

CleaveRegion *
cleave_region_plan (CleaveGraph *graph,
                    const CleaveRoot *roots,
                    guint n_roots,
                    const CleaveRecursion *recursion,
                    GError **error)
{
  const CleaveMadeLimit none = { G_MAXINT64, 0 };

  return cleave_region_plan_within (graph, roots, n_roots, recursion, none, error);
}

CleaveRegion *
cleave_region_plan_among (CleaveGraph *graph,
                          GPtrArray *order,
                          const CleaveRoot *roots,
                          guint n_roots,
                          const CleaveRecursion *recursion)
{
  CleaveRegion *region = region_new (graph, order, recursion);

  region->limit.max = G_MAXINT64;
  plan (region, roots, n_roots);
  return region;
}
