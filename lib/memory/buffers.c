/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Over 400 lines: which values share a buffer is one decision, whose parts ask each other. */

#include "buffers.h"

#include "memory-format.h"

/* What parts that wait apart must bring the peak down to, and how often to look at it again.  Of
 * 480 random graphs 11 would take up to 15 % more without the first look; a second one gained
 * nothing there. */
#define WORTH_COPIES 0.95
#define MAX_ROUNDS 3
/* Peaks that are brought down one after the other, until what comes next stays: of the nets for
 * microcontrollers, two. */
#define MAX_OVERLAYS 8
/* Steps from a value to what comes of it. */
#define MAX_DETOUR 8

/* Homes are found in three walks.  Forwards: every value gets a buffer of its own, but for views,
 * which lie in their operand's.  Backwards, so that the place of a result is settled before those
 * of its operands: parts move into what they are joined to, and an operand that dies moves to where
 * the result that takes its place will be.  Forwards again: views follow what they are views of. */

static guint
value_index (const CleaveStorage *storage, const CleaveResult *result)
{
  return cleave_storage_first_value (storage, result->node) + result->index;
}

static gint64
n_elements (const CleaveHome *home)
{
  return cleave_shape_n_elements (&home->result->type.shape);
}

/* Whether the result is the operand's memory under another shape; its place, to `place`. */
static gboolean
find_alias (const CleaveStorage *storage,
            const CleaveNode *node,
            CleaveMemoryOrder order,
            CleavePlace *place)
{
  const CleaveResult *x = node->n_operands == 0 ? NULL : node->operands[0].result;
  const CleaveTensorType *type = &node->results[0].type;
  const CleaveHome *home;

  if ((node->op->flags & CLEAVE_OP_ROW_MAJOR) == 0 || x == NULL ||
      x->type.element != type->element ||
      cleave_shape_n_elements (&x->type.shape) != cleave_shape_n_elements (&type->shape))
    return FALSE;
  home = cleave_storage_home (storage, x);
  *place = home->place;
  return cleave_place_reshape (&x->type.shape, home->place.stride, &type->shape, place->stride) &&
         cleave_memory_order_fits (order, &type->shape, place->stride);
}

/* What more nodes than these read is no row kept for the next strip; so that cost stays linear. */
#define MAX_READERS 16

/* The last node that reads a value's memory through this one: itself, or, of a join, in which the
 * value may lie, those that read that. */
static guint
last_reader (const guint *position, const CleaveNode *node)
{
  guint last = position[node->id];

  if ((node->op->flags & CLEAVE_OP_JOIN) == 0)
    return last;
  if (node->results[0].n_uses > MAX_READERS)
    return CLEAVE_NEVER;
  for (const CleaveOperand *use = node->results[0].first_use; use != NULL; use = use->next_use)
    last = use->node == NULL ? last : MAX (last, position[use->node->id]);
  return last;
}

/* Whether a view is there for joins alone, which may have to copy it anyway. */
static gboolean
is_for_joins (const CleaveNode *view)
{
  if (view == NULL || (view->op->flags & CLEAVE_OP_VIEW) == 0 || view->n_results != 1)
    return FALSE;
  for (const CleaveOperand *use = view->results[0].first_use; use != NULL; use = use->next_use)
    if (use->node == NULL || (use->node->op->flags & CLEAVE_OP_JOIN) == 0)
      return FALSE;
  return view->results[0].n_uses > 0;
}

guint
cleave_storage_keep_after (const guint *position, const CleaveNode *view)
{
  const CleaveResult *x = is_for_joins (view) ? view->operands[0].result : NULL;
  guint last = 0;

  if (x == NULL || x->n_uses > MAX_READERS || cleave_node_is_input (x->node) ||
      cleave_node_is_fixed (x->node) || (x->node->op->flags & CLEAVE_OP_VIEW) != 0)
    return CLEAVE_NEVER;
  for (const CleaveOperand *use = x->first_use; use != NULL; use = use->next_use)
    if (use->node == NULL)
      return CLEAVE_NEVER;
    else if (!is_for_joins (use->node))
      last = MAX (last, last_reader (position, use->node));
  return MAX (last, position[x->node->id]);
}

/* Whether a few rows of a value that is otherwise done are kept for later as a value of their own,
 * so that the whole of it need not stay. */
static gboolean
is_kept (const CleaveStorage *storage, const CleaveNode *view)
{
  guint at = cleave_storage_position (storage, view);
  guint after = cleave_storage_keep_after (storage->position, view);

  if (after == CLEAVE_NEVER || after > at)
    return FALSE;
  for (const CleaveOperand *use = view->results[0].first_use; use != NULL; use = use->next_use)
    if (cleave_storage_position (storage, use->node) <= at + 1)
      return FALSE;
  return TRUE;
}

/* FALSE: the result is no view, though the op is one (a Slice that runs backwards). */
static gboolean
lie_in_operand (CleaveStorage *storage, CleaveNode *node, CleaveHome *home)
{
  g_auto (CleaveNodeCall) call = { 0 };
  const CleaveHome *operand;

  if ((node->op->flags & CLEAVE_OP_VIEW) == 0)
    return FALSE;
  if (storage->keeps && is_kept (storage, node))
    return FALSE;
  operand = cleave_storage_home (storage, node->operands[0].result);
  cleave_node_call_init (&call, node);
  call.call.result = home->result->index;
  if (!cleave_call_is_view (&call.call))
    return FALSE;
  home->place = cleave_place_view (&operand->place, &call.call);
  home->base = operand->base;
  return TRUE;
}

/* The place of a join whose operands, views of one value, lie there as they do in it: nothing is
 * left to join.  So of a Reshape that was cut, and is there whole for others. */
static gboolean
find_joined (const CleaveStorage *storage,
             const CleaveNode *node,
             CleaveMemoryOrder order,
             CleavePlace *place)
{
  const CleaveShape *shape = &node->results[0].type.shape;
  const CleaveHome *first;
  g_autofree CleaveRange *ranges = NULL;

  if ((node->op->flags & CLEAVE_OP_JOIN) == 0 || node->n_operands < 2 ||
      cleave_node_is_fixed (node))
    return FALSE;
  first = cleave_storage_home (storage, node->operands[0].result);
  if (first->base == (guint) (first - storage->homes))
    return FALSE;
  ranges = cleave_join_ranges (node);
  *place = first->place;
  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveHome *home = cleave_storage_home (storage, node->operands[i].result);
      CleavePlace part = cleave_place_part (place, &ranges[i]);

      if (home->base != first->base || home->place.offset != part.offset ||
          !cleave_strides_equal (&home->result->type.shape, home->place.stride, place->stride))
        return FALSE;
    }
  return cleave_memory_order_fits (order, shape, place->stride);
}

static void
find_first_home (CleaveStorage *storage, CleaveNode *node, guint index, CleaveMemoryOrder order)
{
  guint value = cleave_storage_first_value (storage, node) + index;
  CleaveHome *home = &storage->homes[value];
  CleaveTensor *constant = cleave_node_get_constant (node);
  CleavePlace alias;

  *home = (CleaveHome){ .result = &node->results[index],
                        .base = value,
                        .deadline = CLEAVE_NEVER,
                        .whole = CLEAVE_NEVER,
                        .copied = CLEAVE_NEVER,
                        .ready = CLEAVE_NEVER };
  home->place.root = value;
  if (lie_in_operand (storage, node, home))
    return;
  if (index == 0 && find_alias (storage, node, order, &alias))
    {
      home->place = alias;
      home->base = cleave_storage_home (storage, node->operands[0].result)->base;
      storage->homes[home->base].flags |= CLEAVE_HOME_ALIASED;
    }
  else if (find_joined (storage, node, order, &alias))
    {
      home->place = alias;
      home->base = cleave_storage_home (storage, node->operands[0].result)->base;
      storage->homes[home->base].flags |= CLEAVE_HOME_ALIASED;
    }
  else if (constant != NULL)
    {
      home->flags = CLEAVE_HOME_CONSTANT;
      for (guint d = 0; d < home->result->type.shape.rank; d++)
        home->place.stride[d] = cleave_tensor_get_strides (constant)[d];
    }
  else if (cleave_node_is_fixed (node))
    {
      home->flags = CLEAVE_HOME_CONSTANT; /* as it will be worked out */
      cleave_memory_order_strides (CLEAVE_ROW_MAJOR, &home->result->type.shape, home->place.stride);
    }
  else
    {
      home->flags = cleave_node_is_input (node) ? CLEAVE_HOME_INPUT : 0;
      if (storage->keeps && is_kept (storage, node))
        home->flags |= CLEAVE_HOME_KEPT;
      cleave_memory_order_strides (order, &home->result->type.shape, home->place.stride);
    }
}

static void
note_uses (CleaveStorage *storage, const CleaveNode *node)
{
  for (guint i = 0; i < node->n_operands && !cleave_node_is_fixed (node); i++)
    if (node->operands[i].result != NULL)
      {
        guint base = cleave_storage_home (storage, node->operands[i].result)->base;

        storage->homes[base].last =
            MAX (storage->homes[base].last, cleave_storage_position (storage, node));
      }
}

static gboolean
is_apart (const CleaveStorage *storage, const CleaveHome *home)
{
  return storage->apart != NULL && storage->apart[home - storage->homes];
}

/* Whether `home` can lie at `place`: it is nowhere else yet, and the strides suit those who make
 * and read it. */
static gboolean
can_move (const CleaveStorage *storage,
          const CleaveHome *home,
          const CleavePlace *place,
          const CleaveMemoryOrder *orders)
{
  const CleaveShape *shape = &home->result->type.shape;
  guint value = (guint) (home - storage->homes);

  return !is_apart (storage, home) && home->base == value &&
         (home->flags & (CLEAVE_HOME_CONSTANT | CLEAVE_HOME_MOVED)) == 0 &&
         cleave_memory_order_fits (orders[value], shape, place->stride) &&
         ((home->flags & CLEAVE_HOME_ALIASED) == 0 ||
          cleave_strides_equal (shape, place->stride, home->place.stride));
}

static void
move (CleaveHome *home, const CleavePlace *place, guint deadline)
{
  home->flags |= CLEAVE_HOME_MOVED;
  home->place = *place;
  home->deadline = deadline;
}

static gint64
volume (const CleaveRange *ranges, guint n_ranges)
{
  gint64 sum = 0;

  for (guint i = 0; i < n_ranges; i++)
    sum += cleave_range_n_elements (&ranges[i]);
  return sum;
}

/* Whether a part may be written where it belongs although others overlap it there: only one of them
 * may. */
static gboolean
is_free (const CleaveStorage *storage,
         const CleaveHome *whole,
         const CleaveRange *ranges,
         guint part)
{
  const CleaveNode *node = whole->result->node;
  guint value = (guint) (whole - storage->homes);

  for (guint i = 0; i < part; i++)
    {
      const CleaveHome *other = cleave_storage_home (storage, node->operands[i].result);
      CleaveRange both = cleave_range_intersect (&ranges[i], &ranges[part]);

      if (other->whole == value && other->part == i && !cleave_range_is_empty (&both))
        return FALSE;
    }
  return TRUE;
}

/* The last join that has a part which waits apart is what it is copied into, once: joins before
 * that are boxes of it. */
static void
join_to (CleaveHome *home, guint whole, guint part)
{
  home->whole = whole;
  home->part = part;
}

static void
move_parts (CleaveStorage *storage,
            CleaveHome *whole,
            const CleaveRange *ranges,
            const CleaveMemoryOrder *orders)
{
  CleaveNode *node = whole->result->node;
  gboolean overlap = volume (ranges, node->n_operands) != n_elements (whole);

  for (guint i = 0; i < node->n_operands; i++)
    {
      CleaveHome *home = cleave_storage_home (storage, node->operands[i].result);
      CleavePlace place = cleave_place_part (&whole->place, &ranges[i]);

      if (is_apart (storage, home) && !overlap && home->whole == CLEAVE_NEVER)
        join_to (home, value_index (storage, whole->result), i);
      if ((home->flags & (CLEAVE_HOME_INPUT | CLEAVE_HOME_KEPT)) != 0 ||
          !can_move (storage, home, &place, orders) || home->last >= whole->deadline ||
          (overlap && !is_free (storage, whole, ranges, i)))
        continue;
      move (home, &place, whole->deadline);
      join_to (home, value_index (storage, whole->result), i);
    }
}

/* If all parts already lie in one later join as they do in this one, or are to be copied there,
 * this one is a box of that: its range. */
static gboolean
find_box (const CleaveStorage *storage,
          const CleaveHome *whole,
          const CleaveRange *ranges,
          CleaveRange *box)
{
  const CleaveNode *node = whole->result->node;
  guint in = cleave_storage_home (storage, node->operands[0].result)->whole;
  g_autofree CleaveRange *outer = NULL;

  for (guint i = 0; i < node->n_operands; i++)
    if (in == CLEAVE_NEVER || cleave_storage_home (storage, node->operands[i].result)->whole != in)
      return FALSE;
  outer = cleave_join_ranges (storage->homes[in].result->node);
  *box = cleave_range_whole (&whole->result->type.shape);
  for (guint i = 0; i < node->n_operands; i++)
    for (guint d = 0; d < box->rank; d++)
      {
        const CleaveHome *part = cleave_storage_home (storage, node->operands[i].result);
        gint64 shift = outer[part->part].dim[d].begin - ranges[i].dim[d].begin;

        if (i == 0)
          box->dim[d] = (CleaveSpan){ box->dim[d].begin + shift, box->dim[d].end + shift };
        else if (shift != box->dim[d].begin)
          return FALSE;
      }
  return TRUE;
}

static void
settle_join (CleaveStorage *storage, CleaveNode *node, const CleaveMemoryOrder *orders)
{
  CleaveHome *whole = cleave_storage_home (storage, &node->results[0]);
  g_autofree CleaveRange *ranges = cleave_join_ranges (node);
  CleaveRange box;

  if (whole->base != value_index (storage, whole->result)) /* its operands are there already */
    return;
  if ((whole->flags & CLEAVE_HOME_MOVED) == 0 && find_box (storage, whole, ranges, &box))
    {
      const CleaveHome *outer =
          &storage->homes[cleave_storage_home (storage, node->operands[0].result)->whole];
      CleavePlace place = cleave_place_part (&outer->place, &box);

      if (can_move (storage, whole, &place, orders) && whole->last < outer->deadline)
        {
          move (whole, &place, outer->deadline);
          whole->flags |= CLEAVE_HOME_BOX;
          return;
        }
    }
  move_parts (storage, whole, ranges, orders);
}

/* Another operand must not be a view of x: it would be overwritten while it is read. */
static gboolean
is_read_otherwise (const CleaveStorage *storage, const CleaveNode *node, const CleaveHome *x)
{
  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result != NULL && node->operands[i].result != x->result &&
        cleave_storage_home (storage, node->operands[i].result)->base == x->base)
      return TRUE;
  return FALSE;
}

/* Whether a part of x could only be copied into it if x were overwritten by `node`: because it is
 * read later, or lies with the others in a later join. */
static gboolean
has_parts_that_stay (const CleaveStorage *storage, const CleaveNode *node, const CleaveHome *x)
{
  const CleaveNode *join = x->result->node;
  g_autofree CleaveRange *ranges = NULL;
  CleaveRange box;

  if ((join->op->flags & CLEAVE_OP_JOIN) == 0 || join->n_operands == 0)
    return FALSE;
  for (guint i = 0; i < join->n_operands; i++)
    {
      const CleaveHome *part = cleave_storage_home (storage, join->operands[i].result);

      if ((part->flags & (CLEAVE_HOME_MOVED | CLEAVE_HOME_CONSTANT | CLEAVE_HOME_INPUT)) == 0 &&
          part->last >= cleave_storage_position (storage, node))
        return TRUE;
    }
  ranges = cleave_join_ranges (join);
  return find_box (storage, x, ranges, &box);
}

/* A part of an earlier join lies there, or it would have to be copied to where its neighbours read
 * it. */
static gboolean
is_part (const CleaveHome *x)
{
  for (const CleaveOperand *use = x->result->first_use; use != NULL; use = use->next_use)
    if (use->node != NULL && (use->node->op->flags & CLEAVE_OP_JOIN) != 0)
      return TRUE;
  return FALSE;
}

/* Whether `node` is all that comes of another in the end, element by element. */
static gboolean
leads_to (const CleaveNode *other, const CleaveNode *node)
{
  for (guint i = 0; i < MAX_DETOUR && other != node; i++)
    {
      if (other == NULL || (other->op->flags & CLEAVE_OP_IN_PLACE) == 0 ||
          other->results[0].n_uses != 1)
        return FALSE;
      other = other->results[0].first_use->node;
    }
  return other == node;
}

/* Whether x, that others read as well, would hold the place of something much larger until `node`
 * overwrites it. */
static gboolean
holds_more (const CleaveStorage *storage, const CleaveNode *node, const CleaveHome *x)
{
  if (!cleave_storage_is_small_part (storage, cleave_storage_home (storage, &node->results[0])))
    return FALSE;
  for (const CleaveOperand *use = x->result->first_use; use != NULL; use = use->next_use)
    if (!leads_to (use->node, node))
      return TRUE;
  return FALSE;
}

static gboolean
can_overwrite (const CleaveStorage *storage,
               const CleaveNode *node,
               guint operand,
               const CleaveMemoryOrder *orders)
{
  const CleaveHome *y = cleave_storage_home (storage, &node->results[0]);
  const CleaveResult *x = node->operands[operand].result;
  const CleaveHome *home = x == NULL ? NULL : cleave_storage_home (storage, x);

  return x != NULL && home->last == cleave_storage_position (storage, node) &&
         cleave_tensor_type_equal (&x->type, &y->result->type) &&
         !holds_more (storage, node, home) && can_move (storage, home, &y->place, orders) &&
         !is_read_otherwise (storage, node, home) && !has_parts_that_stay (storage, node, home) &&
         !is_part (home);
}

/* Whether t comes of x element by element, as clip (x + 3) does. */
static gboolean
comes_of (const CleaveResult *t, const CleaveResult *x)
{
  for (guint i = 0; i < MAX_DETOUR && t != x; i++)
    {
      const CleaveNode *node = t->node;
      const CleaveResult *from = NULL;

      if ((node->op->flags & CLEAVE_OP_IN_PLACE) == 0)
        return FALSE;
      for (guint k = 0; k < node->n_operands; k++)
        if (node->operands[k].result != NULL &&
            (node->operands[k].result == x ||
             (from == NULL &&
              cleave_tensor_type_equal (&node->operands[k].result->type, &x->type))))
          from = node->operands[k].result;
      if (from == NULL)
        return FALSE;
      t = from;
    }
  return t == x;
}

/* Of x and what comes of it x is overwritten: what made it can then do all that in registers. */
static void
settle_in_place (CleaveStorage *storage, CleaveNode *node, const CleaveMemoryOrder *orders)
{
  const CleaveHome *y = cleave_storage_home (storage, &node->results[0]);
  CleaveResult *best = NULL;

  for (guint i = 0; i < node->n_operands; i++)
    if (can_overwrite (storage, node, i, orders) &&
        (best == NULL || comes_of (best, node->operands[i].result)))
      best = node->operands[i].result;
  if (best != NULL)
    move (cleave_storage_home (storage, best), &y->place, cleave_storage_position (storage, node));
}

static void
settle (CleaveStorage *storage, CleaveNode *node, const CleaveMemoryOrder *orders)
{
  if (node->n_results == 0 || node->n_operands == 0 || (node->op->flags & CLEAVE_OP_VIEW) != 0 ||
      cleave_node_is_fixed (node))
    return;
  if (node->op->flags & CLEAVE_OP_JOIN)
    settle_join (storage, node, orders);
  else if (node->op->flags & CLEAVE_OP_IN_PLACE)
    settle_in_place (storage, node, orders);
  else if (storage->overlaid != NULL && storage->overlaid[cleave_storage_position (storage, node)])
    cleave_storage_overlay (storage, node);
}

/* Views of what was moved follow it. */
static void
follow (CleaveStorage *storage, CleaveHome *home)
{
  CleaveNode *node = home->result->node;
  const CleaveHome *operand;

  if (home->base == (guint) (home - storage->homes) ||
      (storage->homes[home->base].flags & CLEAVE_HOME_MOVED) == 0)
    return;
  if (lie_in_operand (storage, node, home))
    return;
  operand = cleave_storage_home (storage, node->operands[0].result);
  home->place.root = operand->place.root;
  home->place.offset = operand->place.offset; /* the strides are those it had */
}

guint *
cleave_order_positions (const CleaveGraph *graph, const GPtrArray *order)
{
  guint *position = g_new (guint, graph->n_ids + 1);

  for (guint i = 0; i < order->len; i++)
    position[((const CleaveNode *) order->pdata[i])->id] = i;
  return position;
}

static void
number (CleaveStorage *storage)
{
  storage->first_value = g_new (guint, storage->n_nodes + 1);
  for (guint i = 0; i < storage->n_nodes; i++)
    {
      storage->first_value[i] = storage->n_values;
      storage->n_values += storage->nodes[i]->n_results;
    }
  storage->first_value[storage->n_nodes] = storage->n_values;
}

static void
find_homes (CleaveStorage *storage, const CleaveGraph *graph, const CleaveMemoryOrder *orders)
{
  for (guint i = 0; i < storage->n_nodes; i++)
    {
      for (guint r = 0; r < storage->nodes[i]->n_results; r++)
        find_first_home (storage, storage->nodes[i], r, orders[storage->first_value[i] + r]);
      note_uses (storage, storage->nodes[i]);
    }
  for (guint i = 0; i < cleave_graph_get_n_outputs (graph); i++)
    {
      const CleaveResult *y = cleave_operand_get_result (cleave_graph_get_output (graph, i));

      storage->homes[cleave_storage_home (storage, y)->base].last = storage->n_nodes;
    }
  for (guint i = storage->n_nodes; i-- > 0;)
    settle (storage, storage->nodes[i], orders);
  for (guint v = 0; v < storage->n_values; v++)
    follow (storage, &storage->homes[v]);
}

/* Which values wait apart, and which results are laid over operands; NULL: none. */
typedef struct
{
  gboolean *apart, *overlaid;
} Choices;

static void
choices_clear (Choices *choices)
{
  g_clear_pointer (&choices->apart, g_free);
  g_clear_pointer (&choices->overlaid, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Choices, choices_clear)

static Choices
copy_choices (const Choices *choices, const CleaveStorage *storage)
{
  return (Choices){ g_memdup2 (choices->apart, (storage->n_values + 1) * sizeof (gboolean)),
                    g_memdup2 (choices->overlaid, (storage->n_nodes + 1) * sizeof (gboolean)) };
}

/* `orders` are found if they are not there yet. */
static CleaveStorage *
storage_new (const CleaveGraph *graph,
             const GPtrArray *order,
             gboolean keeps,
             const Choices *choices,
             CleaveMemoryOrder **orders)
{
  CleaveStorage *storage = g_new0 (CleaveStorage, 1);

  storage->n_nodes = order->len;
  storage->nodes = (CleaveNode *const *) order->pdata;
  storage->position = cleave_order_positions (graph, order);
  storage->keeps = keeps;
  storage->apart = choices == NULL ? NULL : choices->apart;
  storage->overlaid = choices == NULL ? NULL : choices->overlaid;
  number (storage);
  storage->homes = g_new (CleaveHome, storage->n_values);
  if (*orders == NULL)
    *orders = cleave_memory_orders (storage->nodes, storage->n_nodes, storage->position,
                                    storage->first_value);
  find_homes (storage, graph, *orders);
  storage->apart = storage->overlaid = NULL; /* they are the caller's */
  cleave_storage_add_steps (storage, graph);
  return storage;
}

static gboolean
has_kept (const CleaveStorage *storage)
{
  for (guint i = 0; i < storage->n_nodes; i++)
    if (is_kept (storage, storage->nodes[i]))
      return TRUE;
  return FALSE;
}

/* Views as views, or some of them as copies if that lowers the peak. */
static CleaveStorage *
choose_views (const CleaveGraph *graph,
              const GPtrArray *order,
              CleaveMemoryOrder **orders,
              gint64 hopeless)
{
  g_autoptr (CleaveStorage) views = storage_new (graph, order, FALSE, NULL, orders);
  g_autoptr (CleaveStorage) keeps = NULL;

  if (cleave_storage_get_peak (views) > hopeless || !has_kept (views))
    return g_steal_pointer (&views);
  keeps = storage_new (graph, order, TRUE, NULL, orders);
  if (cleave_storage_get_peak (keeps) < cleave_storage_get_peak (views))
    return g_steal_pointer (&keeps);
  return g_steal_pointer (&views);
}

/* Chooses more where that brings the peak down to so much of it: FALSE: nothing more. */
static gboolean
improve (CleaveStorage **best,
         Choices *choices,
         gboolean overlays,
         const CleaveGraph *graph,
         const GPtrArray *order,
         CleaveMemoryOrder **orders)
{
  g_auto (Choices) more = copy_choices (choices, *best);
  g_autoptr (CleaveStorage) other = NULL;
  double enough = (double) cleave_storage_get_peak (*best);

  if (overlays ? !cleave_storage_find_overlays (*best, &more.overlaid)
               : !cleave_storage_find_apart (*best, &more.apart))
    return FALSE;
  other = storage_new (graph, order, (*best)->keeps, &more, orders);
  if ((double) cleave_storage_get_peak (other) > (overlays ? enough - 1 : WORTH_COPIES * enough))
    return FALSE;
  cleave_storage_free (*best);
  *best = g_steal_pointer (&other);
  choices_clear (choices);
  *choices = more;
  more = (Choices){ NULL, NULL };
  return TRUE;
}

/* Lets parts wait apart, and results lie over operands, where that lowers the peak. */
static CleaveStorage *
lower_peak (CleaveStorage *storage,
            const CleaveGraph *graph,
            const GPtrArray *order,
            CleaveMemoryOrder **orders)
{
  g_autoptr (CleaveStorage) best = storage;
  g_auto (Choices) choices = { NULL, NULL };

  for (guint round = 0;
       round < MAX_ROUNDS && improve (&best, &choices, FALSE, graph, order, orders); round++)
    ;
  for (guint round = 0;
       round < MAX_OVERLAYS && improve (&best, &choices, TRUE, graph, order, orders); round++)
    ;
  return g_steal_pointer (&best);
}

/* Without copies that only memory asks for, unless they lower the peak. */
CleaveStorage *
cleave_storage_new_within (const CleaveGraph *graph, const GPtrArray *order, gint64 hopeless)
{
  g_autofree CleaveMemoryOrder *orders = NULL;
  g_autoptr (CleaveStorage) storage = choose_views (graph, order, &orders, hopeless);

  if (cleave_storage_get_peak (storage) > hopeless)
    return g_steal_pointer (&storage);
  return lower_peak (g_steal_pointer (&storage), graph, order, &orders);
}

CleaveStorage *
cleave_storage_new_like (const CleaveGraph *graph,
                         const GPtrArray *order,
                         const CleaveStorage *like)
{
  g_autofree CleaveMemoryOrder *orders = NULL;

  if (!like->keeps)
    return cleave_storage_new_within (graph, order, G_MAXINT64);
  return lower_peak (storage_new (graph, order, TRUE, NULL, &orders), graph, order, &orders);
}

CleaveStorage *
cleave_storage_new (const CleaveGraph *graph, const GPtrArray *order)
{
  return cleave_storage_new_within (graph, order, G_MAXINT64);
}

void
cleave_storage_free (CleaveStorage *storage)
{
  if (storage == NULL)
    return;
  g_free (storage->position);
  g_free (storage->first_value);
  g_free (storage->homes);
  g_free (storage->buffer);
  g_array_unref (storage->steps);
  g_array_unref (storage->boxes);
  g_array_unref (storage->buffers);
  g_free (storage);
}
