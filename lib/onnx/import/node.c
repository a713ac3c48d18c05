/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "import.h"

#include <string.h>

/* Values */

static void
value_free (gpointer data)
{
  CleaveOnnxValue *value = data;

  g_free (value->name);
  g_clear_pointer (&value->constant, cleave_tensor_unref);
  g_free (value);
}

CleaveOnnxValue *
cleave_onnx_value_new (CleaveOnnxImport *import, const char *name)
{
  CleaveOnnxValue *value = g_new0 (CleaveOnnxValue, 1);

  value->name = g_strdup (name);
  if (import->all_values == NULL)
    import->all_values = g_ptr_array_new_with_free_func (value_free);
  g_ptr_array_add (import->all_values, value);
  return value;
}

CleaveOnnxValue *
cleave_onnx_value_new_constant (CleaveOnnxImport *import, const char *name, CleaveTensor *constant)
{
  CleaveOnnxValue *value = cleave_onnx_value_new (import, name);

  value->constant = constant;
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
  if (value->result == NULL)
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

CleaveOnnxValue *
cleave_onnx_lookup (CleaveOnnxImport *import, const char *name)
{
  CleaveOnnxValue *value = g_hash_table_lookup (import->values, name);

  for (guint i = import->outer->len; value == NULL && i-- > 0;)
    value = g_hash_table_lookup (import->outer->pdata[i], name);
  return value;
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

/* Nodes */

CleaveOnnxNode *
cleave_onnx_node_new (CleaveOnnxImport *import, const char *op, const char *name, guint n_results)
{
  CleaveOnnxNode *node = g_new0 (CleaveOnnxNode, 1);

  node->import = import;
  node->op = op;
  node->name = name;
  node->n_results = n_results;
  node->operands = g_ptr_array_new ();
  node->attrs = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_onnx_attr_free);
  return node;
}

void
cleave_onnx_node_free (CleaveOnnxNode *node)
{
  g_ptr_array_unref (node->operands);
  g_ptr_array_unref (node->attrs);
  g_clear_pointer (&node->values, g_ptr_array_unref);
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

void
cleave_onnx_node_set_operand (CleaveOnnxNode *node, guint index, CleaveOnnxValue *value)
{
  while (node->operands->len <= index)
    g_ptr_array_add (node->operands, NULL);
  node->operands->pdata[index] = value;
}

gboolean
cleave_onnx_node_fail (const CleaveOnnxNode *node, GError **error, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  return cleave_fail (error, CLEAVE_ERROR_MODEL, "%s '%s': %s", node->op, node->name, message);
}

/* Ops that no graph of static tensors can hold, and why. */
static const struct
{
  const char *why;
  const char *const *ops;
} refused[] = {
  { "random numbers are not supported: a run must give the same results again",
    (const char *const[]){ "Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike",
                           "RandomUniform", "RandomUniformLike", NULL } },
  { "loops are not supported: a graph runs once, from its inputs to its outputs",
    (const char *const[]){ "Loop", "Scan", NULL } },
  { "sequences are not supported: values are tensors",
    (const char *const[]){ "ConcatFromSequence", "SequenceAt", "SequenceConstruct", "SequenceEmpty",
                           "SequenceErase", "SequenceInsert", "SequenceLength", "SequenceMap",
                           "SplitToSequence", NULL } },
  { "optional values are not supported: values are tensors",
    (const char *const[]){ "Optional", "OptionalGetElement", "OptionalHasElement", NULL } },
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

static gboolean
fail_attr (const CleaveOnnxNode *node, const CleaveOnnxAttr *attr, GError **error)
{
  return cleave_onnx_node_fail (node, error,
                                "attribute '%s' is not known in opset %" G_GINT64_FORMAT,
                                attr->name, node->import->opset);
}

gboolean
cleave_onnx_node_check_no_attrs (const CleaveOnnxNode *node, GError **error)
{
  return node->attrs->len == 0 || fail_attr (node, node->attrs->pdata[0], error);
}

/* From a node of the file to a call of our op */

typedef struct
{
  CleaveCall call;
  gpointer attrs;
  GPtrArray *operands;     /* CleaveOnnxValue: those that are no attributes for us */
  GPtrArray *constants;    /* attribute, value, attribute, value …: names of those that are */
  CleaveTensorType *types; /* of the operands, then of the results */
} Made;

static void
made_clear (Made *made)
{
  if (made->attrs != NULL)
    cleave_attrs_free (made->call.op, made->attrs);
  g_clear_pointer (&made->operands, g_ptr_array_unref);
  g_clear_pointer (&made->constants, g_ptr_array_unref);
  g_free (made->types);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Made, made_clear)

/* Whether ONNX has the attribute as a constant operand, and which. */
static gboolean
is_operand (const CleaveAttr *attr, guint index)
{
  if ((attr->flags & CLEAVE_ATTR_OPERAND_0) != 0)
    return index == 0;
  return attr->onnx_operand != 0 && attr->onnx_operand == index;
}

static gboolean
is_any_operand (const CleaveAttr *attr)
{
  return attr->onnx_operand != 0 || (attr->flags & CLEAVE_ATTR_OPERAND_0) != 0;
}

static const CleaveAttr *
find_attr (const CleaveOp *op, const char *name)
{
  for (const CleaveAttr *attr = op->attrs; attr != NULL && attr->name != NULL; attr++)
    if ((attr->flags & CLEAVE_ATTR_NOT_ONNX) == 0 && strcmp (attr->name, name) == 0)
      return attr;
  return NULL;
}

static gboolean
prefix_node (const CleaveOnnxNode *node, GError **error)
{
  g_prefix_error (error, "%s '%s': ", node->op, node->name);
  return FALSE;
}

static gboolean
store_attrs (const CleaveOnnxNode *node, Made *made, GError **error)
{
  for (guint i = 0; i < node->attrs->len; i++)
    {
      const CleaveOnnxAttr *value = node->attrs->pdata[i];
      const CleaveAttr *attr = find_attr (made->call.op, value->name);

      if (attr == NULL || (is_any_operand (attr) &&
                           !cleave_onnx_is_moved (node->op, value->name, node->import->opset)))
        return fail_attr (node, value, error);
      if (!cleave_onnx_attr_store (value, attr, made->attrs, error))
        return prefix_node (node, error);
    }
  return TRUE;
}

static gboolean
store_operand (const CleaveOnnxNode *node,
               const CleaveAttr *attr,
               CleaveOnnxValue *operand,
               Made *made,
               GError **error)
{
  g_autoptr (CleaveOnnxAttr) value = NULL;

  if (cleave_onnx_value_constant (node->import, operand) == NULL)
    return cleave_onnx_node_fail (node, error, "%s %s", attr->name,
                                  cleave_onnx_why_unknown (operand));
  if (operand->name != NULL)
    {
      g_ptr_array_add (made->constants, (gpointer) attr->name);
      g_ptr_array_add (made->constants, operand->name);
    }
  value = cleave_onnx_attr_of_tensor (attr->name, operand->constant);
  return cleave_onnx_attr_store (value, attr, made->attrs, error) || prefix_node (node, error);
}

/* Each operand becomes an attribute, where the table says so, or stays one. */
static gboolean
sort_operands (const CleaveOnnxNode *node, Made *made, GError **error)
{
  for (guint i = 0; i < node->operands->len; i++)
    {
      CleaveOnnxValue *operand = node->operands->pdata[i];
      const CleaveAttr *attr = made->call.op->attrs;

      while (attr != NULL && attr->name != NULL && !is_operand (attr, i))
        attr++;
      if (attr == NULL || attr->name == NULL)
        g_ptr_array_add (made->operands, operand);
      else if (operand != NULL && !store_operand (node, attr, operand, made, error))
        return FALSE;
    }
  while (made->operands->len > 0 && made->operands->pdata[made->operands->len - 1] == NULL)
    g_ptr_array_set_size (made->operands, (int) made->operands->len - 1);
  return TRUE;
}

static gboolean
make_call (const CleaveOnnxNode *node, const CleaveOp *op, Made *made, GError **error)
{
  CleaveCall *call = &made->call;

  *made = (Made){ .call = { .op = op, .n_results = node->n_results } };
  made->operands = g_ptr_array_new ();
  made->constants = g_ptr_array_new ();
  if (op->attrs_size > 0)
    {
      made->attrs = g_malloc0 (op->attrs_size);
      cleave_attrs_init (op, made->attrs);
    }
  call->attrs = made->attrs;
  if (!store_attrs (node, made, error) || !sort_operands (node, made, error))
    return FALSE;
  call->n_operands = made->operands->len;
  made->types = g_new0 (CleaveTensorType, call->n_operands + call->n_results);
  for (guint i = 0; i < call->n_operands; i++)
    if (made->operands->pdata[i] != NULL)
      made->types[i] = *cleave_onnx_value_type (made->operands->pdata[i]);
  call->operands = made->types;
  call->results = made->types + call->n_operands;
  return TRUE;
}

static gboolean
add (CleaveOnnxNode *node, const Made *made, GError **error)
{
  gboolean is_costly = cleave_onnx_could_fold (&made->call, made->operands);
  g_autofree CleaveResult **operands = g_new0 (CleaveResult *, made->operands->len);
  CleaveNode *added;

  for (guint i = 0; i < made->operands->len; i++)
    if (made->operands->pdata[i] != NULL)
      operands[i] = cleave_onnx_value_result (node->import, made->operands->pdata[i]);
  added = cleave_graph_add (node->import->graph, made->call.op, node->name, operands,
                            made->operands->len, node->n_results, made->attrs, error);
  if (added == NULL)
    return FALSE;
  for (guint i = 0; i < made->constants->len; i += 2)
    cleave_onnx_origin_add_operand (node->import->origin, cleave_node_get_name (added),
                                    made->constants->pdata[i], made->constants->pdata[i + 1]);
  for (guint i = 0; i < node->n_results; i++)
    {
      CleaveOnnxValue *value = cleave_onnx_value_new (node->import, NULL);

      value->result = cleave_node_get_result (added, i);
      value->is_costly = is_costly;
      g_ptr_array_add (node->values, value);
    }
  return TRUE;
}

gboolean
cleave_onnx_node_make (CleaveOnnxNode *node, GError **error)
{
  const CleaveOp *op = cleave_op_lookup (node->op);
  g_auto (Made) made = { 0 };
  g_autofree CleaveTensorType *results = NULL;

  if (op == NULL || (op->flags & CLEAVE_OP_NOT_ONNX) != 0)
    return cleave_onnx_node_fail_op (node, error);
  if (!make_call (node, op, &made, error))
    return FALSE;
  node->values = g_ptr_array_new ();
  if (!cleave_onnx_is_constant (&made.call, made.operands))
    return add (node, &made, error);
  if (!cleave_call_infer (&made.call, made.attrs, made.types + made.call.n_operands, error))
    return prefix_node (node, error);
  if (!cleave_onnx_fold (node, &made.call, made.operands, error))
    return FALSE;
  return node->values->len > 0 || add (node, &made, error);
}

CleaveOnnxValue *
cleave_onnx_node_reshape (CleaveOnnxNode *node,
                          CleaveOnnxValue *value,
                          const CleaveShape *shape,
                          const char *suffix,
                          GError **error)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT64, shape->rank);
  g_autofree char *name = g_strconcat (node->name, suffix, NULL);
  g_autoptr (CleaveOnnxNode) made = cleave_onnx_node_new (node->import, "Reshape", name, 1);

  cleave_onnx_node_set_operand (made, 0, value);
  cleave_onnx_node_set_operand (made, 1, cleave_onnx_constant (node, &type, shape->dim));
  g_ptr_array_add (made->attrs, cleave_onnx_attr_new_int ("allowzero", 1));
  return cleave_onnx_node_make (made, error) ? made->values->pdata[0] : NULL;
}
