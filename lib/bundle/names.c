/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes C identifiers and C types from the names and types of inputs and outputs. */

#include "bundle.h"

char *
cleave_bundle_dup_identifier (const char *text)
{
  GString *name = g_string_new (NULL);

  for (const char *c = text == NULL ? "" : text; *c != '\0'; c++)
    g_string_append_c (name, g_ascii_isalnum (*c) ? g_ascii_tolower (*c) : '_');
  if (name->len == 0 || g_ascii_isdigit (name->str[0]))
    g_string_prepend (name, "m_");
  return g_string_free (name, FALSE);
}

char *
cleave_bundle_dup_type_name (const char *name)
{
  GString *type = g_string_new (NULL);
  gboolean is_first = TRUE;

  for (const char *c = name; *c != '\0'; c++)
    {
      if (*c != '_')
        g_string_append_c (type, is_first ? g_ascii_toupper (*c) : *c);
      is_first = *c == '_';
    }
  return g_string_free (type, FALSE);
}

const char *
cleave_bundle_element_type (CleaveElement element)
{
  switch (element)
    {
    case CLEAVE_FLOAT32:
      return "float";
    case CLEAVE_FLOAT64:
      return "double";
    case CLEAVE_INT8:
      return "int8_t";
    case CLEAVE_UINT8:
    case CLEAVE_BOOL:
      return "uint8_t";
    case CLEAVE_INT16:
      return "int16_t";
    case CLEAVE_UINT16:
    case CLEAVE_FLOAT16:
    case CLEAVE_BFLOAT16:
      return "uint16_t";
    case CLEAVE_INT32:
      return "int32_t";
    case CLEAVE_UINT32:
      return "uint32_t";
    case CLEAVE_INT64:
      return "int64_t";
    case CLEAVE_UINT64:
      return "uint64_t";
    default:
      return "uint8_t";
    }
}

char *
cleave_bundle_dup_input_name (const CleaveBundle *bundle, guint i)
{
  return cleave_bundle_dup_identifier (
      cleave_graph_get_input (bundle->model->graph, i)->node->name);
}

char *
cleave_bundle_dup_output_name (const CleaveBundle *bundle, guint i)
{
  return cleave_bundle_dup_identifier (cleave_graph_get_output_name (bundle->model->graph, i));
}

char *
cleave_bundle_dup_memory_name (const CleaveBundle *bundle, guint i)
{
  return bundle->n_memories == 0 ? g_strdup ("arena")
                                 : cleave_bundle_dup_identifier (bundle->memories[i]);
}

guint
cleave_bundle_count_memories (const CleaveBundle *bundle)
{
  return MAX (bundle->n_memories, 1);
}

const CleaveBundleValue *
cleave_bundle_input (const CleaveBundle *bundle, guint i)
{
  return cleave_bundle_value (bundle->model, i);
}

const CleaveBundleValue *
cleave_bundle_output (const CleaveBundle *bundle, guint i)
{
  return cleave_bundle_value (bundle->model, bundle->model->outputs[i]);
}

gboolean
cleave_bundle_is_by_rows (const CleaveBundle *bundle, guint input)
{
  return cleave_bundle_input (bundle, input)->producer != CLEAVE_BUNDLE_NONE;
}
