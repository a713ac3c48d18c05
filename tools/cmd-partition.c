/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `cleave partition`: writes a model as several models: its parallel subgraphs, or consecutive
 * parts. */

#include "arguments.h"
#include "commands.h"
#include "dynamic.h"
#include "json.h"
#include "model.h"
#include "output-names.h"
#include "outputs.h"
#include "sizes.h"

#include <stdio.h>
#include <string.h>

typedef struct
{
  CleaveModelOptions model;
  char *folder, *n_parts, *max_bytes, *drawing;
  char **at;
} Options;

/* The files that the command writes for a part, and the sizes that it prints for the part. */
typedef struct
{
  char *file;
  gint64 weight_bytes, arena_bytes;
  gint64 read_bytes; /* bytes that the part reads from other parts */
} Part;

static void
part_clear (gpointer data)
{
  g_free (((Part *) data)->file);
}

static void
add_values (CleaveJson *json, const char *name, const CleaveGraph *graph, gboolean inputs)
{
  guint n = inputs ? cleave_graph_get_n_inputs (graph) : cleave_graph_get_n_outputs (graph);

  cleave_json_begin_list (json, name);
  for (guint i = 0; i < n; i++)
    {
      const CleaveResult *value =
          inputs ? cleave_graph_get_input (graph, i)
                 : cleave_operand_get_result (cleave_graph_get_output (graph, i));
      g_autofree char *own = inputs ? cleave_result_dup_name (value)
                                    : g_strdup (cleave_graph_get_output_name (graph, i));

      cleave_json_begin (json, NULL);
      cleave_json_string (json, "name", own);
      cleave_json_type (json, cleave_result_get_type (value));
      cleave_json_end (json);
    }
  cleave_json_end_list (json);
}

/* Returns, for each part, the names (GPtrArray) of the values that can be freed after the part has
 * run. A value is an input of the model or a result of a part, and no later part reads it. Leaves
 * out the outputs of the model. */
static GPtrArray *
find_freed (const CleavePartition *partition, const CleaveGraph *graph)
{
  g_autoptr (GHashTable) kept = g_hash_table_new (g_str_hash, g_str_equal);
  GPtrArray *freed = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
  guint n = cleave_partition_get_n_parts (partition);

  for (guint i = 0; i < cleave_graph_get_n_outputs (graph); i++)
    g_hash_table_add (kept, (gpointer) cleave_partition_get_output_value (partition, i));
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (freed, g_ptr_array_new_with_free_func (g_free));
  for (guint i = n; i-- > 0;)
    {
      const CleaveGraph *part = cleave_partition_get_graph (partition, i);
      GPtrArray *names = g_ptr_array_index (freed, i);

      for (guint k = 0; k < cleave_graph_get_n_inputs (part); k++)
        {
          g_autofree char *name = cleave_result_dup_name (cleave_graph_get_input (part, k));

          if (g_hash_table_contains (kept, name))
            continue;
          g_ptr_array_add (names, g_strdup (name));
          g_hash_table_add (kept, g_ptr_array_index (names, names->len - 1));
        }
    }
  return freed;
}

static void
add_part (CleaveJson *json,
          const CleavePartition *partition,
          guint index,
          const Part *part,
          const GPtrArray *freed)
{
  const CleaveGraph *graph = cleave_partition_get_graph (partition, index);

  cleave_json_begin (json, NULL);
  cleave_json_string (json, "file", part->file);
  cleave_json_int (json, "level", cleave_partition_get_level (partition, index));
  cleave_json_int (json, "subgraph", cleave_partition_get_subgraph (partition, index));
  cleave_json_begin_list (json, "after");
  for (guint i = 0; i < cleave_partition_get_n_before (partition, index); i++)
    cleave_json_int (json, NULL, cleave_partition_get_before (partition, index, i));
  cleave_json_end_list (json);
  add_values (json, "reads", graph, TRUE);
  add_values (json, "writes", graph, FALSE);
  cleave_json_begin_list (json, "frees");
  for (guint i = 0; i < freed->len; i++)
    cleave_json_string (json, NULL, freed->pdata[i]);
  cleave_json_end_list (json);
  cleave_json_int (json, "nodes", cleave_graph_count_operators (graph));
  cleave_json_int (json, "macs", cleave_graph_get_macs (graph));
  cleave_json_int (json, "weight_bytes", part->weight_bytes);
  cleave_json_int (json, "arena_bytes", part->arena_bytes);
  cleave_json_int (json, "read_bytes", part->read_bytes);
  cleave_json_end (json);
}

static void
add_outputs (CleaveJson *json, const CleavePartition *partition, const CleaveGraph *graph)
{
  cleave_json_begin_list (json, "outputs");
  for (guint i = 0; i < cleave_graph_get_n_outputs (graph); i++)
    {
      cleave_json_begin (json, NULL);
      cleave_json_string (json, "name", cleave_graph_get_output_name (graph, i));
      cleave_json_string (json, "value", cleave_partition_get_output_value (partition, i));
      cleave_json_end (json);
    }
  cleave_json_end_list (json);
}

/* Returns the schedule as JSON. */
static GBytes *
make_schedule (const CleavePartition *partition, const CleaveGraph *graph, const GArray *parts)
{
  g_autoptr (CleaveJson) json = cleave_json_new ();
  g_autoptr (GPtrArray) freed = find_freed (partition, graph);
  char *text;

  cleave_json_begin (json, NULL);
  add_values (json, "inputs", graph, TRUE);
  add_outputs (json, partition, graph);
  cleave_json_begin_list (json, "parts");
  for (guint i = 0; i < parts->len; i++)
    add_part (json, partition, i, &g_array_index (parts, Part, i), freed->pdata[i]);
  cleave_json_end_list (json);
  cleave_json_end (json);
  text = cleave_json_to_string (json);
  return g_bytes_new_take (text, strlen (text));
}

/* Returns the bytes that a part reads from other parts. */
static gint64
count_read_bytes (const CleaveGraph *part, GHashTable *inputs)
{
  gint64 n_bytes = 0;

  for (guint i = 0; i < cleave_graph_get_n_inputs (part); i++)
    {
      const CleaveResult *value = cleave_graph_get_input (part, i);
      g_autofree char *name = cleave_result_dup_name (value);

      if (!g_hash_table_contains (inputs, name))
        n_bytes += cleave_tensor_type_n_bytes (cleave_result_get_type (value));
    }
  return n_bytes;
}

/* Returns the sizes and the file names of all parts. */
static GArray *
list_parts (const CleavePartition *partition, const CleaveGraph *graph, GError **error)
{
  g_autoptr (GArray) parts = g_array_new (FALSE, TRUE, sizeof (Part));
  g_autoptr (GHashTable) inputs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  g_array_set_clear_func (parts, part_clear);
  g_array_set_size (parts, cleave_partition_get_n_parts (partition));
  for (guint i = 0; i < cleave_graph_get_n_inputs (graph); i++)
    g_hash_table_add (inputs, cleave_result_dup_name (cleave_graph_get_input (graph, i)));
  for (guint i = 0; i < parts->len; i++)
    {
      Part *part = &g_array_index (parts, Part, i);

      if (!cleave_partition_measure (partition, i, &part->weight_bytes, &part->arena_bytes, error))
        return NULL;
      part->file = g_strdup_printf ("part-%03u.onnx", i);
      part->read_bytes = count_read_bytes (cleave_partition_get_graph (partition, i), inputs);
    }
  return g_steal_pointer (&parts);
}

static gboolean
add_drawing (CleaveOutputs *outputs,
             const CleavePartition *partition,
             const CleaveGraph *graph,
             const char *path,
             GError **error)
{
  g_autofree int *part = g_new (int, cleave_graph_get_n_nodes (graph) + 1);
  CleaveDotOptions options = { .ranks = part,
                               .n_ranks = cleave_graph_get_n_nodes (graph),
                               .rank_word = "part" };
  guint i = 0;

  for (CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL;
       node = cleave_node_get_next (node))
    part[i++] = cleave_partition_find (partition, node);
  return cleave_outputs_add_drawing (outputs, path, graph, &options, error);
}

static void
print_parts (const CleavePartition *partition, const GArray *parts)
{
  gint64 n_bytes = 0;
  g_autofree char *sum = NULL;

  printf ("%-14s %6s %14s %14s %14s %14s\n", "part", "nodes", "MACs", "weights", "activations",
          "reads");
  for (guint i = 0; i < parts->len; i++)
    {
      const Part *part = &g_array_index (parts, Part, i);
      const CleaveGraph *graph = cleave_partition_get_graph (partition, i);
      g_autofree char *macs = cleave_macs_to_string (cleave_graph_get_macs (graph));
      g_autofree char *weights = cleave_size_to_print (part->weight_bytes);
      g_autofree char *arena = cleave_size_to_print (part->arena_bytes);
      g_autofree char *read = cleave_size_to_print (part->read_bytes);

      printf ("%-14s %6u %14s %14s %14s %14s\n", part->file, cleave_graph_count_operators (graph),
              macs, weights, arena, read);
      n_bytes += part->read_bytes;
    }
  sum = cleave_size_to_print (n_bytes);
  printf ("%u part%s, which read %s of each other\n"
          "activations: the arena of one thread, the inputs and outputs of the part "
          "included\n",
          parts->len, CLEAVE_PLURAL (parts->len), sum);
}

static gboolean
write_parts (const CleavePartition *partition,
             const CleaveGraph *graph,
             const Options *o,
             GError **error)
{
  g_autoptr (CleaveOutputs) outputs = cleave_outputs_new ();
  g_autoptr (GArray) parts = list_parts (partition, graph, error);
  g_autofree char *path = g_build_filename (o->folder, "schedule.json", NULL);
  g_autoptr (GBytes) schedule = NULL;

  if (parts == NULL)
    return FALSE;
  for (guint i = 0; i < parts->len; i++)
    {
      g_autofree char *file =
          g_build_filename (o->folder, g_array_index (parts, Part, i).file, NULL);

      if (!cleave_outputs_add_model (outputs, file, cleave_partition_get_graph (partition, i),
                                     error))
        return FALSE;
    }
  schedule = make_schedule (partition, graph, parts);
  if ((o->drawing != NULL && !add_drawing (outputs, partition, graph, o->drawing, error)) ||
      !cleave_outputs_add_bytes (outputs, path, schedule, error) ||
      !cleave_outputs_commit (outputs, error))
    return FALSE;
  print_parts (partition, parts);
  cleave_dynamic_warn_left_out (graph);
  return TRUE;
}

/* Partitions the graph as the options say: into its parallel subgraphs or into consecutive
 * parts. Returns NULL on error. */
static CleavePartition *
partition (const CleaveGraph *graph, const Options *o, GError **error)
{
  gint64 number;

  if (o->n_parts != NULL)
    return cleave_text_to_int ("--parts", o->n_parts, 1, 1000, &number, error)
               ? cleave_partition_new_by_count (graph, (guint) number, error)
               : NULL;
  if (o->max_bytes != NULL)
    return cleave_text_to_size ("--max-bytes", o->max_bytes, &number, error)
               ? cleave_partition_new_by_bytes (graph, number, error)
               : NULL;
  if (o->at != NULL)
    return cleave_partition_new_at (graph, (const char *const *) o->at, error);
  return cleave_partition_new (graph, error);
}

static char **
parse (int argc, char **argv, Options *o, GError **error)
{
  const GOptionEntry entries[] = {
    { "output-dir", 'd', 0, G_OPTION_ARG_FILENAME, &o->folder,
      "write part-000.onnx, … and schedule.json to this folder", "DIR" },
    { "parts", 0, 0, G_OPTION_ARG_STRING, &o->n_parts,
      "cut into this many consecutive parts, where the fewest bytes cross", "N" },
    { "at", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o->at,
      "cut into consecutive parts: one ends with this value; may be given again", "VALUE" },
    { "max-bytes", 0, 0, G_OPTION_ARG_STRING, &o->max_bytes,
      "cut into consecutive parts, whose weights and activations take at most this", "SIZE" },
    { "dot", 0, 0, G_OPTION_ARG_FILENAME, &o->drawing,
      "also draw the model with its parts framed: .dot, .svg or .png by its ending", "FILE" },
    CLEAVE_BYTES_OPTION,
    CLEAVE_MODEL_OPTIONS (o->model),
    CLEAVE_FORCE_OPTION (o->model),
    G_OPTION_ENTRY_NULL,
  };
  const CleaveArguments arguments = {
    entries, NULL, "MODEL.onnx",
    "Write each parallel subgraph of a model, and the nodes between, as separate models;\nor, "
    "with --parts, --at or --max-bytes, models that follow each other.",
    1
  };
  g_auto (GStrv) files = cleave_argument_parse (&arguments, argc, argv, error);

  if (files == NULL)
    return NULL;
  if (o->folder == NULL)
    return cleave_argument_fail (error, "-d DIR is missing: name a folder for the parts"), NULL;
  if ((o->n_parts != NULL) + (o->at != NULL) + (o->max_bytes != NULL) > 1)
    return cleave_argument_fail (error, "give one of --parts, --at and --max-bytes"), NULL;
  if (!cleave_output_name_check_folder (o->folder, error) ||
      !cleave_output_name_check_drawings (o->drawing, NULL, error))
    return NULL;
  return g_steal_pointer (&files);
}

int
cleave_cmd_partition (int argc, char **argv, GError **error)
{
  Options o = { 0 };
  g_auto (GStrv) files = parse (argc, argv, &o, error);
  g_autoptr (CleaveGraph) graph =
      files == NULL ? NULL : cleave_model_load (files[0], &o.model, error);
  g_autoptr (CleavePartition) parts = graph == NULL ? NULL : partition (graph, &o, error);

  if (parts == NULL)
    return CLEAVE_WRONG;
  if (!cleave_output_make_folder (o.folder, error))
    return CLEAVE_WRONG;
  return write_parts (parts, graph, &o, error) ? CLEAVE_DONE : CLEAVE_WRONG;
}
