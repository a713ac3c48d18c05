/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Selects the function that reads a node, by the node's op. There are functions for strings, for
 * sequences, for nodes with inner graphs, for ops of unknown domains, and for ops with a record or
 * an upgrade. */

#include "node-values.h"
#include "node.h"

#include "texts.h"

#include "../winograd.h"

#include <string.h>

gboolean
cleave_onnx_is_custom (const Onnx__NodeProto *proto)
{
  return !cleave_onnx_is_default_domain (proto->domain) &&
         !cleave_onnx_is_contrib (proto->domain, proto->op_type) &&
         !cleave_onnx_is_nchwc (proto->domain, proto->op_type);
}

static gboolean
read_attrs (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error)
{
  for (size_t i = 0; i < proto->n_attribute; i++)
    {
      CleaveOnnxAttr *attr;

      if (strcmp (node->op, "Optional") == 0 &&
          proto->attribute[i]->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TYPE_PROTO)
        continue; /* ignore the type of an empty optional value, since no op reads a tensor of the
                   * value */
      attr = cleave_onnx_attr_read (node->import, proto->attribute[i], error);

      if (attr == NULL)
        {
          g_prefix_error (error, "%s '%s': ", node->op, node->name);
          return FALSE;
        }
      if (cleave_onnx_node_find (node, attr->name) != NULL)
        {
          cleave_onnx_node_fail (node, error, "attribute '%s' comes twice", attr->name);
          cleave_onnx_attr_free (attr);
          return FALSE;
        }
      g_ptr_array_add (node->attrs, attr);
    }
  return TRUE;
}

/* Keeps the doc string of a node for the export. If an upgrade made several nodes, the last node
 * gets the doc string. */
static void
keep_doc (const CleaveOnnxNode *node, const Onnx__NodeProto *proto)
{
  const CleaveOnnxValue *made = node->values->len == 0 ? NULL : node->values->pdata[0];

  g_autofree char *doc = cleave_onnx_dup_doc_without_winograd (proto->doc_string);

  if (made != NULL && made->result != NULL)
    cleave_onnx_origin_add_node_doc (
        node->import->origin, cleave_node_get_name (cleave_result_get_node (made->result)), doc);
}

static gboolean
upgrade (CleaveOnnxNode *node, const char *domain, GError **error)
{
  if (cleave_onnx_is_nchwc (domain, node->op))
    return cleave_onnx_upgrade_nchwc (node, error);
  return cleave_onnx_is_contrib (domain, node->op) ? cleave_onnx_upgrade_contrib (node, error)
                                                   : cleave_onnx_upgrade (node, error);
}

/* If the node is an Identity whose operand is a sequence or an optional value, makes the operand
 * the result of the node, and returns TRUE. */
static gboolean
passes_sequence (CleaveOnnxNode *node)
{
  CleaveOnnxValue *value = cleave_onnx_node_operand (node, 0);

  if (strcmp (node->op, "Identity") != 0 || value == NULL || value->items == NULL)
    return FALSE;
  node->values = g_ptr_array_new ();
  g_ptr_array_add (node->values, value);
  return TRUE;
}

typedef gboolean (*Reader) (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error);

static gboolean
read_sequence (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error)
{
  return read_attrs (node, proto, error) && cleave_onnx_read_sequence (node, error);
}

/* Reads an Identity of a sequence: does nothing, since passes_sequence() has set the result. */
static gboolean
read_nothing (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error)
{
  return TRUE;
}

static gboolean
read_map (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error)
{
  return cleave_onnx_read_sequence_map (node, proto, error);
}

/* Returns the function that reads a node with sequences as operands or results; NULL for other
 * nodes. */
static Reader
find_sequence_reader (CleaveOnnxNode *node, const Onnx__NodeProto *proto)
{
  gboolean is_default = cleave_onnx_is_default_domain (proto->domain);

  if (strcmp (node->op, "SequenceMap") == 0)
    return read_map;
  if (is_default && passes_sequence (node))
    return read_nothing;
  return is_default && cleave_onnx_is_sequence_op (node->op) ? read_sequence : NULL;
}

/* Reads a node whose op has a record, or whose op an upgrade replaces. */
static gboolean
read_plain (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error)
{
  if (!read_attrs (node, proto, error) || !upgrade (node, proto->domain, error) ||
      (node->values == NULL && !cleave_onnx_node_make (node, error)))
    return FALSE;
  keep_doc (node, proto);
  return TRUE;
}

/* Reads an If, a Loop or a Scan, whose attributes are graphs. */
static gboolean
read_bodies (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error)
{
  if (strcmp (node->op, "If") == 0)
    return cleave_onnx_read_if (node, proto, error);
  return strcmp (node->op, "Loop") == 0 ? cleave_onnx_read_loop (node, proto, error)
                                        : cleave_onnx_read_scan (node, proto, error);
}

static Reader
find_tensor_reader (const CleaveOnnxNode *node, const Onnx__NodeProto *proto)
{
  static const char *const with_bodies[] = { "If", "Loop", "Scan", NULL };

  if (cleave_onnx_is_custom (proto))
    return cleave_onnx_read_custom;
  return g_strv_contains (with_bodies, node->op) ? read_bodies : read_plain;
}

gboolean
cleave_onnx_read_values (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error)
{
  Reader reader;
  gint64 n_padded = 0;

  if (cleave_onnx_has_texts (node, proto))
    return cleave_onnx_read_texts (node, proto, error);
  if (!cleave_onnx_is_sequence_op (node->op) && !cleave_onnx_check_texts (node, error))
    return FALSE;
  reader = find_sequence_reader (node, proto);
  if (reader != NULL)
    return reader (node, proto, error);
  if (!cleave_onnx_check_tensors (node, error) ||
      (!cleave_onnx_is_nchwc (proto->domain, node->op) &&
       !cleave_onnx_narrow_blocked (node, &n_padded, error)))
    return FALSE;
  reader = find_tensor_reader (node, proto);
  if (!reader (node, proto, error))
    return FALSE;
  if (n_padded > 0 && reader == read_plain)
    ((CleaveOnnxValue *) node->values->pdata[0])->n_padded = n_padded;
  return TRUE;
}
