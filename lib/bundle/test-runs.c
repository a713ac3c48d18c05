/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs a graph on random inputs, for the test of a bundle. */

#include "test-runs.h"

#include <cleave/cleave-program.h>
#include <string.h>

/* a bundle with states runs this many times */
#define RUNS_WITH_STATES 4

/* The functions below draw random inputs. */

static guint32
draw (guint32 *seed)
{
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

static void
fill (CleaveTensor *tensor, guint32 *seed)
{
  CleaveElement element = cleave_tensor_get_type (tensor)->element;
  gsize n = (gsize) cleave_shape_n_elements (&cleave_tensor_get_type (tensor)->shape);
  gpointer data = cleave_tensor_get_mutable_data (tensor);

  for (gsize i = 0; i < n; i++)
    if (element == CLEAVE_FLOAT32)
      ((float *) data)[i] = (float) ((int) (draw (seed) % 2001) - 1000) / 1000;
    else if (element == CLEAVE_FLOAT64)
      ((double *) data)[i] = (double) ((int) (draw (seed) % 2001) - 1000) / 1000;
    else if (element == CLEAVE_BOOL)
      ((guint8 *) data)[i] = draw (seed) & 1;
    else
      for (gsize k = 0; k < cleave_element_size (element); k++)
        ((guint8 *) data)[i * cleave_element_size (element) + k] = (guint8) draw (seed);
}

/* The functions below convert values to the memory order of the bundle. */

/* Returns a copy of the elements of a tensor in the order in which a bundle stores them: channels
 * innermost. The caller frees it. */
static gpointer
copy_in_memory_order (CleaveTensor *tensor, const CleaveResult *value)
{
  CleaveBundleImage image = cleave_bundle_image (value);
  const CleaveShape *shape = &value->type.shape;
  gsize size = cleave_element_size (value->type.element);
  gsize n = (gsize) cleave_shape_n_elements (shape);
  gint last[] = { image.row_dim, image.column_dim, image.channel_dim };
  const gint64 *strides = cleave_tensor_get_strides (tensor);
  const char *from = cleave_tensor_get_data (tensor);
  char *to = g_malloc (MAX (n * size, 1));
  guint order[CLEAVE_MAX_RANK], rank = 0;
  gint64 at[CLEAVE_MAX_RANK] = { 0 };

  for (gint d = 0; d < (gint) shape->rank; d++)
    if (d != last[0] && d != last[1] && d != last[2])
      order[rank++] = (guint) d;
  for (guint i = 0; i < G_N_ELEMENTS (last); i++)
    if (last[i] >= 0)
      order[rank++] = (guint) last[i];
  for (gsize i = 0; i < n; i++)
    {
      gint64 offset = 0;

      for (guint d = 0; d < shape->rank; d++)
        offset += at[d] * strides[d];
      memcpy (to + i * size, from + offset * (gint64) size, size);
      for (guint k = rank; k-- > 0;)
        {
          if (++at[order[k]] < shape->dim[order[k]])
            break;
          at[order[k]] = 0;
        }
    }
  return to;
}

/* The functions below run the program. */

static void
append (GPtrArray *bytes, guint i, CleaveTensor *tensor, const CleaveResult *value)
{
  g_autofree guint8 *data = copy_in_memory_order (tensor, value);

  g_byte_array_append (bytes->pdata[i], data, (guint) cleave_tensor_type_n_bytes (&value->type));
}

static gboolean
add_port (GPtrArray *tensors, GPtrArray *bytes, const CleaveResult *value, GError **error)
{
  CleaveTensor *tensor = cleave_tensor_new (&value->type, error);

  if (tensor == NULL)
    return FALSE;
  g_ptr_array_add (tensors, tensor);
  g_ptr_array_add (bytes, g_byte_array_new ());
  return TRUE;
}

static gboolean
add_ports (CleaveBundleRuns *r, GError **error)
{
  const CleaveGraph *graph = r->bundle->model->graph;

  for (guint i = 0; i < cleave_graph_get_n_inputs (graph); i++)
    if (!add_port (r->inputs, r->input_bytes, cleave_graph_get_input (graph, i), error))
      return FALSE;
  for (guint i = 0; i < cleave_graph_get_n_outputs (graph); i++)
    if (!add_port (r->outputs, r->output_bytes,
                   cleave_operand_get_result (cleave_graph_get_output (graph, i)), error))
      return FALSE;
  return TRUE;
}

/* Sets the inputs of run number `run`: random numbers, or for a state, the output of the previous
 * run. */
static void
set_inputs (CleaveBundleRuns *r, guint run, guint32 *seed)
{
  for (guint i = 0; i < r->inputs->len; i++)
    {
      const CleaveBundleKept *kept = cleave_bundle_find_kept (r->bundle->model, i, TRUE);
      gpointer data = cleave_tensor_get_mutable_data (r->inputs->pdata[i]);

      if (kept == NULL)
        fill (r->inputs->pdata[i], seed);
      else if (run == 0)
        memset (data, (guint8) kept->start, (gsize) kept->n_bytes);
      else
        memcpy (data, cleave_tensor_get_data (r->outputs->pdata[kept->output]),
                (gsize) kept->n_bytes);
    }
}

static gboolean
run (CleaveBundleRuns *r, GError **error)
{
  const CleaveGraph *graph = r->bundle->model->graph;
  g_autoptr (CleaveProgram) program = NULL;
  CleaveProgramOptions options = { .n_threads = 1 };
  guint32 seed = 12345;

  if (!add_ports (r, error))
    return FALSE;
  program = cleave_program_new (r->bundle->model->source, &options, error);
  if (program == NULL ||
      !cleave_program_bind (program, (CleaveTensor *const *) r->inputs->pdata, r->inputs->len,
                            (CleaveTensor *const *) r->outputs->pdata, r->outputs->len, error))
    return FALSE;
  for (guint i = 0; i < r->n_runs; i++)
    {
      set_inputs (r, i, &seed);
      for (guint k = 0; k < r->inputs->len; k++)
        append (r->input_bytes, k, r->inputs->pdata[k], cleave_graph_get_input (graph, k));
      cleave_program_run (program);
      for (guint k = 0; k < r->outputs->len; k++)
        append (r->output_bytes, k, r->outputs->pdata[k],
                cleave_operand_get_result (cleave_graph_get_output (graph, k)));
    }
  return TRUE;
}

gboolean
cleave_bundle_runs_init (CleaveBundleRuns *r, const CleaveBundle *bundle, GError **error)
{
  GDestroyNotify drop_tensor = (GDestroyNotify) cleave_tensor_unref;
  GDestroyNotify drop_bytes = (GDestroyNotify) g_byte_array_unref;

  *r = (CleaveBundleRuns){ .bundle = bundle,
                           .n_runs = bundle->model->states->len > 0 ? RUNS_WITH_STATES : 1,
                           .inputs = g_ptr_array_new_with_free_func (drop_tensor),
                           .outputs = g_ptr_array_new_with_free_func (drop_tensor),
                           .input_bytes = g_ptr_array_new_with_free_func (drop_bytes),
                           .output_bytes = g_ptr_array_new_with_free_func (drop_bytes) };
  return run (r, error);
}

void
cleave_bundle_runs_clear (CleaveBundleRuns *r)
{
  g_ptr_array_unref (r->inputs);
  g_ptr_array_unref (r->outputs);
  g_ptr_array_unref (r->input_bytes);
  g_ptr_array_unref (r->output_bytes);
}
