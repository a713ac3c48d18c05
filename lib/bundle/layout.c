/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Lists the buffers of a plan, and places them. */

#include "layout.h"

typedef struct
{
  const CleaveBundleModel *model;
  const CleaveBundlePlan *plan;
  gint64 align;
  GArray *buffers;
  guint *segment_of; /* indexed by step: index of its segment in the plan */
} Builder;

/* The functions below list the buffers of a plan. */

static guint
find_segment (const Builder *b, guint step)
{
  if (step == CLEAVE_BUNDLE_NONE)
    return 0;
  return step >= b->model->steps->len ? b->plan->segments->len - 1 : b->segment_of[step];
}

static void
add_buffer (Builder *b, guint value, guint first, guint last, gint64 n_bytes)
{
  CleaveBundleBuffer buffer = { .value = value,
                                .first = first,
                                .last = last,
                                .n_bytes = cleave_align_up (n_bytes, b->align),
                                .n_used = n_bytes,
                                .over = CLEAVE_BUNDLE_NONE };

  g_array_append_val (b->buffers, buffer);
}

/* Adds the buffers of inputs and outputs, and of values that a segment computes and a later segment
 * reads. */
static void
add_whole (Builder *b)
{
  for (guint i = 0; i < b->model->values->len; i++)
    {
      const CleaveBundleValue *value = cleave_bundle_value (b->model, i);
      guint first = find_segment (b, value->producer), last = find_segment (b, value->last_reader);

      if (value->base != i || value->place != CLEAVE_BUNDLE_ARENA)
        continue;
      if (value->producer == CLEAVE_BUNDLE_NONE || last > first ||
          value->last_reader >= b->model->steps->len)
        add_buffer (b, i, first, last, cleave_bundle_value_bytes (value));
    }
}

static CleaveBundleBuffer *
find_buffer (const GArray *buffers, guint value)
{
  for (guint i = 0; i < buffers->len; i++)
    if (g_array_index (buffers, CleaveBundleBuffer, i).value == value)
      return &g_array_index (buffers, CleaveBundleBuffer, i);
  return NULL;
}

static void
add_rings (Builder *b, guint index)
{
  CleaveBundleSegment *g = &g_array_index (b->plan->segments, CleaveBundleSegment, index);
  CleaveBundleFlow flow;

  cleave_bundle_flow_init (&flow, b->model, b->align);
  cleave_bundle_flow_repeat (&flow, g);
  for (guint s = g->first; s < g->end; s++)
    {
      const CleaveBundleSlot *slot = &flow.slots[s - g->first];
      guint value = cleave_bundle_step (b->model, s)->result;

      if (slot->shares == s && cleave_bundle_flow_find_whole (&flow, s) == CLEAVE_BUNDLE_NONE)
        add_buffer (b, value, index, index,
                    slot->capacity * slot->columns *
                        (gint64) cleave_bundle_value (b->model, value)->image.pixel_bytes);
    }
  if (g->overlay.value != CLEAVE_BUNDLE_NONE)
    {
      CleaveBundleBuffer *end = find_buffer (b->buffers, g->overlay.end);

      if (end != NULL)
        {
          end->over = g->overlay.value;
          end->lag = g->overlay.lag;
          end->is_upward = g->is_upward;
          end->row_bytes = cleave_bundle_row_bytes (cleave_bundle_value (b->model, end->value));
        }
    }
  cleave_bundle_flow_clear (&flow);
}

/* The functions below estimate the accesses to buffers. */

/* Estimates the bytes that a step reads of an operand, and adds this number to `accesses` of the
 * operand's buffer. A kernel computes four multiply-adds with each element that it reads. So the
 * estimate is the bytes of one element for every four multiply-adds, but at least the bytes of the
 * whole operand. */
static void
add_reads (const Builder *b, const CleaveBundleStep *step, guint operand)
{
  const CleaveBundleValue *value = cleave_bundle_value (b->model, step->operands[operand]);
  CleaveBundleBuffer *buffer = find_buffer (b->buffers, value->base);
  gint64 size = (gint64) cleave_element_size (value->result->type.element);

  if (buffer != NULL)
    buffer->accesses += MAX (cleave_bundle_value_bytes (value), step->macs / 4 * size);
}

static void
count_accesses (const Builder *b)
{
  for (guint i = 0; i < b->buffers->len; i++)
    {
      CleaveBundleBuffer *buffer = &g_array_index (b->buffers, CleaveBundleBuffer, i);

      buffer->accesses = cleave_bundle_value_bytes (cleave_bundle_value (b->model, buffer->value));
    }
  for (guint s = 0; s < b->model->steps->len; s++)
    for (guint i = 0; i < cleave_bundle_step (b->model, s)->n_operands; i++)
      add_reads (b, cleave_bundle_step (b->model, s), i);
}

/* The functions below make the layout. */

static void
list_buffers (Builder *b)
{
  for (guint i = 0; i < b->plan->segments->len; i++)
    {
      const CleaveBundleSegment *g = &g_array_index (b->plan->segments, CleaveBundleSegment, i);

      for (guint s = g->first; s < g->end; s++)
        b->segment_of[s] = i;
    }
  add_whole (b);
  for (guint i = 0; i < b->plan->segments->len; i++)
    add_rings (b, i);
  count_accesses (b);
}

/* Copies the offsets of all buffers to the layout, and sets the bytes of each memory. */
static void
fill (CleaveBundleLayout *layout, const CleaveBundleMemories *memories)
{
  layout->offsets = g_hash_table_new (NULL, NULL);
  layout->memory_bytes = g_new0 (gint64, MAX (memories->n, 1));
  for (guint i = 0; i < layout->buffers->len; i++)
    {
      CleaveBundleBuffer *buffer = &g_array_index (layout->buffers, CleaveBundleBuffer, i);

      buffer->memory = cleave_bundle_memory_find (memories, buffer->offset);
      buffer->offset -= cleave_bundle_memory_begin (memories, buffer->memory);
      layout->memory_bytes[buffer->memory] =
          MAX (layout->memory_bytes[buffer->memory], buffer->offset + buffer->n_bytes);
      g_hash_table_insert (layout->offsets, GUINT_TO_POINTER (buffer->value),
                           GUINT_TO_POINTER (i + 1));
    }
  for (guint i = 0; i < MAX (memories->n, 1); i++)
    layout->n_bytes += layout->memory_bytes[i];
}

CleaveBundleLayout *
cleave_bundle_layout_new (const CleaveBundleModel *model,
                          const CleaveBundlePlan *plan,
                          const CleaveBundleMemories *memories,
                          gint64 align)
{
  CleaveBundleLayout *layout = g_new0 (CleaveBundleLayout, 1);
  g_autofree guint *segment_of = g_new0 (guint, MAX (model->steps->len, 1));
  CleaveBundlePlacement placement = { memories, align, plan->peak_bytes };
  Builder b = { model, plan, align, g_array_new (FALSE, TRUE, sizeof (CleaveBundleBuffer)),
                segment_of };

  list_buffers (&b);
  layout->buffers = b.buffers;
  if (cleave_bundle_place (&placement, b.buffers))
    fill (layout, memories);
  else
    g_clear_pointer (&layout, cleave_bundle_layout_free);
  return layout;
}

void
cleave_bundle_layout_free (CleaveBundleLayout *layout)
{
  g_array_unref (layout->buffers);
  g_clear_pointer (&layout->offsets, g_hash_table_unref);
  g_free (layout->memory_bytes);
  g_free (layout);
}

const CleaveBundleBuffer *
cleave_bundle_layout_buffer (const CleaveBundleLayout *layout, guint value)
{
  guint index = GPOINTER_TO_UINT (g_hash_table_lookup (layout->offsets, GUINT_TO_POINTER (value)));

  g_assert (index > 0);
  return &g_array_index (layout->buffers, CleaveBundleBuffer, index - 1);
}
