/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Divides the buffers of joins that are outputs of the graph, such as the boxes of a detector,
 * which several heads write one after the other. Other joins stay whole. Strips often run between
 * the parts of a join, and a program rarely finds room in the join for the values of these strips.
 * If all joins were divided, a CornerNet would need 10 % more memory. */

#include "divide-joins.h"

static CleaveFitBuffer *
get_buffer (GArray *buffers, guint b)
{
  return &g_array_index (buffers, CleaveFitBuffer, b);
}

/* Returns the range of bytes from the first to the last element of a value, as offsets in its
 * buffer. The node of the value writes the bytes in step `step`, and the bytes are in use until
 * step `last`. A CleaveLapMember stores unsigned steps, so the function adds 1 to each step: inputs
 * have step -1. */
static CleaveLapMember
make_member (const CleaveAssignment *value, gint step, gint last)
{
  const CleaveTensorType *type = &value->result->type;
  const gint64 size = (gint64) cleave_element_size (type->element);
  const CleaveSpan span = cleave_location_get_span (&value->location, &type->shape);

  return (CleaveLapMember){ .begin = span.begin * size,
                            .end = span.end * size,
                            .first = (guint) (step + 1),
                            .last = (guint) (last + 1) };
}

/* Returns an array for each buffer: the values in the buffer (CleaveLapMember), with the steps in
 * which their nodes write them. Leaves out joins, whose parts are written one by one, and views. */
static GPtrArray *
list_values (GArray *buffers, const CleaveStorage *storage, const gint *step)
{
  GPtrArray *values = g_ptr_array_new_full (buffers->len, (GDestroyNotify) g_array_unref);

  for (guint b = 0; b < buffers->len; b++)
    g_ptr_array_add (values, g_array_new (FALSE, FALSE, sizeof (CleaveLapMember)));
  for (guint v = 0; v < storage->n_values; v++)
    {
      const CleaveAssignment *value = &storage->assignments[v];
      const CleaveNode *node = value->result->node;
      const guint b = storage->buffer[value->location.root];
      CleaveLapMember member;

      if (b == CLEAVE_NEVER || value->base != v ||
          (node->op->flags & (CLEAVE_OP_JOIN | CLEAVE_OP_VIEW)) != 0)
        continue;
      member = make_member (value, step[cleave_storage_position (storage, node)],
                            get_buffer (buffers, b)->last);
      g_array_append_val (values->pdata[b], member);
    }
  return values;
}

/* Divides buffer number `b` into fragments. A fragment contains the bytes whose first writes are in
 * one step. */
static void
divide (GArray *buffers, guint b, const GArray *values)
{
  g_autoptr (GArray) fragments = g_array_new (FALSE, FALSE, sizeof (CleaveFragment));

  cleave_fragments_add (fragments, b, (const CleaveLapMember *) (gpointer) values->data,
                        values->len);
  for (guint i = 0; i < fragments->len; i++)
    {
      const CleaveFragment *fragment = &g_array_index (fragments, CleaveFragment, i);
      CleaveFitBuffer later = *get_buffer (buffers, b);

      later.first = (gint) fragment->first - 1;
      later.n_bytes = MIN (fragment->n_bytes, later.n_bytes);
      if (later.first <= get_buffer (buffers, b)->first)
        continue;
      get_buffer (buffers, b)->n_bytes -= later.n_bytes;
      g_array_append_val (buffers, later);
    }
}

void
cleave_fit_divide_joins (GArray *buffers, const CleaveStorage *storage, const gint *step)
{
  g_autoptr (GPtrArray) values = list_values (buffers, storage, step);
  const gint end = step[storage->n_nodes];

  for (guint b = 0; b < values->len; b++)
    if (get_buffer (buffers, b)->last == end)
      divide (buffers, b, values->pdata[b]);
}
