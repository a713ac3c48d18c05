/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Cuts recurrent layers into chunks of time steps, for threads or to save memory. Also cuts the
 * nodes between the layers in the same way.
 *
 * Over 400 lines: this file finds and cuts layers in one way, for threads and for memory. */

#include "sequences.h"

#include "../remove-dead.h"
#include "../split/apply.h"
#include "../views/forwarding.h"
#include "../views/joins.h"

/* A chunk has at least MIN_STEPS steps, since each chunk reads the weights once. A sequence has at
 * most MAX_CHUNKS chunks. Two LSTM layers of 320 units and 80 steps take 4.8 ms in 12 chunks on two
 * threads, 5.2 ms in 6 and 5.5 ms in 20. */
#define MIN_STEPS 6
#define MAX_CHUNKS 12

/* At most this many nodes between two layers, or after the last layer, are cut with the layers. */
#define MAX_BETWEEN 8

/* A recurrent node, whose chunks run one after the other. */
typedef struct
{
  CleaveNode *node;
  CleaveSequence sequence;
  gint64 n_steps;
  guint length;   /* number of layers in the longest chain through this layer */
  gint previous;  /* index of the layer whose time steps this layer reads; -1: none */
  GArray *before; /* CleaveRoot: nodes between `previous` and this layer */
} Layer;

static void
layer_clear (gpointer data)
{
  g_clear_pointer (&((Layer *) data)->before, g_array_unref);
}

static gint64
count_chunks (const Layer *layer)
{
  return MIN (layer->n_steps / MIN_STEPS, MAX_CHUNKS);
}

/* Fills `layer` for a node. Returns FALSE if the node is not recurrent, or has too few steps for
 * two chunks. */
static gboolean
layer_init (Layer *layer, CleaveNode *node)
{
  g_auto (CleaveNodeCall) call = { 0 };

  *layer = (Layer){ .node = node, .length = 1, .previous = -1 };
  if (node->op->sequence == NULL || cleave_node_is_fixed (node) ||
      !node->op->sequence (cleave_node_call_init (&call, node), &layer->sequence))
    return FALSE;
  layer->n_steps = node->results[0].type.shape.dim[layer->sequence.dim];
  return count_chunks (layer) > 1;
}

static GArray *
list_ranges (const CleaveShape *shape, guint dim, gint64 count)
{
  g_autofree char *dims = g_strdup_printf ("%u", dim);
  g_autoptr (CleaveTiling) tiling = cleave_tiling_by_num_chunks (dims, &count, 1);

  return cleave_tiling_get_ranges (tiling, shape, NULL, NULL);
}

/* Returns the dimension of an operand whose elements correspond one by one to the elements of
 * dimension `dim` of the result. Returns -1 if the operand has no such dimension. */
static gint
find_dim (const CleaveNode *node, guint operand, guint dim)
{
  g_auto (CleaveNodeCall) call = { 0 };
  const CleaveShape *x = &node->operands[operand].result->type.shape;
  CleaveDimMap map[CLEAVE_MAX_RANK];

  node->op->maps (cleave_node_call_init (&call, node), operand, map);
  for (guint d = 0; d < x->rank; d++)
    if (map[d].stride == 1 && map[d].from == dim && map[d].block == 1 && map[d].window == 1 &&
        map[d].shift == 0 && map[d].offset == 0 &&
        x->dim[d] == node->results[0].type.shape.dim[dim])
      return (gint) d;
  return -1;
}

/* Returns an operand of `node` with a dimension that corresponds to dimension `*dim` of the result,
 * and sets `*dim` to this dimension of the operand. Returns NULL if no operand has a corresponding
 * dimension. */
static const CleaveResult *
step_back (const CleaveNode *node, guint *dim)
{
  if (node->n_results != 1 || node->op->maps == NULL)
    return NULL;
  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *x = node->operands[i].result;
      gint d = x == NULL || cleave_node_is_fixed (x->node) ? -1 : find_dim (node, i, *dim);

      if (d >= 0)
        {
          *dim = (guint) d;
          return x;
        }
    }
  return NULL;
}

/* Returns the index of the layer whose result `layer` reads time step by time step, directly or
 * through a few nodes. Adds these nodes to `between`, with ranges that cut them into the same
 * chunks of time steps. Returns -1 if there is no such layer. */
static gint
find_previous (const Layer *layer, const GArray *layers, GHashTable *members, GArray *between)
{
  guint dim = layer->sequence.operand_dim;
  const CleaveResult *x = layer->node->operands[0].result;

  for (guint n = 0; n <= MAX_BETWEEN && x != NULL && !g_hash_table_contains (members, x->node); n++)
    {
      CleaveRoot root = { .node = x->node };

      for (guint i = 0; i < layers->len; i++)
        {
          const Layer *other = &g_array_index (layers, Layer, i);

          if (other->node == x->node)
            return x->index == 0 && dim == other->sequence.dim &&
                           other->sequence.is_backwards == layer->sequence.is_backwards
                       ? (gint) i
                       : -1;
        }
      root.ranges = list_ranges (&x->type.shape, dim, count_chunks (layer));
      g_array_append_val (between, root);
      x = step_back (x->node, &dim);
    }
  return -1;
}

/* Plans the cut of the nodes between two layers. Returns NULL if one of these nodes cannot be
 * cut. */
static CleaveRegion *
plan_between (CleaveGraph *graph, const GArray *roots)
{
  const CleaveRecursion alone = { .depth = 1 };
  g_autoptr (CleaveRegion) region = cleave_region_plan (
      graph, (const CleaveRoot *) (gpointer) roots->data, roots->len, &alone, NULL);

  return region == NULL || region->missed->len > 0 ? NULL : g_steal_pointer (&region);
}

static gboolean
can_cut_between (CleaveGraph *graph, const GArray *roots)
{
  g_autoptr (CleaveRegion) region = roots->len == 0 ? NULL : plan_between (graph, roots);

  return roots->len == 0 || region != NULL;
}

static GArray *
find_layers (CleaveGraph *graph, const GPtrArray *order, GHashTable *members)
{
  GArray *layers = g_array_new (FALSE, FALSE, sizeof (Layer));

  g_array_set_clear_func (layers, layer_clear);
  for (guint i = 0; i < order->len; i++)
    {
      Layer layer;

      if (g_hash_table_contains (members, order->pdata[i]) || !layer_init (&layer, order->pdata[i]))
        continue;
      layer.before = g_array_new (FALSE, FALSE, sizeof (CleaveRoot));
      g_array_set_clear_func (layer.before, cleave_root_clear);
      layer.previous = find_previous (&layer, layers, members, layer.before);
      if (layer.previous >= 0 && !can_cut_between (graph, layer.before))
        layer.previous = -1;
      if (layer.previous >= 0)
        layer.length += g_array_index (layers, Layer, layer.previous).length;
      g_array_append_val (layers, layer);
    }
  return layers;
}

/* Sets `length` of each layer to the number of layers in the longest chain through the layer.
 * Before the call, `length` must be the number of layers in the longest chain that ends with the
 * layer. */
static void
find_lengths (const GArray *layers)
{
  for (guint i = layers->len; i-- > 0;)
    {
      const Layer *layer = &g_array_index (layers, Layer, i);
      Layer *previous =
          layer->previous < 0 ? NULL : &g_array_index (layers, Layer, (guint) layer->previous);

      if (previous != NULL)
        previous->length = MAX (previous->length, layer->length);
    }
}

/* Returns whether to cut a layer along the dimension of time steps. Chunks of another dimension,
 * such as the batch, make each thread read the weights of all layers. Chunks of another dimension
 * are better only if there are more threads than layers in the chain. */
static gboolean
is_worth_it (const Layer *layer, const CleaveThreads *threads)
{
  const CleaveShape *shape = &layer->node->results[0].type.shape;
  gboolean others = FALSE;

  for (guint d = 0; d + 1 < shape->rank; d++)
    others |= d != layer->sequence.dim && shape->dim[d] >= threads->n;
  return layer->length > 1 && (layer->length >= threads->n || !others);
}

typedef struct
{
  CleaveGraph *graph;
  GHashTable *members;
  CleaveSplitReport *report;
  CleaveForwarder *forwarder;
} Cutter;

/* Adds and returns chunk `index` of a layer. The chunk reads `operands`. Sets `operands[0]` to the
 * part of the layer's operand 0 that the chunk reads. */
static CleaveNode *
add_chunk (const Cutter *cutter,
           const Layer *layer,
           guint index,
           const CleaveRange *range,
           CleaveResult **operands,
           guint n_operands)
{
  const CleaveNode *node = layer->node;
  CleaveResult *x = node->operands[0].result;
  CleaveRange part = cleave_range_whole (&x->type.shape);
  CleaveTensorType types[CLEAVE_MAX_TAKEN];
  g_autofree char *name = g_strdup_printf ("%s.%u", node->name, index);
  g_autofree char *name_x = g_strdup_printf ("%s.%s", name, cleave_op_operand_name (node->op, 0));

  part.dim[layer->sequence.operand_dim] = range->dim[layer->sequence.dim];
  operands[0] = cleave_forwarder_get (cutter->forwarder, x, &part, name_x);
  for (guint r = 0; r < node->n_results; r++)
    types[r] = node->results[r].type;
  types[0].shape = cleave_range_shape (range);
  return cleave_graph_add_checked (cutter->graph, node->op, name, operands, n_operands, types,
                                   node->n_results, cleave_attrs_copy (node->op, node->attrs));
}

/* Returns the index of the chunk that runs after `i` other chunks of the layer. */
static guint
find_chunk (const Layer *layer, guint i, guint n_chunks)
{
  return layer->sequence.is_backwards ? n_chunks - 1 - i : i;
}

/* Adds all chunks of a layer, and returns them (CleaveNode) by index. Each chunk reads the state of
 * the chunk that runs before it. */
static GPtrArray *
add_chunks (const Cutter *cutter, const Layer *layer, const GArray *ranges)
{
  const CleaveNode *node = layer->node;
  guint n_operands = node->n_operands;
  g_autofree CleaveResult **operands = NULL;
  GPtrArray *chunks = g_ptr_array_new ();

  for (guint r = 1; r < node->n_results; r++)
    n_operands = MAX (n_operands, layer->sequence.takes[r] + 1);
  operands = g_new0 (CleaveResult *, n_operands);
  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = node->operands[i].result;
  g_ptr_array_set_size (chunks, (gint) ranges->len);
  for (guint i = 0; i < ranges->len; i++)
    {
      guint k = find_chunk (layer, i, ranges->len);
      CleaveNode *chunk = add_chunk (cutter, layer, k, &g_array_index (ranges, CleaveRange, k),
                                     operands, n_operands);

      for (guint r = 1; r < node->n_results; r++)
        operands[layer->sequence.takes[r]] = &chunk->results[r];
      chunks->pdata[k] = chunk;
      g_hash_table_add (cutter->members, chunk);
    }
  return chunks;
}

/* Replaces a layer with its chunks. Returns the node that joins the chunks. */
static CleaveNode *
replace (const Cutter *cutter, const Layer *layer, const GPtrArray *chunks, const GArray *ranges)
{
  CleaveNode *node = layer->node, *whole;
  CleaveNode *last = chunks->pdata[find_chunk (layer, chunks->len - 1, chunks->len)];
  g_autoptr (GArray) parts = g_array_new (FALSE, FALSE, sizeof (CleaveJoinPart));

  for (guint i = 0; i < chunks->len; i++)
    {
      CleaveJoinPart part = { &((CleaveNode *) chunks->pdata[i])->results[0],
                              g_array_index (ranges, CleaveRange, i) };

      g_array_append_val (parts, part);
    }
  whole = cleave_join_add (cutter->graph, NULL, "whole", parts, &node->results[0].type);
  cleave_result_replace_uses (&node->results[0], &whole->results[0]);
  cleave_node_take_names (whole, node);
  for (guint r = 1; r < node->n_results; r++)
    {
      cleave_result_replace_uses (&node->results[r], &last->results[r]);
      cleave_take_result_name (&last->results[r], &node->results[r]);
    }
  if (cutter->report != NULL)
    cleave_split_report_add_pieces (cutter->report, whole->name, node->op,
                                    (CleaveNode *const *) chunks->pdata,
                                    (const CleaveRange *) (gpointer) ranges->data, chunks->len);
  cleave_graph_remove (cutter->graph, node);
  return whole;
}

static void
cut_between (const Cutter *cutter, const GArray *roots)
{
  g_autoptr (CleaveRegion) region = roots->len == 0 ? NULL : plan_between (cutter->graph, roots);

  if (region == NULL)
    return;
  cleave_region_apply (region);
  if (cutter->report != NULL)
    cleave_split_report_add (cutter->report, region, (const CleaveRoot *) (gpointer) roots->data,
                             roots->len);
}

/* Cuts a layer and the nodes before it. Returns the node that joins the chunks. */
static CleaveNode *
cut_layer (Cutter *cutter, const Layer *layer)
{
  g_autoptr (GPtrArray) chunks = NULL;
  CleaveNode *whole;
  g_autoptr (GArray) ranges =
      list_ranges (&layer->node->results[0].type.shape, layer->sequence.dim, count_chunks (layer));

  if (layer->previous >= 0)
    cut_between (cutter, layer->before);
  cutter->forwarder = cleave_forwarder_new (cutter->graph);
  chunks = add_chunks (cutter, layer, ranges);
  whole = replace (cutter, layer, chunks, ranges);
  g_clear_pointer (&cutter->forwarder, cleave_forwarder_free);
  return whole;
}

gboolean
cleave_sequences_cut (CleaveGraph *graph,
                      const CleaveThreads *threads,
                      GHashTable *members,
                      CleaveSplitReport *report,
                      GError **error)
{
  Cutter cutter = { graph, members, report, NULL };
  g_autoptr (GPtrArray) order = cleave_graph_get_order (graph, error);
  g_autoptr (GArray) layers = NULL;

  if (order == NULL)
    return FALSE;
  layers = find_layers (graph, order, members);
  find_lengths (layers);
  for (guint i = 0; i < layers->len; i++)
    {
      const Layer *layer = &g_array_index (layers, Layer, i);

      if (is_worth_it (layer, threads))
        cut_layer (&cutter, layer);
    }
  return TRUE;
}

/* Returns the only reader of `node`. Before the call, `*dim` is a dimension of the result of
 * `node`; the function sets `*dim` to the corresponding dimension of the reader's result. Returns
 * NULL and does not change `*dim` if result 0 has several uses or none, if the reader has several
 * results, or if no dimension corresponds. */
static CleaveNode *
step_on (const CleaveNode *node, guint *dim)
{
  const CleaveOperand *use = node->results[0].first_use;
  CleaveNode *reader = node->results[0].n_uses == 1 ? use->node : NULL;

  if (reader == NULL || reader->n_results != 1 || reader->op->maps == NULL)
    return NULL;
  for (guint d = 0; d < reader->results[0].type.shape.rank; d++)
    if (find_dim (reader, (guint) (use - reader->operands), d) == (gint) *dim)
      {
        *dim = d;
        return reader;
      }
  return NULL;
}

/* Visits the nodes that follow `whole`, at most MAX_BETWEEN nodes. Returns the nodes (CleaveRoot)
 * to cut into chunks along `dim`: all nodes up to the node with the smallest result. If several
 * results are smallest, the last of these nodes is the end. Returns no nodes if no result is
 * smaller than the result of `whole`. */
static GArray *
find_after (const CleaveNode *whole, guint dim, gint64 n_chunks)
{
  GArray *roots = g_array_new (FALSE, FALSE, sizeof (CleaveRoot));
  gint64 least = cleave_tensor_type_n_bytes (&whole->results[0].type);
  guint n_kept = 0;

  g_array_set_clear_func (roots, cleave_root_clear);
  for (guint n = 0; n < MAX_BETWEEN; n++)
    {
      CleaveNode *node = step_on (whole, &dim);
      CleaveRoot root = { .node = node };
      gint64 n_bytes;

      if (node == NULL)
        break;
      n_bytes = cleave_tensor_type_n_bytes (&node->results[0].type);
      root.ranges = list_ranges (&node->results[0].type.shape, dim, n_chunks);
      g_array_append_val (roots, root);
      if (n_bytes < least || (n_bytes == least && n_kept > 0))
        n_kept = roots->len;
      least = MIN (least, n_bytes);
      whole = node;
    }
  g_array_set_size (roots, n_kept);
  return roots;
}

static gboolean
is_read_by_layer (const GArray *layers, guint index)
{
  for (guint i = 0; i < layers->len; i++)
    if (g_array_index (layers, Layer, i).previous == (gint) index)
      return TRUE;
  return FALSE;
}

static gboolean
is_large (const CleaveNode *node, gint64 min_bytes)
{
  return MAX (cleave_tensor_type_n_bytes (&node->operands[0].result->type),
              cleave_tensor_type_n_bytes (&node->results[0].type)) >= min_bytes;
}

/* Removes the new joins whose readers now read the chunks. */
static void
remove_unread (CleaveGraph *graph, guint first_new)
{
  g_autoptr (GPtrArray) unread = g_ptr_array_new ();

  for (CleaveNode *node = graph->first; node != NULL; node = node->next)
    if (node->id >= first_new && (node->op->flags & CLEAVE_OP_JOIN) != 0 &&
        node->results[0].n_uses == 0)
      g_ptr_array_add (unread, node);
  cleave_remove_dead (unread, NULL);
}

gboolean
cleave_sequences_cut_for_memory (CleaveGraph *graph, gint64 min_bytes, CleaveSplitReport *report)
{
  g_autoptr (GHashTable) members = g_hash_table_new (NULL, NULL);
  Cutter cutter = { graph, members, report, NULL };
  g_autoptr (GPtrArray) order = cleave_graph_get_order (graph, NULL);
  g_autoptr (GArray) layers = find_layers (graph, order, members);
  const guint first_new = graph->n_ids;
  gboolean changed = FALSE;

  for (guint i = 0; i < layers->len; i++)
    {
      Layer *layer = &g_array_index (layers, Layer, i);
      const gint64 n_chunks = count_chunks (layer);
      const guint dim = layer->sequence.dim;
      g_autoptr (GArray) after = NULL;
      CleaveNode *whole;

      if (!is_large (layer->node, min_bytes))
        continue;
      whole = cut_layer (&cutter, layer);
      changed = TRUE;
      if (is_read_by_layer (layers, i))
        continue;
      after = find_after (whole, dim, n_chunks);
      cut_between (&cutter, after);
    }
  remove_unread (graph, first_new);
  return changed;
}
