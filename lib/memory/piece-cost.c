/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The cost of pieces (functions declared at the end of cost.h). The constants are fitted to 84,000
 * steps of the models and networks in bench/results, unsplit and cut into pieces of down to one
 * pixel. The steps were measured at level v4, where pieces cost most. The times to start float
 * steps are chosen so that the model predicts the slowdown of seven graphs that `cleave fit` made
 * from MobileNetV2, ResNet-50, SqueezeNet and a U-Net. The mean error of the predicted slowdown is
 * 11 %. */

#include "broadcasts.h"
#include "cost.h"
#include "quantized-group.h"

/* Multiply-adds of floats per ns. */
#define FLOATS_PER_NS 57
/* Multiply-adds of 8-bit values per ns. */
#define BYTES_PER_NS 200
/* Multiply-adds of floats per ns by Winograd's algorithm. */
#define WINOGRAD_PER_NS 115
/* Elements per ns that Winograd's algorithm reads and copies into its tiles. Overlapping tiles copy
 * an element several times. */
#define TILED_PER_NS 1.5
/* Number of result elements that a step writes per ns, for products of floats, also depthwise
 * convolutions. Example: for each element, a depthwise convolution with 9 taps takes 9 /
 * FLOATS_PER_NS + 1 / RESULTS_PER_NS = 0.28 ns. This is 32 MACs per ns. */
#define RESULTS_PER_NS 8
/* Number of result elements that a step writes per ns, for products of 8-bit values. */
#define RESULTS_OF_BYTES_PER_NS 7
/* Multiply-adds per ns, for depthwise convolutions of 8-bit values. */
#define DEPTHWISE_BYTES_PER_NS 45
/* Number of result elements that a step writes per ns, for depthwise convolutions of 8-bit
 * values. */
#define DEPTHWISE_RESULTS_PER_NS 10
/* Time to start a product of floats, in ns. */
#define BEGIN_PRODUCT 120
/* Time to start a product with 8-bit values, in ns. */
#define BEGIN_BYTES 1000
/* Time to start a quantized group, in ns. */
#define BEGIN_GROUP 400
/* Time to start a step that is no product and no quantized group, in ns. A fused consumer starts
 * together with its head, at no cost. */
#define BEGIN 50
/* Time to copy the carried rows of one piece of an op with multiply-adds, in ns: a Slice and two
 * copies. */
#define CARRY_PRODUCT 180
/* Mean time to copy the carried rows of one piece of an op without multiply-adds, in ns. The mean
 * is shorter than CARRY_PRODUCT, since most of these ops carry no rows. */
#define CARRY 80
/* Bytes per ns, for the first 512 KiB that a piece reads and writes. The cost model assumes that
 * the caches of one thread hold these bytes (cleave_cost_of_bytes_at()). */
#define NEAR_PER_NS 64
/* Bytes per ns, for all bytes after the first 512 KiB that a piece reads and writes. */
#define FAR_PER_NS 40
/* Bytes of weights that a piece reads per ns if an earlier piece has read the same weights. */
#define AGAIN_PER_NS 80
/* Ops without MACs that are not element-wise, such as poolings, are this many times faster than
 * cleave_cost_of_elements() estimates. */
#define ELEMENTS_GAIN 1.6
/* Indices per ns that a Gather or Scatter looks up. If the channels are cut, each piece looks up
 * all indices. */
#define PLACES_PER_NS 0.29
/* Bytes per ns that a Gather or Scatter moves. */
#define MOVED_PER_NS 200

/* Floats per vector. The last channels take a whole vector even if they do not fill the vector. */
#define N_LANES 16

static double
cost_of_bytes (double n_bytes)
{
  return cleave_cost_of_bytes_at (n_bytes, NEAR_PER_NS, FAR_PER_NS);
}

static double
cost_of_elements (const CleaveNode *node)
{
  return cleave_cost_of_elements (node) / ELEMENTS_GAIN;
}

/* Returns the dimension of the channels; the last dimension if the op has no layout. */
static guint
find_channels (const CleaveNode *node)
{
  const CleaveShape *shape = &node->results[0].type.shape;
  g_auto (CleaveNodeCall) call = { 0 };
  const char *letters =
      node->op->layout == NULL ? NULL : node->op->layout (cleave_node_call_init (&call, node));

  for (guint d = 0; letters != NULL && d < shape->rank; d++)
    if (letters[d] == 'C')
      return d;
  return MAX (shape->rank, 1) - 1;
}

static gint64
count_channels (const CleaveNode *node)
{
  const CleaveShape *shape = &node->results[0].type.shape;

  return shape->rank == 0 ? 1 : MAX (shape->dim[find_channels (node)], 1);
}

static double
round_up_lanes (gint64 n_channels)
{
  const gint64 n_vectors = (n_channels + N_LANES - 1) / N_LANES;

  return (double) (n_vectors * N_LANES);
}

static double
count_elements (const CleaveResult *result)
{
  return result == NULL ? 0 : (double) cleave_shape_n_elements (&result->type.shape);
}

/* Returns whether each filter reads a single channel. */
static gboolean
is_depthwise (const CleaveNode *node)
{
  for (guint i = 1; i < node->n_operands; i++)
    {
      const CleaveResult *w = node->operands[i].result;

      if (w != NULL && cleave_node_is_fixed (w->node) && w->type.shape.rank > 2)
        return w->type.shape.dim[1] == 1;
    }
  return FALSE;
}

/* Returns the cost of the multiply-adds and of the result elements of a product, as if each vector
 * were full. */
static double
cost_of_sums (const CleaveNode *node)
{
  double macs = (double) cleave_node_get_macs (node), n = count_elements (&node->results[0]);

  if (cleave_cost_is_in_bytes (node) && is_depthwise (node))
    return macs / DEPTHWISE_BYTES_PER_NS + n / DEPTHWISE_RESULTS_PER_NS;
  if (cleave_cost_is_in_bytes (node))
    return macs / BYTES_PER_NS + n / RESULTS_OF_BYTES_PER_NS;
  return macs / (cleave_cost_is_by_winograd (node) ? WINOGRAD_PER_NS : FLOATS_PER_NS) +
         n / RESULTS_PER_NS;
}

static double
cost_of_tiles (const CleaveNode *node)
{
  return cleave_cost_is_by_winograd (node)
             ? count_elements (node->operands[0].result) / TILED_PER_NS
             : 0;
}

static double
cost_of_product (const CleaveNode *node)
{
  gint64 n_channels = count_channels (node);

  return cleave_cost_of_idle_macs (node) + cost_of_tiles (node) +
         cost_of_sums (node) * round_up_lanes (n_channels) / (double) n_channels;
}

gint
cleave_cost_find_channels (const CleaveNode *node)
{
  return cleave_node_get_macs (node) == 0 || node->results[0].type.shape.rank == 0
             ? -1
             : (gint) find_channels (node);
}

double
cleave_cost_of_channels (const CleaveNode *node, const CleaveRange *made)
{
  gint64 n_channels = count_channels (node);
  const CleaveSpan *channels = &made->dim[find_channels (node)];
  gint64 n = made->rank == 0 ? 1 : channels->end - channels->begin;
  double n_pieces;

  if (cleave_node_get_macs (node) == 0 || n < 1 || n >= n_channels)
    return 0;
  n_pieces = (double) n_channels / (double) n;
  return (n_pieces - 1) * cost_of_tiles (node) +
         MAX (n_pieces * round_up_lanes (n) - round_up_lanes (n_channels), 0) /
             (double) n_channels * cost_of_sums (node);
}

/* Returns the cost to start a step. */
static double
cost_to_begin (const CleaveNode *node)
{
  gboolean is_product = cleave_node_get_macs (node) > 0;

  return is_product && cleave_cost_is_in_bytes (node) ? BEGIN_BYTES
         : is_product                                 ? BEGIN_PRODUCT
         : cleave_node_is_group (node)                ? BEGIN_GROUP
                                                      : BEGIN;
}

double
cleave_cost_of_one_more_piece (const CleaveNode *node)
{
  return cost_to_begin (node) + (cleave_node_get_macs (node) > 0 ? CARRY_PRODUCT : CARRY);
}

/* Returns whether an operand holds indices into another operand or into the result, as in Gather
 * and Scatter. */
static gboolean
has_places (const CleaveNode *node, guint operand)
{
  const CleaveResult *x = node->operands[operand].result;

  return operand > 0 && x != NULL && !cleave_node_is_fixed (x->node) &&
         (x->type.element == CLEAVE_INT64 || x->type.element == CLEAVE_INT32) &&
         node->results[0].type.element != x->type.element;
}

static double
count_places (const CleaveNode *node)
{
  double n = 0;

  for (guint i = 0; i < node->n_operands; i++)
    if (has_places (node, i))
      n += count_elements (cleave_result_without_broadcast (node->operands[i].result));
  return n;
}

/* Returns the bytes that a step reads of an operand. A Slice reads as many bytes as it writes. */
static double
count_read (const CleaveNode *node, const CleaveResult *operand)
{
  const double n = (double) cleave_tensor_type_n_bytes (&operand->type);

  return (node->op->flags & CLEAVE_OP_VIEW) == 0
             ? n
             : MIN (n, (double) cleave_tensor_type_n_bytes (&node->results[0].type));
}

/* Returns the cost of a Gather or Scatter. The op reads at most as many bytes of operand 0 as it
 * writes. */
static double
cost_of_places (const CleaveNode *node)
{
  double n_made = (double) cleave_tensor_type_n_bytes (&node->results[0].type), n_bytes = n_made;

  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result != NULL)
      {
        double n = (double) cleave_tensor_type_n_bytes (
            &cleave_result_without_broadcast (node->operands[i].result)->type);

        n_bytes += i == 0 ? MIN (n, n_made) : n;
      }
  return count_places (node) / PLACES_PER_NS + n_bytes / MOVED_PER_NS;
}

double
cleave_cost_of_piece (const CleaveNode *node, GHashTable *read)
{
  const gboolean is_product = cleave_node_get_macs (node) > 0;
  double n_bytes = 0, n_packed = 0, cost = cost_to_begin (node);

  if (node->n_operands == 0 || node->n_results == 0)
    return BEGIN;
  if (count_places (node) > 0)
    return cost + cost_of_places (node);
  for (guint r = 0; r < node->n_results; r++)
    n_bytes += (double) cleave_tensor_type_n_bytes (&node->results[r].type);
  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result != NULL)
      {
        const CleaveResult *x = cleave_result_without_broadcast (node->operands[i].result);
        const double n = count_read (node, x);

        if (is_product && cleave_node_is_fixed (x->node) && !g_hash_table_add (read, (gpointer) x))
          cost += n / AGAIN_PER_NS;
        else
          n_bytes += n;
        if (is_product && i == 1 && !cleave_node_is_fixed (x->node))
          n_packed = n;
      }
  return cost + cleave_cost_of_rows (n_packed) +
         (is_product ? MAX (cost_of_product (node), cost_of_bytes (n_bytes))
                     : MAX (cost_of_bytes (n_bytes), cost_of_elements (node)));
}

double
cleave_cost_along (const CleaveNode *node)
{
  return cost_of_elements (node) +
         cleave_cost_of_hot_bytes ((double) cleave_tensor_type_n_bytes (&node->results[0].type));
}

double
cleave_cost_of_copy (double n_bytes)
{
  return BEGIN + cost_of_bytes (n_bytes);
}
