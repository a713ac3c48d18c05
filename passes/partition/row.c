/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes a row: lists its nodes, counts the bytes that cross each position, and finds the first
 * and the last node that uses each buffer. A meter (CleaveRowMeter) estimates the memory of a
 * part while the caller adds the nodes of the part one by one. */

#include "row.h"

#include "../../lib/memory/ordering.h"

#include "parts.h"

static void
list_nodes (CleaveRow *row)
{
  g_autofree gboolean *needed = cleave_partition_find_needed (row->graph);

  row->nodes = g_ptr_array_new ();
  row->place = g_new (guint, row->graph->n_ids + 1);
  for (guint i = 0; i < row->order->len; i++)
    {
      CleaveNode *node = g_ptr_array_index (row->order, i);

      row->place[node->id] =
          cleave_partition_has_part (needed, node) ? row->nodes->len : CLEAVE_NEVER;
      if (row->place[node->id] != CLEAVE_NEVER)
        g_ptr_array_add (row->nodes, node);
    }
}

/* Returns the index, within `row->nodes`, of the last node that reads a value. If no node of the
 * row reads the value, returns the index of the node that computes the value. */
static guint
find_last_reader (const CleaveRow *row, const CleaveResult *value)
{
  guint last = row->place[value->node->id];

  for (const CleaveOperand *use = value->first_use; use != NULL; use = use->next_use)
    if (use->node != NULL && row->place[use->node->id] != CLEAVE_NEVER)
      last = MAX (last, row->place[use->node->id]);
  return last;
}

static void
find_crossing (CleaveRow *row)
{
  row->crossing = g_new0 (gint64, row->nodes->len + 2);
  for (guint i = 0; i < row->nodes->len; i++)
    {
      const CleaveNode *node = g_ptr_array_index (row->nodes, i);

      for (guint r = 0; r < node->n_results && !cleave_node_is_fixed (node); r++)
        {
          gint64 n_bytes = cleave_tensor_type_n_bytes (&node->results[r].type);

          row->crossing[i + 1] += n_bytes;
          row->crossing[find_last_reader (row, &node->results[r]) + 1] -= n_bytes;
        }
    }
  for (guint i = 1; i <= row->nodes->len; i++)
    row->crossing[i] += row->crossing[i - 1];
}

/* Returns the index of the buffer that holds a value; CLEAVE_NEVER if the value is a constant or is
 * not stored. */
static guint
find_buffer (const CleaveRow *row, const CleaveResult *value)
{
  if (value == NULL || cleave_node_is_fixed (value->node))
    return CLEAVE_NEVER;
  return row->storage->buffer[cleave_storage_assignment (row->storage, value)->location.root];
}

static void
note_touch (CleaveRow *row, const CleaveResult *value, guint index)
{
  guint buffer = find_buffer (row, value);

  if (buffer == CLEAVE_NEVER)
    return;
  if (row->last[buffer] == CLEAVE_NEVER && !cleave_node_is_input (value->node))
    row->first[buffer] = index;
  row->last[buffer] = index;
}

/* Fills `first` and `last` with the first and last node that uses each buffer. `first` is
 * CLEAVE_NEVER if the buffer holds an input. */
static void
find_touches (CleaveRow *row)
{
  guint n = row->storage->buffers->len;

  row->first = g_new (guint, n + 1);
  row->last = g_new (guint, n + 1);
  for (guint i = 0; i <= n; i++)
    row->first[i] = row->last[i] = CLEAVE_NEVER;
  for (guint i = 0; i < row->nodes->len; i++)
    {
      const CleaveNode *node = g_ptr_array_index (row->nodes, i);

      for (guint k = 0; k < node->n_operands; k++)
        note_touch (row, node->operands[k].result, i);
      for (guint r = 0; r < node->n_results; r++)
        note_touch (row, &node->results[r], i);
    }
}

CleaveRow *
cleave_row_new (const CleaveGraph *graph, GError **error)
{
  g_autoptr (CleaveRow) row = g_new0 (CleaveRow, 1);

  row->graph = graph;
  row->order = cleave_order_with_storage (graph, &row->storage, error);
  if (row->order == NULL)
    return NULL;
  list_nodes (row);
  find_crossing (row);
  find_touches (row);
  return g_steal_pointer (&row);
}

void
cleave_row_free (CleaveRow *row)
{
  g_clear_pointer (&row->storage, cleave_storage_free);
  g_clear_pointer (&row->order, g_ptr_array_unref);
  g_clear_pointer (&row->nodes, g_ptr_array_unref);
  g_free (row->place);
  g_free (row->crossing);
  g_free (row->first);
  g_free (row->last);
  g_free (row);
}

GArray *
cleave_row_list_positions (const CleaveRow *row, guint n_most)
{
  GArray *positions = g_array_new (FALSE, FALSE, sizeof (guint));
  const guint n = row->nodes->len;
  const guint n_stretches = MIN (n, n_most);
  guint position = 0;

  g_array_append_val (positions, position);
  for (guint s = 1; s < n_stretches; s++)
    {
      guint begin = (guint) ((guint64) n * s / n_stretches);
      guint end = (guint) ((guint64) n * (s + 1) / n_stretches);

      position = begin;
      for (guint p = begin + 1; p < end; p++)
        if (row->crossing[p] < row->crossing[position])
          position = p;
      g_array_append_val (positions, position);
    }
  if (n > 0)
    g_array_append_val (positions, n);
  return positions;
}

void
cleave_row_meter_init (CleaveRowMeter *meter, const CleaveRow *row)
{
  *meter = (CleaveRowMeter){ .row = row };
  meter->buffer_seen = g_new0 (guint, row->storage->buffers->len + 1);
  meter->buffer_done = g_new0 (guint, row->storage->buffers->len + 1);
  meter->fixed_seen = g_new0 (guint, row->graph->n_ids + 1);
  meter->stack = g_ptr_array_new ();
}

void
cleave_row_meter_clear (CleaveRowMeter *meter)
{
  g_free (meter->buffer_seen);
  g_free (meter->buffer_done);
  g_free (meter->fixed_seen);
  g_clear_pointer (&meter->stack, g_ptr_array_unref);
}

void
cleave_row_meter_begin (CleaveRowMeter *meter, guint position)
{
  meter->begin = position;
  meter->run++;
  meter->weight_bytes = meter->peak = meter->live = 0;
}

/* Adds to the weights of the part the bytes of all constants that `node` depends on. `node` is a
 * constant or a constant expression. Counts each constant once for each part. */
static void
add_weights (CleaveRowMeter *meter, const CleaveNode *node)
{
  g_ptr_array_set_size (meter->stack, 0);
  g_ptr_array_add (meter->stack, (gpointer) node);
  while (meter->stack->len > 0)
    {
      const CleaveNode *top = g_ptr_array_steal_index_fast (meter->stack, meter->stack->len - 1);

      if (meter->fixed_seen[top->id] == meter->run)
        continue;
      meter->fixed_seen[top->id] = meter->run;
      if (cleave_node_get_constant (top) != NULL)
        meter->weight_bytes += cleave_tensor_type_n_bytes (&top->results[0].type);
      for (guint i = 0; i < top->n_operands; i++)
        if (top->operands[i].result != NULL)
          g_ptr_array_add (meter->stack, top->operands[i].result->node);
    }
}

/* Adds the buffer of a value to the live bytes, unless an earlier node of the part uses this
 * buffer. If a node before the part filled the buffer, the buffer is an input of the part. An input
 * is live from the begin of the part, so its bytes also raise `peak`. */
static void
add_value (CleaveRowMeter *meter, const CleaveResult *value)
{
  guint buffer = find_buffer (meter->row, value);
  gint64 n_bytes;

  if (buffer == CLEAVE_NEVER || meter->buffer_seen[buffer] == meter->run)
    return;
  meter->buffer_seen[buffer] = meter->run;
  n_bytes = g_array_index (meter->row->storage->buffers, CleaveBuffer, buffer).n_bytes;
  meter->live += n_bytes;
  if (meter->row->first[buffer] == CLEAVE_NEVER || meter->row->first[buffer] < meter->begin)
    meter->peak += n_bytes;
}

static void
drop_value (CleaveRowMeter *meter, const CleaveResult *value, guint index)
{
  guint buffer = find_buffer (meter->row, value);

  if (buffer == CLEAVE_NEVER || meter->row->last[buffer] != index ||
      meter->buffer_done[buffer] == meter->run)
    return;
  meter->buffer_done[buffer] = meter->run;
  meter->live -= g_array_index (meter->row->storage->buffers, CleaveBuffer, buffer).n_bytes;
}

gint64
cleave_row_meter_add (CleaveRowMeter *meter, guint index)
{
  const CleaveNode *node = g_ptr_array_index (meter->row->nodes, index);

  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *value = node->operands[i].result;

      if (value != NULL && cleave_node_is_fixed (value->node))
        add_weights (meter, value->node);
      add_value (meter, value);
    }
  for (guint r = 0; r < node->n_results; r++)
    add_value (meter, &node->results[r]);
  meter->peak = MAX (meter->peak, meter->live);
  for (guint i = 0; i < node->n_operands; i++)
    drop_value (meter, node->operands[i].result, index);
  for (guint r = 0; r < node->n_results; r++)
    drop_value (meter, &node->results[r], index);
  return meter->weight_bytes + meter->peak;
}
