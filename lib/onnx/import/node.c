/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes, looks up, changes and frees values (import.h) and nodes (node.h) during the import. */

#include "node.h"
#include "chain.h"
#include "dynamic.h"

#include "../../ir/graph-private.h"

#include <string.h>

/* The functions below are for values, and for the scopes in which names are looked up. */

static void
value_clear (gpointer data)
{
  CleaveOnnxValue *value = data;

  g_clear_pointer (&value->constant, cleave_tensor_unref);
  g_clear_pointer (&value->items, g_ptr_array_unref);
}

/* Returns a copy of a name. In a run of the dynamic part, equal names have one copy. */
static char *
copy_name (CleaveOnnxImport *import, const char *name)
{
  char *copy;

  if (!import->interprets)
    return cleave_pool_strdup (import->pool, name);
  if (import->names == NULL)
    import->names = g_hash_table_new (g_str_hash, g_str_equal);
  copy = g_hash_table_lookup (import->names, name);
  if (copy == NULL)
    {
      copy = cleave_pool_strdup (import->pool, name);
      g_hash_table_add (import->names, copy);
    }
  return copy;
}

CleaveOnnxValue *
cleave_onnx_value_new (CleaveOnnxImport *import, const char *name)
{
  CleaveOnnxValue *value = import->spare == NULL || import->spare->len == 0
                               ? cleave_pool_alloc (import->pool, sizeof *value)
                               : g_ptr_array_steal_index (import->spare, import->spare->len - 1);

  *value = (CleaveOnnxValue){ .name = name == NULL ? NULL : copy_name (import, name) };
  if (import->all_values == NULL)
    import->all_values = g_ptr_array_new_with_free_func (value_clear);
  g_ptr_array_add (import->all_values, value);
  return value;
}

CleaveOnnxValue *
cleave_onnx_value_new_constant (CleaveOnnxImport *import, const char *name, CleaveTensor *constant)
{
  CleaveOnnxValue *value = cleave_onnx_value_new (import, name);

  value->constant = constant;
  cleave_onnx_count_held (import, constant);
  return value;
}

const CleaveTensorType *
cleave_onnx_value_type (const CleaveOnnxValue *value)
{
  return value->constant != NULL ? cleave_tensor_get_type (value->constant)
                                 : cleave_result_get_type (value->result);
}

CleaveResult *
cleave_onnx_value_result (CleaveOnnxImport *import, CleaveOnnxValue *value)
{
  if (value->result == NULL && import->chain != NULL)
    cleave_onnx_chain_add_operand (import, value);
  else if (value->result == NULL)
    {
      value->result = cleave_graph_add_constant (
          import->graph, value->name == NULL ? "constant" : value->name, value->constant);
      if (value->name != NULL)
        cleave_result_set_name (value->result, value->name);
    }
  return value->result;
}

gboolean
cleave_onnx_bind (CleaveOnnxImport *import, CleaveOnnxValue *value, GError **error)
{
  if (!g_hash_table_insert (import->values, value->name, value))
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "value '%s' is defined twice", value->name);
  return TRUE;
}

gboolean
cleave_onnx_bind_as (CleaveOnnxImport *import,
                     const char *name,
                     const CleaveOnnxValue *value,
                     GError **error)
{
  CleaveOnnxValue *bound = cleave_onnx_value_new (import, name);

  bound->result = value->result;
  bound->is_costly = value->is_costly;
  bound->is_text = value->is_text;
  bound->form = value->form;
  bound->n_padded = value->n_padded;
  bound->optional = value->optional;
  bound->items = value->items == NULL ? NULL : g_ptr_array_ref (value->items);
  bound->constant = value->constant == NULL ? NULL : cleave_tensor_ref (value->constant);
  cleave_onnx_count_held (import, bound->constant);
  return cleave_onnx_bind (import, bound, error);
}

CleaveOnnxValue *
cleave_onnx_lookup (CleaveOnnxImport *import, const char *name)
{
  CleaveOnnxValue *value = g_hash_table_lookup (import->values, name);

  for (guint i = import->outer->len; value == NULL && i-- > 0;)
    value = g_hash_table_lookup (import->outer->pdata[i], name);
  return value;
}

CleaveOnnxValue *
cleave_onnx_recall (const CleaveOnnxImport *import, gconstpointer message)
{
  return import->shared == NULL ? NULL : g_hash_table_lookup (import->shared, message);
}

void
cleave_onnx_remember (CleaveOnnxImport *import, gconstpointer message, CleaveOnnxValue *value)
{
  if (value != NULL)
    value->is_stored = TRUE;
  if (import->outer->len == 0 || value == NULL)
    return;
  value->is_kept = TRUE;
  if (import->shared == NULL)
    import->shared = g_hash_table_new (NULL, NULL);
  g_hash_table_insert (import->shared, (gpointer) message, value);
}

void
cleave_onnx_begin_scope (CleaveOnnxImport *import)
{
  g_ptr_array_add (import->outer, import->values);
  import->values = g_hash_table_new (g_str_hash, g_str_equal);
}

void
cleave_onnx_end_scope (CleaveOnnxImport *import)
{
  g_hash_table_unref (import->values);
  import->values = g_ptr_array_steal_index (import->outer, import->outer->len - 1);
}

/* The functions below make, change and free nodes. */

const char *
cleave_onnx_name_of_node (const Onnx__NodeProto *proto)
{
  if (proto->name != NULL && *proto->name != '\0')
    return proto->name;
  for (size_t i = 0; i < proto->n_output; i++)
    if (*proto->output[i] != '\0')
      return proto->output[i];
  return proto->op_type;
}

CleaveOnnxNode *
cleave_onnx_node_new (CleaveOnnxImport *import, const char *op, const char *name, guint n_results)
{
  CleaveOnnxNode *node = g_steal_pointer (&import->unused);

  if (node == NULL)
    {
      node = g_new0 (CleaveOnnxNode, 1);
      node->operands = g_ptr_array_new ();
      node->rest = g_ptr_array_new ();
      node->attrs = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_onnx_attr_free);
    }
  node->import = import;
  node->op = op;
  node->name = name;
  node->doc = NULL;
  node->result = NULL;
  node->n_results = n_results;
  node->n_declared = n_results;
  return node;
}

/* Frees a node, or keeps it for reuse: allocating the lists of a node is a large part of the time
 * of reading it. */
void
cleave_onnx_node_free (CleaveOnnxNode *node)
{
  CleaveOnnxImport *import = node->import;

  g_clear_pointer (&node->values, g_ptr_array_unref);
  g_ptr_array_set_size (node->operands, 0);
  g_ptr_array_set_size (node->rest, 0);
  g_ptr_array_set_size (node->attrs, 0);
  if (import->unused == NULL)
    import->unused = node;
  else
    cleave_onnx_node_free_unused (node);
}

void
cleave_onnx_node_free_unused (CleaveOnnxNode *node)
{
  g_ptr_array_unref (node->operands);
  g_ptr_array_unref (node->rest);
  g_ptr_array_unref (node->attrs);
  g_free (node);
}

static gboolean
find_index (const CleaveOnnxNode *node, const char *name, guint *index)
{
  for (*index = 0; *index < node->attrs->len; (*index)++)
    if (strcmp (((CleaveOnnxAttr *) node->attrs->pdata[*index])->name, name) == 0)
      return TRUE;
  return FALSE;
}

CleaveOnnxAttr *
cleave_onnx_node_find (const CleaveOnnxNode *node, const char *attr)
{
  guint index;

  return find_index (node, attr, &index) ? node->attrs->pdata[index] : NULL;
}

CleaveOnnxAttr *
cleave_onnx_node_take (CleaveOnnxNode *node, const char *attr)
{
  guint index;

  return find_index (node, attr, &index) ? g_ptr_array_steal_index (node->attrs, index) : NULL;
}

CleaveOnnxValue *
cleave_onnx_node_operand (const CleaveOnnxNode *node, guint index)
{
  return index < node->operands->len ? node->operands->pdata[index] : NULL;
}

const CleaveShape *
cleave_onnx_node_operand_shape (const CleaveOnnxNode *node, guint index)
{
  CleaveOnnxValue *value = cleave_onnx_node_operand (node, index);

  return value == NULL ? NULL : &cleave_onnx_value_type (value)->shape;
}

gboolean
cleave_onnx_node_need (const CleaveOnnxNode *node, guint n, GError **error)
{
  for (guint i = 0; i < n; i++)
    if (cleave_onnx_node_operand (node, i) == NULL)
      return cleave_onnx_node_fail (node, error, "operand %u is missing", i);
  return TRUE;
}

void
cleave_onnx_node_set_operand (CleaveOnnxNode *node, guint index, CleaveOnnxValue *value)
{
  while (node->operands->len <= index)
    g_ptr_array_add (node->operands, NULL);
  node->operands->pdata[index] = value;
}

static void G_GNUC_PRINTF (3, 0)
    set_error (const CleaveOnnxNode *node, GError **error, const char *format, va_list args)
{
  g_autofree char *message = g_strdup_vprintf (format, args);

  if (error == NULL || *error == NULL) /* keep the first error */
    cleave_fail (error, CLEAVE_ERROR_MODEL, "%s '%s': %s", node->op, node->name, message);
}

gboolean
cleave_onnx_node_fail (const CleaveOnnxNode *node, GError **error, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  set_error (node, error, format, args);
  va_end (args);
  return FALSE;
}

gpointer
cleave_onnx_node_fail_null (const CleaveOnnxNode *node, GError **error, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  set_error (node, error, format, args);
  va_end (args);
  return NULL;
}

void
cleave_onnx_note_unknown (CleaveOnnxImport *import,
                          const CleaveOnnxValue *value,
                          const char *format,
                          ...)
{
  g_autofree char *name = NULL, *why = NULL;
  va_list args;

  if (import->dynamic == NULL || import->why != NULL)
    return;
  if (value != NULL)
    name = value->name != NULL     ? g_strdup (value->name)
           : value->result != NULL ? cleave_result_dup_name (value->result)
                                   : NULL;
  va_start (args, format);
  why = g_strdup_vprintf (format, args);
  va_end (args);
  import->unknown = name == NULL ? NULL : cleave_pool_strdup (import->pool, name);
  import->why = cleave_pool_strdup (import->pool, why);
}

/* Unrolling may add at most this many nodes to a model. A graph of this size loads in about a
 * second. */
#define MAX_NODES 200000

gboolean
cleave_onnx_unroll (CleaveOnnxNode *node, gsize n_nodes, GError **error)
{
  CleaveOnnxImport *import = node->import;

  if (import->interprets)
    return TRUE;
  import->n_unrolled += n_nodes;
  if (import->n_unrolled > MAX_NODES)
    cleave_onnx_note_unknown (import, NULL, "has too many iterations to unroll");
  return import->n_unrolled <= MAX_NODES ||
         cleave_onnx_node_fail (node, error, "unrolling the model's loops makes more than %d nodes",
                                MAX_NODES);
}

void
cleave_onnx_remove_since (CleaveOnnxImport *import, const CleaveNode *last)
{
  for (CleaveNode *node = import->graph->last, *prev; node != NULL && node != last; node = prev)
    {
      prev = node->prev;
      if (cleave_node_is_used (node) || cleave_node_is_input (node) ||
          cleave_node_get_constant (node) != NULL)
        continue;
      if (import->values_of != NULL)
        g_hash_table_remove (import->values_of, node);
      cleave_graph_remove (import->graph, node);
    }
}

/* Ops that Cleave does not support in a graph, with the reason. */
static const struct
{
  const char *why;
  const char *const *ops;
} refused[] = {
  { "random numbers are not supported: a run must give the same results again",
    (const char *const[]){ "Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike",
                           "RandomUniform", "RandomUniformLike", NULL } },
  { "strings are not supported: values are numbers",
    (const char *const[]){ "StringNormalizer", NULL } },
};

gboolean
cleave_onnx_node_fail_op (const CleaveOnnxNode *node, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (refused); i++)
    if (g_strv_contains (refused[i].ops, node->op))
      return cleave_onnx_node_fail (node, error, "%s", refused[i].why);
  return cleave_onnx_node_fail (node, error, "opset %" G_GINT64_FORMAT " has no such op here",
                                node->import->opset);
}

gboolean
cleave_onnx_node_fail_attr (const CleaveOnnxNode *node, const CleaveOnnxAttr *attr, GError **error)
{
  return cleave_onnx_node_fail (node, error,
                                "attribute '%s' is not known in opset %" G_GINT64_FORMAT,
                                attr->name, node->import->opset);
}

gboolean
cleave_onnx_node_check_no_attrs (const CleaveOnnxNode *node, GError **error)
{
  return node->attrs->len == 0 || cleave_onnx_node_fail_attr (node, node->attrs->pdata[0], error);
}
