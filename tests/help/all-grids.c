/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Lists the cuts of each dimension into equal chunks, and plans every combination of the cuts. */

#include "all-grids.h"

#include "test.h"

/* All cuts of one dimension. */
typedef struct
{
  GPtrArray *sizes; /* for each cut: the sizes of the chunks, in order (GArray of gint64) */
  GArray *first;    /* for each cut: whether the larger chunks come first (gboolean) */
} Ways;

static gboolean
same_sizes (const GArray *a, const GArray *b)
{
  for (guint i = 0; i < a->len && a->len == b->len; i++)
    if (g_array_index (a, gint64, i) != g_array_index (b, gint64, i))
      return FALSE;
  return a->len == b->len;
}

/* Adds the cut of `extent` into n chunks whose sizes differ by at most 1. `n_first` of the larger
 * chunks come first, and the other larger chunks come last. */
static void
add_way (Ways *ways, gint64 extent, gint64 n, gint64 n_first)
{
  GArray *sizes = g_array_new (FALSE, FALSE, sizeof (gint64));
  gint64 larger = extent % n;
  gboolean first = n_first == larger;

  for (gint64 i = 0; i < n; i++)
    {
      gint64 size = extent / n + (i < n_first || i >= n - (larger - n_first));

      g_array_append_val (sizes, size);
    }
  for (guint i = 0; i < ways->sizes->len; i++)
    if (same_sizes (g_ptr_array_index (ways->sizes, i), sizes))
      {
        g_array_unref (sizes);
        return;
      }
  g_ptr_array_add (ways->sizes, sizes);
  g_array_append_val (ways->first, first);
}

static void
ways_init (Ways *ways, gint64 extent)
{
  ways->sizes = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  ways->first = g_array_new (FALSE, FALSE, sizeof (gboolean));
  for (gint64 n = 1; n <= MAX (extent, 1); n++)
    {
      add_way (ways, extent, n, extent % n);
      add_way (ways, extent, n, 0);
      add_way (ways, extent, n, (extent % n + 1) / 2);
    }
}

static void
ways_clear (Ways *ways)
{
  g_ptr_array_unref (ways->sizes);
  g_array_unref (ways->first);
}

guint
cleave_plan_hash (const CleavePlan *plan)
{
  guint hash = 5381;

  for (guint i = 0; i < cleave_plan_get_n_chunks (plan); i++)
    {
      const CleaveRange *range = cleave_plan_get_range (plan, i);

      for (guint d = 0; d < range->rank; d++)
        hash = hash * 33 + (guint) (range->dim[d].begin * 7 + range->dim[d].end);
    }
  return hash;
}

/* Adds the totals of a plan to the list, and refuses the plan, so that the search tries the next
   plan.
    */
static gboolean
record_plan (const CleavePlan *plan, gpointer data, GString *why)
{
  CleaveGrid *grid = data;

  grid->n = cleave_plan_get_n_chunks (plan);
  grid->hash = cleave_plan_hash (plan);
  for (guint i = 0; i < grid->n; i++)
    {
      grid->n_bytes = MAX (grid->n_bytes, cleave_plan_get_n_bytes (plan, i));
      grid->macs += cleave_plan_get_macs (plan, i);
    }
  g_string_append (why, "only looking");
  return FALSE;
}

static void
add_grid (GArray *grids, CleaveNode *node, const Ways *ways, const guint *at, guint rank)
{
  const gint64 *sizes[CLEAVE_MAX_RANK];
  guint n_sizes[CLEAVE_MAX_RANK];
  g_autoptr (CleaveTiling) split = NULL;
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autoptr (GError) error = NULL;
  CleaveGrid grid = { .first = TRUE };
  CleaveConstraint constraint = { .predicate = record_plan, .data = &grid };
  g_autofree char *dims = NULL;
  gint64 n = 1;

  for (guint d = 0; d < rank; d++)
    {
      const GArray *list = g_ptr_array_index (ways[d].sizes, at[d]);

      sizes[d] = (const gint64 *) (gpointer) list->data;
      n *= n_sizes[d] = list->len;
      grid.first &= g_array_index (ways[d].first, gboolean, at[d]);
    }
  dims = g_strndup ("0,1,2,3,4,5,6,7", 2 * rank - 1);
  split = cleave_tiling_by_chunk_sizes (dims, sizes, n_sizes, rank);
  report = n > 1 ? cleave_split_node (node, split, &constraint, &error) : NULL;
  cleave_assert_no_error (error);
  if (grid.n > 1)
    g_array_append_val (grids, grid);
}

GArray *
cleave_all_grids (CleaveNode *node, guint most)
{
  const CleaveShape *shape = &cleave_result_get_type (cleave_node_get_result (node, 0))->shape;
  guint at[CLEAVE_MAX_RANK] = { 0 }, d;
  GArray *grids = g_array_new (FALSE, FALSE, sizeof (CleaveGrid));
  Ways ways[CLEAVE_MAX_RANK];
  guint64 n = 1;

  for (d = 0; d < shape->rank; d++)
    {
      ways_init (&ways[d], shape->dim[d]);
      n *= ways[d].sizes->len;
    }
  do
    {
      if (n > most || cleave_shape_n_elements (shape) < 2)
        break;
      add_grid (grids, node, ways, at, shape->rank);
      for (d = 0; d < shape->rank && ++at[d] == ways[d].sizes->len; d++)
        at[d] = 0;
    }
  while (d < shape->rank);
  for (d = 0; d < shape->rank; d++)
    ways_clear (&ways[d]);
  if (n > most)
    g_clear_pointer (&grids, g_array_unref);
  return grids;
}
