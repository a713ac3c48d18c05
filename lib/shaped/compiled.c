/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Compiles a graph, and runs the program on inputs of the same or smaller extents (compiled.h). */

#include "compiled.h"

#include "../ir/view.h"
#include "types.h"
#include <cleave/cleave-split.h>

void
cleave_compiled_free (gpointer data)
{
  CleaveCompiled *compiled = data;

  g_array_unref (compiled->types);
  cleave_graph_unref (compiled->graph);
  cleave_program_unref (compiled->program);
  g_clear_pointer (&compiled->inputs, g_ptr_array_unref);
  g_clear_pointer (&compiled->outputs, g_ptr_array_unref);
  g_free (compiled);
}

CleaveCompiled *
cleave_compiled_new (CleaveGraph *given, const CleaveProgramOptions *of, GError **error)
{
  g_autoptr (CleaveGraph) graph = given;
  CleaveProgramOptions options = *of;
  g_autoptr (CleaveGraph) split = options.n_threads == 1 ? NULL : cleave_graph_copy (graph);
  CleaveProgram *program;
  CleaveCompiled *compiled;

  if (split != NULL && !cleave_split_to_run (split, &options.n_threads, error))
    return NULL;
  program = cleave_program_new (split != NULL ? split : graph, &options, error);
  if (program == NULL)
    return NULL;
  compiled = g_new0 (CleaveCompiled, 1);
  compiled->types = cleave_types_of_graph (graph);
  compiled->graph = g_steal_pointer (&graph);
  compiled->program = program;
  return compiled;
}

GArray *
cleave_types_of_outputs (const CleaveGraph *graph)
{
  GArray *types = g_array_new (FALSE, FALSE, sizeof (CleaveTensorType));

  for (guint i = 0; i < cleave_graph_get_n_outputs (graph); i++)
    g_array_append_val (types, *cleave_result_get_type (
                                   cleave_operand_get_result (cleave_graph_get_output (graph, i))));
  return types;
}

GPtrArray *
cleave_tensors_new (const GArray *types, GError **error)
{
  g_autoptr (GPtrArray) tensors =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

  for (guint i = 0; i < types->len; i++)
    {
      CleaveTensor *tensor = cleave_tensor_new (&g_array_index (types, CleaveTensorType, i), error);

      if (tensor == NULL)
        return NULL;
      g_ptr_array_add (tensors, tensor);
    }
  return g_steal_pointer (&tensors);
}

static CleaveTensor *
first_of (CleaveTensor *tensor, const CleaveShape *shape)
{
  CleaveRange range = { .rank = shape->rank };

  for (guint d = 0; d < shape->rank; d++)
    range.dim[d].end = shape->dim[d];
  return cleave_tensor_new_slice (tensor, &range);
}

static gboolean
run_padded (CleaveCompiled *compiled,
            CleaveTensor *const *inputs,
            GPtrArray *outputs,
            GError **error)
{
  g_autoptr (GArray) results = cleave_types_of_outputs (compiled->graph);

  if (compiled->inputs == NULL)
    compiled->inputs = cleave_tensors_new (compiled->types, error);
  if (compiled->outputs == NULL && compiled->inputs != NULL)
    compiled->outputs = cleave_tensors_new (results, error);
  if (compiled->outputs == NULL ||
      !cleave_program_bind (compiled->program, (CleaveTensor *const *) compiled->inputs->pdata,
                            compiled->inputs->len, (CleaveTensor *const *) compiled->outputs->pdata,
                            compiled->outputs->len, error))
    return FALSE;
  for (guint i = 0; i < compiled->inputs->len; i++)
    {
      g_autoptr (CleaveTensor) first =
          first_of (compiled->inputs->pdata[i], &cleave_tensor_get_type (inputs[i])->shape);
      CleaveView to = cleave_view_tensor (first), from = cleave_view_tensor (inputs[i]);

      cleave_view_copy (&to, &from);
    }
  cleave_program_run (compiled->program);
  for (guint i = 0; i < outputs->len; i++)
    {
      g_autoptr (CleaveTensor) first = first_of (
          compiled->outputs->pdata[i], &cleave_tensor_get_type (outputs->pdata[i])->shape);
      CleaveView to = cleave_view_tensor (outputs->pdata[i]), from = cleave_view_tensor (first);

      cleave_view_copy (&to, &from);
    }
  return TRUE;
}

gboolean
cleave_compiled_run (CleaveCompiled *compiled,
                     CleaveTensor *const *inputs,
                     GPtrArray *outputs,
                     gboolean is_padded,
                     GError **error)
{
  if (is_padded)
    return run_padded (compiled, inputs, outputs, error);
  if (!cleave_program_bind (compiled->program, inputs, compiled->types->len,
                            (CleaveTensor *const *) outputs->pdata, outputs->len, error))
    return FALSE;
  cleave_program_run (compiled->program);
  return TRUE;
}
