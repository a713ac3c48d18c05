/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads an ONNX model into a graph: checks the model, and then reads its inputs, nodes and outputs.
 * The tables of attributes in the op records say which attributes and constant operands of an ONNX
 * node become attributes of our op. */

#include "dynamic.h"
#include "node.h"

#include <string.h>

#include "../../ir/graph-private.h"
#include "../read-file.h"
#include "../wire.h"
#include "chain.h"
#include "inline.h"
#include "texts.h"

#define MAX_IR_VERSION 13
/* key of the metadata entry with the opset of the imported model, if that opset differs from
 * CLEAVE_ONNX_OPSET */
#define OPSET "cleave.opset"

/* The functions below set up, fill and clear the state of an import. */

void
cleave_onnx_import_clear (CleaveOnnxImport *import)
{
  g_clear_pointer (&import->graph, cleave_graph_unref);
  g_clear_pointer (&import->values, g_hash_table_unref);
  g_clear_pointer (&import->outer, g_ptr_array_unref);
  g_clear_pointer (&import->defaults, g_array_unref);
  g_clear_pointer (&import->default_index, g_hash_table_unref);
  g_clear_pointer (&import->infos, g_hash_table_unref);
  g_clear_pointer (&import->extents, g_hash_table_unref);
  g_clear_pointer (&import->read, g_hash_table_unref);
  g_clear_pointer (&import->all_values, g_ptr_array_unref);
  g_clear_pointer (&import->spare, g_ptr_array_unref);
  g_clear_pointer (&import->names, g_hash_table_unref);
  g_clear_pointer (&import->unused, cleave_onnx_node_free_unused);
  g_clear_pointer (&import->pool, cleave_pool_free);
  g_clear_pointer (&import->values_of, g_hash_table_unref);
  g_clear_pointer (&import->shared, g_hash_table_unref);
  g_clear_pointer (&import->dynamic, g_hash_table_unref);
  g_clear_pointer (&import->deferred, g_ptr_array_unref);
  g_clear_pointer (&import->sequences, g_hash_table_unref);
  g_clear_pointer (&import->makers, g_ptr_array_unref);
  g_clear_pointer (&import->output_names, g_hash_table_unref);
  g_clear_pointer (&import->holders, g_hash_table_unref);
  g_clear_pointer (&import->chain, cleave_onnx_chain_free);
  g_clear_pointer (&import->texts, cleave_onnx_texts_free);
  cleave_onnx_folder_clear (&import->folder);
}

/* Returns whether a node of the graph belongs to the default domain. The model must then state the
 * opset of that domain. */
static gboolean
needs_opset (const Onnx__GraphProto *graph)
{
  for (size_t i = 0; i < graph->n_node; i++)
    if (cleave_onnx_is_default_domain (graph->node[i]->domain))
      return TRUE;
  return graph->n_node == 0;
}

static gboolean
read_opset (CleaveOnnxImport *import, const Onnx__ModelProto *model, GError **error)
{
  for (size_t i = 0; i < model->n_opset_import; i++)
    if (cleave_onnx_is_default_domain (model->opset_import[i]->domain))
      import->opset = model->opset_import[i]->version;
  if (import->opset == 0 && !needs_opset (model->graph))
    import->opset = CLEAVE_ONNX_OPSET;
  if (import->opset == 0)
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "the model does not say which opset it uses");
  if (import->opset < CLEAVE_ONNX_MIN_OPSET || import->opset > CLEAVE_ONNX_MAX_OPSET)
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "opset %" G_GINT64_FORMAT " is not supported: it must be between %d and %d",
                        import->opset, CLEAVE_ONNX_MIN_OPSET, CLEAVE_ONNX_MAX_OPSET);
  return TRUE;
}

static gboolean
check_model (const Onnx__ModelProto *model, GError **error)
{
  if (model->graph == NULL)
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "not an ONNX model: it has no graph");
  if (model->ir_version < 1 || model->ir_version > MAX_IR_VERSION)
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "IR version %" G_GINT64_FORMAT
                        " is not supported: it must be between 1 and %d",
                        (gint64) model->ir_version, MAX_IR_VERSION);
  return TRUE;
}

static GHashTable *
index_infos (const Onnx__GraphProto *graph)
{
  GHashTable *infos = g_hash_table_new (g_str_hash, g_str_equal);

  for (size_t i = 0; i < graph->n_output; i++)
    if (graph->output[i]->name != NULL)
      g_hash_table_insert (infos, graph->output[i]->name, graph->output[i]);
  for (size_t i = 0; i < graph->n_value_info; i++)
    if (graph->value_info[i]->name != NULL)
      g_hash_table_insert (infos, graph->value_info[i]->name, graph->value_info[i]);
  return infos;
}

/* Records the names that several nodes of the file have. Names of nodes are unique in our graph, so
 * only one of these nodes keeps the name. */
static void
note_shared_names (CleaveOnnxImport *import, const Onnx__GraphProto *graph)
{
  g_autoptr (GHashTable) is_shared = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GHashTable) results =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_ptr_array_unref);

  for (size_t i = 0; i < graph->n_node; i++)
    if (graph->node[i]->name != NULL && *graph->node[i]->name != '\0')
      {
        gboolean is_known = g_hash_table_contains (is_shared, graph->node[i]->name);

        g_hash_table_insert (is_shared, graph->node[i]->name, GINT_TO_POINTER (is_known));
      }
  for (size_t i = 0; i < graph->n_node; i++)
    {
      const char *name = graph->node[i]->name;
      GPtrArray *list;

      if (name == NULL || g_hash_table_lookup (is_shared, name) == NULL)
        continue;
      list = g_hash_table_lookup (results, name);
      if (list == NULL)
        {
          list = g_ptr_array_new_with_free_func (g_free);
          g_hash_table_insert (results, g_strdup (name), list);
        }
      g_ptr_array_add (list, g_strdup (graph->node[i]->output[0]));
    }
  if (g_hash_table_size (results) > 0)
    cleave_graph_set_shared_names (import->graph, g_steal_pointer (&results));
}

/* Returns whether the model states that its nodes run in the order of the file. */
static gboolean
keeps_order (const Onnx__ModelProto *model)
{
  for (size_t i = 0; i < model->n_metadata_props; i++)
    if (g_strcmp0 (model->metadata_props[i]->key, CLEAVE_ONNX_ORDER) == 0)
      return g_strcmp0 (model->metadata_props[i]->value, CLEAVE_ONNX_LISTED) == 0;
  return FALSE;
}

static void
read_origin (CleaveOnnxImport *import, const Onnx__ModelProto *model)
{
  g_autofree char *opset = g_strdup_printf ("%" G_GINT64_FORMAT, import->opset);

  import->origin = cleave_onnx_origin_new (model);
  cleave_graph_set_origin (import->graph, import->origin, cleave_onnx_origin_clear);
  if (import->opset != CLEAVE_ONNX_OPSET)
    cleave_onnx_origin_set_metadata (import->origin, OPSET, opset);
}

static gboolean
read_outputs (CleaveOnnxImport *import,
              const Onnx__GraphProto *proto,
              const CleaveOnnxOptions *options,
              GError **error)
{
  gboolean is_fixed = options != NULL && options->n_shapes + options->n_dims > 0;

  if (proto->n_output > CLEAVE_ONNX_MAX_BORDER)
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "%" G_GSIZE_FORMAT " outputs are more than %d",
                        (gsize) proto->n_output, CLEAVE_ONNX_MAX_BORDER);
  for (size_t i = 0; i < proto->n_output; i++)
    {
      const char *name = proto->output[i]->name;
      CleaveOnnxValue *value;
      CleaveResult *result;

      if (!cleave_onnx_check_name (name, "an output", error))
        return FALSE;
      if (import->dynamic != NULL && g_hash_table_lookup (import->dynamic, name) != NULL)
        continue;
      value = g_hash_table_lookup (import->values, name);
      if (value == NULL)
        return cleave_fail (error, CLEAVE_ERROR_MODEL, "the output '%s' is not defined", name);
      if (value->items != NULL)
        return cleave_fail (
            error, CLEAVE_ERROR_MODEL,
            "the output '%s' is a sequence: give its tensors as outputs, or load the "
            "model with a dynamic part",
            name);
      result = cleave_onnx_value_result (import, value);
      if (!cleave_onnx_check_output (import, proto->output[i], cleave_result_get_type (result),
                                     is_fixed, error))
        return FALSE;
      if (!cleave_graph_add_output (import->graph, name, result, error))
        return FALSE;
      if (import->output_names != NULL)
        g_hash_table_add (import->output_names, (gpointer) name);
    }
  return TRUE;
}

/* Records the files from which the graph was read. If `path` is NULL, the model does not come from
 * a file, and nothing is recorded. */
static void
note_files (const CleaveOnnxImport *import, const char *path)
{
  g_autoptr (GList) external = g_hash_table_get_keys (import->folder.files);

  if (path == NULL)
    return;
  cleave_graph_add_file (import->graph, path);
  external = g_list_sort (external, (GCompareFunc) strcmp);
  for (GList *file = external; file != NULL; file = file->next)
    cleave_graph_add_file (import->graph, file->data);
}

static CleaveGraph *
read_model (const Onnx__ModelProto *model,
            GHashTable *opsets,
            gsize n_bytes,
            const char *path,
            const char *folder,
            const CleaveOnnxOptions *options,
            GError **error)
{
  const char *name = model->graph == NULL ? NULL : model->graph->name;
  g_auto (CleaveOnnxImport) import = { 0 };
  gboolean has_dynamic;

  if (!check_model (model, error) || !read_opset (&import, model, error) ||
      !cleave_onnx_folder_init (&import.folder, folder, error))
    return NULL;
  if (options != NULL && options->mapped)
    import.folder.budget = 0;
  import.opsets = opsets;
  cleave_onnx_begin_folding (&import, n_bytes);
  import.values = g_hash_table_new (g_str_hash, g_str_equal);
  import.outer = g_ptr_array_new_with_free_func ((GDestroyNotify) g_hash_table_unref);
  import.whole = model->graph;
  import.ir_version = model->ir_version;
  import.pool = cleave_pool_new ();
  import.infos = index_infos (model->graph);
  import.extents = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  import.graph = cleave_graph_new (name != NULL && g_utf8_validate (name, -1, NULL) ? name : NULL);
  read_origin (&import, model);
  if (options != NULL && options->dynamic)
    cleave_onnx_begin_dynamic (&import);
  if (!cleave_onnx_check_ops (&import, model->graph, error) ||
      !cleave_onnx_read_initializers (&import, model->graph, error) ||
      !cleave_onnx_read_inputs (&import, model->graph, options, error) ||
      !cleave_onnx_read_nodes (&import, model->graph, error))
    return NULL;
  has_dynamic = cleave_onnx_collect_dynamic (&import);
  if (!read_outputs (&import, model->graph, options, error) ||
      (has_dynamic && !cleave_onnx_finish_dynamic (&import, model->graph, error)))
    return NULL;
  note_shared_names (&import, model->graph);
  cleave_onnx_remove_known (&import);
  cleave_onnx_keep_defaults (&import);
  cleave_onnx_merge_pieces (import.graph);
  note_files (&import, path);
  import.graph->keeps_order = keeps_order (model);
  return g_steal_pointer (&import.graph);
}

static CleaveGraph *
parse (GBytes *bytes,
       const char *path,
       const char *folder,
       const CleaveOnnxOptions *options,
       GError **error)
{
  Onnx__ModelProto *model =
      cleave_wire_unpack (&onnx__model_proto__descriptor, bytes, path != NULL, "ONNX model", error);
  g_autoptr (GHashTable) opsets = model == NULL ? NULL : cleave_onnx_inline (model, error);
  CleaveGraph *graph = opsets == NULL ? NULL
                                      : read_model (model, opsets, g_bytes_get_size (bytes), path,
                                                    folder, options, error);

  if (model != NULL)
    onnx__model_proto__free_unpacked (model, NULL);
  return graph;
}

/**
 * cleave_onnx_parse:
 * @bytes: a serialized `ModelProto`
 * @folder: (nullable): the folder of the model's external data; %NULL: the model must have no
 * external data
 * @options: (nullable): shapes and values of inputs
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a graph of an ONNX model: opsets 1 to 26 of the default domain, and the ops of
 * `com.microsoft` in common quantized and optimized models. A node of an unknown domain stays
 * unchanged: see [method@Cleave.Node.get_custom_op]. Nodes of older opsets get the form of opset
 * 17.
 *
 * If the condition of an `If` is constant, only the selected branch becomes part of the graph. If
 * the condition is computed, both branches become part of the graph, and a `Where` selects the
 * results. A call of a function of the model becomes the nodes of the function. The import resolves
 * sequences of tensors, so a position in a sequence must be constant.
 *
 * An input to which @options gives a value is a constant of the graph, and not an input. An input
 * with a default value is also a constant: see [func@Cleave.onnx_list_defaults]. A free dimension
 * of an input takes its extent from @options.
 *
 * Values that depend only on constants and shapes are computed at once if they are small (1 MiB),
 * so that shapes are static. Large tensors are not copied. External data is read from @folder only.
 * A file of more than 2 GiB is mapped. Data of more than half of the machine's memory is also
 * mapped, and all data if @options asks for a mapping. Fails with
 *
 * - %CLEAVE_ERROR_MODEL if the model is broken or uses a feature that Cleave does not support;
 * - %CLEAVE_ERROR_CYCLE if its nodes form a cycle;
 * - %CLEAVE_ERROR_OPTION if a given shape or value does not fit;
 * - the errors of [method@Cleave.Graph.add] if a node is wrong;
 * - [error@GLib.FileError] if external data cannot be read.
 *
 * Returns: (transfer full) (nullable): the graph
 *
 * Since: 0.1
 */
CleaveGraph *
cleave_onnx_parse (GBytes *bytes,
                   const char *folder,
                   const CleaveOnnxOptions *options,
                   GError **error)
{
  g_return_val_if_fail (bytes != NULL, NULL);
  return parse (bytes, NULL, folder, options, error);
}

/**
 * cleave_onnx_get_warnings:
 * @graph: a graph
 *
 * Lists the statements of the model that the import ignored. For example, the model may declare
 * another shape of an output than the import infers. The graph then has the inferred shape.
 *
 * Returns: (transfer none) (array zero-terminated=1): one sentence for each statement; none if the
 *   graph was not made of an ONNX model
 *
 * Since: 0.2
 */
const char *const *
cleave_onnx_get_warnings (const CleaveGraph *graph)
{
  static const char *const none[] = { NULL };

  g_return_val_if_fail (graph != NULL, none);
  if (graph->origin == NULL)
    return none;
  return (const char *const *) ((const CleaveOnnxOrigin *) graph->origin)->warnings->pdata;
}

/**
 * cleave_onnx_load:
 * @path: (type filename): a model's file
 * @options: (nullable): shapes and values of inputs
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a graph of an ONNX model in a file, as [func@Cleave.onnx_parse] does. External data must
 * lie in the file's folder.
 *
 * Fails as [func@Cleave.onnx_parse] does, and with [error@GLib.FileError] if the file cannot be
 * read.
 *
 * Returns: (transfer full) (nullable): the graph
 *
 * Since: 0.1
 */
CleaveGraph *
cleave_onnx_load (const char *path, const CleaveOnnxOptions *options, GError **error)
{
  g_autofree char *folder = NULL;
  g_autoptr (GBytes) bytes = NULL;
  CleaveGraph *graph;

  g_return_val_if_fail (path != NULL, NULL);
  bytes = cleave_onnx_read_file (path, error);
  if (bytes == NULL)
    return NULL;
  folder = g_path_get_dirname (path);
  graph = parse (bytes, path, folder, options, error);
  if (graph == NULL && error != NULL && (*error)->domain == CLEAVE_ERROR)
    g_prefix_error (error, "%s: ", path);
  return graph;
}
