/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "fit-copies.h"

#include "../../lib/ir/error.h"
#include "../../lib/ir/topology.h"
#include "rematerialise.h"

/* What is made again is so many times as large as what it is made of, or ends so what is. */
#define MUCH_LARGER 3

/* Nodes between such values: an expansion with its activation, a depthwise convolution with its. */
#define MAX_CONE 16

static void
copy_clear (gpointer data)
{
  CleaveFitCopy *copy = data;

  g_free (copy->node);
  g_free (copy->copy);
  g_strfreev (copy->readers);
}

static void
copy_free (gpointer copy)
{
  copy_clear (copy);
  g_free (copy);
}

/* Lets the reader read the second wherever it reads the first. */
static void
read_other (CleaveNode *reader, const CleaveNode *first, CleaveNode *second)
{
  for (guint o = 0; o < reader->n_operands; o++)
    {
      const CleaveResult *read = reader->operands[o].result;

      if (read != NULL && read->node == first)
        cleave_operand_set (&reader->operands[o], &second->results[read->index]);
    }
}

static CleaveNode *
make_copy (CleaveGraph *graph, const CleaveNode *node, const char *name, const GPtrArray *readers)
{
  g_autofree CleaveResult **operands = g_new0 (CleaveResult *, node->n_operands + 1);
  CleaveNode *copy;

  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = node->operands[i].result;
  copy = cleave_graph_add_like (graph, node, name, operands);
  for (guint i = 0; i < readers->len; i++)
    read_other (readers->pdata[i], node, copy);
  return copy;
}

static CleaveNode *
add_copy (GPtrArray *copies, CleaveGraph *graph, const CleaveNode *node, const GPtrArray *readers)
{
  CleaveNode *copy = make_copy (graph, node, node->name, readers);
  CleaveFitCopy *noted = g_new0 (CleaveFitCopy, 1);

  noted->node = g_strdup (node->name);
  noted->copy = g_strdup (copy->name);
  noted->readers = g_new0 (char *, readers->len + 1);
  for (guint i = 0; i < readers->len; i++)
    noted->readers[i] = g_strdup (((const CleaveNode *) readers->pdata[i])->name);
  g_ptr_array_add (copies, noted);
  return copy;
}

static gint64
count_bytes (const CleaveResult *value)
{
  return cleave_tensor_type_n_bytes (&value->type);
}

static gboolean
is_there_anyway (const CleaveResult *value)
{
  return value == NULL || cleave_node_is_input (value->node) || cleave_node_is_fixed (value->node);
}

static gboolean
can_copy (const CleaveNode *node)
{
  return node->op->maps != NULL && !cleave_node_is_input (node) && !cleave_node_is_fixed (node) &&
         node->n_operands > 0;
}

/* Whether next to nothing makes it. */
static gboolean
is_cheap (const CleaveNode *node, gint64 min_bytes)
{
  gint64 n_read = 0;

  if (!can_copy (node) || node->n_results != 1 || node->results[0].n_uses < 2 ||
      (node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN | CLEAVE_OP_ROW_MAJOR)) != 0 ||
      count_bytes (&node->results[0]) < min_bytes || cleave_node_get_macs (node) > 0)
    return FALSE;
  for (guint o = 0; o < node->n_operands; o++)
    if (node->operands[o].result != NULL && !cleave_node_is_fixed (node->operands[o].result->node))
      n_read += count_bytes (node->operands[o].result);
  return MUCH_LARGER * n_read <= count_bytes (&node->results[0]);
}

/* All readers but the first get their own. */
static void
copy_cheap (GPtrArray *copies, CleaveGraph *graph, CleaveNode *node)
{
  g_autoptr (GPtrArray) readers = g_ptr_array_new ();

  for (const CleaveOperand *use = node->results[0].first_use; use != NULL; use = use->next_use)
    if (use->node != NULL && !g_ptr_array_find (readers, use->node, NULL))
      g_ptr_array_add (readers, use->node);
  for (guint i = 1; i < readers->len; i++)
    {
      g_autoptr (GPtrArray) one = g_ptr_array_new ();

      g_ptr_array_add (one, readers->pdata[i]);
      add_copy (copies, graph, node, one);
    }
}

/* Adds the nodes that make a value of much smaller ones.  FALSE: there are too many, or some cannot
 * be copied. */
static gboolean
add_cone (GPtrArray *cone, const CleaveResult *value, gint64 n_bytes)
{
  CleaveNode *node = value->node;

  if (g_ptr_array_find (cone, node, NULL))
    return TRUE;
  if (!can_copy (node) || cone->len >= MAX_CONE)
    return FALSE;
  g_ptr_array_add (cone, node);
  for (guint o = 0; o < node->n_operands; o++)
    {
      const CleaveResult *read = node->operands[o].result;

      if (!is_there_anyway (read) && MUCH_LARGER * count_bytes (read) > n_bytes &&
          !add_cone (cone, read, n_bytes))
        return FALSE;
    }
  return TRUE;
}

static double
count_macs (const GPtrArray *cone)
{
  double sum = 0;

  for (guint i = 0; i < cone->len; i++)
    sum += (double) cleave_node_get_macs (cone->pdata[i]);
  return sum;
}

static int
compare_positions (gconstpointer a, gconstpointer b, gpointer data)
{
  const guint *position = data;
  guint x = position[(*(CleaveNode *const *) a)->id], y = position[(*(CleaveNode *const *) b)->id];

  return (x < y) - (x > y);
}

/* Readers first, each of those that it reads among them gets a copy for it. */
static void
copy_cone (
    GPtrArray *copies, CleaveGraph *graph, CleaveNode *pool, GPtrArray *cone, const guint *position)
{
  g_autoptr (GPtrArray) again = g_ptr_array_new (); /* what reads copies */

  g_ptr_array_sort_with_data (cone, compare_positions, (gpointer) position);
  g_ptr_array_add (again, pool);
  for (guint i = 0; i < cone->len; i++)
    {
      const CleaveNode *node = cone->pdata[i];
      g_autoptr (GPtrArray) readers = g_ptr_array_new ();

      for (guint r = 0; r < again->len; r++)
        {
          CleaveNode *reader = again->pdata[r];

          for (guint o = 0; o < reader->n_operands; o++)
            if (reader->operands[o].result != NULL && reader->operands[o].result->node == node &&
                !g_ptr_array_find (readers, reader, NULL))
              g_ptr_array_add (readers, reader);
        }
      g_ptr_array_add (again, add_copy (copies, graph, node, readers));
    }
}

static gboolean
is_pool (const CleaveNode *node, gint64 min_bytes)
{
  const CleaveResult *x = node->n_operands == 0 ? NULL : node->operands[0].result;

  return x != NULL && !is_there_anyway (x) && x->n_uses > 1 && count_bytes (x) >= min_bytes &&
         cleave_rematerialise_needs_whole (node);
}

static int
compare_sizes (gconstpointer a, gconstpointer b)
{
  gint64 x = count_bytes ((*(CleaveNode *const *) a)->operands[0].result);
  gint64 y = count_bytes ((*(CleaveNode *const *) b)->operands[0].result);

  return (x < y) - (x > y);
}

/* The largest values first, as long as MACs are left. */
static void
copy_pooled (GPtrArray *copies,
             CleaveGraph *graph,
             const GPtrArray *order,
             const guint *position,
             gint64 min_bytes,
             double max_macs)
{
  g_autoptr (GPtrArray) pools = g_ptr_array_new ();

  for (guint i = 0; i < order->len; i++)
    if (is_pool (order->pdata[i], min_bytes))
      g_ptr_array_add (pools, order->pdata[i]);
  g_ptr_array_sort (pools, compare_sizes); /* stable */
  for (guint i = 0; i < pools->len; i++)
    {
      CleaveNode *pool = pools->pdata[i];
      const CleaveResult *x = pool->operands[0].result;
      g_autoptr (GPtrArray) cone = g_ptr_array_new ();

      if (!add_cone (cone, x, count_bytes (x)) || count_macs (cone) > max_macs)
        continue;
      max_macs -= count_macs (cone);
      copy_cone (copies, graph, pool, cone, position);
    }
}

/* Order. */

typedef struct
{
  GHashTable *late; /* CleaveNode: the copied, and the copies, that have no place yet */
  GPtrArray *order;
} Placing;

/* Puts a node, and before it those that it reads and that wait for that. */
static void
place (Placing *placing, CleaveNode *node)
{
  g_hash_table_remove (placing->late, node);
  for (guint o = 0; o < node->n_operands; o++)
    {
      const CleaveResult *read = node->operands[o].result;

      if (read != NULL && g_hash_table_contains (placing->late, read->node))
        place (placing, read->node);
    }
  g_ptr_array_add (placing->order, node);
}

/* What is made twice runs right before those that read it: first the copy for the pooling, and when
 * that is done what the others read. */
static void
arrange (const GPtrArray *copies, CleaveGraph *graph)
{
  g_autoptr (GHashTable) twice = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) late = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) sorted = cleave_topology_sort (graph, NULL);
  g_autoptr (GPtrArray) order = g_ptr_array_sized_new (graph->n_nodes);
  Placing placing = { late, order };

  for (guint i = 0; i < copies->len; i++)
    {
      const CleaveFitCopy *noted = copies->pdata[i];

      g_hash_table_add (twice, cleave_graph_find_node (graph, noted->node));
      g_hash_table_add (twice, cleave_graph_find_node (graph, noted->copy));
      g_hash_table_add (late, cleave_graph_find_node (graph, noted->node));
      g_hash_table_add (late, cleave_graph_find_node (graph, noted->copy));
    }
  for (guint i = 0; i < sorted->len; i++)
    if (!g_hash_table_contains (twice, sorted->pdata[i]))
      place (&placing, sorted->pdata[i]);
  for (guint i = 0; i < sorted->len; i++)
    if (g_hash_table_contains (late, sorted->pdata[i])) /* an output reads it alone */
      place (&placing, sorted->pdata[i]);
  cleave_graph_arrange (graph, order);
}

GPtrArray *
cleave_fit_copies_make (CleaveGraph *graph, gint64 min_bytes, double max_macs)
{
  GPtrArray *copies = g_ptr_array_new_with_free_func (copy_free);
  g_autoptr (GPtrArray) order = cleave_topology_sort (graph, NULL);
  g_autofree guint *position = g_new0 (guint, graph->n_ids + 1);

  for (guint i = 0; i < order->len; i++)
    position[((const CleaveNode *) order->pdata[i])->id] = i;
  copy_pooled (copies, graph, order, position, min_bytes, max_macs);
  for (guint i = 0; i < order->len; i++)
    if (is_cheap (order->pdata[i], min_bytes))
      copy_cheap (copies, graph, order->pdata[i]);
  if (copies->len > 0)
    arrange (copies, graph);
  return copies;
}

/* FALSE: the graph has no such nodes, or has the copy. */
static gboolean
apply_copy (const CleaveFitCopy *noted, CleaveGraph *graph)
{
  const CleaveNode *node = cleave_graph_find_node (graph, noted->node);
  g_autoptr (GPtrArray) readers = g_ptr_array_new ();

  for (char **name = noted->readers; *name != NULL; name++)
    {
      CleaveNode *reader = cleave_graph_find_node (graph, *name);

      if (reader != NULL)
        g_ptr_array_add (readers, reader);
    }
  if (node == NULL || readers->len < g_strv_length (noted->readers) ||
      cleave_graph_find_node (graph, noted->copy) != NULL)
    return FALSE;
  make_copy (graph, node, noted->copy, readers);
  return TRUE;
}

static void
undo (const GPtrArray *copies, guint n, CleaveGraph *graph, const GPtrArray *order)
{
  while (n-- > 0)
    {
      const CleaveFitCopy *noted = copies->pdata[n];
      CleaveNode *copy = cleave_graph_find_node (graph, noted->copy);
      CleaveNode *node = cleave_graph_find_node (graph, noted->node);

      for (guint r = 0; r < copy->n_results; r++)
        cleave_result_replace_uses (&copy->results[r], &node->results[r]);
      cleave_graph_remove (graph, copy);
    }
  cleave_graph_arrange (graph, order);
}

GPtrArray *
cleave_fit_copies_apply (const GPtrArray *copies, CleaveGraph *graph, GError **error)
{
  g_autoptr (GPtrArray) before = g_ptr_array_sized_new (graph->n_nodes);

  for (CleaveNode *node = graph->first; node != NULL; node = node->next)
    g_ptr_array_add (before, node);
  for (guint i = 0; i < copies->len; i++)
    if (!apply_copy (copies->pdata[i], graph))
      {
        undo (copies, i, graph, before);
        cleave_fail (error, CLEAVE_ERROR_OPTION,
                     "the plan is for another graph: '%s' cannot be made again",
                     ((const CleaveFitCopy *) copies->pdata[i])->node);
        return NULL;
      }
  arrange (copies, graph);
  return g_steal_pointer (&before);
}

void
cleave_fit_copies_undo (const GPtrArray *copies, CleaveGraph *graph, const GPtrArray *before)
{
  undo (copies, copies->len, graph, before);
}
