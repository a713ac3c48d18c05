/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Compiles and runs a graph, measures the time of each run, and compares two tensors. If the model
 * has a dynamic part, this part runs after the graph, once. */

#include "execute.h"

#include "dynamic.h"
#include "progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void
cleave_execution_clear (CleaveExecution *execution)
{
  g_clear_pointer (&execution->outputs, g_ptr_array_unref);
  g_clear_pointer (&execution->names, g_strfreev);
  g_clear_pointer (&execution->input_names, g_strfreev);
  g_clear_pointer (&execution->dynamic, cleave_onnx_dynamic_unref);
  g_clear_pointer (&execution->dynamic_program, cleave_dynamic_program_unref);
  g_clear_pointer (&execution->trace, g_free);
  g_clear_pointer (&execution->profile, cleave_profile_unref);
}

/* The functions below run a graph or a program. */

static GPtrArray *
make_outputs (const CleaveGraph *graph, GError **error)
{
  g_autoptr (GPtrArray) tensors =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

  for (guint i = 0; i < cleave_graph_get_n_outputs (graph); i++)
    {
      CleaveResult *result = cleave_operand_get_result (cleave_graph_get_output (graph, i));
      CleaveTensor *tensor = cleave_tensor_new (cleave_result_get_type (result), error);

      if (tensor == NULL)
        return NULL;
      g_ptr_array_add (tensors, tensor);
    }
  return g_steal_pointer (&tensors);
}

static int
compare_times (gconstpointer a, gconstpointer b)
{
  const gint64 *x = a, *y = b;

  return *x < *y ? -1 : *x > *y;
}

void
cleave_execution_note_times (CleaveExecution *execution, gint64 *times, guint n)
{
  qsort (times, n, sizeof *times, compare_times);
  execution->min_ms = (double) times[0] / 1000;
  execution->median_ms = (double) (times[(n - 1) / 2] + times[n / 2]) / 2000;
}

static void
run_and_time (CleaveProgram *program, guint repeat, CleaveExecution *execution)
{
  g_autofree gint64 *times = g_new (gint64, repeat);
  gint64 least = G_MAXINT64;
  CleaveProgressLine progress;

  cleave_progress_begin (&progress, "run");
  for (guint i = 0; i < repeat; i++)
    {
      gint64 begin = g_get_monotonic_time ();

      cleave_program_run (program);
      times[i] = g_get_monotonic_time () - begin;
      if (execution->wants_trace && times[i] < least)
        {
          least = times[i];
          g_free (execution->trace);
          execution->trace = cleave_program_dup_trace (program);
        }
      cleave_progress_tell (&progress, i + 1, repeat);
    }
  cleave_progress_end (&progress);
  cleave_execution_note_times (execution, times, repeat);
}

static char **
dup_output_names (const CleaveGraph *graph)
{
  guint n = cleave_graph_get_n_outputs (graph);
  char **names = g_new0 (char *, n + 1);

  for (guint i = 0; i < n; i++)
    names[i] = g_strdup (cleave_graph_get_output_name (graph, i));
  return names;
}

static char **
dup_input_names (const CleaveGraph *graph)
{
  guint n = cleave_graph_get_n_inputs (graph);
  char **names = g_new0 (char *, n + 1);

  for (guint i = 0; i < n; i++)
    names[i] = cleave_result_dup_name (cleave_graph_get_input (graph, i));
  return names;
}

void
cleave_execution_note_graph (CleaveExecution *execution, const CleaveGraph *graph)
{
  CleaveOnnxDynamic *dynamic = cleave_onnx_get_dynamic (graph);

  if (dynamic != NULL)
    {
      execution->dynamic = cleave_onnx_dynamic_ref (dynamic);
      execution->input_names = dup_input_names (graph);
    }
  execution->names = dup_output_names (graph);
}

gboolean
cleave_execution_prepare (CleaveExecution *execution, const CleaveGraph *graph, GError **error)
{
  cleave_execution_note_graph (execution, graph);
  execution->outputs = make_outputs (graph, error);
  return execution->outputs != NULL;
}

/* Appends the names and values of the model's inputs to `names` and `values`. The inputs of the
 * graph come first. Then, for each input that is a list, come the number of its tensors and the
 * tensors. */
static void
add_inputs (const CleaveExecution *e, const GPtrArray *inputs, GPtrArray *names, GPtrArray *values)
{
  const char *const *list = cleave_onnx_dynamic_get_inputs (e->dynamic);
  const guint n = g_strv_length (e->input_names);

  for (guint i = 0; i < n; i++)
    {
      g_ptr_array_add (names, e->input_names[i]);
      g_ptr_array_add (values, inputs->pdata[i]);
    }
  for (guint at = n; *list != NULL; list++)
    for (guint left = 1 + cleave_dynamic_list_length (inputs->pdata[at]); left > 0; left--)
      {
        g_ptr_array_add (names, (gpointer) *list);
        g_ptr_array_add (values, inputs->pdata[at++]);
      }
}

gboolean
cleave_execution_run_dynamic (const GPtrArray *inputs, CleaveExecution *e, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new (), values = g_ptr_array_new ();
  const CleaveProgramOptions options = { .n_threads = e->stats.n_threads };
  gint64 begin = g_get_monotonic_time ();
  g_autoptr (GPtrArray) outputs = NULL;

  if (e->dynamic == NULL)
    return TRUE;
  add_inputs (e, inputs, names, values);
  for (guint i = 0; i < e->outputs->len; i++)
    {
      g_ptr_array_add (names, e->names[i]);
      g_ptr_array_add (values, e->outputs->pdata[i]);
    }
  if (e->dynamic_program == NULL)
    e->dynamic_program = cleave_dynamic_program_new (e->dynamic, &options);
  outputs = cleave_dynamic_program_run (e->dynamic_program, (const char *const *) names->pdata,
                                        (CleaveTensor *const *) values->pdata, values->len,
                                        &e->dynamic_stats, error);
  if (outputs == NULL)
    return FALSE;
  e->dynamic_ms = (double) (g_get_monotonic_time () - begin) / 1000;
  g_ptr_array_set_size (e->outputs, 0);
  g_strfreev (e->names);
  e->names = cleave_dynamic_flatten (e->dynamic, cleave_onnx_dynamic_get_outputs (e->dynamic),
                                     outputs, e->outputs);
  return TRUE;
}

/* Runs a program `repeat` times and stores the outputs and times. If `program` is NULL, returns
 * FALSE: the caller has set the error. */
static gboolean
run_program (CleaveProgram *program,
             const GPtrArray *inputs,
             guint repeat,
             CleaveExecution *execution,
             GError **error)
{
  const GPtrArray *outputs = execution->outputs;
  const guint n_inputs =
      execution->input_names == NULL ? inputs->len : g_strv_length (execution->input_names);

  if (program == NULL ||
      !cleave_program_bind (program, (CleaveTensor *const *) inputs->pdata, n_inputs,
                            (CleaveTensor *const *) outputs->pdata, outputs->len, error))
    return FALSE;
  run_and_time (program, repeat, execution);
  if (execution->wants_profile)
    execution->profile = cleave_program_profile (program, repeat);
  cleave_program_get_stats (program, &execution->stats);
  return cleave_execution_run_dynamic (inputs, execution, error);
}

/* Returns a program compiled from a graph; NULL on error. If `given` is NULL, the caller keeps the
 * graph. If not, `given` points to a variable that owns the graph: the function frees the graph
 * after the compilation and sets the variable to NULL. */
static CleaveProgram *
make_program (const CleaveGraph *graph,
              CleaveGraph **given,
              guint n_threads,
              CleaveExecution *execution,
              GError **error)
{
  CleaveProgramOptions options = { .n_threads = n_threads, .trace = execution->wants_trace };

  if (!cleave_execution_prepare (execution, graph, error))
    return NULL;
  return given == NULL ? cleave_program_new (graph, &options, error)
                       : cleave_program_new_take (g_steal_pointer (given), &options, error);
}

gboolean
cleave_execute (const CleaveGraph *graph,
                const GPtrArray *inputs,
                guint n_threads,
                guint repeat,
                CleaveExecution *execution,
                GError **error)
{
  g_autoptr (CleaveProgram) program = make_program (graph, NULL, n_threads, execution, error);

  return run_program (program, inputs, repeat, execution, error);
}

gboolean
cleave_execute_take (CleaveGraph *graph,
                     const GPtrArray *inputs,
                     guint n_threads,
                     guint repeat,
                     CleaveExecution *execution,
                     GError **error)
{
  g_autoptr (CleaveGraph) given = graph;
  g_autoptr (CleaveProgram) program = make_program (graph, &given, n_threads, execution, error);

  return run_program (program, inputs, repeat, execution, error);
}

gboolean
cleave_execute_program (CleaveProgram *program,
                        const CleaveGraph *graph,
                        const GPtrArray *inputs,
                        guint repeat,
                        CleaveExecution *execution,
                        GError **error)
{
  return cleave_execution_prepare (execution, graph, error) &&
         run_program (program, inputs, repeat, execution, error);
}

/* The functions below compare tensors. */

static double
half_to_double (guint16 half)
{
  guint exponent = half >> 10 & 0x1f, fraction = half & 0x3ff;
  double value = exponent == 31  ? (fraction == 0 ? INFINITY : NAN)
                 : exponent == 0 ? ldexp (fraction, -24)
                                 : ldexp (fraction + 1024, (int) exponent - 25);

  return half >> 15 ? -value : value;
}

static double
bfloat_to_double (guint16 bfloat)
{
  guint32 bits = (guint32) bfloat << 16;
  float value;

  memcpy (&value, &bits, sizeof value);
  return (double) value;
}

static double
get_number (const CleaveTensor *tensor, gint64 i)
{
  gconstpointer data = cleave_tensor_get_data (tensor);

  switch (cleave_tensor_get_type (tensor)->element)
    {
    case CLEAVE_FLOAT32:
      return (double) ((const float *) data)[i];
    case CLEAVE_FLOAT64:
      return ((const double *) data)[i];
    case CLEAVE_FLOAT16:
      return half_to_double (((const guint16 *) data)[i]);
    case CLEAVE_BFLOAT16:
      return bfloat_to_double (((const guint16 *) data)[i]);
    case CLEAVE_INT8:
      return ((const gint8 *) data)[i];
    case CLEAVE_INT16:
      return ((const gint16 *) data)[i];
    case CLEAVE_INT32:
      return ((const gint32 *) data)[i];
    case CLEAVE_INT64:
      return (double) ((const gint64 *) data)[i];
    case CLEAVE_UINT8:
    case CLEAVE_BOOL:
      return ((const guint8 *) data)[i];
    case CLEAVE_UINT16:
      return ((const guint16 *) data)[i];
    case CLEAVE_UINT32:
      return ((const guint32 *) data)[i];
    case CLEAVE_UINT64:
      return (double) ((const guint64 *) data)[i];
    case CLEAVE_NONE:
      break;
    }
  g_assert_not_reached ();
}

CleaveDifference
cleave_compare (CleaveTensor *a, CleaveTensor *b)
{
  g_autoptr (CleaveTensor) x = cleave_tensor_dup_canonical (a), y = cleave_tensor_dup_canonical (b);
  const CleaveTensorType *type = cleave_tensor_get_type (x);
  gsize size = cleave_element_size (type->element);
  gint64 n = cleave_shape_n_elements (&type->shape);
  const char *p = cleave_tensor_get_data (x), *q = cleave_tensor_get_data (y);
  CleaveDifference difference = { 0 };

  for (gint64 i = 0; i < n; i++)
    {
      double distance;

      if (memcmp (p + (gsize) i * size, q + (gsize) i * size, size) == 0)
        continue;
      distance = fabs (get_number (x, i) - get_number (y, i));
      difference.largest = MAX (difference.largest, isnan (distance) ? INFINITY : distance);
      difference.n_different++;
    }
  return difference;
}
