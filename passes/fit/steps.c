/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Builds the table of nodes, values, buffers and steps of a graph, which the search for a fit
 * reads.
 *
 * Over 400 lines: this file builds one table of a graph, and half of it is about the buffers. */

#include "axes.h"
#include "divide-joins.h"

#include "../../lib/ir/topology.h"
#include "../../lib/memory/cost.h"
#include "../segments/timeline.h"
#include "../split/wide.h"
#include "../views/strided-range.h"

static gboolean
is_source (const CleaveNode *node)
{
  return cleave_node_is_input (node) || cleave_node_is_fixed (node);
}

/* Returns the number of the step in which each node of the timeline runs, indexed by position. The
 * last entry is the number of steps. Inputs and constants have -1, since they exist before the
 * first step. */
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

/* Returns the step in which the entry `index` of `storage->steps` runs. */
static gint
get_step (const CleaveStorage *storage, const gint *step, guint index)
{
  const CleaveNode *node = g_array_index (storage->steps, CleaveStep, index).node;

  return step[node == NULL ? storage->n_nodes : cleave_storage_position (storage, node)];
}

/* Returns an array with a CleaveFitBuffer for each buffer of the storage, at the same index. */
static GArray *
make_buffers (const CleaveTimeline *timeline, const gint *step)
{
  const CleaveStorage *storage = timeline->storage;
  GArray *buffers = g_array_new (FALSE, FALSE, sizeof (CleaveFitBuffer));

  for (guint b = 0; b < storage->buffers->len; b++)
    {
      const CleaveBuffer *from = &g_array_index (storage->buffers, CleaveBuffer, b);
      CleaveFitBuffer buffer = { get_step (storage, step, from->first),
                                 get_step (storage, step, from->last), from->n_bytes,
                                 CLEAVE_FIT_NONE };

      g_array_append_val (buffers, buffer);
    }
  return buffers;
}

/* Returns the bytes of the largest join in each buffer of a CleaveStorage. The array is indexed by
 * value. The entry for a buffer has the index of the buffer's root, which is the value that owns
 * the buffer; 0: the buffer has no join. The entries of all other values are 0, and have no
 * meaning. */
static gint64 *
find_joined (const CleaveStorage *storage)
{
  gint64 *joined = g_new0 (gint64, storage->n_values + 1);

  for (guint j = 0; j < storage->joins->len; j++)
    {
      const CleaveResult *whole = &((const CleaveNode *) storage->joins->pdata[j])->results[0];
      gint64 *largest = &joined[cleave_storage_assignment (storage, whole)->location.root];

      *largest = MAX (*largest, cleave_tensor_type_n_bytes (&whole->type));
    }
  return joined;
}

/* Returns whether a value lies in the buffer of a larger join. */
static gboolean
is_part (const CleaveStorage *storage, const gint64 *joined, guint value)
{
  const CleaveAssignment *assignment = &storage->assignments[value];

  return assignment->base == value &&
         joined[assignment->location.root] > cleave_tensor_type_n_bytes (&assignment->result->type);
}

/* Returns the operand that a node overwrites with `value`. Returns CLEAVE_FIT_NONE if the value has
 * memory of its own. */
static guint
find_overwritten (const CleaveStorage *storage, guint value)
{
  const CleaveAssignment *assignment = &storage->assignments[value];
  const CleaveNode *node = assignment->result->node;

  if (assignment->base != value ||
      (storage->assignments[assignment->location.root].result->node->op->flags & CLEAVE_OP_JOIN) !=
          0)
    return CLEAVE_FIT_NONE;
  for (guint o = 0; o < node->n_operands; o++)
    {
      const CleaveAssignment *x =
          node->operands[o].result == NULL
              ? NULL
              : cleave_storage_assignment (storage, node->operands[o].result);

      if (x != NULL && x->location.root == assignment->location.root &&
          storage->assignments[x->base].deadline == cleave_storage_position (storage, node))
        return x->base;
    }
  return CLEAVE_FIT_NONE;
}

/* Splits each buffer where a node overwrites an operand: the buffer of the operand ends there, and
 * a new buffer is appended. Returns the buffer of each value of the storage; CLEAVE_FIT_NONE: the
 * value has no buffer. */
static guint *
split_buffers (GArray *buffers, const CleaveTimeline *timeline, const gint *step)
{
  const CleaveStorage *storage = timeline->storage;
  g_autofree gint64 *joined = find_joined (storage);
  guint *buffer_of = g_new (guint, storage->n_values + 1);

  for (guint v = 0; v < storage->n_values; v++)
    {
      const CleaveAssignment *assignment = &storage->assignments[v];
      guint own = storage->buffer[assignment->location.root],
            before = find_overwritten (storage, v);
      CleaveFitBuffer next;

      buffer_of[v] = own == CLEAVE_NEVER    ? CLEAVE_FIT_NONE
                     : assignment->base < v ? buffer_of[assignment->base]
                                            : own;
      if (buffer_of[v] == CLEAVE_FIT_NONE || before >= v || is_part (storage, joined, before))
        continue;
      next = g_array_index (buffers, CleaveFitBuffer, buffer_of[before]);
      next.first = step[cleave_storage_position (storage, assignment->result->node)];
      next.after = CLEAVE_FIT_NONE;
      g_array_index (buffers, CleaveFitBuffer, buffer_of[before]).last = next.first;
      g_array_index (buffers, CleaveFitBuffer, buffer_of[before]).after = buffers->len;
      buffer_of[v] = buffers->len;
      g_array_append_val (buffers, next);
    }
  return buffer_of;
}

static int
compare_begins (gconstpointer a, gconstpointer b, gpointer data)
{
  guint i = *(const guint *) a, j = *(const guint *) b;
  gint x = g_array_index ((GArray *) data, CleaveFitBuffer, i).first;
  gint y = g_array_index ((GArray *) data, CleaveFitBuffer, j).first;

  return x != y ? (x > y) - (x < y) : (i > j) - (i < j);
}

/* Copies the buffers to the table, sorted by the step where they begin. Replaces each index in
 * `buffer_of`, the buffer of each value, by the new index. */
static void
sort_buffers (CleaveFitSteps *steps, GArray *buffers, guint *buffer_of, guint n_values)
{
  g_autofree guint *order = g_new (guint, buffers->len + 1);
  g_autofree guint *number = g_new (guint, buffers->len + 1);
  guint next = 0;

  for (guint b = 0; b < buffers->len; b++)
    order[b] = b;
  g_qsort_with_data (order, (gint) buffers->len, sizeof *order, compare_begins, buffers);
  for (guint b = 0; b < buffers->len; b++)
    number[order[b]] = b;
  steps->buffers = g_array_sized_new (FALSE, FALSE, sizeof (CleaveFitBuffer), buffers->len);
  for (guint b = 0; b < buffers->len; b++)
    {
      CleaveFitBuffer buffer = g_array_index (buffers, CleaveFitBuffer, order[b]);

      if (buffer.after != CLEAVE_FIT_NONE)
        buffer.after = number[buffer.after];
      g_array_append_val (steps->buffers, buffer);
    }
  for (guint v = 0; v < n_values; v++)
    if (buffer_of[v] != CLEAVE_FIT_NONE)
      buffer_of[v] = number[buffer_of[v]];
  steps->first_buffer = g_new (guint, steps->n_steps + 1);
  for (guint s = 0; s <= steps->n_steps; s++)
    {
      while (next < buffers->len && cleave_fit_buffer (steps, next)->first < (gint) s)
        next++;
      steps->first_buffer[s] = next;
    }
}

/* Sets the bytes that are live in each step. Call this function before split_buffers(), which
 * splits a buffer where a node overwrites its operand. After the split, both parts of the buffer
 * would count in the step of this node. */
static void
find_live (CleaveFitSteps *steps, const GArray *buffers)
{
  g_autofree gint64 *change = g_new0 (gint64, steps->n_steps + 2);
  gint64 sum = 0;

  for (guint b = 0; b < buffers->len; b++)
    {
      const CleaveFitBuffer *buffer = &g_array_index (buffers, CleaveFitBuffer, b);

      change[MAX (buffer->first, 0)] += buffer->n_bytes;
      change[buffer->last + 1 > (gint) steps->n_steps ? (gint) steps->n_steps + 1
                                                      : buffer->last + 1] -= buffer->n_bytes;
    }
  steps->live = g_new (gint64, steps->n_steps + 1);
  for (guint s = 0; s <= steps->n_steps; s++)
    steps->live[s] = sum += change[s];
}

static int
compare_steps (gconstpointer a, gconstpointer b)
{
  guint x = ((const CleaveFitNode *) a)->step, y = ((const CleaveFitNode *) b)->step;

  return (x > y) - (x < y);
}

/* Adds the nodes that run, in the order of their steps. */
static void
add_nodes (CleaveFitSteps *steps,
           const CleaveGraph *graph,
           const CleaveTimeline *timeline,
           const gint *step)
{
  g_autoptr (GPtrArray) order = cleave_topology_sort (graph, NULL);
  g_autofree gboolean *wide = cleave_find_wide (graph, order);
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
      added.reread_ns = cleave_cost_of_weights_again (node);
      added.piece_ns = cleave_cost_of_one_more_piece (node);
      added.channels = cleave_cost_find_channels (node);
      added.can_split = node->op->maps != NULL;
      added.is_wide = wide[node->id];
      added.always_recomputes = cleave_node_widens (node) > 0;
      g_array_append_val (steps->nodes, added);
      steps->macs += added.macs;
    }
  g_array_sort (steps->nodes, compare_steps); /* the sort is stable: nodes of one step keep their
                                               * order */
  steps->first_node = g_new (guint, steps->n_steps + 1);
  for (guint s = 0; s <= steps->n_steps; s++)
    {
      while (next < steps->nodes->len && cleave_fit_node (steps, next)->step < s)
        next++;
      steps->first_node[s] = next;
    }
}

/* Returns whether a value is stored. A value is stored if the value is an output, or if a node of
 * another step reads the value. */
static gboolean
is_stored (const CleaveTimeline *timeline, const CleaveResult *result)
{
  for (const CleaveOperand *use = result->first_use; use != NULL; use = use->next_use)
    if (use->node == NULL ||
        cleave_timeline_node (timeline, use->node) != cleave_timeline_node (timeline, result->node))
      return TRUE;
  return FALSE;
}

/* Returns the buffer of a result. Returns CLEAVE_FIT_NONE if the result is not stored. */
static guint
find_buffer (const CleaveTimeline *timeline, const guint *buffer_of, const CleaveResult *result)
{
  const CleaveNode *there = cleave_timeline_node (timeline, result->node);

  if (!is_stored (timeline, result) || result->index >= there->n_results)
    return CLEAVE_FIT_NONE;
  return buffer_of[cleave_storage_first_value (timeline->storage, there) + result->index];
}

/* Sets whether a value is part of a larger join (`is_part`), its outermost dimension in memory
 * (`rows`), and the bytes of one index of this dimension (`row_bytes`). */
static void
find_rows (CleaveFitValue *value, const CleaveTimeline *timeline, const gint64 *joined)
{
  const CleaveShape *shape = &value->result->type.shape;
  const CleaveNode *there = cleave_timeline_node (timeline, value->result->node);
  const CleaveAssignment *assignment;

  value->rows = -1;
  if (value->buffer == CLEAVE_FIT_NONE)
    return;
  assignment =
      &timeline->storage->assignments[cleave_storage_first_value (timeline->storage, there) +
                                      value->result->index];
  value->is_part =
      is_part (timeline->storage, joined, (guint) (assignment - timeline->storage->assignments));
  for (guint d = 0; d < shape->rank; d++)
    if (shape->dim[d] > 1 &&
        assignment->location.stride[d] * shape->dim[d] == cleave_shape_n_elements (shape))
      value->rows = (gint) d;
  if (value->rows >= 0)
    value->row_bytes = assignment->location.stride[value->rows] * value->element_size;
}

/* Returns whether each result of a node is a range of operand 0 that skips no elements. */
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

/* Sets `steps->values` to the results of all nodes, node by node. Sets `value_of`, indexed by node
 * id, to the index of the first value of each node. */
static void
add_values (CleaveFitSteps *steps,
            const CleaveTimeline *timeline,
            const guint *buffer_of,
            guint *value_of)
{
  g_autofree gint64 *joined = find_joined (timeline->storage);

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
          CleaveFitValue value = { .result = result,
                                   .node = i,
                                   .last_read = -1,
                                   .buffer = find_buffer (timeline, buffer_of, result),
                                   .element_size =
                                       (gint64) cleave_element_size (result->type.element) };

          find_rows (&value, timeline, joined);
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
          if (operand.value != CLEAVE_FIT_NONE && (node->node->op->flags & CLEAVE_OP_JOIN) == 0)
            g_array_index (steps->values, CleaveFitValue, operand.value).last_read =
                (gint) node->step;
          if (operand.value != CLEAVE_FIT_NONE && node->can_split)
            node->node->op->maps (&call.call, o, operand.map);
          g_array_append_val (steps->operands, operand);
        }
    }
}

static void
init (CleaveFitSteps *steps, const CleaveGraph *graph, const CleaveTimeline *timeline)
{
  g_autofree guint *value_of = g_new (guint, graph->n_ids + 1), *buffer_of = NULL;
  g_autoptr (GArray) buffers = NULL;
  g_autofree gint *step = NULL;

  for (guint i = 0; i <= graph->n_ids; i++)
    value_of[i] = CLEAVE_FIT_NONE;
  step = number_steps (timeline, &steps->n_steps);
  buffers = make_buffers (timeline, step);
  cleave_fit_divide_joins (buffers, timeline->storage, step);
  find_live (steps, buffers);
  buffer_of = split_buffers (buffers, timeline, step);
  sort_buffers (steps, buffers, buffer_of, timeline->storage->n_values);
  add_nodes (steps, graph, timeline, step);
  add_values (steps, timeline, buffer_of, value_of);
  add_operands (steps, value_of);
  cleave_fit_axes_init (steps);
}

gboolean
cleave_fit_steps_init (CleaveFitSteps *steps, const CleaveGraph *graph, GError **error)
{
  g_auto (CleaveTimeline) timeline = { 0 };

  *steps = (CleaveFitSteps){ 0 };
  if (!cleave_timeline_init (&timeline, graph, error))
    return FALSE;
  init (steps, graph, &timeline);
  return TRUE;
}

gboolean
cleave_fit_steps_init_staged (CleaveFitSteps *steps, const CleaveGraph *graph)
{
  g_auto (CleaveTimeline) timeline = { 0 };

  *steps = (CleaveFitSteps){ 0 };
  if (!cleave_timeline_init (&timeline, graph, NULL) || !cleave_timeline_stage (&timeline, graph))
    return FALSE;
  init (steps, graph, &timeline);
  return TRUE;
}

void
cleave_fit_steps_init_as_listed (CleaveFitSteps *steps, const CleaveGraph *graph)
{
  g_auto (CleaveTimeline) timeline = { 0 };

  *steps = (CleaveFitSteps){ 0 };
  cleave_timeline_init_as_listed (&timeline, graph);
  init (steps, graph, &timeline);
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
  g_clear_pointer (&steps->axes, g_free);
  g_clear_pointer (&steps->blocks, g_free);
  g_clear_pointer (&steps->has_halo, g_free);
}
