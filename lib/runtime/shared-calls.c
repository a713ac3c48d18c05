/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Keeps a set of tasks whose call and kernel state later tasks may share. Two tasks are equal if
 * their ops, attributes, types, strides and constants are equal, and if they overwrite the same
 * operands. */

#include "shared-calls.h"

#include "../ir/fixed.h"

typedef struct
{
  const CleaveNode *node;
  const CleaveTask *task;
  gsize n_scratch;
} Entry;

struct _CleaveSharedCalls
{
  /* set of Entry: the tasks whose call and kernel state other tasks may share */
  GHashTable *entries;
};

static guint
hash_view (guint hash, const CleaveView *view)
{
  hash = hash * 31 + view->type.element;
  for (guint d = 0; d < view->type.shape.rank; d++)
    hash = (hash * 31 + (guint) view->type.shape.dim[d]) * 31 + (guint) view->stride[d];
  return hash;
}

/* Returns the constant value that is an operand of a node; NULL: the operand is absent, or is not
 * constant. */
static const CleaveResult *
get_constant (const CleaveNode *node, guint operand)
{
  const CleaveResult *value = node->operands[operand].result;

  return value != NULL && cleave_node_is_fixed (value->node) ? value : NULL;
}

/* Returns the hash of an entry. The hash includes the addresses of constants. Otherwise, all layers
 * with equal shapes would have one hash, and making a program of 10,000 layers would take
 * seconds. */
static guint
hash_entry (gconstpointer key)
{
  const Entry *entry = key;
  const CleaveKernelInstance *instance = &entry->task->instance;
  guint hash = cleave_attrs_hash (instance->call.op, instance->call.attrs);

  for (guint i = 0; i < instance->call.n_operands; i++)
    hash = hash_view (hash, &instance->operands[i]) * 31 +
           g_direct_hash (get_constant (entry->node, i));
  for (guint r = 0; r < instance->call.n_results; r++)
    hash = hash_view (hash, &instance->results[r]);
  return hash;
}

static gboolean
is_view_equal (const CleaveView *a, const CleaveView *b)
{
  if (!cleave_tensor_type_equal (&a->type, &b->type))
    return FALSE;
  for (guint d = 0; d < a->type.shape.rank; d++)
    if (a->stride[d] != b->stride[d])
      return FALSE;
  return TRUE;
}

/* Returns whether the memory from the first to the last element of x overlaps the memory from the
 * first to the last element of y. Returns FALSE for a view without data or elements, and TRUE for
 * negative strides. */
static gboolean
overlap (const CleaveView *x, const CleaveView *y)
{
  const CleaveView *views[] = { x, y };
  const char *begin[2], *end[2];

  for (guint v = 0; v < 2; v++)
    {
      gint64 size = (gint64) cleave_element_size (views[v]->type.element), last = 0;

      if (views[v]->data == NULL || cleave_shape_n_elements (&views[v]->type.shape) == 0)
        return FALSE;
      for (guint d = 0; d < views[v]->type.shape.rank; d++)
        {
          if (views[v]->stride[d] < 0)
            return TRUE;
          last += (views[v]->type.shape.dim[d] - 1) * views[v]->stride[d];
        }
      begin[v] = views[v]->data;
      end[v] = begin[v] + (last + 1) * size;
    }
  return begin[0] < end[1] && begin[1] < end[0];
}

static gboolean
is_in_place (const CleaveKernelInstance *instance, guint operand)
{
  return instance->call.n_results > 0 &&
         instance->operands[operand].data == instance->results[0].data;
}

static gboolean
is_entry_equal (gconstpointer a, gconstpointer b)
{
  const Entry *x = a, *y = b;
  const CleaveKernelInstance *of_x = &x->task->instance, *of_y = &y->task->instance;
  const CleaveCall *call = &of_x->call;

  if (call->op != of_y->call.op || call->n_operands != of_y->call.n_operands ||
      call->n_results != of_y->call.n_results ||
      !cleave_attrs_equal (call->op, call->attrs, of_y->call.attrs))
    return FALSE;
  for (guint i = 0; i < call->n_operands; i++)
    if (!is_view_equal (&of_x->operands[i], &of_y->operands[i]) ||
        is_in_place (of_x, i) != is_in_place (of_y, i) ||
        get_constant (x->node, i) != get_constant (y->node, i))
      return FALSE;
  for (guint r = 0; r < call->n_results; r++)
    if (!is_view_equal (&of_x->results[r], &of_y->results[r]))
      return FALSE;
  return TRUE;
}

CleaveSharedCalls *
cleave_shared_calls_new (void)
{
  CleaveSharedCalls *shared = g_new0 (CleaveSharedCalls, 1);

  shared->entries = g_hash_table_new_full (hash_entry, is_entry_equal, g_free, NULL);
  return shared;
}

void
cleave_shared_calls_free (CleaveSharedCalls *shared)
{
  g_hash_table_unref (shared->entries);
  g_free (shared);
}

gboolean
cleave_shared_calls_serve (const CleaveTask *task)
{
  const CleaveKernelInstance *instance = &task->instance;

  if (instance->call.op->compute == NULL)
    return FALSE;
  for (guint i = 0; i < instance->call.n_operands; i++)
    for (guint r = 0; r < instance->call.n_results; r++)
      if (!is_in_place (instance, i) && overlap (&instance->operands[i], &instance->results[r]))
        return FALSE;
  return TRUE;
}

gboolean
cleave_shared_calls_take (CleaveSharedCalls *shared,
                          const CleaveNode *node,
                          CleaveTask *task,
                          gsize *n_scratch)
{
  const Entry *entry = g_hash_table_lookup (shared->entries, &(Entry){ node, task, 0 });

  if (entry == NULL)
    return FALSE;
  cleave_call_clear (&task->instance.call);
  task->instance.call = entry->task->instance.call;
  task->family = entry->task->family;
  task->state = entry->task->state;
  task->shares = TRUE;
  *n_scratch = entry->n_scratch;
  return TRUE;
}

void
cleave_shared_calls_add (CleaveSharedCalls *shared,
                         const CleaveNode *node,
                         const CleaveTask *task,
                         gsize n_scratch)
{
  Entry entry = { node, task, n_scratch };

  g_hash_table_add (shared->entries, g_memdup2 (&entry, sizeof entry));
}

void
cleave_call_clear (CleaveCall *call)
{
  if (call->op != NULL)
    cleave_attrs_free (call->op, (gpointer) call->attrs);
  g_free ((gpointer) call->operands);
  g_free ((gpointer) call->results);
}
