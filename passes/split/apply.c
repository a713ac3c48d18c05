/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Builds the pieces of a planned region, and removes the original nodes. Readers of the original
 * values then read the joins of the pieces (`whole`), and Slices of a join read the pieces
 * directly. */

#include "apply.h"

#include "../remove-dead.h"
#include "../views/sink-joins.h"
#include "build.h"

typedef struct
{
  CleaveRegion *region;
  CleaveForwarder *forwarder;
  GPtrArray *left;   /* CleaveNode: candidates for removal, which may have lost their last user */
  GHashTable *moved; /* maps each replaced CleaveResult to the value that replaces it */
  /* CleaveNode: joins whose readers must read the whole value, not pieces; update_stops() adds them
   * to `stops` of the region */
  GPtrArray *kept;
} Applier;

void
cleave_take_result_name (CleaveResult *whole, CleaveResult *from)
{
  g_autofree char *name = cleave_result_dup_name (from);

  cleave_result_set_name (from, NULL);
  cleave_result_set_name (whole, name);
}

/* Makes readers outside the region read the joins of a node's pieces, then removes the node and
 * adds the removed node to `gone`. If the node has readers but no join, changes nothing. */
static void
replace (Applier *applier, CleaveRegionNode *member, GHashTable *gone)
{
  CleaveNode *node = member->node;

  for (guint r = 0; r < node->n_results; r++)
    if (node->results[r].n_uses > 0 && member->whole != NULL)
      cleave_result_replace_uses (&node->results[r], member->whole[r]);
    else if (node->results[r].n_uses > 0)
      return;
  if (member->whole != NULL)
    cleave_node_take_names (member->whole[0]->node, node);
  for (guint r = 1; r < node->n_results && member->whole != NULL; r++)
    if (member->whole[r] != NULL)
      cleave_take_result_name (member->whole[r], &node->results[r]);
  for (guint j = 0; j < node->n_operands; j++)
    if (node->operands[j].result != NULL)
      g_ptr_array_add (applier->left, node->operands[j].result->node);
  member->name = cleave_pool_strdup (
      applier->region->pool, member->whole != NULL ? member->whole[0]->node->name : node->name);
  g_hash_table_add (gone, node);
  cleave_graph_remove (node->graph, node);
  member->node = NULL;
}

/* Returns the number of entries of `member->values`: one for each result of each piece. Returns 0
 * for a view without pieces of its own (`is_passed`). */
static guint
n_values (const CleaveRegionNode *member)
{
  return member->values == NULL ? 0 : member->n_pieces * member->n_results;
}

/* Returns the value that finally replaces a piece's value, by following `moved`. Returns NULL if
 * `value` is NULL. */
static CleaveResult *
find_value (const Applier *applier, CleaveResult *value)
{
  CleaveResult *moved;

  while (value != NULL && (moved = g_hash_table_lookup (applier->moved, value)) != NULL)
    value = moved;
  return value;
}

static void
follow_values (Applier *applier)
{
  const GPtrArray *members = applier->region->members;

  for (guint i = 0; i < members->len; i++)
    {
      CleaveRegionNode *member = g_ptr_array_index (members, i);

      for (guint v = 0; v < n_values (member); v++)
        member->values[v] = find_value (applier, member->values[v]);
    }
}

/* Updates `values` of the region nodes. If a piece would equal its operand, the piece is not built,
 * and `values` has the operand in place of the piece's result. The operand may be a result of a
 * region node, which replace() removes. In this case, puts the join of that node's pieces into
 * `values`. */
static void
follow_replaced (Applier *applier)
{
  const GPtrArray *members = applier->region->members;

  for (guint i = 0; i < members->len; i++)
    {
      const CleaveRegionNode *member = g_ptr_array_index (members, i);

      for (guint r = 0; member->whole != NULL && r < member->n_results; r++)
        if (member->whole[r] != NULL)
          g_hash_table_insert (applier->moved, &member->node->results[r], member->whole[r]);
    }
  follow_values (applier);
  g_hash_table_remove_all (applier->moved);
}

static void
replace_all (Applier *applier)
{
  g_autoptr (GHashTable) gone = g_hash_table_new (NULL, NULL);
  const GPtrArray *members = applier->region->members;
  guint n = 0;

  follow_replaced (applier);
  for (guint i = 0; i < members->len; i++)
    replace (applier, g_ptr_array_index (members, i), gone);
  for (guint i = 0; i < applier->left->len; i++)
    if (!g_hash_table_contains (gone, g_ptr_array_index (applier->left, i)))
      applier->left->pdata[n++] = applier->left->pdata[i];
  g_ptr_array_set_size (applier->left, (gint) n);
}

/* Replaces each Slice of a join by a value that reads the pieces directly, if the forwarder
 * finds this value. */
static void
forward_readers (Applier *applier, CleaveResult *whole)
{
  g_autoptr (GPtrArray) slices = g_ptr_array_new ();
  const CleaveOp *op = cleave_op_lookup ("Slice");

  for (CleaveOperand *use = whole->first_use; use != NULL; use = use->next_use)
    if (use->node != NULL && use->node->op == op && use->node->results[0].n_uses > 0)
      g_ptr_array_add (slices, &use->node->results[0]);
  for (guint i = 0; i < slices->len; i++)
    {
      CleaveResult *slice = g_ptr_array_index (slices, i);
      CleaveResult *forwarded = cleave_forwarder_forward (applier->forwarder, slice);

      if (forwarded == slice)
        continue;
      cleave_result_replace_uses (slice, forwarded);
      if (cleave_forwarder_made (applier->forwarder, forwarded))
        cleave_node_take_names (forwarded->node, slice->node);
      g_hash_table_insert (applier->moved, slice, forwarded);
      g_ptr_array_add (applier->left, slice->node);
    }
  if (whole->n_uses == 0)
    g_ptr_array_add (applier->left, whole->node);
}

/* Adds the join that computes `whole` to `kept`, so that Slices of the join keep reading the whole
 * value. If no node reads `whole`, adds the join to `left`, so that the join is removed. */
static void
keep_whole (Applier *applier, CleaveResult *whole)
{
  if (whole->n_uses == 0)
    g_ptr_array_add (applier->left, whole->node);
  else
    g_ptr_array_add (applier->kept, whole->node);
}

static void
forward_all (Applier *applier)
{
  const GPtrArray *members = applier->region->members;
  gboolean keeps = applier->region->stops != NULL;

  for (guint i = 0; i < members->len; i++)
    {
      const CleaveRegionNode *member = g_ptr_array_index (members, i);

      for (guint r = 0; member->whole != NULL && r < member->n_results; r++)
        if (member->whole[r] != NULL)
          (keeps ? keep_whole : forward_readers) (applier, member->whole[r]);
    }
}

static void
add_spent (Applier *applier)
{
  const GPtrArray *spent = cleave_forwarder_get_spent (applier->forwarder);

  for (guint i = 0; i < spent->len; i++)
    g_ptr_array_add (applier->left, g_ptr_array_index (spent, i));
}

/* Cuts some pieces that read a join into one node for each operand of the join, and joins the
 * results of these nodes instead. Does this for each piece whose join would copy an operand. */
static void
sink_joins (Applier *applier)
{
  g_autoptr (CleaveJoinSinker) sinker =
      cleave_join_sinker_new (applier->region->graph, applier->forwarder);
  const GPtrArray *members = applier->region->members;

  for (guint i = members->len; i > 0; i--)
    {
      const CleaveRegionNode *member = g_ptr_array_index (members, i - 1);

      for (guint v = 0; v < n_values (member); v++)
        {
          CleaveResult *value = find_value (applier, member->values[v]);
          CleaveResult *joined =
              value == NULL ? NULL : cleave_join_sinker_sink (sinker, value->node);

          if (joined == NULL)
            continue;
          cleave_result_replace_uses (value, joined);
          cleave_node_take_names (joined->node, value->node);
          g_hash_table_insert (applier->moved, value, joined);
          g_ptr_array_add (applier->left, value->node);
        }
    }
}

/* Updates `region->stops`, the joins past which no Slice may read: adds the joins in
 * `applier->kept`, and removes the nodes in `removed`. Does not scan the whole set: the set grows
 * with each region, so the scans would take time quadratic in the number of regions. */
static void
update_stops (Applier *applier, GHashTable *removed)
{
  GHashTable *stops = applier->region->stops;
  GHashTableIter iter;
  gpointer node;

  for (guint i = 0; i < applier->kept->len; i++)
    g_hash_table_add (stops, applier->kept->pdata[i]);
  g_hash_table_iter_init (&iter, removed);
  while (g_hash_table_iter_next (&iter, &node, NULL))
    g_hash_table_remove (stops, node);
}

/* Removes nodes without users, and sets the values of removed pieces to NULL. Adds the removed
 * nodes to `removed`. */
static void
remove_left (Applier *applier)
{
  g_autoptr (GHashTable) removed = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) nodes = g_ptr_array_new (); /* CleaveNode: nodes that compute pieces */
  const GPtrArray *members = applier->region->members;
  guint n = 0;

  follow_values (applier);
  for (guint i = 0; i < members->len; i++)
    {
      const CleaveRegionNode *member = g_ptr_array_index (members, i);

      for (guint v = 0; v < n_values (member); v++)
        if (member->values[v] != NULL)
          g_ptr_array_add (nodes, member->values[v]->node);
    }
  cleave_remove_dead (applier->left, removed);
  for (guint i = 0; i < members->len; i++)
    {
      CleaveRegionNode *member = g_ptr_array_index (members, i);

      for (guint v = 0; v < n_values (member); v++)
        if (member->values[v] != NULL && g_hash_table_contains (removed, nodes->pdata[n++]))
          member->values[v] = NULL;
    }
  if (applier->region->stops != NULL)
    update_stops (applier, removed);
}

void
cleave_region_apply (CleaveRegion *region)
{
  g_autoptr (CleaveForwarder) forwarder = cleave_forwarder_new (region->graph);
  g_autoptr (CleaveForwarder) final = cleave_forwarder_new (region->graph);
  g_autoptr (GPtrArray) left = g_ptr_array_new ();
  g_autoptr (GHashTable) moved = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) kept = g_ptr_array_new ();
  Applier applier = { region, forwarder, left, moved, kept };

  cleave_forwarder_stop_among (forwarder, region->stops);
  cleave_forwarder_stop_among (final, region->stops);

  /* the nodes of the region will be removed: the forwarder must not read past them to values nearer
   * to the inputs */
  for (guint i = 0; i < region->members->len; i++)
    cleave_forwarder_stop_at (forwarder,
                              ((CleaveRegionNode *) g_ptr_array_index (region->members, i))->node);
  cleave_region_build (region, forwarder);
  add_spent (&applier);
  replace_all (&applier);
  /* use another forwarder from here on, since the first one remembers nodes that are now removed */
  applier.forwarder = final;
  forward_all (&applier);
  sink_joins (&applier);
  add_spent (&applier);
  remove_left (&applier);
}
