/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "apply.h"

#include "../remove-dead.h"
#include "../views/forwarding.h"
#include "../views/joins.h"
#include "../views/sink-joins.h"
#include "../views/strided-range.h"

#include <string.h>

typedef struct
{
  CleaveRegion *region;
  CleaveForwarder *forwarder;
  GString *name;      /* of the piece at hand, or of what it reads */
  GString *need_name; /* of what a need is read by */
  GPtrArray *left;    /* CleaveNode: may have lost its last user */
  GHashTable *moved;  /* CleaveResult of a Slice, to the value that is read in its place */
} Builder;

/* Values that pieces read. */

/* "conv.0"; by hand, since printing would be a good part of what a piece costs. */
static void
name_piece (GString *name, const CleaveNode *node, guint piece)
{
  char digits[12];
  guint n = sizeof digits;

  do
    digits[--n] = (char) ('0' + piece % 10);
  while ((piece /= 10) > 0);
  g_string_assign (name, node->name);
  g_string_append_c (name, '.');
  g_string_append_len (name, digits + n, (gssize) (sizeof digits - n));
}

/* "conv.0.X" */
static void
name_operand (GString *name, const CleaveNode *node, guint operand)
{
  g_string_append_c (name, '.');
  g_string_append (name, cleave_op_operand_name (node->op, operand));
}

/* What a reader of this need calls it. */
static const char *
need_name (Builder *builder, const CleaveNeed *need)
{
  name_piece (builder->need_name, need->reader, need->reader_piece);
  name_operand (builder->need_name, need->reader, need->reader_operand);
  return builder->need_name->str;
}

/* What a piece has of a result. */
static CleaveRange
get_piece_range (const CleavePart *part, guint piece, guint result)
{
  const CleaveRange *chunk = part->pieces[piece].range;
  g_auto (CleaveNodeCall) call = { 0 };

  return result == 0
             ? *chunk
             : cleave_call_result_range (cleave_plan_call_init (&call, part->node), result, chunk);
}

/* An Assemble of parts of pieces: rows that earlier strips computed, and new ones. */
static CleaveResult *
gather_need (Builder *builder, const CleavePart *part, const CleaveNeed *need, const char *name)
{
  g_autoptr (GArray) parts = g_array_new (FALSE, FALSE, sizeof (CleaveJoinPart));
  const CleaveResult *whole = &part->node->results[need->result];
  CleaveTensorType type = { whole->type.element, cleave_range_shape (need->range) };

  /* Covers lists the latest first. */
  for (guint i = need->n; i > 0; i--)
    {
      guint piece = part->covers[need->first + i - 1];
      CleaveRange has = get_piece_range (part, piece, need->result);
      CleaveRange both = cleave_range_intersect (&has, need->range);
      CleaveRange local = cleave_range_relative (&both, &has);
      CleaveJoinPart got = {
        cleave_forwarder_get (builder->forwarder,
                              part->values[piece * part->n_results + need->result], &local, name),
        cleave_range_relative (&both, need->range)
      };

      g_array_append_val (parts, got);
    }
  return &cleave_join_add (part->node->graph, NULL, name, parts, &type)->results[0];
}

/* From the one piece that has all of it. */
static CleaveResult *
take_need (Builder *builder, const CleavePart *part, const CleaveNeed *need, const char *name)
{
  guint piece = part->covers[need->first];
  CleaveRange has = get_piece_range (part, piece, need->result);
  CleaveRange local = cleave_range_relative (need->range, &has);

  return cleave_forwarder_get (builder->forwarder,
                               part->values[piece * part->n_results + need->result], &local, name);
}

/* Whether the same pieces make both. */
static int
compare_covers (gconstpointer a, gconstpointer b, gpointer data)
{
  const CleavePart *part = data;
  const CleaveNeed *x = &part->needs[*(const guint *) a];
  const CleaveNeed *y = &part->needs[*(const guint *) b];

  if (x->n != y->n || x->result != y->result)
    return x->n != y->n ? (x->n > y->n) - (x->n < y->n)
                        : (x->result > y->result) - (x->result < y->result);
  for (guint i = 0; i < x->n; i++)
    if (part->covers[x->first + i] != part->covers[y->first + i])
      return part->covers[x->first + i] < part->covers[y->first + i] ? -1 : 1;
  return 0;
}

static void
note_widest (const CleavePart *part, const guint *needs, guint n)
{
  guint widest = needs[0];

  for (guint i = 1; i < n; i++)
    if (cleave_range_contains (part->needs[needs[i]].range, part->needs[widest].range))
      widest = needs[i];
  for (guint i = 0; i < n; i++)
    {
      CleaveNeed *need = &part->needs[needs[i]];

      if (cleave_range_contains (part->needs[widest].range, need->range))
        need->wider = widest;
    }
}

/* What is gathered from the same pieces is gathered once, where one need has all of another: the
 * residual of a strip lies in what the convolution beside it reads. */
static void
find_wider (const CleavePart *part)
{
  guint n = part->n_needs;
  g_autofree guint *order = g_new (guint, n + 1);

  for (guint i = 0; i < n; i++)
    part->needs[i].wider = order[i] = i;
  if (!part->is_split || part->start != NULL)
    return;
  g_qsort_with_data (order, (gint) n, sizeof (guint), compare_covers, (gpointer) part);
  for (guint i = 0, end; i < n; i = end)
    {
      for (end = i + 1; end < n && compare_covers (&order[i], &order[end], (gpointer) part) == 0;)
        end++;
      note_widest (part, &order[i], end - i);
    }
}

/* The need that has all of this one, gathered; nothing is read past it, so that this is a view. */
static CleaveResult *
view_wider (Builder *builder, CleavePart *part, const CleaveNeed *need, const char *name)
{
  CleaveNeed *wider = &part->needs[need->wider];
  CleaveRange local = cleave_range_relative (need->range, wider->range);

  if (wider->value == NULL)
    {
      g_autofree char *wider_name = g_strdup (need_name (builder, wider));

      wider->value = gather_need (builder, part, wider, wider_name);
      name = need_name (builder, need);
    }
  cleave_forwarder_stop_at (builder->forwarder, wider->value->node);
  return cleave_forwarder_get (builder->forwarder, wider->value, &local, name);
}

static CleaveResult *
build_need (Builder *builder, CleavePart *part, guint index)
{
  CleaveNeed *need = &part->needs[index];
  const char *name;

  if (need->value != NULL)
    return need->value;
  name = need_name (builder, need);
  if (!part->is_split)
    need->value = cleave_forwarder_get (builder->forwarder, &part->node->results[need->result],
                                        need->range, name);
  else if (part->start != NULL)
    need->value =
        cleave_forwarder_get (builder->forwarder, part->whole[need->result], need->range, name);
  else if (need->n == 1)
    need->value = take_need (builder, part, need, name);
  else if (need->wider != index)
    need->value = view_wider (builder, part, need, name);
  else
    need->value = gather_need (builder, part, need, name);
  return need->value;
}

static CleaveResult *
build_source (Builder *builder, const CleaveSource *source, CleaveResult *value, const char *name)
{
  return source->part != NULL
             ? build_need (builder, source->part, source->need)
             : cleave_forwarder_get (builder->forwarder, value, source->range, name);
}

/* Pieces. */

/* Whether a piece with these operands would be its operand again: a join of one part, or a view of
 * all. */
static gboolean
is_operand_again (const CleaveNode *node,
                  const CleaveChunk *chunk,
                  CleaveResult *const *operands,
                  guint n_operands)
{
  CleaveStridedRange window;

  if (n_operands != 1 || !cleave_tensor_type_equal (&operands[0]->type, &chunk->results[0]))
    return FALSE;
  if ((node->op->flags & CLEAVE_OP_JOIN) != 0)
    return TRUE;
  if (node->n_results != 1 || !cleave_result_get_strided_range (&node->results[0], &window))
    return FALSE;
  for (guint d = 0; d < window.rank; d++)
    if (window.step[d] != 1 && window.count[d] > 1)
      return FALSE;
  return TRUE;
}

static void
build_piece (Builder *builder, CleavePart *part, const CleaveChunk *chunk, guint index)
{
  CleaveNode *node = part->node;
  g_autofree CleaveResult **operands = g_new0 (CleaveResult *, node->n_operands + 1);
  GString *name = builder->name;
  CleaveNode *piece;
  gsize length;
  guint n = 0;

  name_piece (name, node, index);
  length = name->len;
  for (guint j = 0; j < node->n_operands; j++)
    if (chunk->kept[j])
      {
        name_operand (name, node, j);
        operands[n++] = build_source (builder, &part->sources[index * node->n_operands + j],
                                      node->operands[j].result, name->str);
        g_string_truncate (name, length);
      }
    else if ((node->op->flags & CLEAVE_OP_VARIADIC) == 0)
      operands[n++] = NULL;
  if (is_operand_again (node, chunk, operands, n))
    {
      part->values[index * node->n_results] = operands[0];
      return;
    }
  piece = cleave_graph_add_checked (node->graph, node->op, name->str, operands, n, chunk->results,
                                    chunk->n_results, cleave_attrs_copy (node->op, chunk->attrs));
  for (guint r = 0; r < chunk->n_results; r++)
    part->values[index * node->n_results + r] = &piece->results[r];
}

/* All of a result, from the pieces. */
static CleaveResult *
build_whole (const CleavePart *part, guint result)
{
  const CleaveNode *node = part->node;
  g_autoptr (GArray) parts = g_array_new (FALSE, FALSE, sizeof (CleaveJoinPart));
  g_autofree char *name =
      g_strdup_printf (result == 0 ? "%s.whole" : "%s.whole%u", node->name, result);

  for (guint i = 0; i < part->n_pieces; i++)
    {
      CleaveJoinPart piece = { part->values[i * node->n_results + result],
                               get_piece_range (part, i, result) };

      g_array_append_val (parts, piece);
    }
  return &cleave_join_add (node->graph, NULL, name, parts, &node->results[result].type)->results[0];
}

static void
build_split (Builder *builder, CleavePart *part)
{
  g_autoptr (CleavePlan) plan = cleave_part_plan (part, NULL);
  guint n = part->node->n_results;

  part->values =
      cleave_pool_alloc (builder->region->pool, part->n_pieces * n * sizeof *part->values);
  for (guint i = 0; i < part->n_pieces; i++)
    build_piece (builder, part, cleave_plan_get_chunk (plan, i), i);
  if (!part->is_outside)
    return;
  part->whole = cleave_pool_alloc (builder->region->pool, n * sizeof *part->whole);
  for (guint r = 0; r < n; r++)
    if (r == 0 || part->node->results[r].n_uses > 0)
      part->whole[r] = build_whole (part, r);
}

/* What is needed of a view, from its operand: now, so that views of views cost no recursion. */
static void
build_passed (Builder *builder, CleavePart *part)
{
  for (guint i = 0; i < part->n_needs; i++)
    {
      CleaveNeed *need = &part->needs[i];
      need_name (builder, need);
      g_string_assign (builder->name, builder->need_name->str);
      need->value = build_source (builder, &part->sources[i], part->node->operands[0].result,
                                  builder->name->str);
    }
}

/* The original. */

static void
take_result_name (CleaveResult *whole, CleaveResult *from)
{
  g_autofree char *name = cleave_result_dup_name (from);

  cleave_result_set_name (from, NULL);
  cleave_result_set_name (whole, name);
}

/* Those who are not in the region read the assembled results; then nobody reads the node. */
static void
replace (Builder *builder, CleavePart *part, GHashTable *gone)
{
  CleaveNode *node = part->node;

  for (guint r = 0; r < node->n_results; r++)
    if (node->results[r].n_uses > 0 && part->whole != NULL)
      cleave_result_replace_uses (&node->results[r], part->whole[r]);
    else if (node->results[r].n_uses > 0)
      return;
  if (part->whole != NULL)
    cleave_node_take_names (part->whole[0]->node, node);
  for (guint r = 1; r < node->n_results && part->whole != NULL; r++)
    if (part->whole[r] != NULL)
      take_result_name (part->whole[r], &node->results[r]);
  for (guint j = 0; j < node->n_operands; j++)
    if (node->operands[j].result != NULL)
      g_ptr_array_add (builder->left, node->operands[j].result->node);
  part->name = cleave_pool_strdup (builder->region->pool,
                                   part->whole != NULL ? part->whole[0]->node->name : node->name);
  g_hash_table_add (gone, node);
  cleave_graph_remove (node->graph, node);
  part->node = NULL;
}

/* Those of all pieces; none of a part that is passed. */
static guint
n_values (const CleavePart *part)
{
  return part->values == NULL ? 0 : part->n_pieces * part->n_results;
}

/* Where the value of a piece is now; NULL if it is gone. */
static CleaveResult *
find_value (const Builder *builder, CleaveResult *value)
{
  CleaveResult *moved;

  while (value != NULL && (moved = g_hash_table_lookup (builder->moved, value)) != NULL)
    value = moved;
  return value;
}

static void
follow_values (Builder *builder)
{
  const GPtrArray *parts = builder->region->parts;

  for (guint i = 0; i < parts->len; i++)
    {
      CleavePart *part = g_ptr_array_index (parts, i);

      for (guint v = 0; v < n_values (part); v++)
        part->values[v] = find_value (builder, part->values[v]);
    }
}

/* A piece may be what it reads: past nodes that stay, a node that is replaced. */
static void
follow_replaced (Builder *builder)
{
  const GPtrArray *parts = builder->region->parts;

  for (guint i = 0; i < parts->len; i++)
    {
      const CleavePart *part = g_ptr_array_index (parts, i);

      for (guint r = 0; part->whole != NULL && r < part->n_results; r++)
        if (part->whole[r] != NULL)
          g_hash_table_insert (builder->moved, &part->node->results[r], part->whole[r]);
    }
  follow_values (builder);
  g_hash_table_remove_all (builder->moved);
}

static void
replace_all (Builder *builder)
{
  g_autoptr (GHashTable) gone = g_hash_table_new (NULL, NULL);
  const GPtrArray *parts = builder->region->parts;
  guint n = 0;

  follow_replaced (builder);
  for (guint i = 0; i < parts->len; i++)
    replace (builder, g_ptr_array_index (parts, i), gone);
  for (guint i = 0; i < builder->left->len; i++)
    if (!g_hash_table_contains (gone, g_ptr_array_index (builder->left, i)))
      builder->left->pdata[n++] = builder->left->pdata[i];
  g_ptr_array_set_size (builder->left, (gint) n);
}

/* Slices that read an assembled value now read the pieces. */
static void
forward_readers (Builder *builder, CleaveResult *whole)
{
  g_autoptr (GPtrArray) slices = g_ptr_array_new ();
  const CleaveOp *op = cleave_op_lookup ("Slice");

  for (CleaveOperand *use = whole->first_use; use != NULL; use = use->next_use)
    if (use->node != NULL && use->node->op == op && use->node->results[0].n_uses > 0)
      g_ptr_array_add (slices, &use->node->results[0]);
  for (guint i = 0; i < slices->len; i++)
    {
      CleaveResult *slice = g_ptr_array_index (slices, i);
      CleaveResult *forwarded = cleave_forwarder_forward (builder->forwarder, slice);

      if (forwarded == slice)
        continue;
      cleave_result_replace_uses (slice, forwarded);
      if (cleave_forwarder_made (builder->forwarder, forwarded))
        cleave_node_take_names (forwarded->node, slice->node);
      g_hash_table_insert (builder->moved, slice, forwarded);
      g_ptr_array_add (builder->left, slice->node);
    }
  if (whole->n_uses == 0)
    g_ptr_array_add (builder->left, whole->node);
}

/* A value that is put together stays so. */
static void
keep_whole (Builder *builder, CleaveResult *whole)
{
  if (whole->n_uses == 0)
    g_ptr_array_add (builder->left, whole->node);
  else
    g_hash_table_add (builder->region->stops, whole->node);
}

static void
forward_all (Builder *builder)
{
  const GPtrArray *parts = builder->region->parts;
  gboolean keeps = builder->region->stops != NULL;

  for (guint i = 0; i < parts->len; i++)
    {
      const CleavePart *part = g_ptr_array_index (parts, i);

      for (guint r = 0; part->whole != NULL && r < part->n_results; r++)
        if (part->whole[r] != NULL)
          (keeps ? keep_whole : forward_readers) (builder, part->whole[r]);
    }
}

static void
add_spent (Builder *builder)
{
  const GPtrArray *spent = cleave_forwarder_get_spent (builder->forwarder);

  for (guint i = 0; i < spent->len; i++)
    g_ptr_array_add (builder->left, g_ptr_array_index (spent, i));
}

/* What pieces read is joined after them, where joining it would copy it. */
static void
spread_all (Builder *builder)
{
  g_autoptr (CleaveJoinSinker) sinker =
      cleave_join_sinker_new (builder->region->graph, builder->forwarder);
  const GPtrArray *parts = builder->region->parts;

  for (guint i = parts->len; i > 0; i--)
    {
      const CleavePart *part = g_ptr_array_index (parts, i - 1);

      for (guint v = 0; v < n_values (part); v++)
        {
          CleaveResult *value = find_value (builder, part->values[v]);
          CleaveResult *spread =
              value == NULL ? NULL : cleave_join_sinker_sink (sinker, value->node);

          if (spread == NULL)
            continue;
          cleave_result_replace_uses (value, spread);
          cleave_node_take_names (spread->node, value->node);
          g_hash_table_insert (builder->moved, value, spread);
          g_ptr_array_add (builder->left, value->node);
        }
    }
}

static gboolean
is_among (gpointer node, gpointer value, gpointer removed)
{
  return g_hash_table_contains (removed, node);
}

/* Removes what nothing reads any more, and forgets the pieces among it. */
static void
remove_left (Builder *builder)
{
  g_autoptr (GHashTable) removed = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) nodes = g_ptr_array_new (); /* of the values, which go with them */
  const GPtrArray *parts = builder->region->parts;
  guint n = 0;

  follow_values (builder);
  for (guint i = 0; i < parts->len; i++)
    {
      const CleavePart *part = g_ptr_array_index (parts, i);

      for (guint v = 0; v < n_values (part); v++)
        if (part->values[v] != NULL)
          g_ptr_array_add (nodes, part->values[v]->node);
    }
  cleave_remove_dead (builder->left, removed);
  for (guint i = 0; i < parts->len; i++)
    {
      CleavePart *part = g_ptr_array_index (parts, i);

      for (guint v = 0; v < n_values (part); v++)
        if (part->values[v] != NULL && g_hash_table_contains (removed, nodes->pdata[n++]))
          part->values[v] = NULL;
    }
  if (builder->region->stops != NULL)
    g_hash_table_foreach_remove (builder->region->stops, is_among, removed);
}

static void
stop_at_kept (const CleaveRegion *region, CleaveForwarder *forwarder)
{
  GHashTableIter iter;
  gpointer node;

  if (region->stops == NULL)
    return;
  g_hash_table_iter_init (&iter, region->stops);
  while (g_hash_table_iter_next (&iter, &node, NULL))
    cleave_forwarder_stop_at (forwarder, node);
}

void
cleave_region_apply (CleaveRegion *region)
{
  g_autoptr (CleaveForwarder) forwarder = cleave_forwarder_new (region->graph);
  g_autoptr (CleaveForwarder) final = cleave_forwarder_new (region->graph);
  g_autoptr (GPtrArray) left = g_ptr_array_new ();
  g_autoptr (GHashTable) moved = g_hash_table_new (NULL, NULL);
  g_autoptr (GString) name = g_string_new (NULL), need_name = g_string_new (NULL);
  Builder builder = { region, forwarder, name, need_name, left, moved };

  stop_at_kept (region, forwarder);
  stop_at_kept (region, final);

  /* These nodes are replaced, so nothing new may read past them what only they read. */
  for (guint i = 0; i < region->parts->len; i++)
    cleave_forwarder_stop_at (forwarder,
                              ((CleavePart *) g_ptr_array_index (region->parts, i))->node);
  for (guint i = region->parts->len; i > 0; i--)
    {
      CleavePart *part = g_ptr_array_index (region->parts, i - 1);

      find_wider (part);
      (part->is_passed ? build_passed : build_split) (&builder, part);
    }
  add_spent (&builder);
  replace_all (&builder);
  /* Nodes are gone that the first forwarder knew. */
  builder.forwarder = final;
  forward_all (&builder);
  spread_all (&builder);
  add_spent (&builder);
  remove_left (&builder);
}
