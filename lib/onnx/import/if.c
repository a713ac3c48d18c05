/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads If. If the condition is constant, only the nodes of the selected branch become part of the
 * graph. If the condition is computed, both branches become part of the graph, and a Where selects
 * each result. Computing both branches is safe, since ops on tensors have no side effects. */

#include "dynamic.h"
#include "node.h"

const Onnx__GraphProto *
cleave_onnx_find_graph (const Onnx__NodeProto *proto, const char *name)
{
  for (size_t i = 0; i < proto->n_attribute; i++)
    if (g_strcmp0 (proto->attribute[i]->name, name) == 0)
      return proto->attribute[i]->g;
  return NULL;
}

CleaveOnnxValue *
cleave_onnx_find_output (CleaveOnnxNode *node,
                         const Onnx__GraphProto *branch,
                         guint index,
                         GError **error)
{
  const char *name = branch->output[index]->name;
  gboolean is_own = name != NULL && g_hash_table_contains (node->import->values, name);
  CleaveOnnxValue *value = name == NULL ? NULL : cleave_onnx_lookup (node->import, name);
  g_autofree char *text = NULL;

  if (value != NULL)
    return is_own || value->items != NULL ? value : cleave_onnx_pass_on (node, value, error);
  text = g_utf8_make_valid (name == NULL ? "" : name, -1);
  return cleave_onnx_node_fail_null (node, error, "'%s' is not defined in its inner graph", text);
}

static gboolean
check_branch (const CleaveOnnxNode *node,
              const Onnx__NodeProto *proto,
              const Onnx__GraphProto *branch,
              GError **error)
{
  if (branch == NULL)
    return cleave_onnx_node_fail (node, error, "it has no then_branch or no else_branch");
  if (branch->n_input > 0)
    return cleave_onnx_node_fail (node, error, "a branch has %" G_GSIZE_FORMAT " inputs, not none",
                                  (gsize) branch->n_input);
  if (branch->n_output != proto->n_output)
    return cleave_onnx_node_fail (node, error,
                                  "a branch has %" G_GSIZE_FORMAT " outputs, not %" G_GSIZE_FORMAT,
                                  (gsize) branch->n_output, (gsize) proto->n_output);
  return TRUE;
}

/* Reads the nodes of a branch in a new scope of names. Returns the branch's outputs
 * (CleaveOnnxValue). */
static GPtrArray *
read_branch (CleaveOnnxNode *node, const Onnx__NodeProto *proto, const char *name, GError **error)
{
  const Onnx__GraphProto *branch = cleave_onnx_find_graph (proto, name);
  g_autoptr (GPtrArray) values = g_ptr_array_new ();
  gboolean good;

  if (!check_branch (node, proto, branch, error))
    return NULL;
  cleave_onnx_begin_scope (node->import);
  good = cleave_onnx_read_initializers (node->import, branch, error) &&
         cleave_onnx_read_nodes (node->import, branch, error);
  for (guint i = 0; good && i < node->n_results; i++)
    {
      CleaveOnnxValue *value = cleave_onnx_find_output (node, branch, i, error);

      g_ptr_array_add (values, value);
      good = value != NULL;
    }
  cleave_onnx_end_scope (node->import);
  return good ? g_steal_pointer (&values) : NULL;
}

/* The functions below read both branches, for a condition that is not constant. */

/* Returns the condition in a form that broadcasts to rank `rank`: if the condition has a higher
 * rank, reshapes it to a scalar. */
static CleaveOnnxValue *
as_single (CleaveOnnxNode *node, CleaveOnnxValue *condition, guint rank, GError **error)
{
  CleaveShape scalar = { 0 };

  if (cleave_onnx_value_type (condition)->shape.rank <= rank)
    return condition;
  return cleave_onnx_node_reshape (node, condition, &scalar, ".condition", error);
}

/* Returns the smallest rank of several values. For a sequence, uses the ranks of its tensors. */
static guint
find_least_rank (const GPtrArray *values)
{
  guint rank = CLEAVE_MAX_RANK;

  for (guint i = 0; i < values->len; i++)
    {
      const CleaveOnnxValue *value = values->pdata[i];

      rank = MIN (rank, value->items != NULL ? find_least_rank (value->items)
                                             : cleave_onnx_value_type (value)->shape.rank);
    }
  return rank;
}

static CleaveOnnxValue *choose (CleaveOnnxNode *node,
                                CleaveOnnxValue *condition,
                                CleaveOnnxValue *one,
                                CleaveOnnxValue *other,
                                GError **error);

/* Returns a sequence whose tensors are selected by `condition`: adds a Where for each pair of
 * tensors of `one` and `other`. Fails unless both sequences have the same length. An element of a
 * sequence is never a sequence. */
static CleaveOnnxValue *
choose_items (CleaveOnnxNode *node,
              CleaveOnnxValue *condition,
              CleaveOnnxValue *one,
              CleaveOnnxValue *other,
              GError **error)
{
  CleaveOnnxValue *chosen = cleave_onnx_value_new (node->import, NULL);

  gboolean fits = one->items != NULL && other->items != NULL &&
                  one->items->len == other->items->len && one->optional == other->optional;

  if (!fits)
    cleave_onnx_note_unknown (node->import, condition, "has branches that give other sequences");
  if (!fits)
    return cleave_onnx_node_fail_null (node, error,
                                       "its condition is computed, and its branches give sequences "
                                       "that are not equally long");
  chosen->optional = one->optional;
  chosen->items = g_ptr_array_new ();
  for (guint i = 0; i < one->items->len; i++)
    {
      CleaveOnnxValue *item =
          choose (node, condition, one->items->pdata[i], other->items->pdata[i], error);

      if (item == NULL)
        return NULL;
      g_ptr_array_add (chosen->items, item);
    }
  return chosen;
}

static CleaveOnnxValue *
choose (CleaveOnnxNode *node,
        CleaveOnnxValue *condition,
        CleaveOnnxValue *one,
        CleaveOnnxValue *other,
        GError **error)
{
  const CleaveTensorType *types[2];

  if (one->items != NULL || other->items != NULL)
    return choose_items (node, condition, one, other, error);
  types[0] = cleave_onnx_value_type (one);
  types[1] = cleave_onnx_value_type (other);
  if (!cleave_tensor_type_equal (types[0], types[1]))
    {
      g_autofree char *a = cleave_tensor_type_to_string (types[0]);
      g_autofree char *b = cleave_tensor_type_to_string (types[1]);

      cleave_onnx_note_unknown (node->import, condition, "has branches that give %s and %s", a, b);
      return cleave_onnx_node_fail_null (
          node, error,
          "its condition is computed, and its branches give %s and %s: types "
          "are static, so they must be the same",
          a, b);
    }
  return CLEAVE_ONNX_STEP ("Where", "", NULL, condition, one, other);
}

static GPtrArray *
read_both (CleaveOnnxNode *node,
           const Onnx__NodeProto *proto,
           CleaveOnnxValue *condition,
           GError **error)
{
  g_autoptr (GPtrArray) one = read_branch (node, proto, "then_branch", error);
  g_autoptr (GPtrArray) other =
      one == NULL ? NULL : read_branch (node, proto, "else_branch", error);
  g_autoptr (GPtrArray) values = g_ptr_array_new ();

  condition = other == NULL ? NULL : as_single (node, condition, find_least_rank (one), error);
  if (condition == NULL)
    return NULL;
  for (guint i = 0; i < node->n_results; i++)
    {
      CleaveOnnxValue *value = choose (node, condition, one->pdata[i], other->pdata[i], error);

      if (value == NULL)
        return NULL;
      g_ptr_array_add (values, value);
    }
  return g_steal_pointer (&values);
}

static gboolean
is_true (CleaveTensor *condition)
{
  g_autoptr (CleaveTensor) dense = cleave_tensor_dup_dense (condition);

  return *(const guint8 *) cleave_tensor_get_data (dense) != 0;
}

gboolean
cleave_onnx_read_if (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error)
{
  CleaveOnnxValue *condition = cleave_onnx_node_operand (node, 0);
  const CleaveTensorType *type = condition == NULL ? NULL : cleave_onnx_value_type (condition);

  if (type == NULL || type->element != CLEAVE_BOOL || cleave_shape_n_elements (&type->shape) != 1)
    return cleave_onnx_node_fail (node, error, "its condition must be one bool");
  if (cleave_onnx_value_constant (node->import, condition) == NULL)
    node->values = read_both (node, proto, condition, error);
  else
    node->values = read_branch (
        node, proto, is_true (condition->constant) ? "then_branch" : "else_branch", error);
  return node->values != NULL;
}
