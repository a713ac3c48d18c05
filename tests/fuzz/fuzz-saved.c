/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The input is a saved program. If the program is accepted, it must run. */

#include "saved-bytes.h"

static GPtrArray *
make_tensors (const CleaveGraph *graph, guint n, gboolean inputs)
{
  GPtrArray *tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

  for (guint i = 0; i < n; i++)
    {
      const CleaveResult *value =
          inputs ? cleave_graph_get_input (graph, i)
                 : cleave_operand_get_result (cleave_graph_get_output (graph, i));
      CleaveTensor *tensor = cleave_tensor_new (cleave_result_get_type (value), NULL);

      if (tensor != NULL)
        g_ptr_array_add (tensors, tensor);
    }
  return tensors;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = NULL;
  g_autoptr (CleaveProgram) program = fuzz_load_saved (data, size, &graph, &error);
  g_autoptr (GPtrArray) inputs = NULL, outputs = NULL;

  if ((program == NULL) != (error != NULL) || (program == NULL) != (graph == NULL))
    fuzz_fail ("neither a program nor an error, or both");
  if (program == NULL)
    return 0;
  inputs = make_tensors (graph, cleave_graph_get_n_inputs (graph), TRUE);
  outputs = make_tensors (graph, cleave_graph_get_n_outputs (graph), FALSE);
  if (cleave_program_bind (program, (CleaveTensor *const *) inputs->pdata, inputs->len,
                           (CleaveTensor *const *) outputs->pdata, outputs->len, NULL))
    cleave_program_run (program);
  return 0;
}
