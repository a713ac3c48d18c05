/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the constants that are parts of a larger tensor, the base, if a rank does not read all
 * bytes of the base. Copies these constants into memory of their own. */

#include "own-weights.h"

#include "../../lib/ir/view.h"

static gint64
count_bytes (CleaveTensor *tensor)
{
  return cleave_tensor_type_n_bytes (cleave_tensor_get_type (tensor));
}

/* Adds the constants that a node reads to the set `constants`. A constant may be a part of a larger
 * tensor, its base. `read` maps each base to the total bytes of its parts in the set. */
static void
add_constants (const CleaveNode *node, GHashTable *constants, GHashTable *read)
{
  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *x = node->operands[i].result;
      CleaveTensor *tensor = x == NULL ? NULL : cleave_node_get_constant (x->node);
      gint64 *sum;

      if (tensor == NULL || !g_hash_table_add (constants, x->node))
        continue;
      sum = g_hash_table_lookup (read, cleave_tensor_get_base (tensor, NULL));
      if (sum == NULL)
        {
          sum = g_new0 (gint64, 1);
          g_hash_table_insert (read, cleave_tensor_get_base (tensor, NULL), sum);
        }
      *sum += count_bytes (tensor);
    }
}

static gboolean
is_all_read (gpointer key, gpointer value, gpointer read)
{
  CleaveTensor *base = cleave_tensor_get_base (cleave_node_get_constant (key), NULL);
  const gint64 *sum = g_hash_table_lookup (read, base);

  return *sum >= count_bytes (base);
}

GHashTable *
cleave_own_weights_find (const CleavePlacement *p, guint rank)
{
  GHashTable *constants = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) read = g_hash_table_new_full (NULL, NULL, NULL, g_free);

  for (guint i = 0; i < p->order->len; i++)
    {
      const CleaveNode *node = p->order->pdata[i];

      if (p->rank[node->id] == rank)
        add_constants (node, constants, read);
    }
  g_hash_table_foreach_remove (constants, is_all_read, read);
  return constants;
}

CleaveNode *
cleave_own_weights_add (CleaveGraph *graph, CleaveNode *constant)
{
  CleaveTensor *value = cleave_node_get_constant (constant);
  g_autoptr (CleaveTensor) copy = cleave_tensor_new (cleave_tensor_get_type (value), NULL);
  CleaveView from = cleave_view_tensor (value), to;

  if (copy == NULL)
    return NULL;
  to = cleave_view_tensor (copy);
  cleave_view_copy (&to, &from);
  return cleave_graph_add_constant (graph, constant->name, copy)->node;
}
