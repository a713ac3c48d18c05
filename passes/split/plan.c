/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes the plan of a node: a chunk for each range, with the bytes and the MACs of the piece
 * that would compute the chunk. */

#include "plan.h"

char *
cleave_node_dup_label (const CleaveNode *node)
{
  return g_strdup_printf ("%s '%s'", node->op->name, node->name);
}

/* Returns whether a node with this op and these operands may have only the first `n_results`
 * results. */
static gboolean
can_drop_results (const CleaveCall *call, guint n_results)
{
  g_autofree CleaveTensorType *results = g_new0 (CleaveTensorType, call->n_results);
  gpointer attrs = cleave_attrs_copy (call->op, call->attrs);
  CleaveCall fewer = *call;
  gboolean can;

  fewer.attrs = attrs;
  fewer.results = NULL;
  fewer.n_results = n_results;
  can = cleave_call_infer (&fewer, attrs, results, NULL);
  cleave_attrs_free (call->op, attrs);
  return can;
}

const CleaveCall *
cleave_plan_call_init (CleaveNodeCall *call, const CleaveNode *node)
{
  guint n = node->n_results;

  cleave_node_call_init (call, node);
  while (n > 1 && node->results[n - 1].n_uses == 0)
    n--;
  if (n < node->n_results && can_drop_results (&call->call, n))
    call->call.n_results = n;
  return &call->call;
}

/* Returns the bytes of a chunk's operands and of its results that have users. */
static gint64
count_bytes (const CleaveChunk *chunk, const CleaveCall *call, const CleaveNode *node)
{
  gint64 n = 0;

  for (guint i = 0; i < chunk->n_operands; i++)
    if (chunk->has[i])
      n += cleave_range_n_elements (&chunk->slices[i].range) *
           (gint64) cleave_element_size (call->operands[i].element);
  for (guint r = 0; r < chunk->n_results; r++)
    if (node->results[r].n_uses > 0)
      n += cleave_tensor_type_n_bytes (&chunk->results[r]);
  return n;
}

/* Returns the MACs of the piece that computes a chunk. */
static gint64
chunk_macs (const CleaveChunk *chunk, const CleaveCall *call)
{
  g_autofree CleaveTensorType *operands = NULL;
  CleaveCall narrow = *call;

  if (call->op->macs == NULL)
    return 0;
  operands = g_new0 (CleaveTensorType, call->n_operands + 1);
  narrow.attrs = chunk->attrs;
  narrow.operands = operands;
  narrow.results = chunk->results;
  narrow.cursor = NULL;
  narrow.n_operands = 0;
  for (guint i = 0; i < call->n_operands; i++)
    if (chunk->has[i])
      operands[narrow.n_operands++] =
          (CleaveTensorType){ call->operands[i].element,
                              cleave_range_shape (&chunk->slices[i].range) };
    else if ((call->op->flags & CLEAVE_OP_VARIADIC) == 0)
      operands[narrow.n_operands++] = (CleaveTensorType){ .element = CLEAVE_NONE };
  return call->op->macs (&narrow);
}

/* Inserts the chunk's range into `why` at `length`, before the reason that was appended there. */
static void
name_chunk (const CleaveRange *range, gsize length, GString *why)
{
  g_autofree char *text = cleave_range_to_string (range);
  g_autofree char *prefix = g_strdup_printf ("chunk %s: ", text);

  g_string_insert (why, (gssize) length, prefix);
}

static gboolean
add_chunk (CleavePlan *plan, const CleaveRange *range, GString *why)
{
  const CleaveCall *call = &plan->call.call;
  gsize length = why != NULL ? why->len : 0;
  CleavePlanned *planned = &plan->chunks[plan->n_chunks];

  if (!cleave_chunk_init (&planned->chunk, call, range, why))
    {
      if (why != NULL)
        name_chunk (range, length, why);
      return FALSE;
    }
  planned->n_bytes = count_bytes (&planned->chunk, call, plan->node);
  planned->macs = chunk_macs (&planned->chunk, call);
  plan->n_chunks++;
  return TRUE;
}

CleavePlan *
cleave_plan_new (CleaveNode *node, const CleaveRange *ranges, guint n_ranges, GString *why)
{
  g_autoptr (CleavePlan) plan = g_new (CleavePlan, 1);

  plan->node = node;
  plan->n_chunks = 0;
  cleave_plan_call_init (&plan->call, node);
  plan->chunks = g_new (CleavePlanned, n_ranges);
  for (guint i = 0; i < n_ranges; i++)
    if (!add_chunk (plan, &ranges[i], why))
      return NULL;
  return g_steal_pointer (&plan);
}

void
cleave_plan_free (CleavePlan *plan)
{
  if (plan == NULL)
    return;
  for (guint i = 0; i < plan->n_chunks; i++)
    cleave_chunk_clear (&plan->chunks[i].chunk, plan->call.call.op);
  g_free (plan->chunks);
  cleave_node_call_clear (&plan->call);
  g_free (plan);
}

const CleaveChunk *
cleave_plan_get_chunk (const CleavePlan *plan, guint chunk)
{
  return &plan->chunks[chunk].chunk;
}

gint64
cleave_plan_get_most_bytes (const CleavePlan *plan)
{
  gint64 most = 0;

  for (guint i = 0; i < plan->n_chunks; i++)
    most = MAX (most, plan->chunks[i].n_bytes);
  return most;
}

/**
 * cleave_plan_get_node:
 * @plan: a plan
 *
 * Returns: (transfer none): the node that the plan would split
 *
 * Since: 0.1
 */
CleaveNode *
cleave_plan_get_node (const CleavePlan *plan)
{
  g_return_val_if_fail (plan != NULL, NULL);
  return plan->node;
}

/**
 * cleave_plan_get_n_chunks:
 * @plan: a plan
 *
 * Returns: the number of pieces into which the node would be split
 *
 * Since: 0.1
 */
guint
cleave_plan_get_n_chunks (const CleavePlan *plan)
{
  g_return_val_if_fail (plan != NULL, 0);
  return plan->n_chunks;
}

/**
 * cleave_plan_get_range:
 * @plan: a plan
 * @chunk: index of the chunk
 *
 * Returns: (transfer none): the range of result 0 that the piece would compute
 *
 * Since: 0.1
 */
const CleaveRange *
cleave_plan_get_range (const CleavePlan *plan, guint chunk)
{
  g_return_val_if_fail (plan != NULL, NULL);
  g_return_val_if_fail (chunk < plan->n_chunks, NULL);
  return &cleave_plan_get_chunk (plan, chunk)->range;
}

/**
 * cleave_plan_get_n_bytes:
 * @plan: a plan
 * @chunk: index of the chunk
 *
 * Returns: the number of bytes of all operands of the piece, including weights, and of its results
 * that are used
 *
 * Since: 0.1
 */
gint64
cleave_plan_get_n_bytes (const CleavePlan *plan, guint chunk)
{
  g_return_val_if_fail (plan != NULL, 0);
  g_return_val_if_fail (chunk < plan->n_chunks, 0);
  return plan->chunks[chunk].n_bytes;
}

/**
 * cleave_plan_get_macs:
 * @plan: a plan
 * @chunk: index of the chunk
 *
 * Returns: the number of multiply-accumulates of the piece
 *
 * Since: 0.1
 */
gint64
cleave_plan_get_macs (const CleavePlan *plan, guint chunk)
{
  g_return_val_if_fail (plan != NULL, 0);
  g_return_val_if_fail (chunk < plan->n_chunks, 0);
  return plan->chunks[chunk].macs;
}
