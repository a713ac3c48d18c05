/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The cost model: estimates the time of steps in nanoseconds of one thread (cost.h). */

#include "cost.h"

#include <string.h>

#include "broadcasts.h"
#include "quantized-group.h"

#define MACS_PER_NS 45
#define MACS_PER_NS_IN_STRIPS 30
/* Size of the caches of one thread, in bytes. */
#define CACHED (512 << 10)
/* Bytes that a step reads per ns from the caches. */
#define CACHED_PER_NS 24
/* Bytes that a step reads per ns from memory. */
#define FAR_PER_NS 8
/* Bytes that a step reads per ns if the previous step has just written them. */
#define HOT_PER_NS 64
/* Speed at which a step reads weights that an earlier piece has read, in bytes per ns. The measured
 * times of networks with 50 layers in 64 tiles correspond to 40 to 80. */
#define AGAIN_PER_NS 40
/* Elements of 4 bytes that an element-wise step reads and writes per ns. */
#define ELEMENTS_PER_NS 3.75

double
cleave_cost_of_macs (double macs)
{
  return macs / MACS_PER_NS;
}

double
cleave_cost_of_macs_in_strips (double macs)
{
  return macs / MACS_PER_NS_IN_STRIPS;
}

double
cleave_cost_of_bytes_at (double n_bytes, double near_per_ns, double far_per_ns)
{
  return MIN (n_bytes, CACHED) / near_per_ns + MAX (n_bytes - CACHED, 0) / far_per_ns;
}

double
cleave_cost_of_bytes (double n_bytes)
{
  return cleave_cost_of_bytes_at (n_bytes, CACHED_PER_NS, FAR_PER_NS);
}

double
cleave_cost_of_far_bytes (double n_bytes)
{
  return n_bytes / FAR_PER_NS;
}

double
cleave_cost_of_hot_bytes (double n_bytes)
{
  return n_bytes / HOT_PER_NS;
}

double
cleave_cost_of_rows (double n_bytes)
{
  return n_bytes / CACHED_PER_NS;
}

/* Speedup of multiply-adds by Winograd's F(2x2, 3x3). */
#define WINOGRAD_GAIN 1.7

gboolean
cleave_cost_is_by_winograd (const CleaveNode *node)
{
  for (const CleaveAttr *attr = node->op->attrs; attr != NULL && attr->name != NULL; attr++)
    if (strcmp (attr->name, "winograd") == 0 && !cleave_attr_is_default (attr, node->attrs))
      return TRUE;
  return FALSE;
}

/* Speed of 8-bit multiply-adds divided by the speed of float multiply-adds. Measured with VNNI: 2.5
 * to 4. With a ratio of 1, threads with 8-bit work were estimated busy while they were idle. */
#define BYTES_GAIN 3

static gboolean
is_of_bytes (const CleaveOperand *operand)
{
  return operand->result != NULL && cleave_element_size (operand->result->type.element) == 1;
}

static gboolean
has_weights (const CleaveNode *node)
{
  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *w = node->operands[i].result;

      if (w != NULL && cleave_node_is_fixed (w->node) && w->type.shape.rank >= 2)
        return TRUE;
    }
  return FALSE;
}

gboolean
cleave_cost_is_in_bytes (const CleaveNode *node)
{
  if (node->n_operands < 2)
    return FALSE;
  if (is_of_bytes (&node->operands[0]))
    return !cleave_node_is_group (node) || has_weights (node);
  for (guint i = 0; i < 2; i++)
    {
      const CleaveResult *x = node->operands[i].result;

      if (x == NULL || (x->node->op->flags & CLEAVE_OP_STORAGE) == 0 ||
          !is_of_bytes (&x->node->operands[0]))
        return FALSE;
    }
  return cleave_node_is_fixed (node->operands[1].result->node);
}

/* Returns a number of multiply-adds that takes as long as rereading the weights: one multiply-add
 * for each weight in each step of the sequence. Evidence: all sequences of a batch share one read
 * of the weights. An LSTM of 256 units computes 48 GFLOP/s with a batch of one sequence, 78 GFLOP/s
 * with two sequences and 98 GFLOP/s with four. */
static double
count_idle_macs (const CleaveNode *node)
{
  g_auto (CleaveNodeCall) call = { 0 };
  CleaveSequence sequence = { 0 };
  double n = 0;

  if (node->op->sequence == NULL)
    return 0;
  node->op->sequence (cleave_node_call_init (&call, node), &sequence);
  for (guint i = 1; i < node->n_operands; i++)
    {
      const CleaveResult *w = node->operands[i].result;
      gboolean is_ahead = FALSE; /* whether a run multiplies `w` by the inputs of many steps at
                                  * once, and so reads `w` only once */

      for (guint k = 0; k < CLEAVE_MAX_AHEAD; k++)
        is_ahead |= sequence.ahead_operands[k] == i;
      if (w != NULL && cleave_node_is_fixed (w->node) && !is_ahead)
        n += (double) cleave_shape_n_elements (&w->type.shape);
    }
  return n * (double) node->results[0].type.shape.dim[sequence.dim];
}

double
cleave_cost_of_idle_macs (const CleaveNode *node)
{
  return cleave_cost_of_macs (count_idle_macs (node));
}

static double
count_macs (const CleaveNode *node)
{
  double macs = (double) cleave_node_get_macs (node);

  return macs == 0                           ? 0
         : cleave_cost_is_in_bytes (node)    ? macs / BYTES_GAIN
         : cleave_cost_is_by_winograd (node) ? macs / WINOGRAD_GAIN
                                             : macs + count_idle_macs (node);
}

/* Returns the number of multiply-adds. Counts whole Winograd tiles of two rows and two columns,
 * since a piece that ends inside a tile computes the whole tile. */
static double
count_macs_of_tiles (const CleaveNode *node)
{
  const CleaveShape *shape = &node->results[0].type.shape;
  g_auto (CleaveNodeCall) call = { 0 };
  double macs = count_macs (node);
  const char *letters;

  if (!cleave_cost_is_by_winograd (node))
    return macs;
  letters = node->op->layout (cleave_node_call_init (&call, node));
  for (guint d = 0; d < shape->rank; d++)
    if (letters[d] != 'N' && letters[d] != 'C')
      macs *= (double) (shape->dim[d] + shape->dim[d] % 2) / (double) MAX (shape->dim[d], 1);
  return macs;
}

static double
count_weights (const CleaveNode *node)
{
  double n_bytes = 0;

  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result != NULL && cleave_node_is_fixed (node->operands[i].result->node))
      n_bytes += (double) cleave_tensor_type_n_bytes (&node->operands[i].result->type);
  return n_bytes;
}

double
cleave_cost_in_strips (const CleaveGraph *graph)
{
  double cost = 0;

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      double macs = node->n_results == 0 || node->n_operands == 0 || cleave_node_is_fixed (node)
                        ? 0
                        : count_macs_of_tiles (node);

      cost += CLEAVE_COST_OF_STEP + cleave_cost_of_macs_in_strips (macs);
      if (macs > 0)
        cost += cleave_cost_of_far_bytes (MAX (count_weights (node) - CACHED, 0));
    }
  return cost;
}

/* Returns the number of elements that a step without multiply-adds reads or writes: the number of
 * elements of the result or of the largest operand, whichever is larger. */
static double
count_elements (const CleaveNode *node)
{
  double n = (double) cleave_shape_n_elements (&node->results[0].type.shape);

  for (guint i = 0; (node->op->flags & CLEAVE_OP_VIEW) == 0 && i < node->n_operands; i++)
    if (node->operands[i].result != NULL && !cleave_node_is_fixed (node->operands[i].result->node))
      n = MAX (n, (double) cleave_shape_n_elements (&node->operands[i].result->type.shape));
  return n;
}

/* Returns whether all calls of a group are element-wise. */
static gboolean
goes_by_elements (const CleaveBody *body)
{
  for (guint i = 0; i < body->calls->len; i++)
    if (!cleave_body_at (body, i)->by_elements)
      return FALSE;
  return TRUE;
}

double
cleave_cost_of_elements (const CleaveNode *node)
{
  g_auto (CleaveNodeCall) call = { 0 };
  double cost = count_elements (node) / ELEMENTS_PER_NS;
  CleaveBody body;

  if (cleave_node_is_group (node))
    {
      body = cleave_group_get_body (cleave_node_call_init (&call, node));
      return cleave_node_get_macs (node) > 0 && cleave_cost_is_in_bytes (node) ? 0
             : goes_by_elements (&body)                                        ? cost
                                                                               : 2 * cost;
    }
  return cleave_node_get_macs (node) > 0 || cleave_node_goes_by_elements (node) ||
                 (node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN | CLEAVE_OP_ROW_MAJOR)) != 0
             ? 0
             : cost;
}

double
cleave_cost_of_weights_again (const CleaveNode *node)
{
  return cleave_node_get_macs (node) > 0 ? count_weights (node) / AGAIN_PER_NS : 0;
}

double
cleave_cost_of_node (const CleaveNode *node)
{
  double n_bytes = 0;

  if (node->n_operands == 0 || node->n_results == 0)
    return CLEAVE_COST_OF_STEP;
  for (guint r = 0; r < node->n_results; r++)
    n_bytes += (double) cleave_tensor_type_n_bytes (&node->results[r].type);
  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result != NULL)
      n_bytes += (double) cleave_tensor_type_n_bytes (
          &cleave_result_without_broadcast (node->operands[i].result)->type);
  return CLEAVE_COST_OF_STEP +
         MAX (cleave_cost_of_bytes (n_bytes), cleave_cost_of_elements (node)) +
         cleave_cost_of_macs (count_macs (node));
}

double
cleave_cost_of_shared (const CleaveNode *node)
{
  double macs = count_macs (node);

  if (node->n_operands == 0 || node->n_results == 0 || cleave_node_is_fixed (node) ||
      cleave_node_is_broadcast (node))
    return 0;
  return macs > 0 ? cleave_cost_of_macs (macs) : count_elements (node) / ELEMENTS_PER_NS;
}
