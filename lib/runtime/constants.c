/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "constants.h"

/* Of a tensor and all that are parts of it. */
typedef struct
{
  guint n_left;     /* uses by steps that are not ready yet */
  gboolean is_kept; /* it is read as it is */
  GPtrArray *nodes; /* CleaveNode: those of a graph that is given */
} Use;

struct _CleaveConstants
{
  const CleaveStorage *storage;
  const CleaveGraph *graph;
  GHashTable *uses;       /* Use of each base */
  CleaveWeights *weights; /* of the call at hand */
};

static void
use_free (gpointer data)
{
  Use *use = data;

  g_clear_pointer (&use->nodes, g_ptr_array_unref);
  g_free (use);
}

/* The tensor that the constant which lies here is part of, or NULL. */
static CleaveTensor *
find_base (const CleaveConstants *constants, const CleaveHome *home)
{
  const CleaveHome *root = &constants->storage->homes[home->place.root];

  if ((root->flags & CLEAVE_HOME_CONSTANT) == 0)
    return NULL;
  return cleave_tensor_get_base (cleave_node_get_constant (root->result->node), NULL);
}

static void
add_use (const CleaveHome *home, gboolean writes, gpointer data)
{
  CleaveConstants *constants = data;
  CleaveTensor *base = find_base (constants, home);
  Use *use;

  if (base == NULL)
    return;
  use = g_hash_table_lookup (constants->uses, base);
  if (use == NULL)
    {
      use = g_new0 (Use, 1);
      g_hash_table_insert (constants->uses, base, use);
    }
  use->n_left++;
}

static void
add_nodes (CleaveConstants *constants)
{
  for (CleaveNode *node = constants->graph->first; node != NULL; node = node->next)
    {
      CleaveTensor *constant = cleave_node_get_constant (node);
      Use *use = constant == NULL ? NULL
                                  : g_hash_table_lookup (constants->uses,
                                                         cleave_tensor_get_base (constant, NULL));

      if (use == NULL)
        continue;
      if (use->nodes == NULL)
        use->nodes = g_ptr_array_new ();
      g_ptr_array_add (use->nodes, node);
    }
}

CleaveConstants *
cleave_constants_new (const CleaveStorage *storage, const CleaveGraph *graph, gboolean given)
{
  CleaveConstants *constants = g_new0 (CleaveConstants, 1);

  constants->storage = storage;
  constants->graph = graph;
  constants->uses = g_hash_table_new_full (NULL, NULL, NULL, use_free);
  for (guint s = 0; s < storage->steps->len; s++)
    cleave_storage_visit (storage, graph, &g_array_index (storage->steps, CleaveStep, s), add_use,
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
  g_free (constants);
}

void
cleave_constants_keep (CleaveConstants *constants, const CleaveHome *home, GPtrArray *kept)
{
  CleaveTensor *base = find_base (constants, home);
  Use *use = base == NULL ? NULL : g_hash_table_lookup (constants->uses, base);

  if (use == NULL || use->is_kept)
    return;
  use->is_kept = TRUE;
  g_ptr_array_add (kept, cleave_tensor_ref (base));
}

/* A graph that is given goes with the program: nothing looks at this node again. */
static void
end_use (const CleaveHome *home, gboolean writes, gpointer data)
{
  CleaveConstants *constants = data;
  CleaveTensor *base = find_base (constants, home);
  Use *use = base == NULL ? NULL : g_hash_table_lookup (constants->uses, base);

  if (use == NULL || --use->n_left > 0)
    return;
  cleave_weights_let_go (constants->weights, base);
  for (guint i = 0; use->nodes != NULL && i < use->nodes->len; i++)
    cleave_node_drop_constant (use->nodes->pdata[i]);
  g_hash_table_remove (constants->uses, base);
}

void
cleave_constants_end_step (CleaveConstants *constants,
                           const CleaveStep *step,
                           CleaveWeights *weights)
{
  constants->weights = weights;
  cleave_storage_visit (constants->storage, constants->graph, step, end_use, constants);
}
