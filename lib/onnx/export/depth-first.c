/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes the order in which ONNX Runtime runs the nodes of a file: depth first from the nodes
 * without readers, beginning with the last node without readers. Before ONNX Runtime runs a node,
 * it visits the nodes that compute the operands of the node, in the reverse order of the file.
 * estimate.c needs this order. */

#include "export.h"

typedef struct
{
  guint node;
  gboolean is_done; /* whether the order already has all nodes that compute the operands of the
                     * node */
} Entry;

/* Appends to `found` the nodes that compute the operands of a node, and the nodes that compute
 * operands of nodes in the node's inner graphs. Each entry is 1 plus the index of a node in the
 * file. */
static void
list_makers (GHashTable *makers, const Onnx__NodeProto *node, GArray *found)
{
  for (size_t k = 0; k < node->n_input; k++)
    {
      guint maker = GPOINTER_TO_UINT (g_hash_table_lookup (makers, node->input[k]));

      if (maker > 0)
        g_array_append_val (found, maker);
    }
  for (size_t k = 0; k < node->n_attribute; k++)
    for (size_t i = 0; node->attribute[k]->g != NULL && i < node->attribute[k]->g->n_node; i++)
      list_makers (makers, node->attribute[k]->g->node[i],
                   found); /* calls itself for each inner graph */
}

static int
compare_numbers (gconstpointer a, gconstpointer b)
{
  guint x = *(const guint *) a, y = *(const guint *) b;

  return (x > y) - (x < y);
}

/* Appends all nodes to `order`, depth first. At the begin, the stack has the nodes without readers.
 */
static void
walk (const Onnx__GraphProto *graph, GHashTable *makers, GArray *stack, GPtrArray *order)
{
  g_autofree gboolean *was = g_new0 (gboolean, graph->n_node + 1);
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (guint));

  while (stack->len > 0)
    {
      Entry entry = g_array_index (stack, Entry, stack->len - 1);

      g_array_set_size (stack, stack->len - 1);
      if (entry.is_done)
        g_ptr_array_add (order, graph->node[entry.node]);
      if (entry.is_done || was[entry.node])
        continue;
      was[entry.node] = entry.is_done = TRUE;
      g_array_append_val (stack, entry);
      g_array_set_size (found, 0);
      list_makers (makers, graph->node[entry.node], found);
      g_array_sort (found, compare_numbers);
      for (guint i = 0; i < found->len; i++)
        {
          Entry operand = { g_array_index (found, guint, i) - 1, FALSE };

          g_array_append_val (stack, operand);
        }
    }
}

GPtrArray *
cleave_onnx_depth_first (const Onnx__GraphProto *graph)
{
  GPtrArray *order = g_ptr_array_sized_new ((guint) graph->n_node);
  g_autoptr (GHashTable) makers = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (Entry)),
                     found = g_array_new (FALSE, FALSE, sizeof (guint));
  g_autofree gboolean *is_read = g_new0 (gboolean, graph->n_node + 1);

  for (guint i = 0; i < graph->n_node; i++)
    for (size_t r = 0; r < graph->node[i]->n_output; r++)
      g_hash_table_insert (makers, graph->node[i]->output[r], GUINT_TO_POINTER (i + 1));
  for (guint i = 0; i < graph->n_node; i++)
    list_makers (makers, graph->node[i], found);
  for (guint i = 0; i < found->len; i++)
    is_read[g_array_index (found, guint, i) - 1] = TRUE;
  for (guint i = 0; i < graph->n_node; i++)
    {
      Entry entry = { i, FALSE };

      if (!is_read[i])
        g_array_append_val (stack, entry);
    }
  walk (graph, makers, stack, order);
  return order;
}
