/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs the dynamic part of a model many times, with programs for its expensive nodes.
 *
 *     run    rows that a Compress keeps    program of the MatMul behind it
 *     1      200                           compiled for 200
 *     2      90                            compiled for 90: 200 would be more than twice as many
 *     3      200                           program for 200
 *     4      150                           program for 200, padded */

#include "dynamic-program.h"

#include "../ir/boxed.h"
#include "../ir/error.h"
#include "compiled.h"
#include "prefix.h"
#include "types.h"

/* Largest number of programs that are kept. A search looks at each program. */
#define MAX_PROGRAMS 64
/* Number of bytes that all kept programs may take. A single program is kept even if it takes more.
 */
#define MAX_BYTES ((gint64) 1 << 29)
/* A program runs smaller inputs if it has at most this many times their elements. */
#define MAX_PADDING 2

struct _CleaveDynamicProgram
{
  CleaveOnnxDynamic *dynamic;
  CleaveProgramOptions options;
  GPtrArray *all; /* CleaveCompiled: the kept programs, the last used first */
  guint n_compiled, n_padded;
};

static void
clear (gpointer data)
{
  CleaveDynamicProgram *self = data;

  cleave_onnx_dynamic_unref (self->dynamic);
  g_ptr_array_unref (self->all);
}

/* Programs */

static gint64
count_bytes (const GPtrArray *all)
{
  gint64 n_bytes = 0;

  for (guint i = 0; i < all->len; i++)
    {
      CleaveProgramStats stats;

      cleave_program_get_stats (((CleaveCompiled *) all->pdata[i])->program, &stats);
      n_bytes += stats.arena_bytes + stats.scratch_bytes + stats.weight_bytes;
    }
  return n_bytes;
}

/* Moves the smallest program that computes a graph to the front. Returns NULL if there is none. */
static CleaveCompiled *
find (CleaveDynamicProgram *self, const CleaveGraph *graph)
{
  g_autoptr (GArray) types = cleave_types_of_graph (graph);
  gint64 least = MAX_PADDING * cleave_types_count_elements (types);
  CleaveCompiled *best = NULL;
  guint at = 0;

  for (guint i = 0; i < self->all->len; i++)
    {
      CleaveCompiled *compiled = self->all->pdata[i];
      gint64 n = cleave_types_count_elements (compiled->types);

      if (n > least || (best != NULL && n == least) ||
          !cleave_graph_is_prefix (graph, compiled->graph, NULL))
        continue;
      best = compiled;
      least = n;
      at = i;
    }
  if (best != NULL)
    g_ptr_array_insert (self->all, 0, g_ptr_array_steal_index (self->all, at));
  return best;
}

static CleaveCompiled *
add (CleaveDynamicProgram *self, CleaveGraph *graph, GError **error)
{
  CleaveCompiled *compiled = cleave_compiled_new (cleave_graph_ref (graph), &self->options, error);

  if (compiled == NULL)
    return NULL;
  self->n_compiled++;
  g_ptr_array_insert (self->all, 0, compiled);
  while (self->all->len > 1 &&
         (self->all->len > MAX_PROGRAMS || count_bytes (self->all) > MAX_BYTES))
    g_ptr_array_set_size (self->all, (gint) self->all->len - 1);
  return compiled;
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
  CleaveCompiled *compiled = find (self, graph);
  g_autoptr (GPtrArray) results = g_ptr_array_new ();
  g_autoptr (GArray) types = cleave_types_of_tensors (inputs, n_inputs);
  gboolean is_padded;

  if (compiled == NULL)
    compiled = add (self, graph, error);
  if (compiled == NULL)
    return FALSE;
  for (guint i = 0; i < n_outputs; i++)
    g_ptr_array_add (results, outputs[i]);
  is_padded = !cleave_types_equal (types, compiled->types);
  self->n_padded += is_padded ? 1 : 0;
  return cleave_compiled_run (compiled, inputs, results, is_padded, error);
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
  return cleave_onnx_dynamic_run (dynamic, names, values, n_values, compute, dynamic_program, stats,
                                  error);
}

/* The API */

/**
 * cleave_dynamic_program_new:
 * @dynamic: the dynamic part of a model
 * @options: (nullable): the number of threads and the kind of kernels; %NULL for the defaults
 *
 * Prepares a dynamic part to run any number of times. A run compiles each expensive node to a
 * program when it first occurs with its shapes, and keeps the program. At most 64 programs are
 * kept, in at most 512 MiB; then the program that was not used for the longest time is freed.
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
  if (options != NULL)
    self->options = *options;
  self->all = g_ptr_array_new_with_free_func (cleave_compiled_free);
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
 * Runs the dynamic part once, as [method@Cleave.OnnxDynamic.run] does.
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
 * Returns counts of programs, and of runs of a program with padded inputs. There is one program for
 * each of `n_shapes` shapes.
 *
 * Since: 0.2
 */
void
cleave_dynamic_program_get_stats (const CleaveDynamicProgram *dynamic_program,
                                  CleaveShapedStats *stats)
{
  g_return_if_fail (dynamic_program != NULL && stats != NULL);
  *stats = (CleaveShapedStats){ dynamic_program->all->len, dynamic_program->n_compiled,
                                dynamic_program->all->len, dynamic_program->n_padded };
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
