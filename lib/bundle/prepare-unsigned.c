/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Rewrites ops of uint8 to ops of int8, since the fast kernels of convolutions are for int8:
 *
 *   x (uint8) -> QLinearConv, zero points 128 and 3  -> y (uint8)
 *   => x -> TfliteLookup -> QLinearConv, zero points 0 and -125 -> TfliteLookup -> y
 *
 * A TfliteLookup subtracts 128 from elements of uint8, or adds 128 to elements of int8. If the
 * producer or all readers of a value are rewritten, no TfliteLookup is added there. All results
 * keep the same bits. */

#include <string.h>

#include "op-help.h"
#include "prepare.h"

#define ALL_OPERANDS G_MAXUINT

/* An op that can compute with int8 in place of uint8. */
typedef struct
{
  const char *op;       /* name of the op; NULL: any op that only moves elements */
  guint n_values;       /* the operands from 0 to n_values - 1 are uint8 values; ALL_OPERANDS: all
                         * operands are */
  guint x_zero, y_zero; /* indices of the operands that have the zero points of operand 0 and of the
                           result; 0: no such operand */
  gboolean needs_signed_value; /* rewrite the op only if it reads a result of a rewritten node */
} Rule;

/* The ops that can compute with int8. Only the ops without needs_signed_value are faster with
 * int8. */
static const Rule rules[] = {
  { "QLinearConv", 1, 2, 7, FALSE },    { "QLinearMatMul", 1, 2, 7, FALSE },
  { "QuantizeLinear", 1, 0, 2, FALSE }, { "DequantizeLinear", 1, 2, 0, TRUE },
  { "MaxPool", 1, 0, 0, TRUE },         { "DepthToSpace", 1, 0, 0, TRUE },
  { "SpaceToDepth", 1, 0, 0, TRUE },
};

/* The rules of ops that only move elements. moves_rule: the op moves elements of operand 0 only.
 * join_rule: the op moves elements of all operands. */
static const Rule moves_rule = { NULL, 1, 0, 0, TRUE };
static const Rule join_rule = { NULL, ALL_OPERANDS, 0, 0, TRUE };

typedef struct
{
  CleaveGraph *graph;
  GHashTable *with_sign; /* maps a value of uint8 to the value of int8 that is smaller by 128 */
  GPtrArray *replaced;   /* nodes that were rewritten, in order */
} Rewrite;

static const Rule *
find_rule (const CleaveNode *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (rules); i++)
    if (g_str_equal (rules[i].op, node->op->name))
      return &rules[i];
  if ((node->op->flags & CLEAVE_OP_JOIN) != 0)
    return &join_rule;
  return (node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_ROW_MAJOR)) != 0 ? &moves_rule : NULL;
}

/* Adds a node that converts uint8 to int8, or int8 to uint8. Returns its result; NULL on error. */
static CleaveResult *
add_conversion (CleaveGraph *graph, CleaveResult *x, CleaveElement to, GError **error)
{
  CleaveTensorType type = { to, CLEAVE_SHAPE (256) };
  guint8 table[256];
  g_autoptr (CleaveTensor) tensor = NULL;
  CleaveResult *operands[2] = { x };
  CleaveNode *node;

  /* entry i of the table is for x = i if x is uint8, and for x = i - 128 if x is int8 */
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    table[i] = (guint8) (to == CLEAVE_INT8 ? i ^ 0x80 : i);
  tensor = cleave_tensor_new_copy (&type, table, error);
  if (tensor == NULL)
    return NULL;
  operands[1] = cleave_graph_add_constant (graph, NULL, tensor);
  node = cleave_graph_add (graph, cleave_op_lookup ("TfliteLookup"), x->node->name, operands, 2, 1,
                           NULL, error);
  return node == NULL ? NULL : &node->results[0];
}

/* If `value` has the type uint8, returns the int8 value that equals `value` minus 128. If the graph
 * does not have this int8 value yet, adds a conversion. Returns `value` itself if it has another
 * type, and NULL on error. */
static CleaveResult *
find_signed (Rewrite *r, CleaveResult *value, GError **error)
{
  CleaveResult *other;

  if (value->type.element != CLEAVE_UINT8)
    return value;
  other = g_hash_table_lookup (r->with_sign, value);
  if (other != NULL)
    return other;
  other = add_conversion (r->graph, value, CLEAVE_INT8, error);
  if (other != NULL)
    g_hash_table_insert (r->with_sign, value, other);
  return other;
}

/* Returns an int8 constant: each zero point in operand `slot`, minus 128. If the operand is absent,
 * its zero point is 0. */
static CleaveResult *
shift_zeros (Rewrite *r, const CleaveNode *node, guint slot, GError **error)
{
  const CleaveResult *from = slot < node->n_operands ? node->operands[slot].result : NULL;
  CleaveTensorType type = { CLEAVE_INT8, from == NULL ? (CleaveShape){ 0 } : from->type.shape };
  gint64 n = cleave_shape_n_elements (&type.shape);
  g_autofree gint8 *zeros = g_new (gint8, (gsize) n);
  g_autoptr (CleaveTensor) tensor = NULL;

  for (gint64 i = 0; i < n; i++)
    zeros[i] = (gint8) ((from == NULL ? 0 : cleave_bundle_integer (node, slot, i)) - 128);
  tensor = cleave_tensor_new_copy (&type, zeros, error);
  return tensor == NULL ? NULL : cleave_graph_add_constant (r->graph, NULL, tensor);
}

static gboolean
is_value (const Rule *rule, guint slot)
{
  return rule->n_values == ALL_OPERANDS || slot < rule->n_values;
}

/* Sets the operands of the new node. `n`: number of operands. */
static gboolean
set_operands (Rewrite *r,
              const CleaveNode *node,
              const Rule *rule,
              CleaveResult **to,
              guint n,
              GError **error)
{
  const gboolean is_unsigned[] = { node->operands[0].result->type.element == CLEAVE_UINT8,
                                   node->results[0].type.element == CLEAVE_UINT8 };

  for (guint i = 0; i < n; i++)
    {
      CleaveResult *from = i < node->n_operands ? node->operands[i].result : NULL;

      to[i] = from;
      if (is_value (rule, i))
        to[i] = find_signed (r, from, error);
      else if ((i == rule->x_zero && is_unsigned[0]) || (i == rule->y_zero && is_unsigned[1]))
        to[i] = shift_zeros (r, node, i, error);
      if (to[i] == NULL && from != NULL)
        return FALSE;
    }
  return TRUE;
}

/* Returns whether a reader of result 0 can compute with int8 in place of uint8. */
static gboolean
has_ruled_reader (const CleaveNode *node)
{
  for (const CleaveOperand *use = node->results[0].first_use; use != NULL; use = use->next_use)
    if (use->node != NULL && find_rule (use->node) != NULL)
      return TRUE;
  return FALSE;
}

/* Returns whether a node has uint8 elements, constant zero points, and gains from a rewrite. */
static gboolean
needs_rewrite (const Rewrite *r, const CleaveNode *node, const Rule *rule)
{
  gboolean is_unsigned = node->operands[0].result->type.element == CLEAVE_UINT8;
  gboolean has_signed = !rule->needs_signed_value;

  if (node->n_results != 1 || (!is_unsigned && node->results[0].type.element != CLEAVE_UINT8))
    return FALSE;
  if (g_str_equal (node->op->name, "QuantizeLinear") && !has_ruled_reader (node))
    return FALSE;
  for (guint i = 0; i < node->n_operands; i++)
    if (is_value (rule, i))
      has_signed |= g_hash_table_contains (r->with_sign, node->operands[i].result);
    else if (node->operands[i].result != NULL &&
             !cleave_node_is_fixed (node->operands[i].result->node))
      return FALSE;
  return has_signed;
}

static gboolean
rewrite (Rewrite *r, CleaveNode *node, const Rule *rule, GError **error)
{
  guint n = MAX (node->n_operands, MAX (rule->x_zero, rule->y_zero) + 1);
  g_autofree CleaveResult **operands = g_new0 (CleaveResult *, n);
  CleaveNode *new;

  if (!set_operands (r, node, rule, operands, n, error))
    return FALSE;
  new = cleave_graph_add (r->graph, node->op, node->name, operands, n, 1, node->attrs, error);
  if (new == NULL)
    return FALSE;
  g_ptr_array_add (r->replaced, node);
  if (node->results[0].type.element == CLEAVE_UINT8)
    g_hash_table_insert (r->with_sign, &node->results[0], &new->results[0]);
  else
    cleave_result_replace_uses (&node->results[0], &new->results[0]);
  return TRUE;
}

/* Removes the rewritten nodes. If another node still reads the uint8 result of a rewritten node,
 * first replaces this result by a conversion of the int8 result to uint8. */
static gboolean
remove_replaced (Rewrite *r, GError **error)
{
  for (guint i = r->replaced->len; i > 0; i--)
    {
      CleaveNode *node = r->replaced->pdata[i - 1];

      if (node->results[0].n_uses > 0)
        {
          CleaveResult *value = add_conversion (
              r->graph, g_hash_table_lookup (r->with_sign, &node->results[0]), CLEAVE_UINT8, error);

          if (value == NULL)
            return FALSE;
          cleave_result_replace_uses (&node->results[0], value);
        }
      cleave_graph_remove (r->graph, node);
    }
  return TRUE;
}

gboolean
cleave_bundle_prepare_unsigned (CleaveGraph *graph, GError **error)
{
  g_autoptr (GPtrArray) order = cleave_graph_get_order (graph, error);
  g_autoptr (GHashTable) with_sign = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) replaced = g_ptr_array_new ();
  Rewrite r = { graph, with_sign, replaced };

  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = order->pdata[i];
      const Rule *rule = find_rule (node);

      if (rule != NULL && !cleave_node_is_fixed (node) && cleave_node_is_used (node) &&
          needs_rewrite (&r, node, rule) && !rewrite (&r, node, rule, error))
        return FALSE;
    }
  return remove_replaced (&r, error);
}
