/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Lists the buffers of each step, each buffer once for a step, and the bytes of each buffer. */

#include "touches.h"

void
cleave_touches_clear (CleaveTouches *t)
{
  g_clear_pointer (&t->begin, g_free);
  g_clear_pointer (&t->touched, g_array_unref);
  g_clear_pointer (&t->n_bytes, g_free);
  g_clear_pointer (&t->seen, g_free);
}

static void
note_touch (const CleaveAssignment *assignment, gboolean writes, gpointer data)
{
  CleaveTouches *t = data;
  guint buffer = t->storage->buffer[assignment->location.root];

  if (buffer == CLEAVE_NEVER || t->seen[buffer] == t->step + 1)
    return;
  t->seen[buffer] = t->step + 1;
  g_array_append_val (t->touched, buffer);
}

void
cleave_touches_init (CleaveTouches *t, const CleaveStorage *storage, const CleaveGraph *graph)
{
  guint n_steps = storage->steps->len, n_buffers = storage->buffers->len;

  t->storage = storage;
  t->begin = g_new0 (guint, n_steps + 1);
  t->touched = g_array_new (FALSE, FALSE, sizeof (guint));
  t->n_bytes = g_new0 (gint64, n_buffers + 1);
  t->seen = g_new0 (guint, n_buffers + 1);
  for (guint b = 0; b < n_buffers; b++)
    t->n_bytes[b] = g_array_index (storage->buffers, CleaveBuffer, b).n_bytes;
  for (t->step = 0; t->step < n_steps; t->step++)
    {
      t->begin[t->step] = t->touched->len;
      cleave_storage_visit (storage, graph, &g_array_index (storage->steps, CleaveStep, t->step),
                            note_touch, t);
    }
  t->begin[n_steps] = t->touched->len;
}
