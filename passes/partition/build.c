/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Builds a new graph with copies of some nodes of the whole graph. Adds an input for each value
 * that these nodes read and do not compute, copies the constants, and adds outputs for the
 * wanted values. */

#include "build.h"

#include "../../lib/ir/defaults.h"

typedef struct
{
  CleaveGraph *graph;
  CleavePartitionNames *names;
  /* maps results of the whole graph to results of the new graph; also contains each copied node of
   * the whole graph, as a key without a meaningful value */
  GHashTable *values;
} Builder;

static void
add_node (Builder *builder, CleaveNode *node)
{
  g_autofree CleaveResult **operands = g_new0 (CleaveResult *, node->n_operands + 1);
  CleaveNode *copy;

  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result != NULL)
      operands[i] = g_hash_table_lookup (builder->values, node->operands[i].result);
  copy = cleave_graph_add_like (builder->graph, node, node->name, operands);
  g_hash_table_add (builder->values, node);
  for (guint i = 0; i < node->n_results; i++)
    {
      if (g_hash_table_contains (builder->values,
                                 &node->results[i])) /* the new graph has an input for this value */
        continue;
      g_hash_table_insert (builder->values, &node->results[i], &copy->results[i]);
      if (node->results[i].name != NULL)
        cleave_result_set_name (&copy->results[i], node->results[i].name);
    }
}

static void
add_input (Builder *builder, CleaveResult *value)
{
  const char *name = cleave_partition_names_get (builder->names, value);
  CleaveResult *input = cleave_graph_add_input (builder->graph, name, &value->type, NULL);

  g_assert (input != NULL);
  g_hash_table_insert (builder->values, value, input);
}

/* Copies a constant expression with all nodes that it reads. Uses a stack, since chains may be
 * long. */
static void
add_fixed (Builder *builder, CleaveNode *node)
{
  g_autoptr (GPtrArray) stack = g_ptr_array_new ();

  g_ptr_array_add (stack, node);
  while (stack->len > 0)
    {
      CleaveNode *top = g_ptr_array_index (stack, stack->len - 1);
      guint n = stack->len;

      if (g_hash_table_contains (builder->values, top))
        {
          g_ptr_array_set_size (stack, (gint) n - 1);
          continue;
        }
      for (guint i = 0; i < top->n_operands; i++)
        if (top->operands[i].result != NULL &&
            !g_hash_table_contains (builder->values, top->operands[i].result))
          g_ptr_array_add (stack, top->operands[i].result->node);
      if (stack->len == n)
        add_node (builder, top);
    }
}

/* Adds inputs and constants for the values that the nodes read and do not compute. Adds the inputs
 * before the constants, so that each input gets the name of its value. */
static void
add_operands (Builder *builder, const CleavePartitionContent *content)
{
  g_autoptr (GHashTable) own = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < content->nodes->len; i++)
    g_hash_table_add (own, g_ptr_array_index (content->nodes, i));
  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < content->nodes->len; i++)
      {
        const CleaveNode *node = g_ptr_array_index (content->nodes, i);

        for (guint k = 0; k < node->n_operands; k++)
          {
            CleaveResult *value = node->operands[k].result;

            if (value == NULL || g_hash_table_contains (own, value->node) ||
                g_hash_table_contains (builder->values, value))
              continue;
            if (pass == 0 && !cleave_node_is_fixed (value->node))
              add_input (builder, value);
            else if (pass == 1)
              add_fixed (builder, value->node);
          }
      }
}

static void
add_outputs (Builder *builder, const CleavePartitionContent *content)
{
  for (guint i = 0; i < content->wanted->len; i++)
    {
      CleaveResult *value = g_ptr_array_index (content->wanted, i);
      const char *name = content->wanted_names == NULL
                             ? cleave_partition_names_get (builder->names, value)
                             : content->wanted_names->pdata[i];

      if (!g_hash_table_contains (builder->values, value))
        add_input (builder, value); /* this output is an input of the whole graph, and no node of
                                       the part reads it */
      cleave_graph_add_output (builder->graph, name, g_hash_table_lookup (builder->values, value),
                               NULL);
    }
}

CleaveGraph *
cleave_partition_build (const CleaveGraph *graph, const CleavePartitionContent *content)
{
  g_autoptr (GHashTable) values = g_hash_table_new (NULL, NULL);
  g_autoptr (CleavePartitionNames) own = cleave_partition_names_new ();
  Builder builder = { cleave_graph_new (content->name),
                      content->names == NULL ? own : content->names, values };

  for (guint i = 0; content->wanted_names != NULL && i < content->wanted->len; i++)
    cleave_partition_names_reserve (builder.names, content->wanted->pdata[i],
                                    content->wanted_names->pdata[i]);
  for (guint i = 0; content->given != NULL && i < content->given->len; i++)
    add_input (&builder, g_ptr_array_index (content->given, i));
  add_operands (&builder, content);
  for (guint i = 0; i < content->nodes->len; i++)
    if (!g_hash_table_contains (values, g_ptr_array_index (content->nodes, i)))
      add_node (&builder, g_ptr_array_index (content->nodes, i));
  add_outputs (&builder, content);
  cleave_graph_copy_used_defaults (builder.graph, graph);
  return builder.graph;
}
