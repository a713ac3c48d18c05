/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Builds the nodes of the planned pieces, and the values that each piece reads (its demands). A
 * member is a region node. The covering pieces of a demand are the pieces of a member that together
 * contain the demand. */

#include "build.h"

#include "../views/joins.h"
#include "../views/strided-range.h"

typedef struct
{
  CleaveRegion *region;
  CleaveForwarder *forwarder;
  GString *name;        /* working memory: name of the current piece or of its operand */
  GString *demand_name; /* working memory: name of the operand for which a demand is built */
} Builder;

/* Writes the name of a piece, such as "conv.0". Formats without printf, which would take a large
 * part of the time for making a piece. */
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

/* Appends the name of an operand to the name of a piece: "conv.0.X". */
static void
name_operand (GString *name, const CleaveNode *node, guint operand)
{
  g_string_append_c (name, '.');
  g_string_append (name, cleave_op_operand_name (node->op, operand));
}

/* Returns the name of the value that is built for a demand. Several operands may read this value.
 * Its name is the name of the operand that read the demand first, such as "conv.0.X". The next call
 * overwrites the string. */
static const char *
demand_name (Builder *builder, const CleaveDemand *demand)
{
  name_piece (builder->demand_name, demand->reader, demand->reader_piece);
  name_operand (builder->demand_name, demand->reader, demand->reader_operand);
  return builder->demand_name->str;
}

/* Returns the range of result `result` that a piece computes. */
static CleaveRange
get_piece_range (const CleaveRegionNode *member, guint piece, guint result)
{
  const CleaveRange *chunk = member->pieces[piece].range;
  CleaveNodeCall call;
  CleaveRange range;

  if (result == 0)
    return *chunk;
  range = cleave_call_result_range (cleave_plan_call_init (&call, member->node), result, chunk);
  cleave_node_call_clear (&call);
  return range;
}

/* Builds a demand as an Assemble of parts of several pieces, and returns its result. The parts are
 * carried rows of earlier strips, and rows that the current strip computes. */
static CleaveResult *
gather_demand (Builder *builder,
               const CleaveRegionNode *member,
               const CleaveDemand *demand,
               const char *name)
{
  g_autoptr (GArray) parts = g_array_new (FALSE, FALSE, sizeof (CleaveJoinPart));
  const CleaveResult *whole = &member->node->results[demand->result];
  CleaveTensorType type = { whole->type.element, cleave_range_shape (demand->range) };

  /* `covers` lists the latest piece first */
  for (guint i = demand->n; i > 0; i--)
    {
      guint piece = member->covers[demand->first + i - 1];
      CleaveRange has = get_piece_range (member, piece, demand->result);
      CleaveRange both = cleave_range_intersect (&has, demand->range);
      CleaveRange local = cleave_range_relative (&both, &has);
      CleaveJoinPart got = { cleave_forwarder_get (
                                 builder->forwarder,
                                 member->values[piece * member->n_results + demand->result], &local,
                                 name),
                             cleave_range_relative (&both, demand->range) };

      g_array_append_val (parts, got);
    }
  return &cleave_join_add (member->node->graph, NULL, name, parts, &type)->results[0];
}

/* Builds a demand whose range lies in one piece. Returns the result of this piece, or a Slice of
 * the result. */
static CleaveResult *
take_demand (Builder *builder,
             const CleaveRegionNode *member,
             const CleaveDemand *demand,
             const char *name)
{
  guint piece = member->covers[demand->first];
  CleaveRange has = get_piece_range (member, piece, demand->result);
  CleaveRange local = cleave_range_relative (demand->range, &has);

  return cleave_forwarder_get (
      builder->forwarder, member->values[piece * member->n_results + demand->result], &local, name);
}

/* Compares two demands on a region node by their covering pieces and by the number of the result
 * that they read. Returns 0 if both are equal. */
static int
compare_covers (gconstpointer a, gconstpointer b, gpointer data)
{
  const CleaveRegionNode *member = data;
  const CleaveDemand *x = &member->demands[*(const guint *) a];
  const CleaveDemand *y = &member->demands[*(const guint *) b];

  if (x->n != y->n || x->result != y->result)
    return x->n != y->n ? (x->n > y->n) - (x->n < y->n)
                        : (x->result > y->result) - (x->result < y->result);
  for (guint i = 0; i < x->n; i++)
    if (member->covers[x->first + i] != member->covers[y->first + i])
      return member->covers[x->first + i] < member->covers[y->first + i] ? -1 : 1;
  return 0;
}

static void
note_widest (const CleaveRegionNode *member, const guint *demands, guint n)
{
  guint widest = demands[0];

  for (guint i = 1; i < n; i++)
    if (cleave_range_contains (member->demands[demands[i]].range, member->demands[widest].range))
      widest = demands[i];
  for (guint i = 0; i < n; i++)
    {
      CleaveDemand *demand = &member->demands[demands[i]];

      if (cleave_range_contains (member->demands[widest].range, demand->range))
        demand->wider = widest;
    }
}

/* Sets `wider` of each demand to a demand that contains this demand and has the same covering
 * pieces. Only the widest of these demands is assembled, and the others become Slices of its value.
 * For example, the rows that a residual Add reads lie in the rows that the convolution beside the
 * Add reads. */
static void
find_wider (const CleaveRegionNode *member)
{
  guint n = member->n_demands;
  g_autofree guint *order = g_new (guint, n + 1);

  for (guint i = 0; i < n; i++)
    member->demands[i].wider = order[i] = i;
  if (!member->is_split || member->root != NULL)
    return;
  g_qsort_with_data (order, (gint) n, sizeof (guint), compare_covers, (gpointer) member);
  for (guint i = 0, end; i < n; i = end)
    {
      for (end = i + 1; end < n && compare_covers (&order[i], &order[end], (gpointer) member) == 0;)
        end++;
      note_widest (member, &order[i], end - i);
    }
}

/* Returns the value of `demand` as a Slice of the value of its wider demand (`wider`). The value of
 * the wider demand is an Assemble; builds the Assemble if it does not exist yet. Makes the
 * forwarder stop at the Assemble. If not, the forwarder would replace the Slice by a smaller
 * Assemble. */
static CleaveResult *
view_wider (Builder *builder,
            CleaveRegionNode *member,
            const CleaveDemand *demand,
            const char *name)
{
  CleaveDemand *wider = &member->demands[demand->wider];
  CleaveRange local = cleave_range_relative (demand->range, wider->range);

  if (wider->value == NULL)
    {
      g_autofree char *wider_name = g_strdup (demand_name (builder, wider));

      wider->value = gather_demand (builder, member, wider, wider_name);
      name = demand_name (builder, demand);
    }
  cleave_forwarder_stop_at (builder->forwarder, wider->value->node);
  return cleave_forwarder_get (builder->forwarder, wider->value, &local, name);
}

static CleaveResult *
build_demand (Builder *builder, CleaveRegionNode *member, guint index)
{
  CleaveDemand *demand = &member->demands[index];
  const char *name;

  if (demand->value != NULL)
    return demand->value;
  name = demand_name (builder, demand);
  if (!member->is_split)
    demand->value = cleave_forwarder_get (
        builder->forwarder, &member->node->results[demand->result], demand->range, name);
  else if (member->root != NULL)
    demand->value = cleave_forwarder_get (builder->forwarder, member->whole[demand->result],
                                          demand->range, name);
  else if (demand->n == 1)
    demand->value = take_demand (builder, member, demand, name);
  else if (demand->wider != index)
    demand->value = view_wider (builder, member, demand, name);
  else
    demand->value = gather_demand (builder, member, demand, name);
  return demand->value;
}

static CleaveResult *
build_source (Builder *builder, const CleaveSource *source, CleaveResult *value, const char *name)
{
  return source->member != NULL
             ? build_demand (builder, source->member, source->demand)
             : cleave_forwarder_get (builder->forwarder, value, source->range, name);
}

/* Returns whether the value of a piece would equal the only operand of the piece: a join of one
 * part, or a view of the whole operand. */
static gboolean
equals_operand (const CleaveNode *node,
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
build_piece (Builder *builder, CleaveRegionNode *member, const CleaveChunk *chunk, guint index)
{
  CleaveNode *node = member->node;
  CleaveResult *few[4] = { NULL };
  g_autofree CleaveResult **many =
      node->n_operands > G_N_ELEMENTS (few) ? g_new0 (CleaveResult *, node->n_operands) : NULL;
  CleaveResult **operands = many != NULL ? many : few;
  GString *name = builder->name;
  CleaveNode *piece;
  gsize length;
  guint n = 0;

  name_piece (name, node, index);
  length = name->len;
  for (guint j = 0; j < node->n_operands; j++)
    if (chunk->has[j])
      {
        name_operand (name, node, j);
        operands[n++] = build_source (builder, &member->sources[index * node->n_operands + j],
                                      node->operands[j].result, name->str);
        g_string_truncate (name, length);
      }
    else if ((node->op->flags & CLEAVE_OP_VARIADIC) == 0)
      operands[n++] = NULL;
  if (equals_operand (node, chunk, operands, n))
    {
      member->values[index * node->n_results] = operands[0];
      return;
    }
  piece = cleave_graph_add_checked (node->graph, node->op, name->str, operands, n, chunk->results,
                                    chunk->n_results, cleave_attrs_copy (node->op, chunk->attrs));
  for (guint r = 0; r < chunk->n_results; r++)
    member->values[index * node->n_results + r] = &piece->results[r];
}

/* Builds and returns the whole value of a result: the join of its pieces. */
static CleaveResult *
build_whole (const CleaveRegionNode *member, guint result)
{
  const CleaveNode *node = member->node;
  g_autoptr (GArray) parts = g_array_new (FALSE, FALSE, sizeof (CleaveJoinPart));
  g_autofree char *name =
      g_strdup_printf (result == 0 ? "%s.whole" : "%s.whole%u", node->name, result);

  for (guint i = 0; i < member->n_pieces; i++)
    {
      CleaveJoinPart piece = { member->values[i * node->n_results + result],
                               get_piece_range (member, i, result) };

      g_array_append_val (parts, piece);
    }
  return &cleave_join_add (node->graph, NULL, name, parts, &node->results[result].type)->results[0];
}

static void
build_split (Builder *builder, CleaveRegionNode *member)
{
  g_autoptr (CleavePlan) plan = cleave_region_node_plan (member, NULL);
  guint n = member->node->n_results;

  member->values =
      cleave_pool_alloc (builder->region->pool, member->n_pieces * n * sizeof *member->values);
  for (guint i = 0; i < member->n_pieces; i++)
    build_piece (builder, member, cleave_plan_get_chunk (plan, i), i);
  if (!member->is_outside)
    return;
  member->whole = cleave_pool_alloc (builder->region->pool, n * sizeof *member->whole);
  for (guint r = 0; r < n; r++)
    if (r == 0 || member->node->results[r].n_uses > 0)
      member->whole[r] = build_whole (member, r);
}

/* Builds the values of all demands on a view without pieces of its own (`is_passed`). Each value is
 * a part of the view's operand. Builds these values before a consumer reads them, so that a chain
 * of views needs no recursion. */
static void
build_passed (Builder *builder, CleaveRegionNode *member)
{
  for (guint i = 0; i < member->n_demands; i++)
    {
      CleaveDemand *demand = &member->demands[i];
      demand_name (builder, demand);
      g_string_assign (builder->name, builder->demand_name->str);
      demand->value = build_source (builder, &member->sources[i], member->node->operands[0].result,
                                    builder->name->str);
    }
}

void
cleave_region_build (CleaveRegion *region, CleaveForwarder *forwarder)
{
  g_autoptr (GString) name = g_string_new (NULL), demand_name = g_string_new (NULL);
  Builder builder = { region, forwarder, name, demand_name };

  for (guint i = region->members->len; i > 0; i--)
    {
      CleaveRegionNode *member = g_ptr_array_index (region->members, i - 1);

      find_wider (member);
      (member->is_passed ? build_passed : build_split) (&builder, member);
    }
}
