/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Moves a join below the element-wise node that reads it. Builds a node for each part of the
 * join, and a new join of the results of these nodes. */

#include "sink-joins.h"

#include "../../lib/ir/chunk.h"
#include "joins.h"

/*  a   Slice         a   Slice
 *   \   /            |     |
 *  Assemble        Relu   Relu
 *     |       =>      \   /
 *    Relu            Assemble
 *     |                 |
 *    Conv              Conv
 *
 * The Slice is a view of a value that other nodes read, so the Assemble would copy it. After the
 * move, a Relu reads the Slice in place and writes to the memory of the Assemble. In a DenseNet,
 * strips of concatenated layers shift against each other, so each Concat would copy a Slice. */

/* Two limits keep the time linear. The sinker does not move a join with more than MAX_PARTS parts.
 * If a part is an inner join that only joins read, the sinker counts the parts of the inner join.
 * But the sinker counts an inner join with more than MAX_READERS readers as one part. */
#define MAX_PARTS 256
#define MAX_READERS 16

struct _CleaveJoinSinker
{
  CleaveGraph *graph;
  CleaveForwarder *forwarder;
  GHashTable *added; /* set of CleaveNode: the joins that the sinker added */
};

CleaveJoinSinker *
cleave_join_sinker_new (CleaveGraph *graph, CleaveForwarder *forwarder)
{
  CleaveJoinSinker *sinker = g_new0 (CleaveJoinSinker, 1);

  sinker->graph = graph;
  sinker->forwarder = forwarder;
  sinker->added = g_hash_table_new (NULL, NULL);
  return sinker;
}

void
cleave_join_sinker_free (CleaveJoinSinker *sinker)
{
  if (sinker == NULL)
    return;
  g_hash_table_unref (sinker->added);
  g_free (sinker);
}

static gboolean
is_join (const CleaveResult *value)
{
  return (value->node->op->flags & CLEAVE_OP_JOIN) != 0 && value->node->op->maps != NULL;
}

/* Returns whether `value` is a join that only joins read, with at most MAX_READERS readers. */
static gboolean
is_joined_for_joins (const CleaveResult *value)
{
  if (!is_join (value) || value->n_uses > MAX_READERS)
    return FALSE;
  for (const CleaveOperand *use = value->first_use; use != NULL; use = use->next_use)
    if (use->node == NULL || (use->node->op->flags & CLEAVE_OP_JOIN) == 0)
      return FALSE;
  return TRUE;
}

/* Lists the parts of a join. If a part is itself a join that only joins read, replaces the part by
 * the parts of this inner join. Returns NULL if there are more than MAX_PARTS. */
static GArray *
find_parts (const CleaveResult *whole)
{
  g_autoptr (GArray) parts = g_array_new (FALSE, FALSE, sizeof (CleaveJoinPart));
  CleaveRange all = cleave_range_whole (&whole->type.shape);

  if (!cleave_join_list (whole->node, &all, parts))
    return NULL;
  for (guint i = 0; i < parts->len && parts->len <= MAX_PARTS;)
    {
      CleaveJoinPart part = g_array_index (parts, CleaveJoinPart, i);

      if (is_joined_for_joins (part.value) &&
          cleave_join_list (part.value->node, &part.place, parts))
        g_array_remove_index (parts, i);
      else
        i++;
    }
  return parts->len <= MAX_PARTS ? g_steal_pointer (&parts) : NULL;
}

/* Returns whether at least one part of a join is a view. The join must copy this view. If the join
 * sinks, the view is no longer copied. */
static gboolean
has_view (const GArray *parts)
{
  for (guint i = 0; i < parts->len; i++)
    if ((g_array_index (parts, CleaveJoinPart, i).value->node->op->flags & CLEAVE_OP_VIEW) != 0)
      return TRUE;
  return FALSE;
}

/* Returns the index of the operand that is a join with the shape of the result. No other node may
 * read the join, and all other operands must be constants. Returns -1 if there is no such
 * operand. */
static gint
find_joined (const CleaveNode *node)
{
  gint joined = -1;

  if ((node->op->flags & CLEAVE_OP_IN_PLACE) == 0 || node->op->maps == NULL ||
      node->n_results != 1 || node->results[0].n_uses == 0)
    return -1;
  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *value = node->operands[i].result;

      if (value == NULL || cleave_node_is_fixed (value->node))
        continue;
      if (joined >= 0 || !is_join (value) || value->n_uses != 1 ||
          !cleave_shape_equal (&value->type.shape, &node->results[0].type.shape))
        return -1;
      joined = (gint) i;
    }
  return joined;
}

/* Returns whether the range that a chunk reads of operand number `joined` equals the range of the
 * result that the chunk computes. Returns FALSE if the chunk reads padding. */
static gboolean
reads_its_place (const CleaveChunk *chunk, guint joined)
{
  const CleaveSlice *slice = &chunk->slices[joined];

  for (guint d = 0; d < slice->range.rank; d++)
    if (slice->clip_begin[d] != 0 || slice->clip_end[d] != 0)
      return FALSE;
  return cleave_range_equal (&slice->range, &chunk->range);
}

static void
chunk_clear (CleaveChunk *chunk, guint n, const CleaveOp *op)
{
  for (guint i = 0; i < n; i++)
    cleave_chunk_clear (&chunk[i], op);
  g_free (chunk);
}

/* Returns the chunks of the node, one for each part of the join that the node reads as operand
 * `joined`. Each chunk computes the range of its part. Returns NULL if a chunk is not legal, or if
 * a chunk reads operand `joined` in a range that differs from the range of its part. */
static CleaveChunk *
plan_chunks (const CleaveNode *node, guint joined, const GArray *parts)
{
  CleaveChunk *chunks = g_new0 (CleaveChunk, parts->len + 1);
  g_auto (CleaveNodeCall) call = { 0 };

  cleave_node_call_init (&call, node);
  for (guint i = 0; i < parts->len; i++)
    {
      if (!cleave_chunk_init (&chunks[i], &call.call,
                              &g_array_index (parts, CleaveJoinPart, i).place, NULL))
        {
          chunk_clear (chunks, i, node->op);
          return NULL;
        }
      if (!reads_its_place (&chunks[i], joined))
        {
          chunk_clear (chunks, i + 1, node->op);
          return NULL;
        }
    }
  return chunks;
}

static CleaveResult *
build_part (CleaveJoinSinker *sinker,
            const CleaveNode *node,
            guint joined,
            const CleaveChunk *chunk,
            CleaveResult *part,
            const char *name)
{
  g_autofree CleaveResult **operands = g_new0 (CleaveResult *, node->n_operands + 1);

  for (guint i = 0; i < node->n_operands; i++)
    if (i == joined)
      operands[i] = part;
    else if (node->operands[i].result != NULL)
      {
        g_autofree char *operand =
            g_strdup_printf ("%s.%s", name, cleave_op_operand_name (node->op, i));

        operands[i] = cleave_forwarder_get (sinker->forwarder, node->operands[i].result,
                                            &chunk->slices[i].range, operand);
      }
  return &cleave_graph_add_checked (sinker->graph, node->op, name, operands, node->n_operands,
                                    chunk->results, chunk->n_results,
                                    cleave_attrs_copy (node->op, chunk->attrs))
              ->results[0];
}

static CleaveResult *
build (CleaveJoinSinker *sinker,
       const CleaveNode *node,
       guint joined,
       const GArray *parts,
       const CleaveChunk *chunks)
{
  g_autoptr (GArray) pieces = g_array_new (FALSE, FALSE, sizeof (CleaveJoinPart));
  g_autofree char *whole = g_strdup_printf ("%s.whole", node->name);

  for (guint i = 0; i < parts->len; i++)
    {
      CleaveJoinPart part = g_array_index (parts, CleaveJoinPart, i);
      g_autofree char *name = g_strdup_printf ("%s.%u", node->name, i);

      part.value = build_part (sinker, node, joined, &chunks[i], part.value, name);
      g_array_append_val (pieces, part);
    }
  return &cleave_join_add (sinker->graph, NULL, whole, pieces, &node->results[0].type)->results[0];
}

CleaveResult *
cleave_join_sinker_sink (CleaveJoinSinker *sinker, const CleaveNode *node)
{
  gint joined = find_joined (node);
  const CleaveResult *whole = joined < 0 ? NULL : node->operands[joined].result;
  g_autoptr (GArray) parts = whole == NULL ? NULL : find_parts (whole);
  CleaveChunk *chunks;
  CleaveResult *value;

  if (parts == NULL || (!has_view (parts) && !g_hash_table_contains (sinker->added, whole->node)))
    return NULL;
  chunks = plan_chunks (node, (guint) joined, parts);
  if (chunks == NULL)
    return NULL;
  value = build (sinker, node, (guint) joined, parts, chunks);
  g_hash_table_add (sinker->added, value->node);
  chunk_clear (chunks, parts->len, node->op);
  return value;
}
