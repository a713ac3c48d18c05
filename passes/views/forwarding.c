/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes parts of values. Reads each part from the node that computes it, past views and joins, or
 * cuts it out of a constant.
 *
 * Over 400 lines: one walk through views, joins and constants, whose steps call each other. */

#include "forwarding.h"

#include "../../lib/ir/chunk.h"

#include "joins.h"
#include "known-ops.h"
#include "strided-range.h"

/* at most this many nodes may stand between a part that is read and the stored constant that it is
 * computed from */
#define MAX_STORED 8

/* The key of a part that the forwarder has made: the value, and the window of it. */
typedef struct
{
  CleaveResult *value;
  CleaveStridedRange window;
} Part;

struct _CleaveForwarder
{
  CleaveGraph *graph;
  const CleaveOp *slice, *assemble;
  GHashTable *parts;       /* maps a Part to the CleaveResult that has its value */
  GHashTable *joins;       /* maps a CleaveNode to its CleaveJoin; to NULL if it is not a join */
  GQueue pending;          /* CleaveResult: Slices that may be read further up */
  GHashTable *stops;       /* set of CleaveNode: the forwarder does not read past these nodes */
  GHashTable *other_stops; /* set of CleaveNode, which the caller owns: the forwarder does not
                            * read past these nodes either; NULL: no such set */
  GPtrArray *spent;        /* CleaveNode: Slices that were replaced and have no users */
  CleaveNode *made;
  guint depth; /* nesting of the constant expressions that are being cut */
};

static guint
part_hash (gconstpointer data)
{
  const Part *part = data;
  guint64 hash = (guint64) (gsize) part->value;

  for (guint d = 0; d < part->window.rank; d++)
    hash = (hash ^ (guint64) part->window.begin[d] ^ ((guint64) part->window.count[d] << 32)) *
               0x9e3779b97f4a7c15u +
           (guint64) part->window.step[d];
  return (guint) (hash ^ (hash >> 32));
}

static gboolean
part_equal (gconstpointer a, gconstpointer b)
{
  const Part *p = a, *q = b;

  return p->value == q->value && cleave_strided_range_equal (&p->window, &q->window);
}

CleaveForwarder *
cleave_forwarder_new (CleaveGraph *graph)
{
  CleaveForwarder *forwarder = g_new0 (CleaveForwarder, 1);

  forwarder->graph = graph;
  forwarder->slice = cleave_known_op (CLEAVE_KNOWN_SLICE);
  forwarder->assemble = cleave_known_op (CLEAVE_KNOWN_ASSEMBLE);
  forwarder->parts = g_hash_table_new_full (part_hash, part_equal, g_free, NULL);
  forwarder->joins = g_hash_table_new_full (NULL, NULL, NULL, cleave_join_free);
  forwarder->stops = g_hash_table_new (NULL, NULL);
  forwarder->spent = g_ptr_array_new ();
  g_queue_init (&forwarder->pending);
  return forwarder;
}

void
cleave_forwarder_free (CleaveForwarder *forwarder)
{
  if (forwarder == NULL)
    return;
  g_hash_table_unref (forwarder->parts);
  g_hash_table_unref (forwarder->joins);
  g_hash_table_unref (forwarder->stops);
  g_queue_clear (&forwarder->pending);
  g_ptr_array_unref (forwarder->spent);
  g_free (forwarder);
}

gboolean
cleave_forwarder_made (const CleaveForwarder *forwarder, const CleaveResult *result)
{
  return forwarder->made == result->node;
}

void
cleave_forwarder_stop_at (CleaveForwarder *forwarder, CleaveNode *node)
{
  if ((node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN)) !=
      0) /* a forwarder reads past views and joins only */
    g_hash_table_add (forwarder->stops, node);
}

void
cleave_forwarder_stop_among (CleaveForwarder *forwarder, GHashTable *nodes)
{
  forwarder->other_stops = nodes;
}

static gboolean
is_stop (const CleaveForwarder *forwarder, const CleaveNode *node)
{
  return g_hash_table_contains (forwarder->stops, node) ||
         (forwarder->other_stops != NULL && g_hash_table_contains (forwarder->other_stops, node));
}

static const CleaveJoin *
get_join (CleaveForwarder *forwarder, CleaveNode *node)
{
  gpointer join;

  if ((node->op->flags & CLEAVE_OP_JOIN) == 0 || node->op->maps == NULL ||
      is_stop (forwarder, node))
    return NULL;
  if (!g_hash_table_lookup_extended (forwarder->joins, node, NULL, &join))
    {
      join = cleave_join_new (node);
      g_hash_table_insert (forwarder->joins, node, join);
    }
  return join;
}

/* Returns the index of the operand whose range in the join equals `range`; if no operand's range
 * does, of the first operand that contains `range`. Returns G_MAXUINT if there is none. */
static guint
find_holder (const CleaveJoin *join, const CleaveRange *range)
{
  g_autoptr (GArray) found = cleave_join_find (join, range);
  guint holder = G_MAXUINT;

  for (guint j = 0; j < found->len; j++)
    {
      guint i = g_array_index (found, guint, j);

      if (cleave_range_equal (&join->place[i], range))
        return i;
      if (holder == G_MAXUINT && cleave_range_contains (&join->place[i], range))
        holder = i;
    }
  return holder;
}

/* Replaces `value` and `window` by the operand and window that have the same elements, one node
 * further up. Returns FALSE if the value is not a view, nor a join with an operand that contains
 * the window. */
static gboolean
step_back (CleaveForwarder *forwarder, CleaveResult **value, CleaveStridedRange *window)
{
  CleaveNode *node = (*value)->node;
  const CleaveJoin *join = get_join (forwarder, node);
  CleaveStridedRange outer;
  CleaveRange hull;
  guint holder;

  if (is_stop (forwarder, node))
    return FALSE;
  if (cleave_result_get_strided_range (*value, &outer))
    {
      *window = cleave_strided_range_compose (&outer, window);
      *value = node->operands[0].result;
      return TRUE;
    }
  if (join == NULL || window->rank == 0)
    return FALSE;
  hull = cleave_strided_range_hull (window);
  holder = find_holder (join, &hull);
  if (holder == G_MAXUINT)
    return FALSE;
  for (guint d = 0; d < window->rank; d++)
    window->begin[d] -= join->place[holder].dim[d].begin;
  *value = node->operands[holder].result;
  return TRUE;
}

static void
step_back_all (CleaveForwarder *forwarder, CleaveResult **value, CleaveStridedRange *window)
{
  for (guint d = 0; d < window->rank; d++)
    if (window->count[d] == 0)
      return;
  while (!cleave_strided_range_is_whole (window, &(*value)->type.shape))
    if (!step_back (forwarder, value, window))
      return;
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

static CleaveResult *get_plain (CleaveForwarder *forwarder,
                                CleaveResult *value,
                                const CleaveStridedRange *window,
                                const char *name);

/* Initializes the chunk that computes a part of a constant expression, such as a DequantizeLinear
 * of stored bytes. The part then has the same form as the whole weights, so that code for this form
 * recognizes it. Returns FALSE if the value is not such an expression. The caller must clear the
 * chunk. */
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

/* Returns whether a part needs no Slice: it becomes a constant or a constant expression. */
static gboolean
is_constant (const CleaveResult *value, const CleaveStridedRange *window)
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
 * expression. */
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

        operands[i] = get_plain (forwarder, node->operands[i].result, &part, operand);
      }
  forwarder->depth--;
  forwarder->made =
      cleave_graph_add_checked (forwarder->graph, node->op, name, operands, node->n_operands,
                                chunk.results, 1, cleave_attrs_copy (node->op, chunk.attrs));
  cleave_chunk_clear (&chunk, node->op);
  return &forwarder->made->results[0];
}

/* Returns a part of the value, which is made once: the value itself, a constant, a constant
 * expression or a Slice. */
static CleaveResult *
get_plain (CleaveForwarder *forwarder,
           CleaveResult *value,
           const CleaveStridedRange *window,
           const char *name)
{
  Part key = { value, *window };
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

/* Returns whether a window should be read from several operands of a join, if no operand contains
 * all of it. Reading from several operands is useful only if the window cuts a joined dimension. */
static gboolean
cuts_joined_dim (const CleaveJoin *join, const CleaveStridedRange *window, const CleaveShape *shape)
{
  if (join == NULL || cleave_strided_range_has_steps (window))
    return FALSE;
  for (guint d = 0; d < window->rank; d++)
    if (window->count[d] == 0)
      return FALSE;
  for (guint d = 0; d < window->rank; d++)
    if (join->joined[d] && window->count[d] != shape->dim[d])
      return TRUE;
  return FALSE;
}

/* Removes from `found` the parts that other parts contain. */
static void
drop_contained (GArray *found, const CleaveJoin *join, const CleaveRange *range)
{
  guint n = 0;

  for (guint j = 0; j < found->len; j++)
    {
      guint i = g_array_index (found, guint, j);
      CleaveRange mine = cleave_range_intersect (&join->place[i], range);
      gboolean needed = TRUE;

      for (guint k = 0; k < found->len && needed; k++)
        {
          CleaveRange other =
              cleave_range_intersect (&join->place[g_array_index (found, guint, k)], range);

          needed = k == j || !cleave_range_contains (&other, &mine) ||
                   (cleave_range_equal (&other, &mine) && k > j);
        }
      if (needed)
        g_array_index (found, guint, n++) = i;
    }
  g_array_set_size (found, n);
}

/* Returns a smaller join of the operands that a window overlaps. read_pending() later reads these
 * parts further up, so that joins of joins need no recursion. */
static CleaveResult *
get_joined (CleaveForwarder *forwarder,
            CleaveResult *value,
            const CleaveStridedRange *window,
            const char *name)
{
  const CleaveJoin *join = get_join (forwarder, value->node);
  CleaveRange range = cleave_strided_range_hull (window);
  g_autoptr (GArray) found = cleave_join_find (join, &range);
  g_autoptr (GArray) parts = g_array_new (FALSE, FALSE, sizeof (CleaveJoinPart));
  CleaveTensorType type = { value->type.element, cleave_range_shape (&range) };
  Part key = { value, *window };
  CleaveResult *joined = g_hash_table_lookup (forwarder->parts, &key);

  if (joined != NULL)
    return joined;
  if (value->node->op == forwarder->assemble && found->len <= 64)
    drop_contained (found, join, &range);
  for (guint j = 0; j < found->len; j++)
    {
      guint i = g_array_index (found, guint, j);
      CleaveRange place = cleave_range_intersect (&join->place[i], &range);
      CleaveRange inside = cleave_range_relative (&place, &join->place[i]);
      CleaveStridedRange local = cleave_strided_range_of_range (&inside);
      CleaveResult *operand = value->node->operands[i].result;
      CleaveJoinPart part = { get_plain (forwarder, operand, &local, name),
                              cleave_range_relative (&place, &range) };

      if (part.value != operand && part.value->node->op == forwarder->slice)
        g_queue_push_tail (&forwarder->pending, part.value);
      g_array_append_val (parts, part);
    }
  forwarder->made = cleave_join_add (forwarder->graph, value->node, name, parts, &type);
  joined = &forwarder->made->results[0];
  g_hash_table_insert (forwarder->parts, g_memdup2 (&key, sizeof key), joined);
  return joined;
}

/* is_read_whole() looks at no value with more readers than this, so that forwarding takes linear
 * time */
#define MAX_READERS 16

/* Returns whether a node other than a view reads the value, which then must exist as a whole
 * anyway. */
static gboolean
is_read_whole (const CleaveResult *value)
{
  if (value->n_uses > MAX_READERS)
    return FALSE;
  for (const CleaveOperand *use = value->first_use; use != NULL; use = use->next_use)
    if (use->node == NULL || (use->node->op->flags & CLEAVE_OP_VIEW) == 0)
      return TRUE;
  return FALSE;
}

/* Returns whether a window is read from a new join of the parts that it overlaps. If the window
 * overlaps all parts and another reader needs the old join, a new join would wait for the same
 * parts and copy them. The window is then read from the old join. */
static gboolean
needs_new_join (const CleaveJoin *join, const CleaveStridedRange *window, const CleaveResult *value)
{
  CleaveRange hull = cleave_strided_range_hull (window);
  g_autoptr (GArray) found = NULL;

  if (!cuts_joined_dim (join, window, &value->type.shape))
    return FALSE;
  if (!is_read_whole (value))
    return TRUE;
  found = cleave_join_find (join, &hull);
  return found->len < join->n;
}

/* Returns a window of a value that cannot be read further up. */
static CleaveResult *
get_there (CleaveForwarder *forwarder,
           CleaveResult *value,
           const CleaveStridedRange *window,
           const char *name)
{
  if (needs_new_join (get_join (forwarder, value->node), window, value))
    return get_joined (forwarder, value, window, name);
  return get_plain (forwarder, value, window, name);
}

/* Returns a value that equals `part`, read as far up as possible. Returns `part` if no value
 * further up equals it. */
static CleaveResult *
forward (CleaveForwarder *forwarder, CleaveResult *part)
{
  CleaveResult *value = part->node->operands[0].result;
  CleaveResult *there = value;
  CleaveStridedRange window;

  forwarder->made = NULL;
  if (!cleave_result_get_strided_range (part, &window))
    return part;
  step_back_all (forwarder, &there, &window);
  if (there == value && !cleave_strided_range_is_whole (&window, &value->type.shape) &&
      !is_constant (value, &window) &&
      !needs_new_join (get_join (forwarder, value->node), &window, value))
    return part;
  return get_there (forwarder, there, &window, part->node->name);
}

/* Reads the Slices in `pending`, which get_joined() added, from values further up. Keeps the key of
 * a replaced Slice in `parts`, and maps it to the value that replaced the Slice. */
static void
read_pending (CleaveForwarder *forwarder)
{
  CleaveNode *made = forwarder->made;

  while (!g_queue_is_empty (&forwarder->pending))
    {
      CleaveResult *part = g_queue_pop_head (&forwarder->pending);
      CleaveResult *forwarded = forward (forwarder, part);
      Part key = { .value = part->node->operands[0].result };

      if (forwarded == part)
        continue;
      cleave_result_get_strided_range (part, &key.window);
      g_hash_table_insert (forwarder->parts, g_memdup2 (&key, sizeof key), forwarded);
      cleave_result_replace_uses (part, forwarded);
      g_ptr_array_add (forwarder->spent, part->node);
    }
  forwarder->made = made;
}

CleaveResult *
cleave_forwarder_get (CleaveForwarder *forwarder,
                      CleaveResult *value,
                      const CleaveRange *range,
                      const char *name)
{
  CleaveStridedRange window = cleave_strided_range_of_range (range);
  CleaveResult *part;

  forwarder->made = NULL;
  step_back_all (forwarder, &value, &window);
  part = get_there (forwarder, value, &window, name);
  read_pending (forwarder);
  return part;
}

gboolean
cleave_forwarder_reads_back (CleaveForwarder *forwarder,
                             CleaveResult *value,
                             const CleaveRange *range)
{
  CleaveStridedRange window = cleave_strided_range_of_range (range);
  CleaveResult *there = value;

  step_back_all (forwarder, &there, &window);
  return there != value;
}

CleaveResult *
cleave_forwarder_forward (CleaveForwarder *forwarder, CleaveResult *part)
{
  CleaveResult *forwarded = forward (forwarder, part);

  read_pending (forwarder);
  return forwarded;
}

const GPtrArray *
cleave_forwarder_get_spent (const CleaveForwarder *forwarder)
{
  return forwarder->spent;
}
