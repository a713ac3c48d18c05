/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `cleave info`: prints inputs, outputs, ops and sizes of a model. */

#include "arguments.h"
#include "bounds.h"
#include "commands.h"
#include "convention.h"
#include "dynamic.h"
#include "execute.h"
#include "json.h"
#include "memory-picture.h"
#include "model.h"
#include "node-table.h"
#include "sizes.h"
#include "texts.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct
{
  const char *op;
  guint count;
  gint64 macs;
  gboolean is_custom; /* Cleave does not know the op */
} OpCount;

typedef struct
{
  GArray *ops; /* OpCount: the ops of the model, the most frequent op first */
  guint n_nodes;
  gint64 n_parameters, parameter_bytes, macs, peak_bytes;
  gboolean has_program;
  CleaveProgramStats program;
} Info;

static int
compare_counts (gconstpointer a, gconstpointer b)
{
  const OpCount *x = a, *y = b;

  return x->count != y->count ? (x->count > y->count ? -1 : 1) : g_strcmp0 (x->op, y->op);
}

static void
count_node (Info *info, GHashTable *places, CleaveNode *node)
{
  const char *custom = cleave_node_get_custom_op (node);
  const char *op = custom != NULL ? custom : cleave_op_get_name (cleave_node_get_op (node));
  gpointer place = g_hash_table_lookup (places, op);
  OpCount *count;

  if (place == NULL)
    {
      OpCount new_count = { .op = op, .is_custom = custom != NULL };

      g_array_append_val (info->ops, new_count);
      place = GUINT_TO_POINTER (info->ops->len);
      g_hash_table_insert (places, (gpointer) op, place);
    }
  count = &g_array_index (info->ops, OpCount, GPOINTER_TO_UINT (place) - 1);
  count->count++;
  if (__builtin_add_overflow (count->macs, cleave_node_get_macs (node), &count->macs))
    count->macs = G_MAXINT64;
  info->n_nodes++;
}

/* Counts nodes, parameters and costs. Constants count as parameters; inputs and constants are not
 * counted as nodes. */
static gboolean
gather (const CleaveGraph *graph, Info *info, GError **error)
{
  g_autoptr (GHashTable) places = g_hash_table_new (g_str_hash, g_str_equal);

  for (CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL;
       node = cleave_node_get_next (node))
    {
      CleaveTensor *constant = cleave_node_get_constant (node);

      if (constant != NULL)
        {
          info->n_parameters += cleave_shape_n_elements (&cleave_tensor_get_type (constant)->shape);
          info->parameter_bytes += cleave_tensor_type_n_bytes (cleave_tensor_get_type (constant));
        }
      else if (!cleave_node_is_input (node))
        count_node (info, places, node);
    }
  g_array_sort (info->ops, compare_counts);
  info->macs = cleave_graph_get_macs (graph);
  info->peak_bytes = cleave_graph_get_peak_bytes (graph, error);
  return info->peak_bytes >= 0;
}

/* Sets the sizes in `info` to the sizes of the program that `cleave run` would compile. */
static gboolean
gather_program (CleaveGraph *graph, guint n_threads, gboolean as_is, Info *info, GError **error)
{
  CleaveProgramOptions options = { 0 };
  g_autoptr (CleaveProgram) program = NULL;

  if (!as_is && !cleave_split_to_run (graph, &n_threads, error))
    return FALSE;
  options.n_threads = n_threads;
  program = cleave_program_new (graph, &options, error);
  if (program == NULL)
    return FALSE;
  cleave_program_get_stats (program, &info->program);
  info->has_program = TRUE;
  return TRUE;
}

static gint64
get_program_bytes (const CleaveProgramStats *stats)
{
  return stats->arena_bytes + stats->scratch_bytes + stats->weight_bytes;
}

/* The functions below print the report. */

static void
add_values_json (CleaveJson *json, const CleaveGraph *graph, gboolean outputs)
{
  guint n = outputs ? cleave_graph_get_n_outputs (graph) : cleave_graph_get_n_inputs (graph);

  cleave_json_begin_list (json, outputs ? "outputs" : "inputs");
  for (guint i = 0; i < n; i++)
    {
      CleaveResult *result = outputs
                                 ? cleave_operand_get_result (cleave_graph_get_output (graph, i))
                                 : cleave_graph_get_input (graph, i);
      const CleaveTensorType *type = cleave_result_get_type (result);
      g_autofree char *name = outputs ? g_strdup (cleave_graph_get_output_name (graph, i))
                                      : cleave_result_dup_name (result);

      if (outputs && !cleave_dynamic_is_output (graph, name))
        continue;
      cleave_json_begin (json, NULL);
      cleave_json_string (json, "name", name);
      cleave_json_type (json, type);
      if (cleave_dynamic_has_strings (graph, name))
        cleave_json_bool (json, "strings", TRUE);
      cleave_json_end (json);
    }
  cleave_json_end_list (json);
}

static void
add_program_json (CleaveJson *json, const CleaveProgramStats *stats)
{
  cleave_json_begin (json, "program");
  cleave_json_int (json, "threads", stats->n_threads);
  cleave_json_int (json, "nodes", stats->n_nodes);
  cleave_json_int (json, "steps", stats->n_steps);
  cleave_json_int (json, "peak_activation_bytes", stats->peak_activation_bytes);
  cleave_json_int (json, "arena_bytes", stats->arena_bytes);
  cleave_json_int (json, "scratch_bytes", stats->scratch_bytes);
  cleave_json_int (json, "weight_bytes", stats->weight_bytes);
  cleave_json_int (json, "bytes", get_program_bytes (stats));
  cleave_json_end (json);
}

/* Adds the names of inputs that have default values, if there are any. */
static void
add_defaults_json (CleaveJson *json, const CleaveGraph *graph)
{
  g_auto (GStrv) all = cleave_onnx_list_defaults (graph, FALSE);
  g_auto (GStrv) open = cleave_onnx_list_defaults (graph, TRUE);

  if (all[0] == NULL)
    return;
  cleave_json_begin_list (json, "inputs_with_defaults");
  for (guint i = 0; all[i] != NULL; i++)
    {
      cleave_json_begin (json, NULL);
      cleave_json_string (json, "name", all[i]);
      cleave_json_bool (json, "fixed", !g_strv_contains ((const char *const *) open, all[i]));
      cleave_json_end (json);
    }
  cleave_json_end_list (json);
}

static gboolean
print_json (const CleaveGraph *graph,
            const Info *info,
            gboolean with_steps,
            const char *path,
            const CleaveModelOptions *model,
            GError **error)
{
  g_autoptr (CleaveJson) json = cleave_json_new ();

  cleave_json_begin (json, NULL);
  cleave_json_string (json, "name", cleave_graph_get_name (graph));
  add_values_json (json, graph, FALSE);
  add_values_json (json, graph, TRUE);
  add_defaults_json (json, graph);
  if (cleave_onnx_get_dynamic (graph) != NULL)
    cleave_dynamic_add_json (json, cleave_onnx_get_dynamic (graph));
  cleave_json_int (json, "nodes", info->n_nodes);
  cleave_json_begin (json, "ops");
  for (guint i = 0; i < info->ops->len; i++)
    cleave_json_int (json, g_array_index (info->ops, OpCount, i).op,
                     g_array_index (info->ops, OpCount, i).count);
  cleave_json_end (json);
  cleave_json_int (json, "parameters", info->n_parameters);
  cleave_json_int (json, "parameter_bytes", info->parameter_bytes);
  cleave_json_int (json, "macs", info->macs);
  cleave_json_int (json, "peak_activation_bytes", info->peak_bytes);
  cleave_json_string (json, "convention", CLEAVE_MEMORY_CONVENTION);
  if (!cleave_bounds_add_json (json, path, model, error))
    return FALSE;
  if (info->has_program)
    add_program_json (json, &info->program);
  if ((with_steps || !info->has_program) &&
      !cleave_node_table_add_json (json, graph, with_steps, error))
    return FALSE;
  cleave_json_print (json);
  return TRUE;
}

/* A line of text shows at most this many names. */
#define MAX_LISTED 8

static void
print_names (const char *title, char *const *names, const char *what)
{
  guint n = g_strv_length ((char **) names);

  if (n == 0)
    return;
  printf ("%-11s", title);
  for (guint i = 0; i < MIN (n, MAX_LISTED); i++)
    printf (" %s%s", names[i], i + 1 < MIN (n, MAX_LISTED) ? "," : "");
  if (n > MAX_LISTED)
    printf (" and %u more", n - MAX_LISTED);
  printf (": %s\n", what);
}

static void
print_defaults (const CleaveGraph *graph)
{
  g_auto (GStrv) all = cleave_onnx_list_defaults (graph, FALSE);
  g_auto (GStrv) open = cleave_onnx_list_defaults (graph, TRUE);
  g_autoptr (GPtrArray) fixed = g_ptr_array_new ();

  for (guint i = 0; all[i] != NULL; i++)
    if (!g_strv_contains ((const char *const *) open, all[i]))
      g_ptr_array_add (fixed, all[i]);
  g_ptr_array_add (fixed, NULL);
  print_names ("defaults", open, "inputs with default values, which --input replaces");
  print_names ("fixed", (char **) fixed->pdata, "inputs whose values decide shapes or attributes");
}

static void
print_values (const CleaveGraph *graph)
{
  const CleaveOnnxDynamic *dynamic = cleave_onnx_get_dynamic (graph);

  for (guint i = 0; i < cleave_graph_get_n_inputs (graph); i++)
    {
      CleaveResult *input = cleave_graph_get_input (graph, i);
      g_autofree char *name = cleave_result_dup_name (input);
      const CleaveTensorType *type = cleave_result_get_type (input);
      g_autofree char *text = cleave_dynamic_has_strings (graph, name)
                                  ? cleave_texts_type (type)
                                  : cleave_tensor_type_to_string (type);

      printf ("input       %s: %s\n", name, text);
    }
  if (dynamic != NULL)
    cleave_dynamic_print_inputs (dynamic);
  for (guint i = 0; i < cleave_graph_get_n_outputs (graph); i++)
    {
      CleaveResult *result = cleave_operand_get_result (cleave_graph_get_output (graph, i));
      const char *name = cleave_graph_get_output_name (graph, i);
      g_autofree char *type = cleave_tensor_type_to_string (cleave_result_get_type (result));

      if (cleave_dynamic_is_output (graph, name))
        printf ("output      %s: %s\n", name, type);
    }
  if (dynamic != NULL)
    cleave_dynamic_print_outputs (dynamic);
  print_defaults (graph);
}

static void
print_program (const CleaveProgramStats *stats)
{
  g_autofree char *sum = cleave_size_to_print (get_program_bytes (stats));
  g_autofree char *arena = cleave_size_to_print (stats->arena_bytes);
  g_autofree char *scratch = cleave_size_to_print (stats->scratch_bytes);
  g_autofree char *weights = cleave_size_to_print (stats->weight_bytes);

  printf ("program     %s: arena %s, scratch %s, weights %s (constants and packed); for %u "
          "thread%s, %u node%s in %u step%s\n",
          sum, arena, scratch, weights, stats->n_threads, CLEAVE_PLURAL (stats->n_threads),
          stats->n_nodes, CLEAVE_PLURAL (stats->n_nodes), stats->n_steps,
          CLEAVE_PLURAL (stats->n_steps));
}

static void
print_text (const CleaveGraph *graph, const Info *info, gboolean with_nodes)
{
  g_autofree char *macs = cleave_macs_to_string (info->macs);
  g_autofree char *peak = cleave_size_to_print (info->peak_bytes);
  g_autofree char *parameters = cleave_size_to_print (info->parameter_bytes);

  printf ("model       %s\n", cleave_graph_get_name (graph));
  print_values (graph);
  if (cleave_onnx_get_dynamic (graph) != NULL)
    cleave_dynamic_print (cleave_onnx_get_dynamic (graph), with_nodes);
  printf ("nodes       %u\n", info->n_nodes);
  for (guint i = 0; i < info->ops->len; i++)
    {
      const OpCount *count = &g_array_index (info->ops, OpCount, i);
      g_autofree char *of_op = cleave_macs_to_string (count->macs);

      printf ("  %6u  %s", count->count, count->op);
      if (count->macs > 0)
        printf (", %s MACs", of_op);
      if (count->is_custom)
        printf (", unknown op: MACs not counted, cannot be run");
      printf ("\n");
    }
  printf ("parameters  %" G_GINT64_FORMAT " (%s)\n", info->n_parameters, parameters);
  printf ("MACs        %s\n", macs);
  printf ("peak        %s of " CLEAVE_CONVENTION_NAME "\n", peak);
  if (info->has_program)
    print_program (&info->program);
}

typedef struct
{
  CleaveModelOptions model;
  char *threads_text;
  gint64 n_threads;
  gboolean as_json, with_program, as_is, with_nodes;
} Options;

static char **
parse (int argc, char **argv, Options *o, GError **error)
{
  const GOptionEntry entries[] = {
    CLEAVE_MODEL_OPTIONS (o->model),
    { "program", 0, 0, G_OPTION_ARG_NONE, &o->with_program,
      "print the memory of a program that runs the model", NULL },
    CLEAVE_THREADS_OPTION (o->threads_text, "the program"),
    { "as-is", 0, 0, G_OPTION_ARG_NONE, &o->as_is,
      "with --threads: do not split the graph for the threads first", NULL },
    { "nodes", 0, 0, G_OPTION_ARG_NONE, &o->with_nodes,
      "list the nodes: MACs, bytes, shapes, and the peak", NULL },
    CLEAVE_BYTES_OPTION,
    { "json", 0, 0, G_OPTION_ARG_NONE, &o->as_json, "print one JSON object", NULL },
    G_OPTION_ENTRY_NULL,
  };
  static const CleaveArgumentNeed needs[] = {
    { "threads", { "program" } },
    { "as-is", { "program" } },
    { "as-is", { "threads" } },
    { 0 },
  };
  const CleaveArguments arguments = {
    entries, needs, "MODEL.onnx",
    "Print the contents of a model: ops, shapes, parameters, multiply-accumulates (MACs)\nand the "
    "peak memory of its activations.",
    1
  };
  g_auto (GStrv) files = cleave_argument_parse (&arguments, argc, argv, error);

  if (files == NULL || !cleave_argument_threads (o->threads_text, &o->n_threads, error))
    return NULL;
  return g_steal_pointer (&files);
}

int
cleave_cmd_info (int argc, char **argv, GError **error)
{
  Options o = { .model.has_dynamic = TRUE, .model.is_mapped = TRUE };
  g_auto (GStrv) files = parse (argc, argv, &o, error);
  g_autoptr (CleaveGraph) graph =
      files == NULL ? NULL : cleave_model_load (files[0], &o.model, error);
  g_autoptr (GArray) ops = g_array_new (FALSE, FALSE, sizeof (OpCount));
  Info info = { .ops = ops };

  if (graph == NULL || !gather (graph, &info, error) ||
      (o.with_program && !gather_program (graph, (guint) o.n_threads, o.as_is, &info, error)))
    return CLEAVE_WRONG;
  if (o.as_json)
    return print_json (graph, &info, o.with_nodes, files[0], &o.model, error) ? CLEAVE_DONE
                                                                              : CLEAVE_WRONG;
  if (o.with_nodes && !cleave_node_table_print (graph, error))
    return CLEAVE_WRONG;
  print_text (graph, &info, o.with_nodes);
  return cleave_bounds_print (files[0], &o.model, error) ? CLEAVE_DONE : CLEAVE_WRONG;
}
