/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes parts. A part is a strided range (`window`) of a value. If all steps of the range are 1, a
 * part of a constant is a constant that shares its bytes, and a part of a constant expression is a
 * smaller expression. All other parts are Slices. */

#include "forwarded-parts.h"

#include "../../lib/ir/chunk.h"

/* A constant expression is a tree of nodes whose leaves are constants. A part of a constant
 * expression becomes a smaller expression only if the tree is at most this many nodes deep. */
#define MAX_STORED 8

guint
cleave_forwarded_part_hash (gconstpointer data)
{
  const CleaveForwardedPart *part = data;
  guint64 hash = (guint64) (gsize) part->value;

  for (guint d = 0; d < part->window.rank; d++)
    hash = (hash ^ (guint64) part->window.begin[d] ^ ((guint64) part->window.count[d] << 32)) *
               0x9e3779b97f4a7c15u +
           (guint64) part->window.step[d];
  return (guint) (hash ^ (hash >> 32));
}

gboolean
cleave_forwarded_part_equal (gconstpointer a, gconstpointer b)
{
  const CleaveForwardedPart *p = a, *q = b;

  return p->value == q->value && cleave_strided_range_equal (&p->window, &q->window);
}

static CleaveResult *
add_slice (CleaveForwarder *forwarder,
           CleaveResult *value,
           const CleaveStridedRange *window,
           const char *name)
{
  /* a normalized Slice has no axes: its starts, ends and steps are for all dimensions, in order */
  CleaveSliceAttrs attrs = { .starts.n = window->rank,
                             .ends.n = window->rank,
                             .steps.n = window->rank };
  CleaveRange hull = cleave_strided_range_hull (window);
  CleaveTensorType type = { value->type.element, { .rank = window->rank } };

  for (guint d = 0; d < window->rank; d++)
    {
      attrs.starts.v[d] = hull.dim[d].begin;
      attrs.ends.v[d] = hull.dim[d].end;
      attrs.steps.v[d] = window->count[d] > 1 ? window->step[d] : 1;
      type.shape.dim[d] = window->count[d];
    }
  forwarder->made =
      cleave_graph_add_checked (forwarder->graph, forwarder->slice, name, &value, 1, &type, 1,
                                cleave_attrs_copy (forwarder->slice, &attrs));
  return &forwarder->made->results[0];
}

static CleaveResult *
add_constant (CleaveForwarder *forwarder,
              CleaveTensor *tensor,
              const CleaveStridedRange *window,
              const char *name)
{
  CleaveRange hull = cleave_strided_range_hull (window);
  g_autoptr (CleaveTensor) part = cleave_tensor_new_slice (tensor, &hull);
  CleaveResult *result = cleave_graph_add_constant (forwarder->graph, name, part);

  forwarder->made = result->node;
  return result;
}

/* Initializes `chunk` as a plan for a node that computes only the elements of `value` in `window`.
 * `value` must be the result of a constant expression, such as a DequantizeLinear of 8-bit weights.
 * The planned node has the same op, so code that searches for a DequantizeLinear of weights also
 * finds the planned node. Returns FALSE if `value` is not a constant expression, or if its op is
 * not suited. The caller must clear the chunk. */
static gboolean
init_stored (CleaveChunk *chunk, const CleaveResult *value, const CleaveStridedRange *window)
{
  const CleaveNode *node = value->node;
  CleaveRange range = cleave_strided_range_hull (window);
  g_auto (CleaveNodeCall) call = { 0 };

  if (!cleave_node_is_fixed (node) || node->n_results != 1 || node->n_operands == 0)
    return FALSE;
  cleave_node_call_init (&call, node);
  return ((node->op->flags & (CLEAVE_OP_STORAGE | CLEAVE_OP_ROW_MAJOR)) != 0 ||
          cleave_call_is_view (&call.call)) &&
         cleave_chunk_init (chunk, &call.call, &range, NULL);
}

gboolean
cleave_forwarded_part_is_constant (const CleaveResult *value, const CleaveStridedRange *window)
{
  CleaveChunk chunk;

  if (cleave_strided_range_has_steps (window))
    return FALSE;
  if (cleave_node_get_constant (value->node) != NULL)
    return TRUE;
  if (!init_stored (&chunk, value, window))
    return FALSE;
  cleave_chunk_clear (&chunk, value->node->op);
  return TRUE;
}

/* Adds the constant expression that computes a part. Returns NULL if the value is not a constant
 * expression, or if the recursion is MAX_STORED nodes deep. */
static CleaveResult *
add_stored (CleaveForwarder *forwarder,
            const CleaveResult *value,
            const CleaveStridedRange *window,
            const char *name)
{
  const CleaveNode *node = value->node;
  g_autofree CleaveResult **operands = g_new0 (CleaveResult *, node->n_operands + 1);
  CleaveChunk chunk;

  if (forwarder->depth == MAX_STORED || !init_stored (&chunk, value, window))
    return NULL;
  forwarder->depth++;
  for (guint i = 0; i < node->n_operands; i++)
    if (chunk.has[i])
      {
        CleaveStridedRange part = cleave_strided_range_of_range (&chunk.slices[i].range);
        g_autofree char *operand =
            g_strconcat (name, ".", cleave_op_operand_name (node->op, i), NULL);

        operands[i] =
            cleave_forwarded_part_get (forwarder, node->operands[i].result, &part, operand);
      }
  forwarder->depth--;
  forwarder->made =
      cleave_graph_add_checked (forwarder->graph, node->op, name, operands, node->n_operands,
                                chunk.results, 1, cleave_attrs_copy (node->op, chunk.attrs));
  cleave_chunk_clear (&chunk, node->op);
  return &forwarder->made->results[0];
}

CleaveResult *
cleave_forwarded_part_get (CleaveForwarder *forwarder,
                           CleaveResult *value,
                           const CleaveStridedRange *window,
                           const char *name)
{
  CleaveForwardedPart key = { value, *window };
  CleaveTensor *tensor = cleave_node_get_constant (value->node);
  CleaveResult *part;

  if (cleave_strided_range_is_whole (window, &value->type.shape))
    return value;
  part = g_hash_table_lookup (forwarder->parts, &key);
  if (part != NULL)
    return part;
  if (tensor != NULL && !cleave_strided_range_has_steps (window))
    part = add_constant (forwarder, tensor, window, name);
  else if (!cleave_strided_range_has_steps (window))
    part = add_stored (forwarder, value, window, name);
  if (part == NULL)
    part = add_slice (forwarder, value, window, name);
  g_hash_table_insert (forwarder->parts, g_memdup2 (&key, sizeof key), part);
  return part;
}
