/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the Slices of each value that overlap, and replaces them by Slices of disjoint ranges. An
 * atom is one of these disjoint ranges. Each old Slice is the union of some atoms, and the
 * Assembles read the atoms. */

#include "share-carried.h"

#include "../remove-dead.h"
#include "../views/joins.h"
#include "../views/strided-range.h"

/* Skip values with more readers than MAX_READERS, so that the time of the pass is linear in the
 * size of the graph. Do not cut Slices if the number of Slices would grow by more than the factor
 * MAX_MORE. */
#define MAX_READERS 32
#define MAX_MORE 2

/* A Slice that only Assembles read. */
typedef struct
{
  CleaveResult *value; /* result of the Slice, which the Assembles read */
  CleaveRange range;   /* range of the Slice in the operand of the Slice */
} Carried;

typedef struct
{
  CleaveGraph *graph;
  const CleaveOp *assemble;
  GHashTable *parts; /* maps the result of a Slice (CleaveResult) to the parts that replace the
                        Slice (GArray of CleaveJoinPart) */
  GPtrArray *left;   /* CleaveNode: nodes that may have lost their last user */
} Sharing;

/* Returns whether the reader `use` is a Slice that skips no element of its range, and that only
 * Assembles read. Sets `range` to the range of the Slice. */
static gboolean
is_carried (const Sharing *sharing, const CleaveOperand *use, CleaveRange *range)
{
  const CleaveNode *slice = use->node;
  CleaveStridedRange window;

  if (slice == NULL || (slice->op->flags & CLEAVE_OP_VIEW) == 0 || slice->n_results != 1 ||
      slice->results[0].n_uses == 0 ||
      !cleave_result_get_strided_range (&slice->results[0], &window) ||
      cleave_strided_range_has_steps (&window))
    return FALSE;
  for (const CleaveOperand *reader = slice->results[0].first_use; reader != NULL;
       reader = reader->next_use)
    if (reader->node == NULL || reader->node->op != sharing->assemble)
      return FALSE;
  *range = cleave_strided_range_hull (&window);
  return TRUE;
}

static GArray *
find_carried (const Sharing *sharing, const CleaveResult *value)
{
  GArray *carried = g_array_new (FALSE, FALSE, sizeof (Carried));

  for (const CleaveOperand *use = value->first_use; use != NULL; use = use->next_use)
    {
      Carried found;

      if (!is_carried (sharing, use, &found.range))
        continue;
      found.value = &use->node->results[0];
      g_array_append_val (carried, found);
    }
  return carried;
}

/* Returns the disjoint ranges `atoms`, cut so that each range lies completely inside or outside of
 * `box`. Adds the parts of `box` that no range in `atoms` covers. */
static GArray *
refine (const GArray *atoms, const CleaveRange *box)
{
  GArray *refined = g_array_new (FALSE, FALSE, sizeof (CleaveRange));
  g_autoptr (GArray) rest =
      cleave_range_subtract_all (box, (const CleaveRange *) (gpointer) atoms->data, atoms->len);

  for (guint i = 0; i < atoms->len; i++)
    {
      const CleaveRange *atom = &g_array_index (atoms, CleaveRange, i);
      CleaveRange both = cleave_range_intersect (atom, box);

      if (cleave_range_is_empty (&both))
        g_array_append_vals (refined, atom, 1);
      else
        {
          g_array_append_val (refined, both);
          cleave_range_subtract (atom, &both, refined);
        }
    }
  g_array_append_vals (refined, rest->data, rest->len);
  return refined;
}

static int
compare_sizes (gconstpointer a, gconstpointer b)
{
  gint64 x = cleave_range_n_elements (&((const Carried *) a)->range);
  gint64 y = cleave_range_n_elements (&((const Carried *) b)->range);

  return (x > y) - (x < y);
}

static CleaveResult *
get_value (const Sharing *sharing,
           const GArray *carried,
           CleaveResult *sliced,
           const CleaveRange *range)
{
  const Carried *first = &g_array_index (carried, Carried, 0);

  for (guint i = 0; i < carried->len; i++)
    if (cleave_range_equal (&g_array_index (carried, Carried, i).range, range))
      return g_array_index (carried, Carried, i).value;
  return cleave_graph_add_slice_range (sharing->graph, first->value->node->name, sliced, range,
                                       NULL);
}

/* Records in `sharing->parts` the parts that replace each Slice of `carried` (Carried), a list of
 * Slices of the value `sliced`. `atoms` has disjoint ranges of this value, and the range of each
 * Slice is the union of some atoms. Adds a Slice for each atom that is not the range of a Slice in
 * `carried`. */
static void
note_parts (Sharing *sharing, const GArray *carried, const GArray *atoms, CleaveResult *sliced)
{
  g_autofree CleaveResult **values = g_new (CleaveResult *, atoms->len);

  for (guint a = 0; a < atoms->len; a++)
    values[a] = get_value (sharing, carried, sliced, &g_array_index (atoms, CleaveRange, a));
  for (guint i = 0; i < carried->len; i++)
    {
      const Carried *slice = &g_array_index (carried, Carried, i);
      GArray *parts = g_array_new (FALSE, FALSE, sizeof (CleaveJoinPart));

      for (guint a = 0; a < atoms->len; a++)
        {
          const CleaveRange *atom = &g_array_index (atoms, CleaveRange, a);
          CleaveJoinPart part = { values[a], cleave_range_relative (atom, &slice->range) };

          if (cleave_range_contains (&slice->range, atom))
            g_array_append_val (parts, part);
        }
      g_hash_table_insert (sharing->parts, slice->value, parts);
      g_ptr_array_add (sharing->left, slice->value->node);
    }
}

static void
share_parts_of (Sharing *sharing, CleaveResult *value)
{
  g_autoptr (GArray) carried = NULL, atoms = NULL;
  gint64 n_before = 0, n_after = 0;

  if (value->n_uses < 2 || value->n_uses > MAX_READERS)
    return;
  carried = find_carried (sharing, value);
  if (carried->len < 2)
    return;
  g_array_sort (carried, compare_sizes);
  atoms = g_array_new (FALSE, FALSE, sizeof (CleaveRange));
  for (guint i = 0; i < carried->len; i++)
    {
      g_autoptr (GArray) before = g_steal_pointer (&atoms);

      n_before += cleave_range_n_elements (&g_array_index (carried, Carried, i).range);
      atoms = refine (before, &g_array_index (carried, Carried, i).range);
    }
  for (guint a = 0; a < atoms->len; a++)
    n_after += cleave_range_n_elements (&g_array_index (atoms, CleaveRange, a));
  if (n_after < n_before && atoms->len <= MAX_MORE * carried->len)
    note_parts (sharing, carried, atoms, value);
}

/* Replaces a join with a join that reads the parts of a Slice directly, if the join reads a Slice
 * that was cut. */
static void
flatten_join (Sharing *sharing, CleaveNode *node)
{
  g_autoptr (GArray) parts = g_array_new (FALSE, FALSE, sizeof (CleaveJoinPart));
  g_autoptr (GArray) flat = g_array_new (FALSE, FALSE, sizeof (CleaveJoinPart));
  CleaveRange whole = cleave_range_whole (&node->results[0].type.shape);
  gboolean changed = FALSE;
  CleaveNode *made;

  if (!cleave_join_list (node, &whole, parts))
    return;
  for (guint i = 0; i < parts->len; i++)
    {
      const CleaveJoinPart *part = &g_array_index (parts, CleaveJoinPart, i);
      const GArray *by = g_hash_table_lookup (sharing->parts, part->value);

      if (by == NULL)
        g_array_append_vals (flat, part, 1);
      changed |= by != NULL && by->len > 1;
      for (guint p = 0; by != NULL && p < by->len; p++)
        {
          CleaveJoinPart inner = g_array_index (by, CleaveJoinPart, p);

          inner.place = cleave_range_absolute (&inner.place, &part->place);
          g_array_append_val (flat, inner);
        }
    }
  if (!changed)
    return;
  made = cleave_join_add (sharing->graph, NULL, NULL, flat, &node->results[0].type);
  cleave_result_replace_uses (&node->results[0], &made->results[0]);
  cleave_node_take_names (made, node);
  g_ptr_array_add (sharing->left, node);
}

void
cleave_share_carried (CleaveGraph *graph)
{
  g_autoptr (GHashTable) parts =
      g_hash_table_new_full (NULL, NULL, NULL, (GDestroyNotify) g_array_unref);
  g_autoptr (GPtrArray) left = g_ptr_array_new (), joins = g_ptr_array_new ();
  Sharing sharing = { graph, cleave_op_lookup ("Assemble"), parts, left };
  CleaveNode *last = graph->last;

  for (CleaveNode *node = graph->first; node != NULL; node = node == last ? NULL : node->next)
    {
      if (node->op == sharing.assemble)
        g_ptr_array_add (joins, node);
      for (guint r = 0; r < node->n_results && !cleave_node_is_fixed (node); r++)
        share_parts_of (&sharing, &node->results[r]);
    }
  if (g_hash_table_size (parts) == 0)
    return;
  for (guint i = 0; i < joins->len; i++)
    flatten_join (&sharing, joins->pdata[i]);
  cleave_remove_dead (left, NULL);
}
