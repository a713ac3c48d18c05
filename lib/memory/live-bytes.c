/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the buffers that the steps of a run use, the bytes that are live at each step, and the peak
 * (buffers.h). */

#include "buffers.h"

#include "../ir/align.h"
#include "../ir/memory.h"
#include "../ir/node-queries.h"
#include "visit-step.h"

typedef struct
{
  CleaveStorage *storage;
  guint step;
} Touch;

/* Returns whether a value is an input that stays in the caller's memory: the graph excludes inputs
 * from the arena, and no node overwrites the input. */
static gboolean
stays_with_caller (const CleaveAssignment *assignment)
{
  const CleaveNode *node = assignment->result->node;

  return node->graph->exclude_inputs && cleave_node_is_input (node) &&
         assignment->deadline == CLEAVE_NEVER;
}

/* Returns the end of a dense value, in bytes from the beginning of its buffer. */
static gint64
find_end (const CleaveAssignment *assignment)
{
  return cleave_tensor_type_n_bytes (&assignment->result->type) +
         assignment->location.offset *
             (gint64) cleave_element_size (assignment->result->type.element);
}

static void
add_buffer (CleaveStorage *storage, guint root, guint step)
{
  CleaveBuffer buffer = { .value = root, .first = step, .last = step };

  if (!stays_with_caller (&storage->assignments[root]))
    buffer.n_bytes =
        cleave_align_up (cleave_tensor_type_n_bytes (&storage->assignments[root].result->type),
                         CLEAVE_BUFFER_ALIGNMENT);
  storage->buffer[root] = storage->buffers->len;
  g_array_append_val (storage->buffers, buffer);
}

static void
use_member (CleaveStorage *storage, guint value, CleaveBuffer *buffer, guint step)
{
  CleaveLapMember *member;

  if (storage->member[value] == CLEAVE_NEVER)
    return;
  member = &g_array_index (storage->members, CleaveLapMember, storage->member[value]);
  member->first = MIN (member->first, step);
  member->last = step;
  buffer->n_bytes = MAX (buffer->n_bytes, member->end);
}

static void
touch (const CleaveAssignment *assignment, gboolean writes, gpointer data)
{
  Touch *at = data;
  CleaveStorage *storage = at->storage;
  guint root = assignment->location.root;
  CleaveBuffer *buffer;

  if (storage->assignments[root].flags & CLEAVE_ASSIGNMENT_CONSTANT)
    return;
  if (storage->buffer[root] == CLEAVE_NEVER)
    add_buffer (storage, root, at->step);
  buffer = &g_array_index (storage->buffers, CleaveBuffer, storage->buffer[root]);
  buffer->last = at->step;
  if (storage->member != NULL)
    use_member (storage, (guint) (assignment - storage->assignments), buffer, at->step);
  if ((assignment->flags & CLEAVE_ASSIGNMENT_OVERLAID) != 0)
    buffer->n_bytes =
        MAX (buffer->n_bytes, cleave_align_up (find_end (assignment), CLEAVE_BUFFER_ALIGNMENT));
}

static void
find_buffers (CleaveStorage *storage, const CleaveGraph *graph)
{
  storage->buffer = CLEAVE_NEW (guint, storage->n_values);
  for (guint v = 0; v < storage->n_values; v++)
    storage->buffer[v] = CLEAVE_NEVER;
  for (guint s = 0; s < storage->steps->len; s++)
    {
      Touch at = { storage, s };

      cleave_visit_step (storage, graph, &g_array_index (storage->steps, CleaveStep, s), touch,
                         &at);
    }
}

static int
compare_buffers (gconstpointer a, gconstpointer b)
{
  const CleaveFragment *x = a, *y = b;

  return x->buffer != y->buffer ? (x->buffer > y->buffer) - (x->buffer < y->buffer)
                                : (x->begin > y->begin) - (x->begin < y->begin);
}

static void
reset_members (CleaveStorage *storage)
{
  for (guint i = 0; storage->members != NULL && i < storage->members->len; i++)
    {
      CleaveLapMember *member = &g_array_index (storage->members, CleaveLapMember, i);

      member->first = CLEAVE_NEVER;
      member->last = 0;
    }
  if (storage->fragments != NULL)
    g_array_set_size (storage->fragments, 0);
}

static int
compare_values (gconstpointer a, gconstpointer b)
{
  guint x = ((const CleaveLapMember *) a)->value, y = ((const CleaveLapMember *) b)->value;

  return (x > y) - (x < y);
}

/* Divides the buffers with laps into fragments. */
static void
find_fragments (CleaveStorage *storage)
{
  g_autoptr (GArray) sorted = NULL;
  const CleaveLapMember *members;

  if (storage->members == NULL)
    return;
  sorted = g_array_copy (storage->members);
  g_array_sort (sorted, compare_values);
  members = (const CleaveLapMember *) (gpointer) sorted->data;
  for (guint begin = 0, end; begin < sorted->len; begin = end)
    {
      for (end = begin + 1; end < sorted->len && members[end].value == members[begin].value; end++)
        ;
      cleave_fragments_add (storage->fragments, storage->buffer[members[begin].value],
                            &members[begin], end - begin);
    }
  g_array_sort (storage->fragments, compare_buffers);
}

static void
find_live (CleaveStorage *storage)
{
  gint64 *live = CLEAVE_NEW0 (gint64, storage->steps->len + 1);
  guint n = 0;

  for (guint b = 0; b < storage->buffers->len; b++)
    {
      const CleaveBuffer *buffer = &g_array_index (storage->buffers, CleaveBuffer, b);
      guint end = cleave_storage_end_fragments (storage, n, b);

      if (end == n)
        {
          live[buffer->first] += buffer->n_bytes;
          live[buffer->last + 1] -= buffer->n_bytes;
        }
      for (; n < end; n++)
        {
          const CleaveFragment *fragment = &g_array_index (storage->fragments, CleaveFragment, n);

          live[fragment->first] += fragment->n_bytes;
          live[fragment->last + 1] -= fragment->n_bytes;
        }
    }
  for (guint s = 0; s < storage->steps->len; s++)
    {
      live[s] += s == 0 ? 0 : live[s - 1];
      storage->peak = MAX (storage->peak, live[s]);
    }
  storage->live = live;
}

void
cleave_storage_measure (CleaveStorage *storage, const CleaveGraph *graph)
{
  g_clear_pointer (&storage->buffer, g_free);
  g_clear_pointer (&storage->live, g_free);
  g_array_set_size (storage->buffers, 0);
  reset_members (storage);
  storage->peak = 0;
  find_buffers (storage, graph);
  find_fragments (storage);
  find_live (storage);
}

gint64 *
cleave_storage_get_live (const CleaveStorage *storage)
{
  gint64 *live = CLEAVE_NEW0 (gint64, storage->n_nodes + 1);

  for (guint s = 0; s < storage->steps->len; s++)
    {
      const CleaveNode *node = g_array_index (storage->steps, CleaveStep, s).node;

      if (node != NULL)
        {
          guint i = cleave_storage_position (storage, node);

          live[i] = MAX (live[i], storage->live[s]);
        }
    }
  return live;
}
