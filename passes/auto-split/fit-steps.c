/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "fit-steps.h"

#include "../../lib/ir/topology.h"
#include "../views/strided-range.h"
#include "timeline.h"

static gboolean
is_source (const CleaveNode *node)
{
  return cleave_node_is_input (node) || cleave_node_is_fixed (node);
}

/* The step of each node of what runs, by position; -1 of what is there from the begin on. */
static gint *
number_steps (const CleaveTimeline *timeline, guint *n_steps)
{
  gint *step = g_new (gint, timeline->order->len + 1);

  *n_steps = 0;
  for (guint i = 0; i < timeline->order->len; i++)
    step[i] = is_source (timeline->order->pdata[i]) ? -1 : (gint) (*n_steps)++;
  step[timeline->order->len] = (gint) *n_steps;
  return step;
}

/* Buffers. */

static gint
get_step (const CleaveStorage *storage, const gint *step, guint index)
{
  const CleaveNode *node = g_array_index (storage->steps, CleaveStep, index).node;

  return step[node == NULL ? storage->n_nodes : cleave_storage_position (storage, node)];
}

/* A buffer with its number in the storage. */
typedef struct
{
  CleaveFitBuffer buffer;
  guint index;
} Numbered;

static int
compare_begins (gconstpointer a, gconstpointer b)
{
  const Numbered *x = a, *y = b;

  if (x->buffer.first != y->buffer.first)
    return x->buffer.first < y->buffer.first ? -1 : 1;
  return (x->index > y->index) - (x->index < y->index);
}

static gboolean
holds_input (const CleaveStorage *storage, const CleaveBuffer *buffer)
{
  return cleave_node_is_input (storage->homes[buffer->value].result->node);
}

/* Fills the buffers; returns the number of each by its number in the storage. */
static guint *
add_buffers (CleaveFitSteps *steps,
             const CleaveTimeline *timeline,
             const gint *step,
             gboolean inputs_apart)
{
  const CleaveStorage *storage = timeline->storage;
  guint n = storage->buffers->len, next = 0;
  g_autofree Numbered *sorted = g_new (Numbered, n + 1);
  guint *number = g_new (guint, n + 1);

  for (guint b = 0; b < n; b++)
    {
      const CleaveBuffer *from = &g_array_index (storage->buffers, CleaveBuffer, b);
      gboolean apart = inputs_apart && holds_input (storage, from);

      sorted[b] = (Numbered){ { get_step (storage, step, from->first),
                                get_step (storage, step, from->last), apart ? 0 : from->n_bytes },
                              b };
    }
  qsort (sorted, n, sizeof *sorted, compare_begins);
  steps->buffers = g_array_sized_new (FALSE, FALSE, sizeof (CleaveFitBuffer), n);
  steps->first_buffer = g_new (guint, steps->n_steps + 1);
  for (guint b = 0; b < n; b++)
    {
      number[sorted[b].index] = b;
      g_array_append_val (steps->buffers, sorted[b].buffer);
    }
  for (guint s = 0; s <= steps->n_steps; s++)
    {
      while (next < n && cleave_fit_buffer (steps, next)->first < (gint) s)
        next++;
      steps->first_buffer[s] = next;
    }
  return number;
}

static void
find_live (CleaveFitSteps *steps)
{
  g_autofree gint64 *change = g_new0 (gint64, steps->n_steps + 2);
  gint64 sum = 0;

  for (guint b = 0; b < steps->buffers->len; b++)
    {
      const CleaveFitBuffer *buffer = cleave_fit_buffer (steps, b);

      change[MAX (buffer->first, 0)] += buffer->n_bytes;
      change[buffer->last + 1 > (gint) steps->n_steps ? (gint) steps->n_steps + 1
                                                      : buffer->last + 1] -= buffer->n_bytes;
    }
  steps->live = g_new (gint64, steps->n_steps + 1);
  for (guint s = 0; s <= steps->n_steps; s++)
    steps->live[s] = sum += change[s];
}

/* Nodes. */

static int
compare_steps (gconstpointer a, gconstpointer b)
{
  guint x = ((const CleaveFitNode *) a)->step, y = ((const CleaveFitNode *) b)->step;

  return (x > y) - (x < y);
}

/* Those that run, in the order of the steps. */
static void
add_nodes (CleaveFitSteps *steps,
           const CleaveGraph *graph,
           const CleaveTimeline *timeline,
           const gint *step)
{
  g_autoptr (GPtrArray) order = cleave_topology_sort (graph, NULL);
  guint next = 0;

  steps->nodes = g_array_new (FALSE, TRUE, sizeof (CleaveFitNode));
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = order->pdata[i], *there = cleave_timeline_node (timeline, node);
      CleaveFitNode added = { .node = node };

      if (is_source (node) || there == NULL || is_source (there))
        continue;
      added.step = (guint) step[cleave_storage_position (timeline->storage, there)];
      added.macs = cleave_node_get_macs (node);
      added.can_split = node->op->maps != NULL;
      g_array_append_val (steps->nodes, added);
      steps->macs += added.macs;
    }
  g_array_sort (steps->nodes, compare_steps); /* stable */
  steps->first_node = g_new (guint, steps->n_steps + 1);
  for (guint s = 0; s <= steps->n_steps; s++)
    {
      while (next < steps->nodes->len && cleave_fit_node (steps, next)->step < s)
        next++;
      steps->first_node[s] = next;
    }
}

/* Whether a value is there whole: a step reads it that did not make it, or an output. */
static gboolean
is_stored (const CleaveTimeline *timeline, const CleaveResult *result)
{
  for (const CleaveOperand *use = result->first_use; use != NULL; use = use->next_use)
    if (use->node == NULL ||
        cleave_timeline_node (timeline, use->node) != cleave_timeline_node (timeline, result->node))
      return TRUE;
  return FALSE;
}

static guint
find_buffer (const CleaveTimeline *timeline, const guint *number, const CleaveResult *result)
{
  const CleaveNode *there = cleave_timeline_node (timeline, result->node);
  const CleaveResult *same;
  guint buffer;

  if (!is_stored (timeline, result) || result->index >= there->n_results)
    return CLEAVE_FIT_NONE;
  same = &there->results[result->index];
  buffer = timeline->storage->buffer[cleave_storage_home (timeline->storage, same)->place.root];
  return buffer == CLEAVE_NEVER ? CLEAVE_FIT_NONE : number[buffer];
}

static gboolean
is_plain_view (const CleaveNode *node)
{
  for (guint r = 0; r < node->n_results; r++)
    {
      CleaveStridedRange range;

      if (!cleave_result_get_strided_range (&node->results[r], &range))
        return FALSE;
      for (guint d = 0; d < range.rank; d++)
        if (range.step[d] != 1)
          return FALSE;
    }
  return node->n_results > 0;
}

static void
add_values (CleaveFitSteps *steps,
            const CleaveTimeline *timeline,
            const guint *number,
            guint *value_of)
{
  steps->values = g_array_new (FALSE, FALSE, sizeof (CleaveFitValue));
  for (guint i = 0; i < steps->nodes->len; i++)
    {
      CleaveFitNode *node = &g_array_index (steps->nodes, CleaveFitNode, i);

      node->first_value = value_of[node->node->id] = steps->values->len;
      node->n_values = node->node->n_results;
      node->is_view = is_plain_view (node->node);
      for (guint r = 0; r < node->n_values; r++)
        {
          const CleaveResult *result = &node->node->results[r];
          CleaveFitValue value = { result, i, find_buffer (timeline, number, result),
                                   (gint64) cleave_element_size (result->type.element) };

          g_array_append_val (steps->values, value);
        }
    }
}

static void
add_operands (CleaveFitSteps *steps, const guint *value_of)
{
  steps->operands = g_array_new (FALSE, TRUE, sizeof (CleaveFitOperand));
  for (guint i = 0; i < steps->nodes->len; i++)
    {
      CleaveFitNode *node = &g_array_index (steps->nodes, CleaveFitNode, i);
      g_auto (CleaveNodeCall) call = { 0 };

      cleave_node_call_init (&call, node->node);
      node->first_operand = steps->operands->len;
      node->n_operands = node->node->n_operands;
      for (guint o = 0; o < node->n_operands; o++)
        {
          const CleaveResult *read = node->node->operands[o].result;
          CleaveFitOperand operand = { .value = CLEAVE_FIT_NONE };

          if (read != NULL && value_of[read->node->id] != CLEAVE_FIT_NONE)
            operand.value = value_of[read->node->id] + read->index;
          if (operand.value != CLEAVE_FIT_NONE && node->can_split)
            node->node->op->maps (&call.call, o, operand.map);
          g_array_append_val (steps->operands, operand);
        }
    }
}

gboolean
cleave_fit_steps_init (CleaveFitSteps *steps,
                       const CleaveGraph *graph,
                       gboolean inputs_apart,
                       GError **error)
{
  g_auto (CleaveTimeline) timeline = { 0 };
  g_autofree guint *value_of = g_new (guint, graph->n_ids + 1), *number = NULL;
  g_autofree gint *step = NULL;

  *steps = (CleaveFitSteps){ 0 };
  if (!cleave_timeline_init (&timeline, graph, error))
    return FALSE;
  for (guint i = 0; i <= graph->n_ids; i++)
    value_of[i] = CLEAVE_FIT_NONE;
  step = number_steps (&timeline, &steps->n_steps);
  number = add_buffers (steps, &timeline, step, inputs_apart);
  find_live (steps);
  add_nodes (steps, graph, &timeline, step);
  add_values (steps, &timeline, number, value_of);
  add_operands (steps, value_of);
  return TRUE;
}

void
cleave_fit_steps_clear (CleaveFitSteps *steps)
{
  g_clear_pointer (&steps->first_node, g_free);
  g_clear_pointer (&steps->live, g_free);
  g_clear_pointer (&steps->nodes, g_array_unref);
  g_clear_pointer (&steps->operands, g_array_unref);
  g_clear_pointer (&steps->values, g_array_unref);
  g_clear_pointer (&steps->buffers, g_array_unref);
  g_clear_pointer (&steps->first_buffer, g_free);
}
