/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `cleave partition`: writes each parallel subgraph of a model as a model of its own. */

#include "arguments.h"
#include "commands.h"
#include "json.h"
#include "model.h"
#include "outputs.h"

#include <string.h>

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

static void
add_part (CleaveJson *json, const CleavePartition *partition, guint index, const char *file)
{
  const CleaveGraph *graph = cleave_partition_get_graph (partition, index);

  cleave_json_begin (json, NULL);
  cleave_json_string (json, "file", file);
  cleave_json_int (json, "level", cleave_partition_get_level (partition, index));
  cleave_json_int (json, "subgraph", cleave_partition_get_subgraph (partition, index));
  cleave_json_begin_list (json, "after");
  for (guint i = 0; i < cleave_partition_get_n_before (partition, index); i++)
    cleave_json_int (json, NULL, cleave_partition_get_before (partition, index, i));
  cleave_json_end_list (json);
  add_values (json, "reads", graph, TRUE);
  add_values (json, "writes", graph, FALSE);
  cleave_json_int (json, "nodes", cleave_graph_count_operators (graph));
  cleave_json_int (json, "macs", cleave_graph_get_macs (graph));
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

static gboolean
write_parts (const CleavePartition *partition,
             const CleaveGraph *graph,
             const char *folder,
             GError **error)
{
  g_autoptr (CleaveOutputs) outputs = cleave_outputs_new ();
  g_autoptr (CleaveJson) json = cleave_json_new ();
  g_autofree char *path = g_build_filename (folder, "schedule.json", NULL), *text = NULL;
  g_autoptr (GBytes) bytes = NULL;

  cleave_json_begin (json, NULL);
  add_values (json, "inputs", graph, TRUE);
  add_outputs (json, partition, graph);
  cleave_json_begin_list (json, "parts");
  for (guint i = 0; i < cleave_partition_get_n_parts (partition); i++)
    {
      g_autofree char *file = g_strdup_printf ("part-%03u.onnx", i);
      g_autofree char *part = g_build_filename (folder, file, NULL);

      add_part (json, partition, i, file);
      if (!cleave_outputs_add_model (outputs, part, cleave_partition_get_graph (partition, i),
                                     error))
        return FALSE;
    }
  cleave_json_end_list (json);
  cleave_json_end (json);
  text = cleave_json_to_string (json);
  bytes = g_bytes_new (text, strlen (text));
  return cleave_outputs_add_bytes (outputs, path, bytes, error) &&
         cleave_outputs_commit (outputs, error);
}

int
cleave_cmd_partition (int argc, char **argv, GError **error)
{
  g_auto (CleaveModelOptions) model = { 0 };
  g_autofree char *folder = NULL;
  const GOptionEntry entries[] = {
    { "directory", 'd', 0, G_OPTION_ARG_FILENAME, &folder,
      "Where to write part-000.onnx, … and schedule.json", "DIR" },
    CLEAVE_MODEL_OPTIONS (model),
    CLEAVE_FORCE_OPTION (model),
    G_OPTION_ENTRY_NULL,
  };
  const CleaveArguments arguments = {
    entries, NULL, "MODEL.onnx",
    "Takes a model apart: each parallel subgraph, and what lies between, as a model of its own.", 1
  };
  g_auto (GStrv) files = cleave_argument_parse (&arguments, argc, argv, error);
  g_autoptr (CleaveGraph) graph = NULL;
  g_autoptr (CleavePartition) partition = NULL;

  if (files == NULL)
    return CLEAVE_WRONG;
  if (folder == NULL)
    {
      cleave_argument_fail (error, "-d DIR is missing");
      return CLEAVE_WRONG;
    }
  graph = cleave_model_load (files[0], &model, error);
  partition = graph == NULL ? NULL : cleave_partition_new (graph, error);
  if (partition == NULL)
    return CLEAVE_WRONG;
  if (g_mkdir_with_parents (folder, 0777) != 0)
    {
      cleave_argument_fail (error, "'%s' cannot be made", folder);
      return CLEAVE_WRONG;
    }
  return write_parts (partition, graph, folder, error) ? CLEAVE_DONE : CLEAVE_WRONG;
}
