/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds values whose readers read separate parts of the value, and cuts the nodes that compute
 * the value into these parts. A cut (Cut) is a value and its parts, all along one dimension. */

#include "split-per-reader.h"

#include "../../lib/ir/topology.h"
#include "../split/apply.h"
#include "../threads/sequences.h"
#include "../views/gathers.h"
#include "backward-slice.h"

/* A value is cut into at most this many ranges, since each piece reads the weights or the operand
 * again. If readers read more parts of the value, one range contains several neighboring parts. */
#define MAX_PARTS 64

/* A value that is cut per reader. All parts of the value lie along one dimension. */
typedef struct
{
  CleaveNode *node;
  /* dimension of the value that the readers' parts divide; -1: no part is found yet */
  gint dim;
  /* CleaveSpan: the parts that readers read, as spans of dimension `dim`; sorted, without
   * duplicates */
  GArray *spans;
} Cut;

/* Sets `range` to the elements of the operand that a result of a Slice, Split or Gather contains.
 * Returns FALSE for other results, and if the range skips elements. */
static gboolean
find_range (const CleaveResult *result, CleaveRange *range)
{
  CleaveStridedRange window;

  if (!cleave_result_get_strided_range (result, &window) &&
      !cleave_gather_get_strided_range (result->node, &window))
    return FALSE;
  *range = cleave_strided_range_hull (&window);
  return !cleave_strided_range_has_steps (&window);
}

/* Adds a part to a cut. Returns FALSE if the part is the whole value, or lies along another
 * dimension than the earlier parts. */
static gboolean
add_range (Cut *cut, const CleaveShape *shape, const CleaveRange *range)
{
  gint dim = -1;

  for (guint d = 0; d < shape->rank; d++)
    if (range->dim[d].begin > 0 || range->dim[d].end < shape->dim[d])
      {
        if (dim >= 0)
          return FALSE;
        dim = (gint) d;
      }
  if (dim < 0 || (cut->dim >= 0 && cut->dim != dim))
    return FALSE;
  cut->dim = dim;
  g_array_append_val (cut->spans, range->dim[dim]);
  return TRUE;
}

/* Adds the parts of the value that a Slice, Split or Gather reads. Returns FALSE for other readers,
 * and if a result is not one part of the value. */
static gboolean
add_reader (Cut *cut, const CleaveOperand *use)
{
  const CleaveNode *node = use->node;

  if (node == NULL || use != &node->operands[0])
    return FALSE;
  for (guint r = 0; r < node->n_results; r++)
    {
      CleaveRange range;

      if (node->results[r].n_uses > 0 &&
          (!find_range (&node->results[r], &range) ||
           !add_range (cut, &cut->node->results[0].type.shape, &range)))
        return FALSE;
    }
  return TRUE;
}

static int
compare_spans (gconstpointer a, gconstpointer b)
{
  const CleaveSpan *x = a, *y = b;

  return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin)
                              : (x->end > y->end) - (x->end < y->end);
}

/* Sorts spans and removes duplicates. Returns FALSE if one span is left, or if spans overlap. */
static gboolean
sort_spans (GArray *spans)
{
  guint n = 0;

  g_array_sort (spans, compare_spans);
  for (guint i = 0; i < spans->len; i++)
    {
      const CleaveSpan span = g_array_index (spans, CleaveSpan, i);
      const CleaveSpan *last = n == 0 ? NULL : &g_array_index (spans, CleaveSpan, n - 1);

      if (last != NULL && span.begin == last->begin && span.end == last->end)
        continue;
      if (last != NULL && span.begin < last->end)
        return FALSE;
      g_array_index (spans, CleaveSpan, n++) = span;
    }
  g_array_set_size (spans, n);
  return n > 1;
}

static void
cut_clear (Cut *cut)
{
  g_clear_pointer (&cut->spans, g_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Cut, cut_clear)

/* Finds the parts of a node's value that readers read. Returns FALSE if the value is too small, if
 * a reader does not read one range of the value, or if the ranges overlap or are all equal. */
static gboolean
cut_init (Cut *cut, CleaveNode *node, gint64 min_bytes)
{
  *cut = (Cut){ node, -1, g_array_new (FALSE, FALSE, sizeof (CleaveSpan)) };
  if (!cleave_fit_can_copy (node) || node->n_results != 1 ||
      cleave_fit_count_bytes (&node->results[0]) < min_bytes)
    return FALSE;
  for (const CleaveOperand *use = node->results[0].first_use; use != NULL; use = use->next_use)
    if (!add_reader (cut, use))
      return FALSE;
  return sort_spans (cut->spans);
}

/* Returns at most MAX_PARTS ranges that divide the whole value. Each range contains one or more
 * parts that readers read (`cut->spans`), and no part lies in two ranges. */
static GArray *
list_ranges (const Cut *cut)
{
  const CleaveShape *shape = &cut->node->results[0].type.shape;
  GArray *ranges = g_array_new (FALSE, FALSE, sizeof (CleaveRange));
  guint n = MIN (cut->spans->len, MAX_PARTS);
  CleaveRange range = cleave_range_whole (shape);
  CleaveSpan *span = &range.dim[cut->dim];

  span->end = 0;
  for (guint i = 0; i < n; i++)
    {
      guint next = (i + 1) * cut->spans->len / n;

      /* elements that no node reads are added to the part before them */
      span->begin = span->end;
      span->end = next < cut->spans->len ? g_array_index (cut->spans, CleaveSpan, next).begin
                                         : shape->dim[cut->dim];
      g_array_append_val (ranges, range);
    }
  return ranges;
}

/* The state of a search for the nodes to cut, from the node that computes the value towards the
 * inputs. */
typedef struct
{
  gint64 n_bytes;    /* bytes of the value that the cut divides */
  GHashTable *plain; /* CleaveNode: chosen nodes without MACs; the search may also choose the nodes
                        that compute the operands of these nodes */
  gboolean computes; /* at least one chosen node computes, rather than only moves bytes */
} CutSearch;

static gint64
count_read (const CleavePlan *plan, guint operand)
{
  gint64 n = 0;

  for (guint c = 0; c < plan->n_chunks; c++)
    {
      const CleaveChunk *chunk = cleave_plan_get_chunk (plan, c);

      if (chunk->has[operand])
        n += cleave_range_n_elements (&chunk->slices[operand].range);
    }
  return n;
}

static gint64
count_macs (const CleavePlan *plan)
{
  gint64 n = 0;

  for (guint c = 0; c < plan->n_chunks; c++)
    n += plan->chunks[c].macs;
  return n;
}

/* Returns whether the pieces of a plan together compute no more MACs than the node. For a node
 * without MACs, returns whether the pieces together read few elements. For each operand x, the
 * limit is the larger of two numbers: the elements of x, and the elements of the result. */
static gboolean
adds_no_work (const CleavePlan *plan)
{
  const CleaveNode *node = plan->node;
  gint64 n_made = cleave_shape_n_elements (&node->results[0].type.shape);
  gint64 macs = cleave_node_get_macs (node);

  if (macs > 0)
    return count_macs (plan) <= macs;
  for (guint o = 0; o < node->n_operands; o++)
    {
      const CleaveResult *x = node->operands[o].result;

      if (x != NULL && !cleave_node_is_fixed (x->node) &&
          count_read (plan, o) > MAX (n_made, cleave_shape_n_elements (&x->type.shape)))
        return FALSE;
    }
  return TRUE;
}

/* Returns whether only nodes in `search->plain` read the results of a node. */
static gboolean
is_read_by_plain (const CutSearch *search, const CleaveNode *node)
{
  for (guint r = 0; r < node->n_results; r++)
    for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
      if (use->node == NULL || !g_hash_table_contains (search->plain, use->node))
        return FALSE;
  return TRUE;
}

/* Returns whether the region may cut a node: first the node of the value, then nodes with large
 * results that only nodes in `search->plain` read. Records the cut nodes in `search`. */
static gboolean
may_cut (const CleavePlan *plan, gpointer data, GString *why)
{
  const CleaveOpFlags moves = CLEAVE_OP_VIEW | CLEAVE_OP_JOIN | CLEAVE_OP_ROW_MAJOR;
  CutSearch *search = data;
  CleaveNode *node = plan->node;
  gboolean is_first = search->plain == NULL;

  if (is_first)
    search->plain = g_hash_table_new (NULL, NULL);
  if (!adds_no_work (plan) ||
      (!is_first &&
       (!is_read_by_plain (search, node) ||
        CLEAVE_FIT_MUCH_LARGER * cleave_fit_count_bytes (&node->results[0]) <= search->n_bytes)))
    return cleave_refuse (why, "it stays whole");
  search->computes |= (node->op->flags & moves) == 0;
  if (cleave_node_get_macs (node) == 0)
    g_hash_table_add (search->plain, node);
  return TRUE;
}

/* Returns the bytes of the values, except constants, that a region reads from outside. */
static gint64
count_outside (const CleaveRegion *region)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  gint64 n_bytes = 0;

  for (guint i = 0; i < region->members->len; i++)
    g_hash_table_add (seen, ((const CleaveRegionNode *) region->members->pdata[i])->node);
  for (guint i = 0; i < region->members->len; i++)
    {
      const CleaveNode *node = ((const CleaveRegionNode *) region->members->pdata[i])->node;

      for (guint o = 0; o < node->n_operands; o++)
        {
          const CleaveResult *x = node->operands[o].result;

          if (x != NULL && !cleave_node_is_fixed (x->node) && g_hash_table_add (seen, x->node))
            n_bytes += cleave_fit_count_bytes (x);
        }
    }
  return n_bytes;
}

/* Plans the cut of a value and of nodes before it. Returns NULL if the cut saves too little. */
static CleaveRegion *
plan_cut (CleaveGraph *graph, const Cut *cut, CleaveRoot *root)
{
  const CleaveRecursion recursion = { .depth = G_MAXUINT, .single_use = TRUE };
  const gint64 n_bytes = cleave_fit_count_bytes (&cut->node->results[0]);
  CutSearch search = { .n_bytes = n_bytes };
  const CleaveConstraint constraint = { .predicate = may_cut, .data = &search };
  g_autoptr (CleaveRegion) region = NULL;

  root->constraint = &constraint;
  region = cleave_region_plan (graph, root, 1, &recursion, NULL);
  g_clear_pointer (&search.plain, g_hash_table_unref);
  root->constraint = NULL;
  for (guint i = 0; i < region->members->len;
       i++) /* remove the pointers to `constraint`, which does not exist after this function */
    ((CleaveRegionNode *) region->members->pdata[i])->constraint = NULL;
  return region->members->len > 0 && search.computes &&
                 CLEAVE_FIT_MUCH_LARGER * count_outside (region) <= n_bytes
             ? g_steal_pointer (&region)
             : NULL;
}

/* Adds a Slice that equals a result of a Slice, Split or Gather. Returns NULL if no node reads the
 * result. */
static CleaveResult *
add_slice (CleaveGraph *graph, CleaveResult *result)
{
  CleaveResult *value = result->node->operands[0].result;
  CleaveSliceAttrs attrs = { 0 };
  CleaveRange range;

  if (result->n_uses == 0 || !find_range (result, &range))
    return NULL;
  for (guint d = 0; d < range.rank; d++)
    {
      attrs.axes.v[attrs.axes.n++] = d;
      attrs.starts.v[attrs.starts.n++] = range.dim[d].begin;
      attrs.ends.v[attrs.ends.n++] = range.dim[d].end;
      attrs.steps.v[attrs.steps.n++] = 1;
    }
  return cleave_graph_add_slice (graph, result->node->name, value, &attrs, NULL);
}

/* Replaces all readers of a value (Slices, Splits and Gathers) with Slices. Unlike a Split or a
 * Gather, a Slice can later read a piece directly. */
static void
slice_readers (CleaveGraph *graph, CleaveNode *node)
{
  g_autoptr (GPtrArray) readers = g_ptr_array_new ();

  for (const CleaveOperand *use = node->results[0].first_use; use != NULL; use = use->next_use)
    g_ptr_array_add (readers, use->node);
  for (guint i = 0; i < readers->len; i++)
    {
      CleaveNode *reader = readers->pdata[i];

      for (guint r = 0; r < reader->n_results; r++)
        {
          CleaveResult *value = cleave_gather_add_slice (reader);

          if (value == NULL)
            value = add_slice (graph, &reader->results[r]);
          if (value == NULL)
            continue;
          cleave_result_replace_uses (&reader->results[r], value);
          if (reader->n_results == 1)
            cleave_node_take_names (value->node, reader);
          else
            cleave_take_result_name (value, &reader->results[r]);
        }
      cleave_graph_remove (graph, reader);
    }
}

/* Cuts a value into the parts of `cut`. Returns FALSE if the cut saves too little. */
static gboolean
do_cut (CleaveGraph *graph, const Cut *cut, CleaveSplitReport *report)
{
  CleaveRoot root = { .node = cut->node, .ranges = list_ranges (cut) };
  g_autoptr (GArray) ranges = root.ranges;
  g_autoptr (CleaveRegion) region = plan_cut (graph, cut, &root);

  if (region == NULL)
    return FALSE;
  cleave_region_free (region);
  slice_readers (graph, cut->node);
  region = plan_cut (graph, cut, &root);
  cleave_region_apply (region);
  if (report != NULL)
    cleave_split_report_add (report, region, &root, 1);
  return TRUE;
}

/* Returns the names of all nodes, in order: names instead of nodes, since cuts remove nodes. */
static GPtrArray *
list_names (const CleaveGraph *graph)
{
  g_autoptr (GPtrArray) order = cleave_topology_sort (graph, NULL);
  GPtrArray *names = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < order->len; i++)
    g_ptr_array_add (names, g_strdup (((const CleaveNode *) order->pdata[i])->name));
  return names;
}

gboolean
cleave_fit_reads_cut (CleaveGraph *graph, gint64 min_bytes, CleaveSplitReport *report)
{
  gboolean changed = cleave_sequences_cut_for_memory (graph, min_bytes, report);
  g_autoptr (GPtrArray) names = list_names (graph);

  for (guint i = 0; i < names->len; i++)
    {
      CleaveNode *node = cleave_graph_find_node (graph, names->pdata[i]);
      g_auto (Cut) cut = { 0 };

      changed |= node != NULL && cut_init (&cut, node, min_bytes) && do_cut (graph, &cut, report);
    }
  return changed;
}
