/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A module with one pass, for `cleave opt --load`. The pass rewrites subtractions, for a device
 * that can only add and negate:
 *
 *     a   b            a   b
 *      \ /             |   |
 *      Sub      =>     |  Neg
 *       |               \ /
 *       y               Add
 *                        |
 *                        y
 *
 * In floating point, a - b and a + (-b) have the same bits. After the pass, a Sub without uses
 * remains, and the pass remove-dead removes it. */

#include <cleave/cleave.h>

/* Returns whether the option `except` of the pass names this node. */
static gboolean
is_excepted (gconstpointer options, const CleaveNode *node)
{
  const char *names =
      options == NULL ? NULL : g_hash_table_lookup ((GHashTable *) options, "except");
  g_auto (GStrv) lines = g_strsplit (names == NULL ? "" : names, "\n", -1);

  return g_strv_contains ((const char *const *) lines, cleave_node_get_name (node));
}

/* Replaces a Sub by an Add and a Neg. */
static gboolean
lower (CleaveGraph *graph, CleaveNode *sub, GError **error)
{
  CleaveResult *a = cleave_operand_get_result (cleave_node_get_operand (sub, 0));
  CleaveResult *b = cleave_operand_get_result (cleave_node_get_operand (sub, 1));
  CleaveResult *minus_b = cleave_graph_add_unary (graph, "Neg", NULL, b, NULL, error);
  CleaveResult *y =
      minus_b == NULL ? NULL : cleave_graph_add_binary (graph, "Add", NULL, a, minus_b, error);

  if (y == NULL)
    return FALSE;
  cleave_result_replace_uses (cleave_node_get_result (sub, 0), y);
  cleave_node_take_names (cleave_result_get_node (y), sub);
  return TRUE;
}

static gboolean
lower_sub (CleaveGraph *graph, gconstpointer options, gboolean *changed, GError **error)
{
  const CleaveOp *op = cleave_op_lookup ("Sub");
  g_autoptr (GPtrArray) order = cleave_graph_get_order (graph, error);

  for (guint i = 0; order != NULL && i < order->len; i++)
    {
      CleaveNode *node = g_ptr_array_index (order, i);
      CleaveResult *y = cleave_node_get_op (node) == op ? cleave_node_get_result (node, 0) : NULL;

      if (y == NULL || cleave_result_get_n_uses (y) == 0 || is_excepted (options, node) ||
          !cleave_element_is_float (cleave_result_get_type (y)->element))
        continue;
      if (!lower (graph, node, error))
        return FALSE;
      if (changed != NULL)
        *changed = TRUE;
    }
  return order != NULL;
}

gboolean
cleave_register_passes (GError **error)
{
  static const CleavePassOption options[] = {
    { "except", "NODE", "leave this Sub as it is", .repeats = TRUE },
  };

  return cleave_pass_register ("lower-sub", "Replaces Sub by Add and Neg.", options,
                               G_N_ELEMENTS (options), lower_sub, error);
}
