/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds a lower bound on the peak of a graph after a split. Each node that stays whole needs the
 * bytes of its operands and results at the same time. The bound is the largest of these numbers. A
 * node stays whole if it is an input, or if the recursion of the split does not reach it from the
 * roots. */

#include "bound.h"

#include "../../lib/ir/overlay.h"
#include "../../lib/ir/topology.h"

#include "plan.h"

typedef struct
{
  const CleaveGraph *graph;
  guint *depth; /* indexed by node id: number of nodes from a root to the node, both included; 0:
                   not reached */
  gboolean *in_use; /* indexed by node id: the node depends on an input */
} Bound;

/* Sets `bound->depth` of each node that a split of depth `depth` reaches: 1 for a root, and for
 * another node one more than the depth of its reader. Does not go beyond nodes of depth `depth`. */
static void
reach (Bound *bound, CleaveNode *const *roots, guint n_roots, guint depth)
{
  g_autoptr (GPtrArray) nodes = g_ptr_array_new ();

  for (guint i = 0; i < n_roots; i++)
    {
      g_ptr_array_add (nodes, roots[i]);
      bound->depth[roots[i]->id] = 1;
    }
  for (guint i = 0; i < nodes->len; i++)
    {
      const CleaveNode *node = g_ptr_array_index (nodes, i);

      for (guint j = 0; j < node->n_operands && bound->depth[node->id] < depth; j++)
        {
          const CleaveResult *x = node->operands[j].result;

          if (x == NULL || bound->depth[x->node->id] != 0)
            continue;
          bound->depth[x->node->id] = bound->depth[node->id] + 1;
          g_ptr_array_add (nodes, x->node);
        }
    }
}

/* Returns whether the value of a node certainly has memory of its own. Returns FALSE for a view, a
 * join, and a node that depends on no input. */
static gboolean
is_stored (const Bound *bound, const CleaveNode *node)
{
  const CleaveOpFlags other =
      CLEAVE_OP_VIEW | CLEAVE_OP_JOIN | CLEAVE_OP_ROW_MAJOR | CLEAVE_OP_OF_TYPES;

  return (node->op->flags & other) == 0 && bound->in_use[node->id];
}

/* Bytes that a node reads and writes, each value once. */
typedef struct
{
  gint64 read, made, largest;
  const char *name; /* name of the operand or result that is the largest value */
} Needs;

static void
add_value (Needs *needs, gint64 *sum, const CleaveResult *value, const char *name)
{
  gint64 n = cleave_tensor_type_n_bytes (&value->type);

  *sum += n;
  if (n <= needs->largest)
    return;
  needs->largest = n;
  needs->name = name;
}

static Needs
find_needs (const Bound *bound, const CleaveNode *node)
{
  Needs needs = { 0 };

  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *x = node->operands[i].result;
      gboolean is_new = x != NULL && is_stored (bound, x->node);

      for (guint j = 0; j < i && is_new; j++)
        is_new = node->operands[j].result != x;
      if (is_new)
        add_value (&needs, &needs.read, x, cleave_op_operand_name (node->op, i));
    }
  for (guint r = 0; r < node->n_results; r++)
    if (node->results[r].n_uses > 0)
      add_value (&needs, &needs.made, &node->results[r], cleave_op_result_name (node->op, r));
  return needs;
}

/* Returns whether the result of a node may overwrite an operand, as a whole or row by row. */
static gboolean
may_overwrite (const CleaveNode *node)
{
  g_auto (CleaveNodeCall) call = { 0 };
  guint rows;
  gint64 shift;

  if ((node->op->flags & CLEAVE_OP_IN_PLACE) != 0)
    return TRUE;
  cleave_node_call_init (&call, node);
  for (guint i = 0; node->op->kernel != NULL && i < node->n_operands; i++)
    if (cleave_call_overlay (&call.call, i, &rows, &shift))
      return TRUE;
  return FALSE;
}

/* Returns the bytes that a whole node needs while it runs. If its result may overwrite an
 * operand, operands and results may share memory. */
static gint64
whole_bytes (const CleaveNode *node, const Needs *needs)
{
  return may_overwrite (node) ? MAX (needs->read, needs->made) : needs->read + needs->made;
}

static void
find_in_use (Bound *bound)
{
  g_autoptr (GPtrArray) inputs = g_ptr_array_new ();

  for (CleaveNode *node = bound->graph->first; node != NULL; node = node->next)
    if (cleave_node_is_input (node))
      g_ptr_array_add (inputs, node);
  cleave_topology_reach (bound->graph, (CleaveNode *const *) inputs->pdata, inputs->len, TRUE,
                         bound->in_use);
}

gint64
cleave_bound_find (CleaveNode *const *roots, guint n_roots, guint depth, char **which)
{
  const CleaveGraph *graph = roots[0]->graph;
  guint n = graph->n_ids;
  g_autofree guint *depths = g_new0 (guint, n + 1);
  g_autofree gboolean *in_use = g_new0 (gboolean, n + 1);
  Bound bound = { graph, depths, in_use };
  gint64 most = 0;

  reach (&bound, roots, n_roots, depth);
  find_in_use (&bound);
  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      Needs needs;
      g_autofree char *label = NULL;

      if ((depths[node->id] != 0 && !cleave_node_is_input (node)) || !is_stored (&bound, node))
        continue;
      needs = find_needs (&bound, node);
      if (whole_bytes (node, &needs) <= most)
        continue;
      most = whole_bytes (node, &needs);
      label = cleave_node_dup_label (node);
      g_free (*which);
      *which = g_strdup_printf ("%s, which cannot be split, needs %" G_GINT64_FORMAT
                                " bytes, %" G_GINT64_FORMAT " of them for %s",
                                label, most, needs.largest, needs.name);
    }
  return most;
}
