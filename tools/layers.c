/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Cuts a graph into parts within a memory limit, and runs the parts one after the other. A table of
 * values holds the results that later parts read. While a part runs, the system reads the weights
 * of the next part. */

#include "layers.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Memory in bytes of the command itself, without tensors: 20 MiB measured for 24 nodes. */
#define OWN_BYTES (32 * 1024 * 1024)

/* Bytes of the smallest constant that is read ahead: one page. */
#define MIN_PREFETCH 4096

typedef struct
{
  GPtrArray *graphs;  /* CleaveGraph: the parts that have not run */
  GHashTable *values; /* maps the name of a value to its CleaveTensor, if a part has computed the
                         value and later parts read it */
  GHashTable *n_left; /* maps the name of a value to the number of parts that will still read it,
                         plus 1 if the value is an output of the model */
  guint n_threads;
} Run;

static void
run_clear (Run *run)
{
  g_clear_pointer (&run->graphs, g_ptr_array_unref);
  g_clear_pointer (&run->values, g_hash_table_unref);
  g_clear_pointer (&run->n_left, g_hash_table_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Run, run_clear)

/* Returns the bytes of all constants of a graph. If `only_largest` is TRUE, returns the bytes of
 * the largest constant. */
static gint64
count_weights (const CleaveGraph *graph, gboolean only_largest)
{
  gint64 n_bytes = 0;

  for (const CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL;
       node = cleave_node_get_next (node))
    {
      const CleaveTensor *constant = cleave_node_get_constant (node);
      gint64 n =
          constant == NULL ? 0 : cleave_tensor_type_n_bytes (cleave_tensor_get_type (constant));

      n_bytes = only_largest ? MAX (n_bytes, n) : n_bytes + n;
    }
  return n_bytes;
}

static void
add_reader (Run *run, const char *name)
{
  guint n = GPOINTER_TO_UINT (g_hash_table_lookup (run->n_left, name));

  g_hash_table_replace (run->n_left, g_strdup (name), GUINT_TO_POINTER (n + 1));
}

/* Returns the value `name` for the part of the model that runs next. Returns NULL if the table has
 * no value of this name. Removes the value from the table if neither a later part nor an output of
 * the model needs it. */
static CleaveTensor *
take_value (Run *run, const char *name)
{
  CleaveTensor *value = g_hash_table_lookup (run->values, name);
  guint n = GPOINTER_TO_UINT (g_hash_table_lookup (run->n_left, name));

  if (value == NULL)
    return NULL;
  cleave_tensor_ref (value);
  g_hash_table_replace (run->n_left, g_strdup (name), GUINT_TO_POINTER (n - 1));
  if (n <= 1)
    g_hash_table_remove (run->values, name);
  return value;
}

static CleavePartition *
cut (const CleaveGraph *graph, gint64 max_memory, CleaveLayers *layers, GError **error)
{
  gint64 besides = count_weights (graph, TRUE) + OWN_BYTES;
  g_autoptr (GError) mine = NULL;
  CleavePartition *partition =
      cleave_partition_new_by_bytes (graph, MAX (max_memory - besides, 1), &mine);
  gint64 weights, arena;

  if (g_error_matches (mine, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT))
    g_set_error (error, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT,
                 "--max-memory %" G_GINT64_FORMAT " is too little; try --max-memory "
                 "%" G_GINT64_FORMAT ", or split the largest node: besides a part, "
                 "%" G_GINT64_FORMAT
                 " bytes are needed for the largest weight and the command, and %s",
                 max_memory, besides + cleave_partition_find_least_bytes (graph, NULL), besides,
                 mine->message);
  else if (mine != NULL)
    g_propagate_error (error, g_steal_pointer (&mine));
  if (partition == NULL)
    return NULL;
  layers->n_parts = cleave_partition_get_n_parts (partition);
  for (guint i = 0; i < layers->n_parts; i++)
    if (cleave_partition_measure (partition, i, &weights, &arena, NULL))
      layers->most_bytes = MAX (layers->most_bytes, weights + arena);
  return partition;
}

/* Lists the parts and counts the readers of each value. */
static void
list_parts (Run *run, const CleavePartition *partition, const CleaveGraph *graph)
{
  run->graphs = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_graph_unref);
  for (guint i = 0; i < cleave_partition_get_n_parts (partition); i++)
    {
      CleaveGraph *part = cleave_partition_get_graph (partition, i);

      g_ptr_array_add (run->graphs, cleave_graph_ref (part));
      for (guint k = 0; k < cleave_graph_get_n_inputs (part); k++)
        {
          g_autofree char *name = cleave_result_dup_name (cleave_graph_get_input (part, k));

          add_reader (run, name);
        }
    }
  for (guint i = 0; i < cleave_graph_get_n_outputs (graph); i++)
    add_reader (run, cleave_partition_get_output_value (partition, i));
}

static void
note_stats (CleaveExecution *e, const CleaveExecution *part)
{
  e->min_ms += part->min_ms;
  e->median_ms += part->median_ms;
  e->stats.n_threads = MAX (e->stats.n_threads, part->stats.n_threads);
  e->stats.n_nodes += part->stats.n_nodes;
  e->stats.n_steps += part->stats.n_steps;
  e->stats.copied_bytes += part->stats.copied_bytes;
  e->stats.peak_activation_bytes =
      MAX (e->stats.peak_activation_bytes, part->stats.peak_activation_bytes);
  e->stats.arena_bytes = MAX (e->stats.arena_bytes, part->stats.arena_bytes);
  e->stats.scratch_bytes = MAX (e->stats.scratch_bytes, part->stats.scratch_bytes);
  e->stats.weight_bytes = MAX (e->stats.weight_bytes, part->stats.weight_bytes);
}

/* Asks the system to read the weights of a part from their mapped file, while the part before it
 * runs. Leaves out weights of one-byte elements: such weights may have 4 bits in the file, and are
 * unpacked into other memory when they are first read. */
static void
prefetch (const CleaveGraph *part)
{
  const guintptr page = (guintptr) sysconf (_SC_PAGESIZE);

  for (const CleaveNode *node = cleave_graph_get_first_node (part); node != NULL;
       node = cleave_node_get_next (node))
    {
      CleaveTensor *constant = cleave_node_get_constant (node);
      const CleaveTensorType *type = constant == NULL ? NULL : cleave_tensor_get_type (constant);
      guintptr begin, end;

      if (type == NULL || cleave_element_size (type->element) == 1 ||
          cleave_tensor_type_n_bytes (type) < MIN_PREFETCH)
        continue;
      begin = (guintptr) cleave_tensor_get_data (constant);
      end = begin + (guintptr) cleave_tensor_type_n_bytes (type);
      begin -= begin % page;
      /* A failure does no harm: posix_madvise() fails for memory that is not mapped from a file. */
      (void) posix_madvise ((gpointer) begin, end - begin, POSIX_MADV_WILLNEED);
    }
}

/* Compiles and runs a part, and frees the part and its weights. */
static gboolean
run_part (Run *run, CleaveGraph *part, CleaveExecution *e, CleaveLayers *layers, GError **error)
{
  g_autoptr (GPtrArray) inputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  g_auto (CleaveExecution) done = { 0 };
  gint64 begin = g_get_monotonic_time ();

  for (guint k = 0; k < cleave_graph_get_n_inputs (part); k++)
    {
      g_autofree char *name = cleave_result_dup_name (cleave_graph_get_input (part, k));

      g_ptr_array_add (inputs, take_value (run, name));
    }
  layers->read_bytes += count_weights (part, FALSE);
  if (run->graphs->len > 0)
    prefetch (run->graphs->pdata[0]);
  if (!cleave_execute_take (part, inputs, run->n_threads, 1, &done, error))
    return FALSE;
  layers->made_us += g_get_monotonic_time () - begin - (gint64) (done.min_ms * 1000);
  for (guint k = 0; k < done.outputs->len; k++)
    g_hash_table_insert (run->values, g_strdup (done.names[k]),
                         cleave_tensor_ref (done.outputs->pdata[k]));
  note_stats (e, &done);
  return TRUE;
}

/* Cuts the graph into parts, adds the inputs to the table of values, and lists the names of the
 * outputs in `outputs`. Frees the graph. */
static gboolean
prepare (Run *run,
         CleaveGraph *graph,
         const GPtrArray *inputs,
         gint64 max_memory,
         CleaveExecution *e,
         CleaveLayers *layers,
         char ***outputs,
         GError **error)
{
  g_autoptr (CleaveGraph) given = graph;
  g_autoptr (CleavePartition) partition = cut (graph, max_memory, layers, error);
  guint n = cleave_graph_get_n_outputs (graph);

  if (partition == NULL)
    return FALSE;
  run->values =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) cleave_tensor_unref);
  run->n_left = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  list_parts (run, partition, graph);
  for (guint i = 0; i < cleave_graph_get_n_inputs (graph); i++)
    g_hash_table_insert (run->values, cleave_result_dup_name (cleave_graph_get_input (graph, i)),
                         cleave_tensor_ref (inputs->pdata[i]));
  cleave_execution_note_graph (e, graph);
  *outputs = g_new0 (char *, n + 1);
  for (guint i = 0; i < n; i++)
    (*outputs)[i] = g_strdup (cleave_partition_get_output_value (partition, i));
  return TRUE;
}

gboolean
cleave_execute_layers (CleaveGraph *graph,
                       const GPtrArray *inputs,
                       guint n_threads,
                       gint64 max_memory,
                       CleaveExecution *execution,
                       CleaveLayers *layers,
                       GError **error)
{
  g_auto (Run) run = { .n_threads = n_threads };
  g_auto (GStrv) outputs = NULL;

  *layers = (CleaveLayers){ 0 };
  if (!prepare (&run, graph, inputs, max_memory, execution, layers, &outputs, error))
    return FALSE;
  while (run.graphs->len > 0)
    if (!run_part (&run, g_ptr_array_steal_index (run.graphs, 0), execution, layers, error))
      return FALSE;
  execution->outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  for (guint i = 0; outputs[i] != NULL; i++)
    g_ptr_array_add (execution->outputs, take_value (&run, outputs[i]));
  return cleave_execution_run_dynamic (inputs, execution, error);
}
