/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prints a line for each node except inputs and constants, or adds the lines to JSON. The live
 * bytes of a node come from the memory timeline of a run with one thread. */

#include "node-table.h"

#include "convention.h"
#include "model.h"
#include "sizes.h"

#include <stdio.h>

/* Finds the step of a node by the node's name. If several steps have the same name, the table has
 * the step with the most live bytes. */
typedef struct
{
  CleaveMemoryTimeline *timeline;
  GHashTable *steps; /* maps the name of a node to its CleaveMemoryStep */
} Steps;

static void
steps_clear (Steps *steps)
{
  g_clear_pointer (&steps->steps, g_hash_table_unref);
  g_clear_pointer (&steps->timeline, cleave_memory_timeline_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Steps, steps_clear)

static gboolean
steps_init (Steps *steps, const CleaveGraph *graph, GError **error)
{
  steps->timeline = cleave_memory_timeline_new (graph, 1, error);
  if (steps->timeline == NULL)
    return FALSE;
  steps->steps = g_hash_table_new (g_str_hash, g_str_equal);
  for (guint i = 0; i < steps->timeline->n_steps; i++)
    {
      const CleaveMemoryStep *step = &steps->timeline->steps[i];
      const CleaveMemoryStep *other = g_hash_table_lookup (steps->steps, step->name);

      if (other == NULL || other->live_bytes < step->live_bytes)
        g_hash_table_insert (steps->steps, (gpointer) step->name, (gpointer) step);
    }
  return TRUE;
}

/* Returns the live bytes while a node runs; -1: the node has no step of its own, since its result
 * is a view or is computed in another node's step. */
static gint64
get_live_bytes (const Steps *steps, const CleaveNode *node)
{
  const CleaveMemoryStep *step =
      steps->steps == NULL ? NULL : g_hash_table_lookup (steps->steps, cleave_node_get_name (node));

  return step == NULL ? -1 : step->live_bytes;
}

static gboolean
is_counted (const CleaveNode *node)
{
  return !cleave_node_is_input (node) && cleave_node_get_constant (node) == NULL;
}

/* Returns the bytes of all results; G_MAXINT64 if the sum is larger. */
static gint64
get_n_bytes (const CleaveNode *node)
{
  gint64 sum = 0;

  for (guint i = 0; i < cleave_node_get_n_results (node); i++)
    if (__builtin_add_overflow (
            sum,
            cleave_tensor_type_n_bytes (cleave_result_get_type (cleave_node_get_result (node, i))),
            &sum))
      return G_MAXINT64;
  return sum;
}

static const char *
get_op_name (const CleaveNode *node)
{
  const char *custom = cleave_node_get_custom_op (node);

  return custom != NULL ? custom : cleave_op_get_name (cleave_node_get_op (node));
}

static void
print_node (const Steps *steps, const CleaveNode *node)
{
  g_autofree char *macs = cleave_macs_to_string (cleave_node_get_macs (node));
  g_autofree char *type = cleave_node_get_n_results (node) == 0
                              ? g_strdup ("")
                              : cleave_tensor_type_to_string (
                                    cleave_result_get_type (cleave_node_get_result (node, 0)));
  gint64 live = get_live_bytes (steps, node);
  g_autofree char *made = cleave_size_to_print (get_n_bytes (node));
  g_autofree char *in_use = live < 0 ? g_strdup ("-") : cleave_size_to_print (live);

  printf ("%14s %14s %14s %s  %-18s %-24s %s\n", macs, made, in_use,
          live > 0 && live == steps->timeline->peak_bytes ? "*" : " ", get_op_name (node), type,
          cleave_node_get_name (node));
}

gboolean
cleave_node_table_print (const CleaveGraph *graph, GError **error)
{
  g_auto (Steps) steps = { 0 };
  g_autofree char *peak = NULL;

  if (!steps_init (&steps, graph, error))
    return FALSE;
  printf ("%14s %14s %14s    %-18s %-24s %s\n", "MACs", "results", "live", "op", "makes", "node");
  for (CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL;
       node = cleave_node_get_next (node))
    if (is_counted (node))
      print_node (&steps, node);
  peak = cleave_size_to_print (steps.timeline->peak_bytes);
  if (steps.timeline->peak_bytes > 0)
    printf ("* the peak, %s of " CLEAVE_CONVENTION_NAME
            "; - no step of its own: a view, or done with another node\n",
            peak);
  return TRUE;
}

static void
add_reads (CleaveJson *json, const CleaveNode *node)
{
  cleave_json_begin_list (json, "reads");
  for (guint i = 0; i < cleave_node_get_n_operands (node); i++)
    {
      CleaveResult *value = cleave_operand_get_result (cleave_node_get_operand (node, i));

      if (value != NULL && cleave_node_get_constant (cleave_result_get_node (value)) == NULL)
        cleave_json_string (json, NULL, cleave_node_get_name (cleave_result_get_node (value)));
    }
  cleave_json_end_list (json);
}

gboolean
cleave_node_table_add_json (CleaveJson *json,
                            const CleaveGraph *graph,
                            gboolean with_steps,
                            GError **error)
{
  g_auto (Steps) steps = { 0 };

  if (with_steps && !steps_init (&steps, graph, error))
    return FALSE;
  cleave_json_begin_list (json, "node_list");
  for (CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL;
       node = cleave_node_get_next (node))
    {
      gint64 live = get_live_bytes (&steps, node);

      if (!is_counted (node))
        continue;
      cleave_json_begin (json, NULL);
      cleave_json_string (json, "name", cleave_node_get_name (node));
      cleave_json_string (json, "op", get_op_name (node));
      cleave_json_type (json, cleave_result_get_type (cleave_node_get_result (node, 0)));
      cleave_json_int (json, "macs", cleave_node_get_macs (node));
      cleave_json_int (json, "bytes", get_n_bytes (node));
      if (live >= 0)
        {
          cleave_json_int (json, "live_bytes", live);
          cleave_json_bool (json, "at_peak", live == steps.timeline->peak_bytes);
        }
      add_reads (json, node);
      cleave_json_end (json);
    }
  cleave_json_end_list (json);
  return TRUE;
}
