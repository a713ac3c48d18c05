/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Counts the readers of each constant and each folded node: a node whose operands are all constant.
 * Computes a folded node when a step first asks for its result, and releases a value after its last
 * reader. A reader is a step of the program or another folded node. The code calls constants and
 * folded nodes *fixed* nodes. */

#include "constants.h"

#include "../ir/evaluate.h"
#include "../ir/fixed.h"

/* A value, and the number of its readers that have not read it yet, while a program is made. The
 * value is a constant tensor with all slices that share its memory, or it is the results of one
 * folded node. */
typedef struct
{
  guint n_left;     /* number of steps and folded nodes that have not read the value yet */
  gboolean is_kept; /* TRUE: a step reads the constant unpacked at run time, so the program keeps
                       the constant */
  GPtrArray *nodes; /* CleaveNode: the nodes of the graph that hold the constant; NULL: the program
                       does not own the graph */
  CleaveNode *node; /* the folded node; NULL if the value is a constant tensor */
  /* CleaveTensor: the results of the folded node; NULL until the node is computed */
  GPtrArray *values;
  gboolean shares_no_bytes; /* TRUE: no result shares memory with operand 0, so the operands can be
                               released before the results */
} Use;

struct _CleaveConstants
{
  const CleaveStorage *storage;
  const CleaveGraph *graph;
  CleaveWeights *weights;
  GHashTable *uses; /* maps a base tensor or a folded node to its Use */
  /* CleaveNode: nodes whose value was read, one entry for each finished read; end_uses() subtracts
   * these reads from `n_left`. If two steps have read a node, the list contains the node twice */
  GPtrArray *ended;
  GError *error; /* error of the first allocation that failed; NULL: none */
};

static void
use_free (gpointer data)
{
  Use *use = data;

  g_clear_pointer (&use->nodes, g_ptr_array_unref);
  g_clear_pointer (&use->values, g_ptr_array_unref);
  g_free (use);
}

static gpointer
key_of (CleaveNode *node)
{
  CleaveTensor *constant = cleave_node_get_constant (node);

  return constant != NULL ? (gpointer) cleave_tensor_get_base (constant, NULL) : node;
}

static Use *
find_use (const CleaveConstants *constants, CleaveNode *node)
{
  return g_hash_table_lookup (constants->uses, key_of (node));
}

/* Counts one more reader of the value of `node`. Returns TRUE if this is the first reader of a
 * folded node. */
static gboolean
add_use (CleaveConstants *constants, CleaveNode *node)
{
  Use *use = find_use (constants, node);
  gboolean is_first = use == NULL;

  if (is_first)
    {
      use = g_new0 (Use, 1);
      use->node = cleave_node_get_constant (node) == NULL ? node : NULL;
      g_hash_table_insert (constants->uses, key_of (node), use);
    }
  use->n_left++;
  return is_first && use->node != NULL;
}

/* Counts a step as a reader of a value. If the step is the first reader of a folded node, also
 * counts the folded node as a reader of its own operands, and so on up to the constants. */
static void
add_uses (const CleaveAssignment *assignment, gboolean writes, gpointer data)
{
  CleaveConstants *constants = data;
  g_autoptr (GPtrArray) first = g_ptr_array_new ();

  if (!cleave_node_is_fixed (assignment->result->node) ||
      !add_use (constants, assignment->result->node))
    return;
  g_ptr_array_add (first, assignment->result->node);
  while (first->len > 0)
    {
      const CleaveNode *node = g_ptr_array_steal_index_fast (first, first->len - 1);

      for (guint i = 0; i < node->n_operands; i++)
        if (node->operands[i].result != NULL && add_use (constants, node->operands[i].result->node))
          g_ptr_array_add (first, node->operands[i].result->node);
    }
}

static void
add_nodes (CleaveConstants *constants)
{
  for (CleaveNode *node = constants->graph->first; node != NULL; node = node->next)
    {
      Use *use = cleave_node_get_constant (node) == NULL ? NULL : find_use (constants, node);

      if (use == NULL)
        continue;
      if (use->nodes == NULL)
        use->nodes = g_ptr_array_new ();
      g_ptr_array_add (use->nodes, node);
    }
}

CleaveConstants *
cleave_constants_new (const CleaveStorage *storage,
                      const CleaveGraph *graph,
                      CleaveWeights *weights,
                      gboolean given)
{
  CleaveConstants *constants = g_new0 (CleaveConstants, 1);

  constants->storage = storage;
  constants->graph = graph;
  constants->weights = weights;
  constants->uses = g_hash_table_new_full (NULL, NULL, NULL, use_free);
  constants->ended = g_ptr_array_new ();
  for (guint s = 0; s < storage->steps->len; s++)
    cleave_storage_visit (storage, graph, &g_array_index (storage->steps, CleaveStep, s), add_uses,
                          constants);
  if (given)
    add_nodes (constants);
  return constants;
}

void
cleave_constants_free (CleaveConstants *constants)
{
  if (constants == NULL)
    return;
  g_hash_table_unref (constants->uses);
  g_ptr_array_unref (constants->ended);
  g_clear_error (&constants->error);
  g_free (constants);
}

static CleaveTensor *
find_value (const CleaveConstants *constants, const CleaveResult *value)
{
  CleaveTensor *constant = cleave_node_get_constant (value->node);
  const Use *use = constant != NULL ? NULL : find_use (constants, value->node);

  if (constant != NULL)
    return constant;
  return use == NULL || use->values == NULL ? NULL : use->values->pdata[value->index];
}

static gboolean
is_there (CleaveNode *node, gpointer data)
{
  return find_value (data, &node->results[0]) != NULL;
}

/* The following functions release values that no further step reads. */

/* Releases a value after its last use. The packed weights drop their references to the base tensors
 * of the value. If the program owns the graph and the value is a constant, the graph drops the
 * constant, too. */
static void
release_value (CleaveConstants *constants, const CleaveNode *node, Use *use)
{
  CleaveTensor *constant = cleave_node_get_constant (node);

  if (constant != NULL)
    cleave_weights_let_go (constants->weights, cleave_tensor_get_base (constant, NULL));
  for (guint i = 0; use->values != NULL && i < use->values->len; i++)
    cleave_weights_let_go (constants->weights,
                           cleave_tensor_get_base (use->values->pdata[i], NULL));
  for (guint i = 0; use->nodes != NULL && i < use->nodes->len; i++)
    cleave_node_drop_constant (use->nodes->pdata[i]);
}

static void
add_ended_operands (CleaveConstants *constants, const CleaveNode *node)
{
  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result != NULL)
      g_ptr_array_add (constants->ended, node->operands[i].result->node);
}

static void
end_uses (CleaveConstants *constants)
{
  while (constants->ended->len > 0)
    {
      CleaveNode *node = g_ptr_array_steal_index_fast (constants->ended, constants->ended->len - 1);
      gconstpointer key = key_of (node);
      Use *use = g_hash_table_lookup (constants->uses, key);

      if (use == NULL || --use->n_left > 0)
        continue;
      if (use->node != NULL && !use->shares_no_bytes)
        add_ended_operands (constants, node);
      release_value (constants, node, use);
      g_hash_table_remove (constants->uses, key);
    }
}

/* The following functions find the values of constants and folded nodes. */

/* Returns TRUE if result 0 of a folded node shares no memory with operand 0: their base tensors
 * differ, or operand 0 has no value. Operand 0 can then be released before the result. */
static gboolean
shares_no_bytes (const CleaveConstants *constants, const Use *use)
{
  const CleaveResult *x = use->node->n_operands > 0 ? use->node->operands[0].result : NULL;
  CleaveTensor *value = x == NULL ? NULL : find_value (constants, x);

  return value == NULL || cleave_tensor_get_base (use->values->pdata[0], NULL) !=
                              cleave_tensor_get_base (value, NULL);
}

static gboolean
compute_node (CleaveNode *node, gpointer data)
{
  CleaveConstants *constants = data;
  g_autofree CleaveTensor **operands = g_new0 (CleaveTensor *, node->n_operands + 1);
  Use *use = find_use (constants, node);
  g_auto (CleaveNodeCall) call = { 0 };

  cleave_node_call_init (&call, node);
  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result != NULL)
      operands[i] = find_value (constants, node->operands[i].result);
  use->values = cleave_evaluate_call (&call.call, operands, &constants->error);
  if (use->values == NULL)
    return FALSE;
  use->shares_no_bytes = shares_no_bytes (constants, use);
  if (use->shares_no_bytes)
    add_ended_operands (constants, node);
  end_uses (constants);
  return TRUE;
}

CleaveTensor *
cleave_constants_get (CleaveConstants *constants, const CleaveResult *value)
{
  if (!cleave_node_is_fixed (value->node) || constants->error != NULL)
    return NULL;
  cleave_fixed_walk (value->node, is_there, compute_node, constants);
  return find_value (constants, value);
}

gboolean
cleave_constants_check (const CleaveConstants *constants, GError **error)
{
  if (constants->error != NULL && error != NULL)
    *error = g_error_copy (constants->error);
  return constants->error == NULL;
}

/* Adds a base tensor to `kept`, unless it is the last entry of `kept`. The results of one node may
 * be slices of one tensor, so the same base can be added several times in a row. */
static void
keep_once (GPtrArray *kept, CleaveTensor *base)
{
  if (kept->len == 0 || kept->pdata[kept->len - 1] != base)
    g_ptr_array_add (kept, cleave_tensor_ref (base));
}

void
cleave_constants_keep (CleaveConstants *constants, const CleaveResult *value, GPtrArray *kept)
{
  Use *use = find_use (constants, value->node);
  CleaveTensor *tensor =
      use == NULL || use->is_kept ? NULL : cleave_constants_get (constants, value);

  if (tensor == NULL)
    return;
  use->is_kept = TRUE;
  if (use->values == NULL)
    keep_once (kept, cleave_tensor_get_base (tensor, NULL));
  for (guint i = 0; use->values != NULL && i < use->values->len; i++)
    keep_once (kept, cleave_tensor_get_base (use->values->pdata[i], NULL));
}

static void
end_read (const CleaveAssignment *assignment, gboolean writes, gpointer data)
{
  g_ptr_array_add (((CleaveConstants *) data)->ended, assignment->result->node);
}

void
cleave_constants_end_step (CleaveConstants *constants, const CleaveStep *step)
{
  cleave_storage_visit (constants->storage, constants->graph, step, end_read, constants);
  end_uses (constants);
}
