/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs the dynamic part of a model many times, with compiled programs for its chains of expensive
 * nodes. If the operands of a chain have new shapes, a program for larger shapes may run the chain.
 * The inputs of this program may have at most twice the elements of the operands.
 *
 *     run    rows that a Compress keeps    program of the MatMuls that read the rows
 *     1      200                           compiled for 200
 *     2      90                            compiled for 90: 200 would be more than twice as many
 *     3      200                           program for 200
 *     4      150                           program for 200, padded */

#include "dynamic-program.h"

#include "../ir/boxed.h"
#include "../ir/error.h"
#include "programs.h"
#include "types.h"

/* At most this many programs are kept, since a search looks at each program. */
#define MAX_PROGRAMS 64
/* The kept programs may take at most this many bytes together. A single program is kept even if it
 * takes more than this limit. */
#define MAX_BYTES ((gint64) 1 << 29)
/* A run may pad its inputs to the shapes of a program that exists. The padded inputs may have at
 * most MAX_PADDING times the elements of the inputs before padding. */
#define MAX_PADDING 2

struct _CleaveDynamicProgram
{
  CleaveOnnxDynamic *dynamic;
  CleavePrograms programs;
  gint64 arena_bytes; /* bytes of the largest arena in the latest run, scratch included */
};

static void
clear (gpointer data)
{
  CleaveDynamicProgram *self = data;

  cleave_onnx_dynamic_unref (self->dynamic);
  cleave_programs_clear (&self->programs);
}

static gboolean
compute (CleaveGraph *graph,
         CleaveTensor *const *inputs,
         guint n_inputs,
         CleaveTensor *const *outputs,
         guint n_outputs,
         gpointer data,
         GError **error)
{
  CleaveDynamicProgram *self = data;
  g_autoptr (GArray) types = cleave_types_of_tensors (inputs, n_inputs);
  CleaveCompiled *compiled = cleave_programs_find (
      &self->programs, graph, MAX_PADDING * cleave_types_count_elements (types));
  g_autoptr (GPtrArray) results = g_ptr_array_new ();
  CleaveProgramStats stats;

  if (compiled == NULL)
    compiled = cleave_programs_add (&self->programs, cleave_graph_ref (graph), error);
  if (compiled == NULL)
    return FALSE;
  cleave_program_get_stats (compiled->program, &stats);
  self->arena_bytes = MAX (self->arena_bytes, stats.arena_bytes + stats.scratch_bytes);
  for (guint i = 0; i < n_outputs; i++)
    g_ptr_array_add (results, outputs[i]);
  return cleave_programs_run (&self->programs, compiled, inputs, n_inputs, results, error);
}

GPtrArray *
cleave_dynamic_program_run_part (CleaveDynamicProgram *dynamic_program,
                                 const CleaveOnnxDynamic *dynamic,
                                 const char *const *names,
                                 CleaveTensor *const *values,
                                 guint n_values,
                                 CleaveOnnxDynamicStats *stats,
                                 GError **error)
{
  GPtrArray *outputs;

  dynamic_program->arena_bytes = 0;
  outputs = cleave_onnx_dynamic_run (dynamic, names, values, n_values, compute, dynamic_program,
                                     stats, error);
  if (outputs != NULL && stats != NULL)
    stats->peak_bytes += dynamic_program->arena_bytes;
  return outputs;
}

gboolean
cleave_dynamic_program_add_lists (const CleaveOnnxDynamic *dynamic,
                                  CleaveTensor *const *inputs,
                                  guint n_inputs,
                                  GPtrArray *names,
                                  GPtrArray *values,
                                  GError **error)
{
  const char *const *list = cleave_onnx_dynamic_get_inputs (dynamic);
  guint at = 0;

  for (; *list != NULL && at < n_inputs; list++)
    {
      g_autoptr (CleaveTensor) number = cleave_tensor_dup_dense (inputs[at]);
      const CleaveTensorType *type = cleave_tensor_get_type (number);
      const gint64 n = type->element == CLEAVE_INT64 && type->shape.rank == 0
                           ? *(const gint64 *) cleave_tensor_get_data (number)
                           : 0;

      for (gint64 k = -1; k < MAX (n, 0) && at < n_inputs; k++)
        {
          g_ptr_array_add (names, g_strdup (*list));
          g_ptr_array_add (values, inputs[at++]);
        }
    }
  return at == n_inputs ||
         cleave_fail (error, CLEAVE_ERROR_OPTION, "%u more inputs are given than the model has",
                      n_inputs - at);
}

/* The following functions are public. */

/**
 * cleave_dynamic_program_new:
 * @dynamic: the dynamic part of a model
 * @options: (nullable): the number of threads and the kind of kernels; %NULL for the defaults
 *
 * Prepares a dynamic part to run any number of times. An expensive node and the nodes that read its
 * results become one program. A run compiles the program when the nodes first get their shapes, and
 * keeps it for later runs. If the result shapes of a node depend on the contents of a computed
 * value, as for a Compress, the program ends before this node. At most 64 programs are kept, in at
 * most 512 MiB. If there are more programs, the program that was not used for the longest time is
 * freed.
 *
 * Returns: (transfer full): the programs, at first none
 *
 * Since: 0.2
 */
CleaveDynamicProgram *
cleave_dynamic_program_new (CleaveOnnxDynamic *dynamic, const CleaveProgramOptions *options)
{
  CleaveDynamicProgram *self;

  g_return_val_if_fail (dynamic != NULL, NULL);
  self = g_atomic_rc_box_new0 (CleaveDynamicProgram);
  self->dynamic = cleave_onnx_dynamic_ref (dynamic);
  cleave_programs_init (&self->programs, options, MAX_PROGRAMS, MAX_BYTES);
  return self;
}

/**
 * cleave_dynamic_program_run:
 * @dynamic_program: the programs of a dynamic part
 * @names: (array length=n_values): names of the inputs and the outputs of the static part
 * @values: (array length=n_values): the values of these inputs and outputs
 * @n_values: number of values
 * @stats: (out caller-allocates) (optional): the cost of the run
 * @error: return location for a [struct@GLib.Error]
 *
 * Runs the dynamic part once, as [method@Cleave.OnnxDynamic.run] does. The peak of @stats includes
 * the largest arena of a program.
 *
 * Fails as [method@Cleave.OnnxDynamic.run] and [ctor@Cleave.Program.new] do.
 *
 * Returns: (transfer container) (nullable) (element-type CleaveTensor): all outputs of the model,
 * in the order of [method@Cleave.OnnxDynamic.get_outputs]; %NULL on error
 *
 * Since: 0.2
 */
GPtrArray *
cleave_dynamic_program_run (CleaveDynamicProgram *dynamic_program,
                            const char *const *names,
                            CleaveTensor *const *values,
                            guint n_values,
                            CleaveOnnxDynamicStats *stats,
                            GError **error)
{
  g_return_val_if_fail (dynamic_program != NULL, NULL);
  return cleave_dynamic_program_run_part (dynamic_program, dynamic_program->dynamic, names, values,
                                          n_values, stats, error);
}

/**
 * cleave_dynamic_program_get_stats:
 * @dynamic_program: the programs of a dynamic part
 * @stats: (out caller-allocates): numbers of programs and runs
 *
 * Returns counts of programs, and of runs of a program with padded inputs. `n_shapes` is the number
 * of programs, one for each shape.
 *
 * Since: 0.2
 */
void
cleave_dynamic_program_get_stats (const CleaveDynamicProgram *dynamic_program,
                                  CleaveShapedStats *stats)
{
  g_return_if_fail (dynamic_program != NULL && stats != NULL);
  *stats =
      cleave_programs_get_stats (&dynamic_program->programs, dynamic_program->programs.all->len);
}

/**
 * cleave_dynamic_program_ref:
 * @dynamic_program: the programs of a dynamic part
 *
 * Takes a reference.
 *
 * Returns: (transfer full): @dynamic_program
 *
 * Since: 0.2
 */
/**
 * cleave_dynamic_program_unref:
 * @dynamic_program: (nullable) (transfer full): the programs of a dynamic part
 *
 * Drops a reference. The last one frees all programs.
 *
 * Since: 0.2
 */
CLEAVE_DEFINE_COUNTED (CleaveDynamicProgram, dynamic_program, clear)
