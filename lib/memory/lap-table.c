/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the buffers that may take part in laps, and the bytes that steps read or write in them. */

#include "lap-table.h"

/* Buffers smaller than 1/MIN_PART of the peak take no part in laps. With 1/8 or 1/256 in place of
 * 1/32, the arenas of five fitted networks are the same within 5 %. */
#define MIN_PART 32

/* Appends a CleaveLapAccess for the bytes of a value that a step reads or writes. `size`: bytes of
 * an element. */
static void
add_access (GArray *accesses,
            const CleaveLocation *location,
            const CleaveShape *shape,
            gint64 size,
            guint step,
            gboolean writes)
{
  const CleaveSpan span = cleave_location_get_span (location, shape);
  const CleaveLapAccess access = { span.begin * size, span.end * size, step, writes };

  if (span.begin < span.end)
    g_array_append_val (accesses, access);
}

static void
note_access (const CleaveAssignment *assignment, gboolean writes, gpointer data)
{
  const CleaveLapTable *table = data;
  const CleaveStorage *storage = table->storage;
  const gint64 size = (gint64) cleave_element_size (assignment->result->type.element);
  guint buffer = storage->buffer[assignment->location.root];
  guint at = buffer == CLEAVE_NEVER ? CLEAVE_NEVER : table->index_of[buffer];
  gboolean is_box = table->step->kind == CLEAVE_STEP_COPY || table->step->kind == CLEAVE_STEP_LOAD;

  if (at == CLEAVE_NEVER)
    return;
  if (writes && is_box)
    {
      const CleaveRange *box = &g_array_index (storage->boxes, CleaveRange, table->step->box);
      CleaveLocation location = cleave_location_part (&assignment->location, box);
      CleaveShape shape = cleave_range_shape (box);

      add_access (cleave_lap_buffer (table->buffers, at)->accesses, &location, &shape, size,
                  table->at, writes);
    }
  else
    add_access (cleave_lap_buffer (table->buffers, at)->accesses, &assignment->location,
                &assignment->result->type.shape, size, table->at, writes);
  cleave_lap_buffer (table->buffers, at)->is_bound |=
      table->step->kind == CLEAVE_STEP_STORE || table->step->kind == CLEAVE_STEP_LOAD;
}

static int
compare_first (gconstpointer a, gconstpointer b)
{
  const CleaveLapBuffer *x = a, *y = b;

  return x->first != y->first ? (x->first > y->first) - (x->first < y->first)
                              : (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

static void
clear_buffer (gpointer buffer)
{
  g_array_unref (((CleaveLapBuffer *) buffer)->accesses);
  g_array_unref (((CleaveLapBuffer *) buffer)->members);
}

static GArray *
new_buffers (void)
{
  GArray *buffers = g_array_new (FALSE, FALSE, sizeof (CleaveLapBuffer));

  g_array_set_clear_func (buffers, clear_buffer);
  return buffers;
}

void
cleave_lap_table_init (CleaveLapTable *table, CleaveStorage *storage, const CleaveGraph *graph)
{
  *table = (CleaveLapTable){ .storage = storage, .buffers = new_buffers () };
  table->index_of = g_new (guint, storage->buffers->len + 1);
  for (guint b = 0; b < storage->buffers->len; b++)
    {
      const CleaveBuffer *buffer = &g_array_index (storage->buffers, CleaveBuffer, b);
      CleaveLapBuffer lap_buffer = { .buffer = b,
                                     .n_bytes = buffer->n_bytes,
                                     .first = buffer->first,
                                     .last = buffer->last,
                                     .own_first = buffer->first,
                                     .over = CLEAVE_NEVER };

      table->index_of[b] = CLEAVE_NEVER;
      if (buffer->n_bytes <= storage->peak / MIN_PART)
        continue;
      g_array_append_val (table->buffers, lap_buffer);
    }
  g_array_sort (table->buffers, compare_first);
  for (guint i = 0; i < table->buffers->len; i++)
    {
      CleaveLapBuffer *buffer = cleave_lap_buffer (table->buffers, i);
      const CleaveLapMember member = { .end = buffer->n_bytes,
                                       .first = buffer->first,
                                       .last = buffer->last };

      buffer->accesses = g_array_new (FALSE, FALSE, sizeof (CleaveLapAccess));
      buffer->members = g_array_new (FALSE, FALSE, sizeof (CleaveLapMember));
      g_array_append_val (buffer->members, member);
      table->index_of[buffer->buffer] = i;
    }
  for (table->at = 0; table->at < storage->steps->len; table->at++)
    {
      table->step = &g_array_index (storage->steps, CleaveStep, table->at);
      cleave_storage_visit (storage, graph, table->step, note_access, table);
    }
}

void
cleave_lap_table_clear (CleaveLapTable *table)
{
  g_clear_pointer (&table->buffers, g_array_unref);
  g_clear_pointer (&table->index_of, g_free);
}

GArray *
cleave_lap_table_copy_buffers (const CleaveLapTable *table)
{
  GArray *copy = new_buffers ();

  g_array_append_vals (copy, table->buffers->data, table->buffers->len);
  for (guint i = 0; i < copy->len; i++)
    {
      g_array_ref (cleave_lap_buffer (copy, i)->accesses);
      g_array_ref (cleave_lap_buffer (copy, i)->members);
    }
  return copy;
}
