/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Measures the scratch of a program, and searches for a plan whose arena and scratch together meet
 * the memory limit. Each search has a smaller budget than the search before it. */

#include "scratch.h"

/* Largest number of searches. The budget of the first search is the memory limit. The budget of
 * each later search is the memory limit minus the scratch of the plan that the previous search
 * found. */
#define MAX_ROUNDS 6

/* If a model has more bytes of weights than this, its scratch is not reported. To find the scratch,
 * Cleave prepares all kernels, and some kernels read their weights. */
#define MAX_WEIGHTS ((gint64) 1 << 30)

/* If the weights with elements of one byte take more bytes than this, the scratch of the model is
 * not reported. In the file, these elements may be packed in 4 bits, and Cleave unpacks them when
 * it prepares the kernels. For 128 MiB of one-byte elements, making a program took 7.6 s and 320
 * MiB more memory. */
#define MAX_BYTE_WEIGHTS ((gint64) 1 << 26)

static gboolean
has_large_weights (const CleaveGraph *graph)
{
  gint64 n_bytes = 0, n_byte_weights = 0;

  for (const CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL;
       node = cleave_node_get_next (node))
    {
      CleaveTensor *constant = cleave_node_get_constant (node);
      const CleaveTensorType *type = constant == NULL ? NULL : cleave_tensor_get_type (constant);

      if (type == NULL)
        continue;
      n_bytes += cleave_tensor_type_n_bytes (type);
      if (cleave_element_size (type->element) == 1)
        n_byte_weights += cleave_tensor_type_n_bytes (type);
    }
  return n_bytes > MAX_WEIGHTS || n_byte_weights > MAX_BYTE_WEIGHTS;
}

static gint64
measure_planned (const CleaveGraph *graph, const CleaveFitPlan *plan, guint n_threads)
{
  g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);
  g_autoptr (CleaveSplitReport) report = cleave_fit_plan_apply (plan, copy, NULL);

  return report == NULL ? -1 : cleave_graph_get_scratch_bytes (copy, n_threads, NULL);
}

gint64
cleave_scratch_find (const CleaveGraph *graph, guint n_threads)
{
  return has_large_weights (graph) ? -1 : cleave_graph_get_scratch_bytes (graph, n_threads, NULL);
}

gint64
cleave_scratch_find_planned (const CleaveGraph *graph, const CleaveFitPlan *plan, guint n_threads)
{
  return has_large_weights (graph) ? -1 : measure_planned (graph, plan, n_threads);
}

static CleaveFitPlan *
refuse (const CleaveFitOptions *options, gint64 arena, gint64 scratch, GError **error)
{
  g_set_error (error, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT,
               "the budget is %" G_GINT64_FORMAT " bytes, the last plan needs %" G_GINT64_FORMAT
               " for its arena and %" G_GINT64_FORMAT " for the scratch of its kernels; try "
               "--max-memory %" G_GINT64_FORMAT ", or leave out --count-scratch",
               options->max_memory, arena, scratch, arena + scratch);
  return NULL;
}

CleaveFitPlan *
cleave_scratch_fit (const CleaveGraph *graph, const CleaveFitOptions *options, GError **error)
{
  CleaveFitOptions within = *options;
  gint64 arena = 0, scratch = 0;

  for (guint round = 0; round < MAX_ROUNDS; round++)
    {
      g_autoptr (CleaveFitPlan) plan = cleave_fit_plan_new (graph, &within, error);

      if (plan == NULL)
        {
          if (round > 0)
            g_prefix_error (error,
                            "kernels need %" G_GINT64_FORMAT " bytes of scratch, and for the rest ",
                            scratch);
          return NULL;
        }
      arena = cleave_fit_plan_get_totals (plan)->arena_after;
      scratch = measure_planned (graph, plan, MAX (options->n_threads, 1));
      if (scratch < 0)
        {
          g_set_error (error, CLEAVE_ERROR, CLEAVE_ERROR_MEMORY,
                       "--count-scratch makes the program of a plan, for which there is not enough "
                       "memory");
          return NULL;
        }
      if (arena + scratch <= options->max_memory)
        return g_steal_pointer (&plan);
      if (scratch >= options->max_memory)
        break;
      within.max_memory = MIN (options->max_memory - scratch, within.max_memory - 1);
    }
  return refuse (options, arena, scratch, error);
}
