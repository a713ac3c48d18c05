/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Merges the nodes that the exporter wrote for one piece. The exporter writes several nodes if ONNX
 * has no op for the piece. After the merge, the graph takes as much memory as the exported graph.
 *
 *    a ─┐
 *    b ─┴ Concat ─┐
 *    c ─┐         │                     one Assemble
 *    d ─┴ Concat ─┴ Concat
 *
 *    x ── Resize ── Slice               a Resize that computes only the slice
 *
 *    x ── MatMul ── MatMul              a Resize (described by a doc string)
 *
 *    input ── Reshape to its own shape  the input */

#include "import.h"

#include <string.h>

#include "../../ir/chunk.h"
#include "../../ir/graph-private.h"
#include "../../ir/join.h"
#include "../resize-part.h"

typedef struct
{
  CleaveResult *value;
  CleaveRange place;
} Part;

typedef struct
{
  CleaveGraph *graph;
  const CleaveOp *assemble;
  GArray *stack;       /* Part: parts that list_parts() has not visited yet; the last entry is the
                        * next part */
  GArray *parts;       /* Part: the parts of the join that is merged now, and of the joins in
                        * `inner` */
  GPtrArray *inner;    /* CleaveNode: the joins that become part of the join that is merged now */
  GHashTable *by;      /* maps a CleaveNode to the node that replaces it; NULL: the node is
                        * absorbed */
  GHashTable *weights; /* set of CleaveNode: the constants that the absorbed nodes read */
} Merging;

static void
replace (Merging *merging, CleaveNode *node, CleaveNode *made)
{
  cleave_result_replace_uses (&node->results[0], &made->results[0]);
  g_hash_table_insert (merging->by, node, made);
}

/* The functions below merge joins. */

static gboolean
is_join (const CleaveNode *node)
{
  return (node->op->flags & CLEAVE_OP_JOIN) != 0 && node->n_results == 1;
}

/* Returns whether a join may absorb the node of `value`: no other node reads the value, and the
 * exporter gave the node the name of a part of `outer`. */
static gboolean
is_part_of (const CleaveNode *outer, const CleaveResult *value)
{
  const gsize n = strlen (outer->name);

  return value->n_uses == 1 && strncmp (value->node->name, outer->name, n) == 0 &&
         g_str_has_prefix (value->node->name + n, CLEAVE_ONNX_PART);
}

static void
push_operands (Merging *merging, const CleaveNode *node, const CleaveRange *place)
{
  g_autofree CleaveRange *ranges = cleave_join_ranges (node);

  for (guint i = node->n_operands; i-- > 0;)
    {
      Part part = { node->operands[i].result, cleave_range_absolute (&ranges[i], place) };

      g_array_append_val (merging->stack, part);
    }
}

/* Lists in `merging` the parts of the join `node`, and of the joins that `node` absorbs. Returns
 * FALSE if `node` absorbs no join. */
static gboolean
list_parts (Merging *merging, const CleaveNode *node)
{
  const CleaveRange whole = cleave_range_whole (&node->results[0].type.shape);

  g_array_set_size (merging->parts, 0);
  g_ptr_array_set_size (merging->inner, 0);
  if (!cleave_range_is_empty (&whole))
    push_operands (merging, node, &whole);
  while (merging->stack->len > 0)
    {
      Part part = g_array_index (merging->stack, Part, merging->stack->len - 1);

      g_array_set_size (merging->stack, merging->stack->len - 1);
      if (is_join (part.value->node) && is_part_of (node, part.value))
        {
          g_ptr_array_add (merging->inner, part.value->node);
          push_operands (merging, part.value->node, &part.place);
        }
      else if (!cleave_range_is_empty (&part.place))
        g_array_append_val (merging->parts, part);
    }
  return merging->inner->len > 0;
}

static CleaveNode *
add_assemble (const Merging *merging, const CleaveNode *node)
{
  CleaveAssembleAttrs *attrs = g_new0 (CleaveAssembleAttrs, 1);
  g_autofree CleaveResult **values = g_new (CleaveResult *, merging->parts->len);

  attrs->ranges = g_array_sized_new (FALSE, FALSE, sizeof (CleaveRange), merging->parts->len);
  for (guint i = 0; i < merging->parts->len; i++)
    {
      const Part *part = &g_array_index (merging->parts, Part, i);

      values[i] = part->value;
      g_array_append_val (attrs->ranges, part->place);
    }
  return cleave_graph_add_checked (merging->graph, merging->assemble, NULL, values,
                                   merging->parts->len, &node->results[0].type, 1, attrs);
}

static void
merge_join (Merging *merging, CleaveNode *node)
{
  CleaveNode *made;

  if (!is_join (node) || g_hash_table_contains (merging->by, node) || !list_parts (merging, node))
    return;
  made = add_assemble (merging, node);
  cleave_node_take_names (made, node);
  replace (merging, node, made);
  for (guint i = 0; i < merging->inner->len; i++)
    g_hash_table_insert (merging->by, merging->inner->pdata[i], NULL);
}

/* The functions below merge a node with a Slice of its result. */

/* Returns whether an attribute that ONNX lacks, such as `phase` of a Resize, differs from its
 * default. */
static gboolean
is_ours (const CleaveOp *op, gconstpointer attrs)
{
  for (const CleaveAttr *attr = op->attrs; attr != NULL && attr->name != NULL; attr++)
    if ((attr->flags & CLEAVE_ATTR_NOT_ONNX) != 0 && !cleave_attr_is_default (attr, attrs))
      return TRUE;
  return FALSE;
}

/* Returns whether the result of a node is a range of its operand's elements, as for a Slice. Sets
 * `range` to that range. */
static gboolean
takes_box (const CleaveNode *node, CleaveRange *range)
{
  const CleaveShape *from, *to = &node->results[0].type.shape;
  g_auto (CleaveNodeCall) call = { 0 };
  const CleaveRange whole = cleave_range_whole (to);
  CleaveDimMap map[CLEAVE_MAX_RANK];

  if ((node->op->flags & CLEAVE_OP_VIEW) == 0 || node->n_results != 1 || node->n_operands != 1)
    return FALSE;
  from = &node->operands[0].result->type.shape;
  if (from->rank != to->rank)
    return FALSE;
  node->op->maps (cleave_node_call_init (&call, node), 0, map);
  range->rank = to->rank;
  for (guint d = 0; d < to->rank; d++)
    {
      if (map[d].from != d || map[d].stride != 1 || map[d].block != 1 || map[d].window != 1)
        return FALSE;
      range->dim[d] = cleave_dim_map_apply (&map[d], whole.dim);
    }
  return TRUE;
}

static gboolean
reads_all (const CleaveCall *call, const CleaveChunk *chunk)
{
  for (guint i = 0; i < call->n_operands; i++)
    {
      CleaveRange whole = cleave_range_whole (&call->operands[i].shape);

      if (cleave_call_has (call, i) &&
          (!chunk->has[i] || !cleave_range_equal (&chunk->slices[i].range, &whole)))
        return FALSE;
    }
  return TRUE;
}

static CleaveNode *
add_part (const Merging *merging, const CleaveNode *node, CleaveChunk *chunk)
{
  g_autofree CleaveResult **operands = g_new (CleaveResult *, node->n_operands + 1);

  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = node->operands[i].result;
  return cleave_graph_add_checked (merging->graph, node->op, NULL, operands, node->n_operands,
                                   chunk->results, 1, g_steal_pointer (&chunk->attrs));
}

/* Merges a Slice with the node whose result it reads. Does so only if no other node reads that
 * result, and if our op can compute the range directly although the op of ONNX cannot. */
static void
merge_part (Merging *merging, CleaveNode *slice)
{
  CleaveNode *node = slice->n_operands == 0 || slice->operands[0].result == NULL
                         ? NULL
                         : slice->operands[0].result->node,
             *made;
  g_auto (CleaveNodeCall) call = { 0 };
  CleaveRange range;
  CleaveChunk chunk;

  if (node == NULL || node->n_results != 1 || node->results[0].n_uses != 1 ||
      node->op->narrow == NULL || is_ours (node->op, node->attrs) || !takes_box (slice, &range) ||
      !cleave_chunk_init (&chunk, cleave_node_call_init (&call, node), &range, NULL))
    return;
  if (is_ours (node->op, chunk.attrs) && reads_all (&call.call, &chunk))
    {
      g_autofree char *value =
          g_strdup (slice->results[0].name == NULL ? slice->name : slice->results[0].name);

      made = add_part (merging, node, &chunk);
      cleave_node_take_names (made, node);
      replace (merging, slice, made);
      g_hash_table_insert (merging->by, node, NULL);
      cleave_result_set_name (&slice->results[0], NULL);
      cleave_result_set_name (&made->results[0], value);
    }
  cleave_chunk_clear (&chunk, node->op);
}

/* The functions below merge the products or Gathers of a Resize. */

/* Returns the operand of a matrix product or a Gather that is not constant; the first one if
 * neither operand is constant. Returns NULL if both operands are constant. */
static CleaveResult *
find_resized (const CleaveNode *node)
{
  for (guint i = 0; i < node->n_operands && i < 2; i++)
    if (node->operands[i].result != NULL &&
        cleave_node_get_constant (node->operands[i].result->node) == NULL)
      return node->operands[i].result;
  return NULL;
}

static void
note_weights (const Merging *merging, const CleaveNode *node)
{
  for (guint i = 0; i < node->n_operands; i++)
    if (cleave_node_get_constant (node->operands[i].result->node) != NULL)
      g_hash_table_add (merging->weights, node->operands[i].result->node);
}

static CleaveNode *
add_resize (const Merging *merging,
            const CleaveNode *node,
            CleaveResult *x,
            const CleaveResizeAttrs *attrs)
{
  CleaveNode *made =
      cleave_graph_add (merging->graph, cleave_op_lookup ("Resize"), NULL, &x, 1, 1, attrs, NULL);

  if (made != NULL && !cleave_tensor_type_equal (&made->results[0].type, &node->results[0].type))
    {
      cleave_graph_remove (merging->graph, made);
      return NULL;
    }
  return made;
}

static void
merge_resize (Merging *merging, CleaveNode *node)
{
  g_autofree char *doc = g_strdup (cleave_onnx_get_node_doc (merging->graph, node->name)),
                  *rest = NULL;
  CleaveResizeAttrs attrs;
  CleaveNode *made = NULL;
  CleaveResult *x;

  if (!cleave_onnx_read_resize (doc, &attrs))
    return;
  g_ptr_array_set_size (merging->inner, 0);
  for (x = find_resized (node); x != NULL && is_part_of (node, x); x = find_resized (x->node))
    g_ptr_array_add (merging->inner, x->node);
  if (x != NULL)
    made = add_resize (merging, node, x, &attrs);
  if (made == NULL)
    return;
  rest = cleave_onnx_dup_doc_without_resize (doc);
  cleave_onnx_origin_set_node_doc (merging->graph->origin, node->name, rest);
  cleave_node_take_names (made, node);
  note_weights (merging, node);
  replace (merging, node, made);
  for (guint i = 0; i < merging->inner->len; i++)
    {
      note_weights (merging, merging->inner->pdata[i]);
      g_hash_table_insert (merging->by, merging->inner->pdata[i], NULL);
    }
}

/* The functions below undo the hiding of shapes (export/hide.c): the exporter may write a Reshape
 * of each input to a shape that is unknown before a run. */

static void
merge_input (Merging *merging, CleaveNode *node)
{
  CleaveResult *input =
      (node->op->flags & CLEAVE_OP_ROW_MAJOR) == 0 ? NULL : node->operands[0].result;

  if (input == NULL || !cleave_node_is_input (input->node) ||
      !g_str_has_suffix (node->name, CLEAVE_ONNX_SHAPED) ||
      !cleave_tensor_type_equal (&input->type, &node->results[0].type))
    return;
  cleave_result_replace_uses (&node->results[0], input);
  g_hash_table_insert (merging->by, node, NULL);
}

/* Moves each new piece to the position of the node that it replaces. Removes this node and the
 * other nodes that the piece stands for. */
static void
arrange (const Merging *merging, const CleaveNode *last)
{
  g_autoptr (GPtrArray) order = g_ptr_array_sized_new (merging->graph->n_nodes),
                        gone = g_ptr_array_new ();
  gboolean was_there = TRUE;

  for (CleaveNode *node = merging->graph->first; node != NULL && was_there; node = node->next)
    {
      gpointer made;

      was_there = node != last;
      if (!g_hash_table_lookup_extended (merging->by, node, NULL, &made))
        made = node;
      else
        g_ptr_array_add (gone, node);
      if (made != NULL)
        g_ptr_array_add (order, made);
    }
  for (guint i = gone->len; i-- > 0;)
    cleave_graph_remove (merging->graph, gone->pdata[i]);
  cleave_graph_arrange (merging->graph, order);
}

static void
remove_unused (CleaveGraph *graph, GHashTable *nodes)
{
  GHashTableIter iter;
  gpointer node;

  g_hash_table_iter_init (&iter, nodes);
  while (g_hash_table_iter_next (&iter, &node, NULL))
    if (!cleave_node_is_used (node))
      cleave_graph_remove (graph, node);
}

void
cleave_onnx_merge_pieces (CleaveGraph *graph)
{
  g_autoptr (GArray) stack = g_array_new (FALSE, FALSE, sizeof (Part)),
                     parts = g_array_new (FALSE, FALSE, sizeof (Part));
  g_autoptr (GPtrArray) inner = g_ptr_array_new ();
  g_autoptr (GHashTable) by = g_hash_table_new (NULL, NULL),
                         weights = g_hash_table_new (NULL, NULL);
  Merging merging = { graph, cleave_op_lookup ("Assemble"), stack, parts, inner, by, weights };
  CleaveNode *last = graph->last;

  for (CleaveNode *node = last; node != NULL; node = node->prev)
    {
      merge_join (&merging, node);
      merge_part (&merging, node);
      merge_resize (&merging, node);
      merge_input (&merging, node);
    }
  if (g_hash_table_size (by) > 0)
    arrange (&merging, last);
  remove_unused (graph, weights);
}
