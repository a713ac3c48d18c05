/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs a model with inputs of several shapes. Chooses the program for the shapes of each run.
 *
 * Example: the input `tokens` has at most 512 rows. The program for [512,64] is compiled at the
 * beginning. If each row of the results depends only on the same row of the inputs, inputs with
 * fewer rows may be padded:
 *
 *     shape of    program that runs, if each row       program that runs, if a row
 *     tokens      depends only on the same row         depends on several rows
 *     --------    ---------------------------------    ---------------------------
 *     [512,64]    program for 512 rows                 program for 512 rows
 *     [300,64]    program for 512 rows, with padding   program for 300 rows
 *     [100,64]    program for 128 rows, with padding   program for 100 rows */

#include <cleave/cleave-shaped.h>

#include "../ir/boxed.h"
#include "../ir/error.h"
#include "dynamic-program.h"
#include "prefix.h"
#include "programs.h"
#include "types.h"
#include <cleave/cleave-load.h>

/* Number of programs to keep if the caller passes 0: the program for the largest shapes, and seven
 * programs in which one extent is 1/2, 1/4 … 1/128 of the largest extent. */
#define DEFAULT_PROGRAMS 8
/* A caller may keep at most this many programs, since a search looks at each program. */
#define MAX_PROGRAMS 1024
/* Number of combinations of input shapes that are remembered. Each combination takes some hundred
 * bytes. If the model has a dynamic part, each combination also takes memory for the constants of a
 * dynamic part of its own. */
#define MAX_SHAPES 64

/* A combination of input shapes that has occurred, and the program for these shapes. */
typedef struct
{
  GArray *types;              /* CleaveTensorType: types of the inputs */
  GArray *results;            /* CleaveTensorType: types of the outputs of the graph */
  CleaveOnnxDynamic *dynamic; /* dynamic part of the model; NULL: none */
  CleaveCompiled *compiled;   /* a program in `programs`, which owns it */
} Size;

struct _CleaveShapedProgram
{
  char *path;
  CleaveOnnxOptions *options;
  CleavePrograms programs;     /* programs of the static parts; the first program is for the
                                * largest shapes */
  GPtrArray *sizes;            /* Size: the combinations of input shapes that occurred; the last
                                * used one comes first */
  CleaveDynamicProgram *tails; /* the programs of the dynamic part of the model, which all entries
                                * of `sizes` share; NULL: no dynamic part has run yet */
  gboolean whole;              /* TRUE after a search has found that rows depend on other rows.
                                * Padding would then change results, so a program for larger shapes
                                * cannot run smaller shapes */
};

static void
size_free (gpointer data)
{
  Size *size = data;

  g_array_unref (size->types);
  g_array_unref (size->results);
  cleave_onnx_dynamic_unref (size->dynamic);
  g_free (size);
}

static void
clear (gpointer data)
{
  CleaveShapedProgram *self = data;

  g_free (self->path);
  g_clear_pointer (&self->options, cleave_onnx_options_free);
  g_clear_pointer (&self->sizes, g_ptr_array_unref);
  cleave_dynamic_program_unref (self->tails);
  cleave_programs_clear (&self->programs);
}

/* The following functions compile programs. */

static const CleaveCompiled *
get_largest (const CleaveShapedProgram *self)
{
  return self->programs.all->pdata[0];
}

/* Compiles a graph and takes ownership of it. The list of programs may free another program to stay
 * within its limits. If so, removes the shapes of the freed program from `sizes`. */
static CleaveCompiled *
compile (CleaveShapedProgram *self, CleaveGraph *graph, GError **error)
{
  CleaveCompiled *compiled = cleave_programs_add (&self->programs, graph, error);

  for (guint i = self->sizes->len; compiled != NULL && i-- > 0;)
    if (!cleave_programs_contain (&self->programs, ((Size *) self->sizes->pdata[i])->compiled))
      g_ptr_array_remove_index (self->sizes, i);
  return compiled;
}

/* Compiles a program that computes the outputs of `graph`, whose inputs have `types`. If padding
 * changes no bits, compiles the model for rounded shapes (cleave_types_round_up()), so that the
 * program serves more shapes. If not, compiles `graph` itself. */
static CleaveCompiled *
compile_for (CleaveShapedProgram *self, CleaveGraph *graph, const GArray *types, GError **error)
{
  const CleaveCompiled *largest = get_largest (self);
  g_autoptr (GArray) rounded = cleave_types_round_up (types, largest->types);
  g_autoptr (CleaveGraph) larger = NULL;

  if (!self->whole && !cleave_types_equal (rounded, types) &&
      !cleave_types_equal (rounded, largest->types))
    larger = cleave_types_load (self->path, self->options, rounded, graph, NULL);
  if (larger != NULL && cleave_graph_is_prefix (graph, larger, NULL))
    return compile (self, g_steal_pointer (&larger), error);
  self->whole = self->whole || !cleave_types_equal (rounded, types);
  return compile (self, cleave_graph_ref (graph), error);
}

/* The following functions keep the list of combinations of input shapes. */

static Size *
add_size (CleaveShapedProgram *self,
          const GArray *types,
          CleaveGraph *graph,
          CleaveCompiled *compiled)
{
  CleaveOnnxDynamic *dynamic = cleave_onnx_get_dynamic (graph);
  Size *size = g_new0 (Size, 1);

  size->types = g_array_copy ((GArray *) types);
  size->results = cleave_types_of_outputs (graph);
  size->dynamic = dynamic == NULL ? NULL : cleave_onnx_dynamic_ref (dynamic);
  size->compiled = compiled;
  g_ptr_array_insert (self->sizes, 0, size);
  if (self->sizes->len > MAX_SHAPES)
    g_ptr_array_set_size (self->sizes, MAX_SHAPES);
  return size;
}

static Size *
learn_size (CleaveShapedProgram *self, const GArray *types, GError **error)
{
  const CleaveCompiled *largest = get_largest (self);
  g_autoptr (CleaveGraph) graph = NULL;
  CleaveCompiled *compiled;

  if (!cleave_types_check (types, largest->types, largest->graph, error))
    return NULL;
  if (cleave_types_equal (types, largest->types))
    return add_size (self, types, largest->graph, self->programs.all->pdata[0]);
  graph = cleave_types_load (self->path, self->options, types, largest->graph, error);
  if (graph == NULL)
    return NULL;
  compiled = cleave_programs_find (&self->programs, graph, 2 * cleave_types_count_elements (types));
  if (compiled == NULL)
    compiled = compile_for (self, graph, types, error);
  return compiled == NULL ? NULL : add_size (self, types, graph, compiled);
}

/* Moves `size`, the combination of input shapes that was used last, to the front of self->sizes. */
static void
note_use (CleaveShapedProgram *self, Size *size)
{
  guint index;

  if (g_ptr_array_find (self->sizes, size, &index) && index > 0)
    g_ptr_array_insert (self->sizes, 0, g_ptr_array_steal_index (self->sizes, index));
}

static Size *
find_size (CleaveShapedProgram *self, const GArray *types, GError **error)
{
  Size *size = NULL;

  for (guint i = 0; i < self->sizes->len && size == NULL; i++)
    if (cleave_types_equal (((Size *) self->sizes->pdata[i])->types, types))
      size = self->sizes->pdata[i];
  if (size == NULL)
    size = learn_size (self, types, error);
  if (size != NULL)
    note_use (self, size);
  return size;
}

/* The following functions run the program and the dynamic part. */

/* Runs the dynamic part on the inputs and outputs of the static part. */
static GPtrArray *
run_dynamic (CleaveShapedProgram *self,
             const Size *size,
             CleaveTensor *const *inputs,
             guint n_inputs,
             GPtrArray *outputs,
             GError **error)
{
  const CleaveGraph *graph = size->compiled->graph;
  const guint n_static = size->types->len;
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GPtrArray) values = g_ptr_array_new ();

  for (guint i = 0; i < size->types->len; i++)
    {
      g_ptr_array_add (names, cleave_result_dup_name (cleave_graph_get_input (graph, i)));
      g_ptr_array_add (values, inputs[i]);
    }
  for (guint i = 0; i < outputs->len; i++)
    {
      g_ptr_array_add (names, g_strdup (cleave_graph_get_output_name (graph, i)));
      g_ptr_array_add (values, outputs->pdata[i]);
    }
  if (!cleave_dynamic_program_add_lists (size->dynamic, inputs + n_static, n_inputs - n_static,
                                         names, values, error))
    return NULL;
  if (self->tails == NULL)
    self->tails = cleave_dynamic_program_new (size->dynamic, &self->programs.options);
  return cleave_dynamic_program_run_part (
      self->tails, size->dynamic, (const char *const *) names->pdata,
      (CleaveTensor *const *) values->pdata, values->len, NULL, error);
}

/* Returns how many of the `n_inputs` tensors of a run are inputs of the graph; these tensors come
 * first. The remaining tensors are inputs of the dynamic part that are lists: sequences and
 * optional values. For each list, there is a tensor with the number of entries, then a tensor for
 * each entry. */
static guint
count_static (const CleaveShapedProgram *self, guint n_inputs)
{
  const CleaveGraph *graph = get_largest (self)->graph;

  return cleave_onnx_get_dynamic (graph) == NULL
             ? n_inputs
             : MIN (n_inputs, cleave_graph_get_n_inputs (graph));
}

/* The following functions are public. */

/**
 * cleave_shaped_program_new:
 * @path: (type filename): a model's file
 * @options: (nullable): the largest shapes of the inputs, as [func@Cleave.Graph.load] takes them
 * @program: (nullable): the number of threads and the kind of kernels; %NULL for the defaults
 * @max_programs: the number of programs to keep in memory, each with its packed weights, at most
 * 1024; 0 for 8
 * @error: return location for a [struct@GLib.Error]
 *
 * Compiles a model for the largest shapes of its inputs. [method@Cleave.ShapedProgram.run] takes
 * inputs of these or smaller shapes. The file must not change.
 *
 * Fails as [func@Cleave.Graph.load] and [ctor@Cleave.Program.new] do, and with
 * %CLEAVE_ERROR_OPTION if @max_programs is too large.
 *
 * Returns: (transfer full) (nullable): the programs
 *
 * Since: 0.2
 */
CleaveShapedProgram *
cleave_shaped_program_new (const char *path,
                           const CleaveOnnxOptions *options,
                           const CleaveProgramOptions *program,
                           guint max_programs,
                           GError **error)
{
  g_autoptr (CleaveShapedProgram) self = NULL;
  CleaveGraph *graph;

  g_return_val_if_fail (path != NULL, NULL);
  if (max_programs > MAX_PROGRAMS)
    return cleave_fail_null (error, CLEAVE_ERROR_OPTION,
                             "the number of programs must be at most %d, not %u", MAX_PROGRAMS,
                             max_programs);
  self = g_atomic_rc_box_new0 (CleaveShapedProgram);
  self->path = g_strdup (path);
  self->options = options == NULL ? NULL : cleave_onnx_options_copy (options);
  cleave_programs_init (&self->programs, program,
                        max_programs > 0 ? max_programs : DEFAULT_PROGRAMS, G_MAXINT64);
  self->programs.keeps_first = TRUE;
  self->sizes = g_ptr_array_new_with_free_func (size_free);
  graph = cleave_graph_load (path, options, error);
  if (graph == NULL || compile (self, graph, error) == NULL)
    return NULL;
  return g_steal_pointer (&self);
}

/**
 * cleave_shaped_program_get_graph:
 * @shaped_program: the programs of a model
 *
 * Returns: (transfer none): the graph for the largest shapes, as it was loaded
 *
 * Since: 0.2
 */
CleaveGraph *
cleave_shaped_program_get_graph (const CleaveShapedProgram *shaped_program)
{
  g_return_val_if_fail (shaped_program != NULL, NULL);
  return get_largest (shaped_program)->graph;
}

/**
 * cleave_shaped_program_run:
 * @shaped_program: the programs of a model
 * @inputs: (array length=n_inputs): a tensor for each input, in the order of the graph's inputs;
 *   then the tensors of [method@Cleave.OnnxDynamic.get_inputs], in the form of
 *   [method@Cleave.OnnxDynamic.run]
 * @n_inputs: number of inputs
 * @error: return location for a [struct@GLib.Error]
 *
 * Runs the model. Extents of inputs may be smaller than the extents of the compilation. The outputs
 * have the bits of a program that is made for exactly these shapes.
 *
 * If each output row needs only the input row with the same index, as in a batch, a program for
 * larger inputs runs. This function pads the inputs to at most about twice the elements. If an
 * output row needs several input rows, a program is compiled for each shape when the shape first
 * occurs. If there are too many programs, the program that was not used for the longest time is
 * freed.
 *
 * Fails with %CLEAVE_ERROR_OPTION if an input has another element type or rank or a larger extent,
 * and as [func@Cleave.Graph.load], [ctor@Cleave.Program.new] and [method@Cleave.OnnxDynamic.run]
 * do.
 *
 * Returns: (transfer container) (nullable) (element-type CleaveTensor): the outputs of the graph;
 * if the model has a dynamic part, the outputs of the model
 * ([method@Cleave.OnnxDynamic.get_outputs])
 *
 * Since: 0.2
 */
GPtrArray *
cleave_shaped_program_run (CleaveShapedProgram *shaped_program,
                           CleaveTensor *const *inputs,
                           guint n_inputs,
                           GError **error)
{
  g_autoptr (GArray) types = NULL;
  g_autoptr (GPtrArray) outputs = NULL;
  guint n_static;
  Size *size;

  g_return_val_if_fail (shaped_program != NULL && (inputs != NULL || n_inputs == 0), NULL);
  for (guint i = 0; i < n_inputs; i++)
    g_return_val_if_fail (inputs[i] != NULL, NULL);
  n_static = count_static (shaped_program, n_inputs);
  types = cleave_types_of_tensors (inputs, n_static);
  size = find_size (shaped_program, types, error);
  outputs = size == NULL ? NULL : cleave_tensors_new (size->results, error);
  if (outputs == NULL || !cleave_programs_run (&shaped_program->programs, size->compiled, inputs,
                                               n_static, outputs, error))
    return NULL;
  return size->dynamic == NULL
             ? g_steal_pointer (&outputs)
             : run_dynamic (shaped_program, size, inputs, n_inputs, outputs, error);
}

/**
 * cleave_shaped_program_get_stats:
 * @shaped_program: the programs of a model
 * @stats: (out caller-allocates): numbers of programs, shapes and runs
 *
 * Returns counts of programs and runs.
 *
 * Since: 0.2
 */
void
cleave_shaped_program_get_stats (const CleaveShapedProgram *shaped_program,
                                 CleaveShapedStats *stats)
{
  g_return_if_fail (shaped_program != NULL && stats != NULL);
  *stats = cleave_programs_get_stats (&shaped_program->programs, shaped_program->sizes->len);
}

/**
 * cleave_shaped_program_ref:
 * @shaped_program: the programs of a model
 *
 * Takes a reference.
 *
 * Returns: (transfer full): @shaped_program
 *
 * Since: 0.2
 */
/**
 * cleave_shaped_program_unref:
 * @shaped_program: (nullable) (transfer full): the programs of a model
 *
 * Drops a reference. The last one frees all programs.
 *
 * Since: 0.2
 */
CLEAVE_DEFINE_COUNTED (CleaveShapedProgram, shaped_program, clear)
CLEAVE_DEFINE_VALUE (CleaveShapedStats, shaped_stats)
