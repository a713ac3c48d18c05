/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Takes a random node, sets some extents or attributes to 0, and tries to add the changed node. */

#include "empty-ops.h"

#include "../../lib/ir/graph-private.h"

#define N_TRIES 12

/* Picks an extent from the shape of one of the types. In the shapes of all types, sets the extents
 * that are equal to the picked extent to 0: all of them, or some. */
static void
empty_extents (CleaveTensorType *types, guint n, GRand *rand)
{
  const CleaveShape *first = &types[g_rand_int_range (rand, 0, (gint32) n)].shape;
  gint64 extent =
      first->rank == 0 ? 0 : first->dim[g_rand_int_range (rand, 0, (gint32) first->rank)];
  gboolean all = g_rand_boolean (rand);

  for (guint i = 0; i < n; i++)
    for (guint d = 0; d < types[i].shape.rank; d++)
      if (types[i].shape.dim[d] == extent && (all || g_rand_boolean (rand)))
        types[i].shape.dim[d] = 0;
}

/* Sets random attributes to 0. In a list of numbers, sets one number to 0. */
static void
empty_attr (const CleaveOp *op, gpointer attrs, GRand *rand)
{
  for (const CleaveAttr *attr = op->attrs; attr != NULL && attr->name != NULL; attr++)
    {
      gpointer field = cleave_attr_field (attr, attrs);
      CleaveInts *ints = field;
      GArray **array = field;

      if (g_rand_int_range (rand, 0, 3) == 0)
        continue;
      if (attr->kind == CLEAVE_ATTR_INT && (attr->flags & CLEAVE_ATTR_AXIS) == 0)
        *(gint64 *) field = 0;
      else if (attr->kind == CLEAVE_ATTR_INTS && ints->n > 0)
        ints->v[g_rand_int_range (rand, 0, (gint32) ints->n)] = 0;
      else if (attr->kind == CLEAVE_ATTR_ARRAY && *array != NULL && (*array)->len > 0)
        {
          GArray *copy = g_array_copy (*array);

          g_array_index (copy, gint64, g_rand_int_range (rand, 0, (gint32) copy->len)) = 0;
          g_array_unref (*array);
          *array = copy;
        }
    }
}

static gboolean
has_empty (const CleaveNode *node)
{
  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result != NULL &&
        cleave_shape_n_elements (&node->operands[i].result->type.shape) == 0)
      return TRUE;
  for (guint r = 0; r < node->n_results; r++)
    if (cleave_shape_n_elements (&node->results[r].type.shape) == 0)
      return TRUE;
  return FALSE;
}

/* Adds an input or a constant of type `type` in place of the operand `like`. If `like` is a
 * constant of that type, the new constant has its value. */
static CleaveResult *
add_operand (CleaveGraph *graph, const CleaveResult *like, const CleaveTensorType *type)
{
  CleaveTensor *value = cleave_node_get_constant (like->node);
  g_autoptr (CleaveTensor) none = NULL;

  if (value == NULL)
    return cleave_graph_add_input (graph, like->node->name, type, NULL);
  if (cleave_tensor_type_equal (type, &like->type))
    return cleave_graph_add_constant (graph, like->node->name, value);
  none = cleave_tensor_new (type, NULL);
  return cleave_graph_add_constant (graph, like->node->name, none);
}

/* Adds a node with the op of `like`, with attributes `attrs` and with operands of these types.
 * Returns NULL if the op refuses the operands. */
static CleaveNode *
rebuild (const CleaveNode *like,
         const CleaveTensorType *types,
         gconstpointer attrs,
         CleaveGraph *graph)
{
  g_autofree CleaveResult **operands = g_new0 (CleaveResult *, like->n_operands + 1);

  for (guint i = 0; i < like->n_operands; i++)
    {
      for (guint j = 0; j < i && operands[i] == NULL; j++)
        if (like->operands[j].result == like->operands[i].result)
          operands[i] = operands[j];
      if (operands[i] == NULL && like->operands[i].result != NULL)
        operands[i] = add_operand (graph, like->operands[i].result, &types[i]);
    }
  return cleave_graph_add (graph, like->op, NULL, operands, like->n_operands, like->n_results,
                           attrs, NULL);
}

static CleaveNode *
try_to_empty (const CleaveNode *like, GRand *rand, CleaveGraph *graph)
{
  guint n = like->n_operands;
  g_autofree CleaveTensorType *types = g_new0 (CleaveTensorType, n + 1);
  gpointer attrs = cleave_attrs_copy (like->op, like->attrs);
  CleaveNode *node;

  for (guint i = 0; i < n; i++)
    if (like->operands[i].result != NULL)
      types[i] = like->operands[i].result->type;
  if (attrs != NULL && g_rand_boolean (rand))
    empty_attr (like->op, attrs, rand);
  if (n > 0 && g_rand_int_range (rand, 0, 4) > 0)
    empty_extents (types, n, rand);
  node = rebuild (like, types, attrs, graph);
  cleave_attrs_free (like->op, attrs);
  return node;
}

CleaveNode *
cleave_random_op_emptied (const CleaveRandomOp *op, CleaveGraph *graph, GRand *rand)
{
  g_autoptr (CleaveGraph) like_graph = cleave_graph_new (NULL);
  const CleaveNode *like = op->make (like_graph, rand);

  for (guint i = 0; i < N_TRIES; i++)
    {
      guint32 seed = g_rand_int (rand);
      g_autoptr (GRand) again = g_rand_new_with_seed (seed), once = g_rand_new_with_seed (seed);
      g_autoptr (CleaveGraph) trial = cleave_graph_new (NULL);
      const CleaveNode *node = try_to_empty (like, once, trial);

      if (node != NULL && has_empty (node))
        return try_to_empty (like, again, graph);
    }
  return NULL;
}
