/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Keeps the parts of a model that do not influence results (origin.h), and writes them into a new
 * model. */

#include "origin.h"

#include <string.h>

#include "wire.h"

static gboolean
is_text (const char *text)
{
  return text != NULL && *text != '\0' && g_utf8_validate (text, -1, NULL);
}

static char *
dup_text (const char *text)
{
  return is_text (text) ? g_strdup (text) : NULL;
}

/* Adds the doc string of a value. Ignores a doc string that is NULL, empty or not UTF-8. */
static void
add_value_doc (CleaveOnnxOrigin *origin, const char *value, const char *doc)
{
  if (is_text (doc) && value != NULL)
    g_hash_table_insert (origin->value_docs, g_strdup (value), g_strdup (doc));
}

static void
read_value (CleaveOnnxOrigin *origin, const Onnx__ValueInfoProto *info)
{
  add_value_doc (origin, info->name, info->doc_string);
}

static void
read_graph (CleaveOnnxOrigin *origin, const Onnx__GraphProto *graph)
{
  origin->graph_doc = dup_text (graph->doc_string);
  for (size_t i = 0; i < graph->n_input; i++)
    read_value (origin, graph->input[i]);
  for (size_t i = 0; i < graph->n_output; i++)
    read_value (origin, graph->output[i]);
  for (size_t i = 0; i < graph->n_value_info; i++)
    {
      read_value (origin, graph->value_info[i]);
      if (is_text (graph->value_info[i]->name))
        g_hash_table_add (origin->value_infos, g_strdup (graph->value_info[i]->name));
    }
  for (size_t i = 0; i < graph->n_initializer; i++)
    add_value_doc (origin, graph->initializer[i]->name, graph->initializer[i]->doc_string);
}

static void
read_opsets (CleaveOnnxOrigin *origin, const Onnx__ModelProto *model)
{
  for (size_t i = 0; i < model->n_opset_import; i++)
    {
      const Onnx__OperatorSetIdProto *set = model->opset_import[i];

      if (is_text (set->domain) && strcmp (set->domain, "ai.onnx") != 0 && set->version > 0)
        g_hash_table_insert (origin->opsets, g_strdup (set->domain),
                             GSIZE_TO_POINTER ((gsize) set->version));
    }
}

CleaveOnnxOrigin *
cleave_onnx_origin_new (const Onnx__ModelProto *model)
{
  CleaveOnnxOrigin *origin = g_atomic_rc_box_new0 (CleaveOnnxOrigin);

  origin->producer_name = dup_text (model->producer_name);
  origin->producer_version = dup_text (model->producer_version);
  origin->domain = dup_text (model->domain);
  origin->doc = dup_text (model->doc_string);
  origin->model_version = model->has_model_version ? model->model_version : -1;
  origin->metadata = g_ptr_array_new_with_free_func (g_free);
  origin->opsets = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  origin->node_docs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  origin->value_docs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  origin->value_infos = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  origin->operands = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  origin->warnings = g_ptr_array_new_with_free_func (g_free);
  g_ptr_array_add (origin->warnings, NULL);
  for (size_t i = 0; i < model->n_metadata_props; i++)
    {
      const Onnx__StringStringEntryProto *entry = model->metadata_props[i];

      if (is_text (entry->key) && strcmp (entry->key, CLEAVE_ONNX_ORDER) != 0 &&
          entry->value != NULL && g_utf8_validate (entry->value, -1, NULL))
        {
          g_ptr_array_add (origin->metadata, g_strdup (entry->key));
          g_ptr_array_add (origin->metadata, g_strdup (entry->value));
        }
    }
  read_opsets (origin, model);
  read_graph (origin, model->graph);
  return origin;
}

CleaveOnnxOrigin *
cleave_onnx_origin_copy (const CleaveOnnxOrigin *origin)
{
  CleaveOnnxOrigin *copy = g_atomic_rc_box_new0 (CleaveOnnxOrigin);
  GHashTableIter iter;
  gpointer node, doc;

  *copy = *origin;
  copy->producer_name = g_strdup (origin->producer_name);
  copy->producer_version = g_strdup (origin->producer_version);
  copy->domain = g_strdup (origin->domain);
  copy->doc = g_strdup (origin->doc);
  copy->graph_doc = g_strdup (origin->graph_doc);
  g_ptr_array_ref (copy->metadata);
  g_ptr_array_ref (copy->warnings);
  if (copy->dynamic != NULL)
    cleave_onnx_dynamic_ref (copy->dynamic);
  g_hash_table_ref (copy->opsets);
  g_hash_table_ref (copy->value_docs);
  g_hash_table_ref (copy->value_infos);
  g_hash_table_ref (copy->operands);
  copy->node_docs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_hash_table_iter_init (&iter, origin->node_docs);
  while (g_hash_table_iter_next (&iter, &node, &doc))
    cleave_onnx_origin_add_node_doc (copy, node, doc);
  return copy;
}

void
cleave_onnx_origin_clear (gpointer data)
{
  CleaveOnnxOrigin *origin = data;

  g_free (origin->producer_name);
  g_free (origin->producer_version);
  g_free (origin->domain);
  g_free (origin->doc);
  g_free (origin->graph_doc);
  g_ptr_array_unref (origin->metadata);
  g_hash_table_unref (origin->opsets);
  g_hash_table_unref (origin->node_docs);
  g_hash_table_unref (origin->value_docs);
  g_hash_table_unref (origin->value_infos);
  g_hash_table_unref (origin->operands);
  g_ptr_array_unref (origin->warnings);
  g_clear_pointer (&origin->dynamic, cleave_onnx_dynamic_unref);
}

void
cleave_onnx_origin_take_warning (CleaveOnnxOrigin *origin, char *text)
{
  g_ptr_array_insert (origin->warnings, (gint) origin->warnings->len - 1, text);
}

void
cleave_onnx_origin_set_metadata (CleaveOnnxOrigin *origin, const char *key, const char *value)
{
  for (guint i = 0; i < origin->metadata->len; i += 2)
    if (strcmp (origin->metadata->pdata[i], key) == 0)
      {
        g_free (origin->metadata->pdata[i + 1]);
        origin->metadata->pdata[i + 1] = g_strdup (value);
        return;
      }
  g_ptr_array_add (origin->metadata, g_strdup (key));
  g_ptr_array_add (origin->metadata, g_strdup (value));
}

void
cleave_onnx_origin_set_node_doc (CleaveOnnxOrigin *origin, const char *node, const char *doc)
{
  g_hash_table_remove (origin->node_docs, node);
  cleave_onnx_origin_add_node_doc (origin, node, doc);
}

void
cleave_onnx_origin_add_node_doc (CleaveOnnxOrigin *origin, const char *node, const char *doc)
{
  if (origin != NULL && is_text (doc))
    g_hash_table_insert (origin->node_docs, g_strdup (node), g_strdup (doc));
}

void
cleave_onnx_origin_add_operand (CleaveOnnxOrigin *origin,
                                const char *node,
                                const char *attr,
                                const char *name)
{
  if (origin != NULL)
    g_hash_table_insert (origin->operands, g_strconcat (node, "\n", attr, NULL), g_strdup (name));
}

const char *
cleave_onnx_origin_get_operand (const CleaveOnnxOrigin *origin, const char *node, const char *attr)
{
  g_autofree char *key = origin == NULL ? NULL : g_strconcat (node, "\n", attr, NULL);

  return origin == NULL ? NULL : g_hash_table_lookup (origin->operands, key);
}

/* The functions below write the origin into a model. */

void
cleave_onnx_add_metadata (Onnx__ModelProto *model, const char *key, const char *value)
{
  Onnx__StringStringEntryProto *entry = g_new (Onnx__StringStringEntryProto, 1);

  onnx__string_string_entry_proto__init (entry);
  entry->key = g_strdup (key);
  entry->value = g_strdup (value);
  cleave_wire_append (&model->metadata_props, &model->n_metadata_props, entry);
}

static void
write_metadata (const CleaveOnnxOrigin *origin, Onnx__ModelProto *model)
{
  for (guint i = 0; i < origin->metadata->len; i += 2)
    cleave_onnx_add_metadata (model, origin->metadata->pdata[i], origin->metadata->pdata[i + 1]);
}

/* Writes the opsets sorted by domain, so that the file does not depend on the order of a hash
 * table. */
static void
write_opsets (const CleaveOnnxOrigin *origin, Onnx__ModelProto *model)
{
  GList *domains = g_list_sort (g_hash_table_get_keys (origin->opsets), (GCompareFunc) strcmp);

  for (const GList *at = domains; at != NULL; at = at->next)
    {
      Onnx__OperatorSetIdProto *set = g_new (Onnx__OperatorSetIdProto, 1);

      onnx__operator_set_id_proto__init (set);
      set->domain = g_strdup (at->data);
      set->has_version = 1;
      set->version = (gint64) GPOINTER_TO_SIZE (g_hash_table_lookup (origin->opsets, at->data));
      cleave_wire_append (&model->opset_import, &model->n_opset_import, set);
    }
  g_list_free (domains);
}

static void
write_text (char **field, const char *text)
{
  if (text == NULL)
    return;
  g_free (*field);
  *field = g_strdup (text);
}

void
cleave_onnx_origin_write (const CleaveOnnxOrigin *origin, Onnx__ModelProto *model)
{
  write_text (&model->producer_name, origin->producer_name);
  write_text (&model->producer_version, origin->producer_version);
  write_text (&model->domain, origin->domain);
  write_text (&model->doc_string, origin->doc);
  write_text (&model->graph->doc_string, origin->graph_doc);
  model->has_model_version = origin->model_version >= 0;
  model->model_version = MAX (origin->model_version, 0);
  write_metadata (origin, model);
  write_opsets (origin, model);
}
