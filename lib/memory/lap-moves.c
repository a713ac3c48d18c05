/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes and undoes laps: moves values into the buffers of other values, as laps.c has chosen.
 * ordering.c makes the laps of the best order. memory-plan.c undoes the laps if the arena without
 * laps is smaller. */

#include "laps.h"

/* Adds a member for each buffer that a lap has moved or that contains a moved buffer. Returns an
 * array indexed as `buffers`: the index of the member; CLEAVE_NEVER: none. */
static guint *
add_members (const CleaveLapTable *table, const GArray *buffers)
{
  const guint n = buffers->len;
  CleaveStorage *storage = table->storage;
  guint *member_of = g_new (guint, n + 1);

  for (guint i = 0; i < n; i++)
    {
      CleaveLapMember member = { .end = cleave_lap_buffer (table->buffers, i)->n_bytes };
      guint at = i;

      for (; cleave_lap_buffer (buffers, at)->over != CLEAVE_NEVER;
           at = cleave_lap_buffer (buffers, at)->over)
        member.begin += cleave_lap_buffer (buffers, at)->shift;
      member.end += member.begin;
      member.value =
          g_array_index (storage->buffers, CleaveBuffer, cleave_lap_buffer (buffers, at)->buffer)
              .value;
      member_of[i] =
          cleave_lap_buffer (buffers, at)->is_shared ? storage->members->len : CLEAVE_NEVER;
      if (member_of[i] != CLEAVE_NEVER)
        g_array_append_val (storage->members, member);
    }
  return member_of;
}

/* Updates the location of each value whose buffer was moved into another buffer. */
static void
move_values (const CleaveLapTable *table, const GArray *buffers)
{
  CleaveStorage *storage = table->storage;
  g_autofree guint *member_of = add_members (table, buffers);

  for (guint v = 0; v < storage->n_values; v++)
    {
      CleaveAssignment *assignment = &storage->assignments[v];
      gint64 size = (gint64) cleave_element_size (assignment->result->type.element);
      guint buffer = storage->buffer[assignment->location.root];
      guint at = buffer == CLEAVE_NEVER ? CLEAVE_NEVER : table->index_of[buffer];
      CleaveLapMove move = { v, assignment->location.root, assignment->location.offset };
      const CleaveLapMember *member;

      storage->member[v] = at == CLEAVE_NEVER ? CLEAVE_NEVER : member_of[at];
      if (at == CLEAVE_NEVER || cleave_lap_buffer (buffers, at)->over == CLEAVE_NEVER)
        continue;
      member = &g_array_index (storage->members, CleaveLapMember, storage->member[v]);
      g_array_append_val (storage->lap_moves, move);
      assignment->location.root = member->value;
      assignment->location.offset += member->begin / size;
      assignment->flags |= CLEAVE_ASSIGNMENT_LAPPED;
    }
}

void
cleave_storage_lap (CleaveStorage *storage, const CleaveGraph *graph)
{
  g_auto (CleaveLapTable) table = { 0 };
  g_auto (CleaveLaps) laps = { 0 };

  cleave_lap_table_init (&table, storage, graph);
  if (!cleave_laps_find (&laps, &table))
    return;
  storage->lap_edges = g_steal_pointer (&laps.edges);
  storage->lap_moves = g_array_new (FALSE, FALSE, sizeof (CleaveLapMove));
  storage->live_before_laps = g_steal_pointer (&storage->live);
  storage->members = g_array_new (FALSE, FALSE, sizeof (CleaveLapMember));
  storage->member = g_new (guint, storage->n_values + 1);
  storage->fragments = g_array_new (FALSE, FALSE, sizeof (CleaveFragment));
  move_values (&table, laps.buffers);
  cleave_storage_measure (storage, graph);
}

void
cleave_storage_unlap (CleaveStorage *storage, const CleaveGraph *graph)
{
  for (guint i = 0; i < storage->lap_moves->len; i++)
    {
      const CleaveLapMove *move = &g_array_index (storage->lap_moves, CleaveLapMove, i);
      CleaveAssignment *assignment = &storage->assignments[move->value];

      assignment->location.root = move->root;
      assignment->location.offset = move->offset;
      assignment->flags &= ~(guint) CLEAVE_ASSIGNMENT_LAPPED;
    }
  g_clear_pointer (&storage->lap_edges, g_array_unref);
  g_clear_pointer (&storage->lap_moves, g_array_unref);
  g_clear_pointer (&storage->live_before_laps, g_free);
  g_clear_pointer (&storage->members, g_array_unref);
  g_clear_pointer (&storage->member, g_free);
  g_clear_pointer (&storage->fragments, g_array_unref);
  cleave_storage_measure (storage, graph);
}
