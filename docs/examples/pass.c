/* SPDX-License-Identifier: GPL-2.0-or-later */

/* A pass outside the library: if two Relus follow each other, it removes the second one. */

#include <cleave/cleave.h>

#include <stdio.h>

static gboolean
pass_single_relu (CleaveGraph *graph, gconstpointer options, gboolean *changed, GError **error)
{
  const CleaveOp *relu = cleave_op_lookup ("Relu");
  g_autoptr (GPtrArray) order = cleave_graph_get_order (graph, error);

  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = g_ptr_array_index (order, i);
      CleaveResult *result, *x;

      if (cleave_node_get_op (node) != relu)
        continue;
      result = cleave_node_get_result (node, 0);
      x = cleave_operand_get_result (cleave_node_get_operand (node, 0));
      if (cleave_node_get_op (cleave_result_get_node (x)) != relu ||
          cleave_result_get_n_uses (result) == 0)
        continue;
      cleave_result_replace_uses (result, x);
      if (changed != NULL)
        *changed = TRUE;
    }
  return TRUE;
}

/* Makes the graph x → relu1 → relu2 → relu3 → y. Returns NULL on error. */
static CleaveGraph *
build (GError **error)
{
  static const char *const names[] = { "relu1", "relu2", "relu3" };
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("example");
  CleaveResult *y = cleave_graph_add_input (graph, "x", &CLEAVE_TYPE (CLEAVE_FLOAT32, 4), error);

  for (guint i = 0; i < G_N_ELEMENTS (names) && y != NULL; i++)
    y = cleave_graph_add_unary (graph, "Relu", names[i], y, NULL, error);
  if (y == NULL || !cleave_graph_add_output (graph, "y", y, error))
    return NULL;
  return g_steal_pointer (&graph);
}

int
main (void)
{
  static const CleavePass passes[] = { { "single-relu", pass_single_relu, NULL },
                                       { "remove-dead", cleave_pass_remove_dead, NULL } };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = build (&error);
  g_autofree char *text = NULL;
  gboolean changed = FALSE;

  if (graph == NULL ||
      !cleave_passes_run_to_end (graph, passes, G_N_ELEMENTS (passes), &changed, &error))
    {
      fprintf (stderr, "%s\n", error->message);
      return 1;
    }
  text = cleave_graph_print (graph);
  printf ("%s", text);
  return changed && cleave_graph_count_operators (graph) == 1 ? 0 : 1;
}
