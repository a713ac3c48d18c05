/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds groups: the nodes (members) between DequantizeLinears and one QuantizeLinear, if no node
 * outside the group reads their results. A node that dequantizes or moves values is *cheap*. Each
 * group that reads a cheap node includes a copy of the node, and overlapping tiles compute the node
 * again. Apart from cheap nodes, at most one node of a group is not element-wise, so that no
 * expensive node is recomputed.
 *
 * Over 400 lines: this file finds groups and makes the nodes of the groups with the same lists. */

#include "../ir/extract.h"
#include "../ir/node-queries.h"
#include "../ir/topology.h"
#include "quantized-group.h"

/* A group has at most this many calls, since the time to find the readers of a call grows with the
 * number of calls. In 60 measured networks, each group has at most this many calls. */
#define MAX_CALLS 64

typedef struct
{
  GArray *calls;      /* CleaveBodyCall: the ops of the group */
  GPtrArray *members; /* CleaveNode: the node of each call */
  GPtrArray *outer;   /* CleaveResult: the operands of the group */
  CleaveNode *name;   /* node whose name the group gets */
} Group;

typedef struct
{
  const guint *position; /* indexed by node id, as all further arrays of this struct: position of
                          * the node in the order */
  guint *n_seen;         /* number of uses of a node by members of the current group */
  gboolean *cheap;
  guint *number;          /* index of the node in `members`, and of its CleaveBodyCall in `calls` of
                           * the group */
  Group **groups;         /* the group that ends with the node, or NULL */
  GPtrArray *touched;     /* CleaveNode: nodes whose n_seen is not 0 */
  GPtrArray *members;     /* CleaveNode: members of the current group, that is, its nodes */
  CleaveNode *main;       /* the member of the current group that is neither cheap nor element-wise;
                           * NULL: there is none */
  CleaveResult **origins; /* result of cleave_byte_functions_find() */
  guint n_groups;
} Lowering;

static void
group_free (Group *group)
{
  if (group == NULL)
    return;
  g_clear_pointer (&group->calls, g_array_unref);
  g_ptr_array_unref (group->members);
  g_ptr_array_unref (group->outer);
  g_free (group);
}

static gboolean
is_empty (const CleaveNode *node)
{
  return node->n_results == 0 || cleave_shape_n_elements (&node->results[0].type.shape) == 0;
}

static gboolean
may_join (const Lowering *l, const CleaveNode *node)
{
  return node->n_results == 1 && l->n_seen[node->id] == node->results[0].n_uses &&
         node->op->maps != NULL && node->op->compute != NULL && cleave_node_widens (node) == 0 &&
         (l->main == NULL || cleave_node_goes_by_elements (node));
}

/* Returns whether a node dequantizes, or only moves dequantized values. The array `cheap` must
 * already have the entries of the node's operands. */
static gboolean
is_cheap (const Lowering *l, const CleaveNode *node)
{
  gboolean cheap = FALSE;

  if (cleave_node_widens (node) > 0)
    return TRUE;
  if ((node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN | CLEAVE_OP_ROW_MAJOR)) == 0 ||
      node->n_results != 1 || node->op->maps == NULL)
    return FALSE;
  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result == NULL || cleave_node_is_fixed (node->operands[i].result->node))
      continue;
    else if (l->cheap[node->operands[i].result->node->id])
      cheap = TRUE;
    else
      return FALSE;
  return cheap;
}

/* Counts a use of a node by a member of the group. Makes a cheap node a member at its first use.
 * Makes any other node a member under two conditions: all readers of the node are members, and the
 * group has no other node that is not element-wise. */
static void
count_use_by_member (Lowering *l, CleaveNode *node)
{
  if (cleave_node_is_source (node))
    return;
  if (l->n_seen[node->id]++ == 0)
    g_ptr_array_add (l->touched, node);
  if (l->members->len == MAX_CALLS || is_empty (node) ||
      (l->cheap[node->id] ? l->n_seen[node->id] > 1 : !may_join (l, node)))
    return;
  if (!l->cheap[node->id] && !cleave_node_goes_by_elements (node))
    l->main = node;
  g_ptr_array_add (l->members, node);
}

static gint
compare_positions (gconstpointer a, gconstpointer b, gpointer data)
{
  const guint *position = data;
  guint x = position[(*(CleaveNode *const *) a)->id], y = position[(*(CleaveNode *const *) b)->id];

  return (x > y) - (x < y);
}

/* Collects all nodes between an 8-bit value and `end`, if `end` is an element-wise function of that
 * value. Includes nodes that also have readers outside the group: a table evaluates the nodes only
 * 256 times. Returns FALSE if `end` is no such function, or if there are too many nodes. */
static gboolean
collect_function (Lowering *l, CleaveNode *end)
{
  const CleaveResult *origin = l->origins[end->id];

  g_ptr_array_set_size (l->members, 0);
  l->main = NULL;
  if (origin == NULL || cleave_element_size (end->results[0].type.element) != 1)
    return FALSE;
  g_ptr_array_add (l->members, end);
  for (guint i = 0; i < l->members->len && l->members->len <= MAX_CALLS; i++)
    {
      const CleaveNode *node = l->members->pdata[i];

      for (guint o = 0; o < node->n_operands; o++)
        {
          CleaveResult *x = node->operands[o].result;

          if (x != NULL && x != origin && !cleave_node_is_fixed (x->node) &&
              !g_ptr_array_find (l->members, x->node, NULL))
            g_ptr_array_add (l->members, x->node);
        }
    }
  g_ptr_array_sort_with_data (l->members, compare_positions, (gpointer) l->position);
  return l->members->len <= MAX_CALLS;
}

/* Collects the members of the group whose last node is `end`. Returns FALSE if no member
 * dequantizes. */
static gboolean
collect (Lowering *l, CleaveNode *end)
{
  gboolean found = FALSE;

  g_ptr_array_set_size (l->members, 0);
  l->main = NULL;
  g_ptr_array_add (l->members, end);
  count_use_by_member (l, end->operands[0].result->node);
  for (guint i = 1; i < l->members->len; i++)
    {
      const CleaveNode *node = l->members->pdata[i];

      found = found || cleave_node_widens (node) > 0;
      for (guint o = 0; o < node->n_operands && cleave_node_widens (node) <= 0; o++)
        if (node->operands[o].result != NULL)
          count_use_by_member (l, node->operands[o].result->node);
    }
  g_ptr_array_sort_with_data (l->members, compare_positions, (gpointer) l->position);
  return found;
}

static gboolean
is_member (const Lowering *l, const CleaveNode *node, guint *number)
{
  *number = l->number[node->id];
  return *number < l->members->len && l->members->pdata[*number] == node;
}

static guint
find_outer (Group *group, CleaveResult *result)
{
  guint index;

  if (!g_ptr_array_find (group->outer, result, &index))
    {
      index = group->outer->len;
      g_ptr_array_add (group->outer, result);
    }
  return index;
}

/* Lists the operands of the group. The operand from which the main node's operand 0 is computed is
 * first, since layouts name the dimensions of operand 0. */
static void
find_operands (const Lowering *l, Group *group)
{
  CleaveResult *first = l->main == NULL ? NULL : l->main->operands[0].result;
  guint number;

  while (first != NULL && is_member (l, first->node, &number))
    first = first->node->operands[0].result;
  if (first != NULL)
    g_ptr_array_add (group->outer, first);
  for (guint m = 0; m < l->members->len; m++)
    {
      const CleaveNode *node = l->members->pdata[m];

      for (guint i = 0; i < node->n_operands; i++)
        if (node->operands[i].result != NULL &&
            !is_member (l, node->operands[i].result->node, &number))
          find_outer (group, node->operands[i].result);
    }
}

static CleaveTensor *
ref_constant (const CleaveNode *node, guint operand)
{
  CleaveTensor *constant = NULL;

  if (operand < node->n_operands && node->operands[operand].result != NULL)
    constant = cleave_node_get_constant (node->operands[operand].result->node);
  return constant == NULL ? NULL : cleave_tensor_ref (constant);
}

/* If the weights (operand 1) are constant and dequantized from 8 bits, stores their 8-bit values,
 * scale and zero point in `call`. A kernel may use the 8-bit values. The node that dequantizes
 * these weights is no member of the group: the node runs only once, when the program is made. */
static void
find_stored_weights (CleaveBodyCall *call, const CleaveNode *node)
{
  const CleaveNode *from = node->n_operands > 1 && node->operands[1].result != NULL
                               ? node->operands[1].result->node
                               : NULL;

  if (from == NULL || !cleave_node_is_fixed (from) || (from->op->flags & CLEAVE_OP_STORAGE) == 0 ||
      from->n_operands < 2 /* a Cast has no scale operand */ || from->operands[0].result == NULL ||
      cleave_element_size (from->operands[0].result->type.element) != 1)
    return;
  call->w_bytes = ref_constant (from, 0);
  call->w_scale = ref_constant (from, 1);
  call->w_zero = ref_constant (from, 2);
  call->w_axis = ((const CleaveAxisAttrs *) from->attrs)->axis;
  if (from->n_operands > 2 && from->operands[2].result != NULL && call->w_zero == NULL)
    g_clear_pointer (&call->w_bytes, cleave_tensor_unref);
}

static void
add_call (const Lowering *l, Group *group, const CleaveNode *node)
{
  CleaveBodyCall call = { .op = node->op,
                          .attrs = cleave_attrs_copy (node->op, node->attrs),
                          .n_operands = node->n_operands,
                          .from = g_new (guint, node->n_operands),
                          .operands = g_new0 (CleaveTensorType, node->n_operands),
                          .result = node->results[0].type,
                          .by_elements = cleave_node_goes_by_elements (node),
                          .is_main = node == l->main };

  for (guint i = 0; i < node->n_operands; i++)
    {
      CleaveResult *operand = node->operands[i].result;
      guint number;

      call.from[i] = CLEAVE_BODY_ABSENT;
      if (operand == NULL)
        continue;
      call.operands[i] = operand->type;
      if (is_member (l, operand->node, &number))
        {
          call.from[i] = group->outer->len + number;
          g_array_index (group->calls, CleaveBodyCall, number).n_readers++;
        }
      else
        call.from[i] = find_outer (group, operand);
    }
  if (call.is_main)
    find_stored_weights (&call, node);
  g_array_append_val (group->calls, call);
}

/* Returns whether the group has tiles whose intermediate values fit into the cache. */
static gboolean
has_tiles (const Group *group)
{
  CleaveBody body = { group->calls, group->outer->len };
  g_autofree gint64 *weights = g_new0 (gint64, body.n_outer);
  const guint dims[CLEAVE_MAX_RANK] = { 0, 1, 2, 3, 4, 5, 6, 7 };
  CleaveShape tile;

  for (guint i = 0; i < body.n_outer; i++)
    {
      const CleaveResult *outer = group->outer->pdata[i];

      if (cleave_node_is_fixed (outer->node))
        weights[i] = cleave_tensor_type_n_bytes (&outer->type);
    }
  return cleave_tile_choose (&body, weights, dims, &tile);
}

static void
find_group (Lowering *l, CleaveNode *end)
{
  Group *group;

  if (cleave_node_widens (end) >= 0 || is_empty (end))
    return;
  if (collect_function (l, end) || collect (l, end))
    {
      group = g_new0 (Group, 1);
      group->calls = cleave_body_calls_new ();
      group->members = g_ptr_array_copy (l->members, NULL, NULL);
      group->outer = g_ptr_array_new ();
      group->name = l->main == NULL ? end : l->main;
      for (guint m = 0; m < l->members->len; m++)
        l->number[((CleaveNode *) l->members->pdata[m])->id] = m;
      find_operands (l, group);
      for (guint m = 0; m < l->members->len; m++)
        add_call (l, group, l->members->pdata[m]);
      if (has_tiles (group))
        l->groups[end->id] = g_steal_pointer (&group);
      l->n_groups += group == NULL;
      group_free (group);
    }
  for (guint i = 0; i < l->touched->len; i++)
    l->n_seen[((CleaveNode *) l->touched->pdata[i])->id] = 0;
  g_ptr_array_set_size (l->touched, 0);
}

/* Adds the node of a group to the lowered graph. Sets the entry of each member in `nodes` to the
 * new node, unless the entry is already set. */
static void
add_group (CleaveGraph *graph, Group *group, CleaveNode **nodes)
{
  g_autofree CleaveResult **operands = g_new (CleaveResult *, group->outer->len);
  CleaveNode *node;

  for (guint i = 0; i < group->outer->len; i++)
    operands[i] = cleave_extract_map_by_id (nodes, group->outer->pdata[i]);
  node = cleave_group_add (graph, group->name->name, g_steal_pointer (&group->calls), operands,
                           group->outer->len);
  for (guint m = 0; m < group->members->len; m++)
    {
      CleaveNode **member = &nodes[((const CleaveNode *) group->members->pdata[m])->id];

      *member = *member == NULL ? node : *member;
    }
}

/* Returns an array indexed by node id: whether the lowered graph needs the node. For the last node
 * of a group, the entry says whether the lowered graph needs the group. The lowered graph needs
 * inputs, nodes that compute outputs, nodes without readers, and all operands of needed nodes and
 * groups. */
static gboolean *
find_wanted (const CleaveGraph *graph, const GPtrArray *order, const Lowering *l)
{
  gboolean *wanted = g_new0 (gboolean, graph->n_ids + 1);

  for (guint i = 0; i < graph->outputs->len; i++)
    wanted[cleave_graph_get_output (graph, i)->result->node->id] = TRUE;
  for (guint i = order->len; i-- > 0;)
    {
      const CleaveNode *node = order->pdata[i];
      const Group *group = l->groups[node->id];

      wanted[node->id] |= cleave_node_is_input (node) || !cleave_node_is_used (node);
      if (!wanted[node->id])
        continue;
      for (guint o = 0; group != NULL && o < group->outer->len; o++)
        wanted[((const CleaveResult *) group->outer->pdata[o])->node->id] = TRUE;
      for (guint o = 0; group == NULL && o < node->n_operands; o++)
        if (node->operands[o].result != NULL)
          wanted[node->operands[o].result->node->id] = TRUE;
    }
  return wanted;
}

/* Returns the lowered graph. `nodes` is indexed by node id and holds NULLs before the call. Sets
 * each entry to the node of the lowered graph that computes the same results. */
static CleaveGraph *
make_graph (const CleaveGraph *graph, const GPtrArray *order, const Lowering *l, CleaveNode **nodes)
{
  CleaveGraph *lowered = cleave_graph_new (graph->name);
  g_autofree gboolean *wanted = find_wanted (graph, order, l);

  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = order->pdata[i];

      if (wanted[node->id] && l->groups[node->id] != NULL)
        add_group (lowered, l->groups[node->id], nodes);
      else if (wanted[node->id])
        nodes[node->id] = cleave_extract_node (lowered, node, cleave_extract_map_by_id, nodes);
    }
  cleave_extract_ends (lowered, graph, cleave_extract_map_by_id, nodes);
  return lowered;
}

static gboolean
has_dequantized (const CleaveGraph *graph)
{
  for (CleaveNode *node = graph->first; node != NULL; node = node->next)
    if (cleave_node_widens (node) > 0)
      return TRUE;
  return FALSE;
}

CleaveGraph *
cleave_group_quantized (const CleaveGraph *graph)
{
  g_autofree CleaveNode **nodes = NULL;

  return cleave_group_quantized_nodes (graph, &nodes);
}

/* Returns the lowered graph, in which one node replaces the nodes of each group. Visits the nodes
 * in `order`. Sets `nodes` as cleave_group_quantized_nodes() does. */
static CleaveGraph *
group_nodes (const CleaveGraph *graph, const GPtrArray *order, CleaveNode ***nodes)
{
  g_autoptr (GPtrArray) touched = g_ptr_array_new (), members = g_ptr_array_new ();
  guint n = graph->n_ids + 1;
  g_autofree guint *position = g_new0 (guint, n), *n_seen = g_new0 (guint, n);
  g_autofree guint *number = g_new0 (guint, n);
  g_autofree gboolean *cheap = g_new0 (gboolean, n);
  g_autofree Group **groups = g_new0 (Group *, n);
  g_autofree CleaveResult **origins = cleave_byte_functions_find (graph, order);
  CleaveGraph *lowered;
  Lowering l = { .position = position,
                 .n_seen = n_seen,
                 .cheap = cheap,
                 .origins = origins,
                 .number = number,
                 .groups = groups,
                 .touched = touched,
                 .members = members };

  for (guint i = 0; i < order->len; i++)
    {
      const CleaveNode *node = order->pdata[i];

      position[node->id] = i;
      cheap[node->id] = is_cheap (&l, node);
    }
  for (guint i = 0; i < order->len; i++)
    find_group (&l, order->pdata[i]);
  *nodes = g_new0 (CleaveNode *, n);
  lowered = l.n_groups == 0 ? NULL : make_graph (graph, order, &l, *nodes);
  for (guint i = 0; i < n; i++)
    group_free (groups[i]);
  return lowered;
}

CleaveGraph *
cleave_group_quantized_nodes (const CleaveGraph *graph, CleaveNode ***nodes)
{
  g_autoptr (GPtrArray) order = has_dequantized (graph) ? cleave_topology_sort (graph, NULL) : NULL;
  g_autoptr (GPtrArray) moved_order = NULL;
  g_autoptr (CleaveGraph) moved = NULL;
  g_autofree CleaveNode **grouped = NULL;
  CleaveGraph *lowered;

  *nodes = NULL;
  if (order == NULL)
    return NULL;
  moved = cleave_sink_dequantize (graph, order, nodes);
  if (moved == NULL)
    return group_nodes (graph, order, nodes);
  moved_order = cleave_topology_sort (moved, NULL);
  lowered = group_nodes (moved, moved_order, &grouped);
  for (guint i = 0; i <= graph->n_ids; i++)
    (*nodes)[i] = (*nodes)[i] == NULL ? NULL : grouped[(*nodes)[i]->id];
  return lowered;
}
