/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Sorts the nodes of a graph of the file by their operands. ONNX requires this order, but some
 * exporters do not keep it. */

#include "dynamic.h"

typedef struct
{
  /* maps a value's name to 1 plus the index of the first node that computes it */
  GHashTable *makers;
  GArray *reads;  /* guint: the nodes that compute the operands of node 0, then of node 1, and so
                   * on */
  GArray *begins; /* guint, indexed by node: index in `reads` of the node's first entry; the last
                   * element is the length of `reads` */
  GArray *stack;  /* Visit: nodes that wait until the nodes which compute their operands are in
                   * the order */
} Reads;

typedef struct
{
  guint node, next;
} Visit;

static void
reads_clear (Reads *reads)
{
  g_clear_pointer (&reads->makers, g_hash_table_unref);
  g_clear_pointer (&reads->reads, g_array_unref);
  g_clear_pointer (&reads->begins, g_array_unref);
  g_clear_pointer (&reads->stack, g_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Reads, reads_clear)

static void
index_makers (Reads *reads, const Onnx__GraphProto *proto)
{
  reads->makers = g_hash_table_new (g_str_hash, g_str_equal);
  for (size_t i = proto->n_node; i-- > 0;)
    for (size_t j = 0; j < proto->node[i]->n_output; j++)
      g_hash_table_insert (reads->makers, proto->node[i]->output[j], GSIZE_TO_POINTER (i + 1));
}

static void
add_read (const char *name, gpointer data)
{
  Reads *reads = data;
  guint maker = GPOINTER_TO_UINT (g_hash_table_lookup (reads->makers, name));

  if (maker-- > 0)
    g_array_append_val (reads->reads, maker);
}

static void
index_reads (Reads *reads, const Onnx__GraphProto *proto)
{
  index_makers (reads, proto);
  reads->reads = g_array_new (FALSE, FALSE, sizeof (guint));
  reads->begins = g_array_new (FALSE, FALSE, sizeof (guint));
  reads->stack = g_array_new (FALSE, FALSE, sizeof (Visit));
  for (size_t i = 0; i <= proto->n_node; i++)
    {
      g_array_append_val (reads->begins, reads->reads->len);
      if (i < proto->n_node)
        cleave_onnx_each_read (proto->node[i], add_read, reads);
    }
}

/* Appends a node to `order`, after the nodes that compute its operands. Skips nodes that are set in
 * `seen`, and sets appended nodes in `seen`. Ignores a cycle: reading the nodes will report an
 * undefined operand. */
static void
visit (Reads *reads, guint node, gboolean *seen, GArray *order)
{
  const guint *begins = (const guint *) (gpointer) reads->begins->data;
  Visit first = { node, begins[node] };

  if (seen[node])
    return;
  seen[node] = TRUE;
  g_array_append_val (reads->stack, first);
  while (reads->stack->len > 0)
    {
      Visit *at = &g_array_index (reads->stack, Visit, reads->stack->len - 1);
      Visit maker;

      if (at->next == begins[at->node + 1])
        {
          g_array_append_val (order, at->node);
          g_array_set_size (reads->stack, reads->stack->len - 1);
          continue;
        }
      maker.node = g_array_index (reads->reads, guint, at->next++);
      maker.next = begins[maker.node];
      if (!seen[maker.node])
        g_array_append_val (reads->stack, maker);
      seen[maker.node] = TRUE;
    }
}

GArray *
cleave_onnx_order (const Onnx__GraphProto *proto)
{
  g_auto (Reads) reads = { 0 };
  g_autofree gboolean *seen = g_new0 (gboolean, proto->n_node);
  GArray *order = g_array_sized_new (FALSE, FALSE, sizeof (guint), (guint) proto->n_node);

  index_reads (&reads, proto);
  for (guint i = 0; i < proto->n_node; i++)
    visit (&reads, i, seen, order);
  return order;
}

gboolean
cleave_onnx_is_made (const Onnx__GraphProto *proto, const char *name)
{
  for (size_t i = 0; i < proto->n_node; i++)
    for (size_t j = 0; j < proto->node[i]->n_output; j++)
      if (g_str_equal (proto->node[i]->output[j], name))
        return TRUE;
  return FALSE;
}
