/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the Wheres that are written as Ifs, and writes them.
 *
 * A Where whose condition has one element selects one whole operand. All Wheres with the same
 * condition form a choice, which the exporter writes as one If:
 *
 *     y = Where (c, Conv (x), Pool (x))  =>  y = If (c, then: Conv (x), else: Pool (x))
 *
 * Nodes that only one of the two values needs move into the then or the else branch, so that a
 * runtime computes only one side. The import turns the Ifs of a model into such Wheres. */

#include "export.h"

#include "../wire.h"

/* Largest number of conditions that become Ifs. The export analyzes each condition separately, so
 * the limit bounds the time of the export. Wheres of further conditions stay Wheres. */
#define MAX_CHOICES 64

struct _CleaveOnnxChoice
{
  const CleaveResult *condition;
  GPtrArray *wheres;   /* CleaveNode: Wheres that read `condition`, in graph order */
  GPtrArray *sides[2]; /* CleaveNode: the nodes of the then branch (sides[0]) and of the else branch
                        * (sides[1]), in graph order */
  gint64 macs;         /* number of MACs in both branches together */
};

typedef struct _CleaveOnnxChoice Choice;

/* The number that CleaveOnnxExport.branch has for a node in no branch of an If. The then branch of
 * If c (counted from 0) has the number 1 + 2 * c, and the else branch has the number 2 + 2 * c. */
#define MAIN 0

static void
choice_free (gpointer data)
{
  Choice *choice = data;

  g_ptr_array_unref (choice->wheres);
  g_ptr_array_unref (choice->sides[0]);
  g_ptr_array_unref (choice->sides[1]);
  g_free (choice);
}

static gboolean
chooses_whole (const CleaveOnnxExport *export, const CleaveNode *node)
{
  return node->op == export->where && node->results[0].n_uses > 0 &&
         cleave_shape_n_elements (&node->operands[0].result->type.shape) == 1 &&
         !cleave_node_is_fixed (node->operands[0].result->node) &&
         cleave_tensor_type_equal (&node->operands[1].result->type, &node->results[0].type) &&
         cleave_tensor_type_equal (&node->operands[2].result->type, &node->results[0].type);
}

static void
find_choices (CleaveOnnxExport *export, const GPtrArray *order)
{
  g_autoptr (GHashTable) by_condition = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = order->pdata[i];
      Choice *choice;

      if (!chooses_whole (export, node))
        continue;
      choice = g_hash_table_lookup (by_condition, node->operands[0].result);
      if (choice == NULL && export->choices->len == MAX_CHOICES)
        continue;
      if (choice == NULL)
        {
          choice = g_new0 (Choice, 1);
          choice->condition = node->operands[0].result;
          choice->wheres = g_ptr_array_new ();
          choice->sides[0] = g_ptr_array_new ();
          choice->sides[1] = g_ptr_array_new ();
          g_hash_table_insert (by_condition, (gpointer) choice->condition, choice);
          g_ptr_array_add (export->choices, choice);
        }
      g_ptr_array_add (choice->wheres, node);
      export->choice_of[node->id] = choice;
    }
}

/* Returns the number of the branch that contains all readers of a node (see MAIN). Returns MAIN if
 * a reader is in no branch, or if readers are in different branches. A Where that becomes part of
 * an If reads operand 1 in the then branch and operand 2 in the else branch. */
static guint
find_branch (const CleaveOnnxExport *export, const GHashTable *numbers, const CleaveNode *node)
{
  guint branch = MAIN;
  gboolean is_first = TRUE;

  for (guint r = 0; r < node->n_results; r++)
    for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
      {
        const CleaveNode *user = use->node;
        Choice *choice = user == NULL ? NULL : export->choice_of[user->id];
        guint own = user == NULL ? MAIN : export->branch[user->id];

        if (choice != NULL)
          own = use->index == 0
                    ? MAIN
                    : 2 * GPOINTER_TO_UINT (g_hash_table_lookup ((GHashTable *) numbers, choice)) +
                          use->index;
        if (own == MAIN || (!is_first && own != branch))
          return MAIN;
        branch = own;
        is_first = FALSE;
      }
  return branch;
}

/* Assigns nodes to branches. Assigns no branch to a Where that becomes part of an If. So no branch
 * of an If contains another If. */
static void
find_branches (CleaveOnnxExport *export, const GPtrArray *order)
{
  g_autoptr (GHashTable) numbers = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < export->choices->len; i++)
    g_hash_table_insert (numbers, export->choices->pdata[i], GUINT_TO_POINTER (i));
  for (guint i = order->len; i-- > 0;)
    {
      const CleaveNode *node = order->pdata[i];

      /* A Custom node stays outside all branches, since the main graph must declare the types of
       * the node's results. */
      if (export->choice_of[node->id] == NULL && !cleave_node_is_input (node) &&
          cleave_node_get_constant (node) == NULL && node->op != export->custom)
        export->branch[node->id] = find_branch (export, numbers, node);
    }
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = order->pdata[i];
      guint branch = export->branch[node->id];
      g_auto (CleaveNodeCall) call = { 0 };
      Choice *choice;

      if (branch == MAIN)
        continue;
      choice = export->choices->pdata[(branch - 1) / 2];
      g_ptr_array_add (choice->sides[(branch - 1) % 2], node);
      export->choice_of[node->id] = choice;
      if (node->op->macs != NULL)
        choice->macs += node->op->macs (cleave_node_call_init (&call, node));
    }
}

static void
forget (CleaveOnnxExport *export, const Choice *choice)
{
  const GPtrArray *const lists[] = { choice->wheres, choice->sides[0], choice->sides[1] };

  for (guint i = 0; i < G_N_ELEMENTS (lists); i++)
    for (guint k = 0; k < lists[i]->len; k++)
      {
        const CleaveNode *node = lists[i]->pdata[k];

        export->choice_of[node->id] = NULL;
        export->branch[node->id] = MAIN;
      }
}

/* Returns the node that stands for `node` while nodes are sorted. If `node` is a Where that becomes
 * part of an If, this is the first Where of the same If. If not, this is `node` itself. */
static const CleaveNode *
representative_of (const CleaveOnnxExport *export, const CleaveNode *node)
{
  const Choice *choice = export->choice_of[node->id];

  return choice == NULL ? node : choice->wheres->pdata[0];
}

/* Pushes onto the stack the representatives (representative_of()) of the nodes that compute the
 * operands of `node`. If `node` belongs to an If, skips nodes in the branches of this If. Returns
 * FALSE if `node` reads a Where of the same If. */
static gboolean
push_operands (const CleaveOnnxExport *export, const CleaveNode *node, GPtrArray *stack)
{
  const Choice *choice = export->choice_of[node->id];

  for (guint i = node->n_operands; i-- > 0;)
    {
      const CleaveResult *value = node->operands[i].result;

      if (value == NULL)
        continue;
      if (choice == NULL || export->choice_of[value->node->id] != choice)
        g_ptr_array_add (stack, (gpointer) representative_of (export, value->node));
      else if (export->branch[value->node->id] == MAIN)
        return FALSE;
    }
  return TRUE;
}

static gboolean
push_needs (const CleaveOnnxExport *export, const CleaveNode *unit, GPtrArray *stack)
{
  const Choice *choice = export->choice_of[unit->id];
  gboolean good = TRUE;

  if (choice == NULL)
    return push_operands (export, unit, stack);
  for (guint k = 0; k < choice->wheres->len; k++)
    good = good && push_operands (export, choice->wheres->pdata[k], stack);
  for (guint side = 0; side < 2; side++)
    for (guint k = 0; k < choice->sides[side]->len; k++)
      good = good && push_operands (export, choice->sides[side]->pdata[k], stack);
  return good;
}

/* Sorts nodes so that each node comes after the nodes that it reads. The first of the Where nodes
 * that become one If takes the place of the whole If (representative_of()). Returns NULL if there
 * is a cycle: one Where of an If depends on another Where of the same If. */
static GPtrArray *
sort_units (const CleaveOnnxExport *export, const GPtrArray *order)
{
  enum { NEW, OPEN, DONE };
  g_autofree guint8 *state = g_new0 (guint8, export->graph->n_ids + 1);
  g_autoptr (GPtrArray) stack = g_ptr_array_new (), units = g_ptr_array_new ();

  for (guint i = 0; i < order->len; i++)
    {
      g_ptr_array_add (stack, (gpointer) representative_of (export, order->pdata[i]));
      while (stack->len > 0)
        {
          const CleaveNode *unit = stack->pdata[stack->len - 1];

          if (state[unit->id] == NEW)
            {
              guint n = stack->len;

              state[unit->id] = OPEN;
              if (!push_needs (export, unit, stack))
                return NULL;
              for (guint k = n; k < stack->len; k++)
                if (state[((const CleaveNode *) stack->pdata[k])->id] == OPEN)
                  return NULL;
              continue;
            }
          if (state[unit->id] == OPEN)
            {
              g_ptr_array_add (units, (gpointer) unit);
              state[unit->id] = DONE;
            }
          g_ptr_array_set_size (stack, (gint) stack->len - 1);
        }
    }
  return g_steal_pointer (&units);
}

GPtrArray *
cleave_onnx_export_order (CleaveOnnxExport *export, GError **error)
{
  g_autoptr (GPtrArray) order = cleave_graph_get_order (export->graph, error);
  GPtrArray *units;

  if (order == NULL)
    return NULL;
  export->branch = g_new0 (guint, export->graph->n_ids + 1);
  export->choice_of = g_new0 (CleaveOnnxChoice *, export->graph->n_ids + 1);
  export->choices = g_ptr_array_new_with_free_func (choice_free);
  find_choices (export, order);
  if (export->choices->len == 0)
    return g_steal_pointer (&order);
  find_branches (export, order);
  for (guint i = 0; i < export->choices->len; i++)
    if (((const Choice *) export->choices->pdata[i])->macs == 0)
      forget (export, export->choices->pdata[i]);
  units = sort_units (export, order);
  if (units != NULL)
    return units;
  for (guint i = 0; i < export->choices->len; i++)
    forget (export, export->choices->pdata[i]);
  return g_steal_pointer (&order);
}

/* The functions below write an If. */

/* Returns the name of the value that a Where selects in a branch (`side` 0: then, 1: else). If the
 * branch does not compute the value, or if another output of the branch is this value, adds an
 * Identity.
 */
static const char *
name_output (CleaveOnnxExport *export, const CleaveNode *where, guint side, GHashTable *taken)
{
  const CleaveResult *value = where->operands[1 + side].result;
  const char *name = cleave_onnx_result_name (export, value), *own;
  g_autofree char *base = NULL;

  if (export->branch[value->node->id] != MAIN && g_hash_table_add (taken, (gpointer) name))
    return name;
  base = g_strdup_printf ("%s.%s", where->name, side == 0 ? "then" : "else");
  own = cleave_onnx_name_value (export, base);
  cleave_onnx_add_node (export, "Identity", base, &name, 1, &own, 1);
  return own;
}

static gboolean
write_branch (CleaveOnnxExport *export,
              const Choice *choice,
              guint side,
              Onnx__GraphProto *branch,
              GError **error)
{
  g_autoptr (GHashTable) taken = g_hash_table_new (NULL, NULL);
  Onnx__GraphProto *outer = export->scope;
  gboolean good = TRUE;

  export->scope = branch;
  for (guint k = 0; k < choice->sides[side]->len && good; k++)
    {
      export->node = choice->sides[side]->pdata[k];
      good = cleave_onnx_export_node (export, export->node, error);
    }
  export->node = NULL;
  for (guint k = 0; k < choice->wheres->len && good; k++)
    {
      const CleaveNode *where = choice->wheres->pdata[k];
      const char *name = name_output (export, where, side, taken);

      cleave_wire_append (&branch->output, &branch->n_output,
                          cleave_onnx_info_new (export, name, &where->results[0].type));
    }
  export->scope = outer;
  return good;
}

gboolean
cleave_onnx_export_choice (CleaveOnnxExport *export, const CleaveNode *first, GError **error)
{
  static const char *const names[] = { "then_branch", "else_branch" };
  const Choice *choice = export->choice_of[first->id];
  const char *condition = cleave_onnx_result_name (export, choice->condition);
  g_autofree const char **results = g_new (const char *, choice->wheres->len);
  Onnx__NodeProto *node;
  gboolean good = TRUE;

  for (guint k = 0; k < choice->wheres->len; k++)
    {
      const CleaveNode *where = choice->wheres->pdata[k];

      results[k] = cleave_onnx_result_name (export, &where->results[0]);
    }
  export->node = first;
  node =
      cleave_onnx_add_node (export, "If", first->name, &condition, 1, results, choice->wheres->len);
  for (guint side = 0; side < 2 && good; side++)
    good = write_branch (export, choice, side, cleave_onnx_add_graph (node, names[side]), error);
  return good;
}
