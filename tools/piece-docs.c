/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes a doc string for each piece of a split node. The doc string gives the number of the piece
 * and its range, such as "piece 3 of 18 of 'conv'". For a piece of a segment, the doc string also
 * numbers its strip, and its band or tile. */

#include "piece-docs.h"

/* Returns how many different begins along a dimension are smaller than the begin of this piece.
 * Sets `n` to the number of different begins of all pieces. For the piece 4:8 of the pieces 0:4,
 * 4:8 and 8:10, returns 1 and sets `n` to 3. */
static guint
count_before (const CleaveSplitNode *split, guint piece, guint dim, guint *n)
{
  g_autoptr (GHashTable) begins = g_hash_table_new (NULL, NULL);
  gint64 own = split->ranges[piece].dim[dim].begin;
  guint before = 0;

  for (guint i = 0; i < split->n_pieces; i++)
    {
      gint64 begin = split->ranges[i].dim[dim].begin;

      if (g_hash_table_add (begins, GSIZE_TO_POINTER ((gsize) begin)) && begin < own)
        before++;
    }
  *n = g_hash_table_size (begins);
  return before;
}

/* Appends the number of a piece among the pieces along a dimension, such as ", strip 3 of 18".
 * Appends nothing unless the pieces have `n_expected` different begins along the dimension. */
static void
add_place (GString *doc,
           const char *word,
           const CleaveSplitNode *split,
           guint piece,
           guint dim,
           guint n_expected)
{
  guint n, before;

  if (n_expected < 2 || dim >= split->ranges[piece].rank)
    return;
  before = count_before (split, piece, dim, &n);
  if (n == n_expected)
    g_string_append_printf (doc, ", %s %u of %u", word, before + 1, n);
}

static char *
make_doc (const CleaveSplitNode *split, guint piece, const CleaveFitSegment *segment)
{
  g_autofree char *range = cleave_range_to_string (&split->ranges[piece]);
  GString *doc = g_string_new (NULL);

  g_string_append_printf (doc, "cleave: piece %u of %u of '%s', range %s", piece + 1,
                          split->n_pieces, split->name, range);
  if (segment != NULL)
    {
      gboolean in_bands = segment->halo != segment->column_halo;

      add_place (doc, "strip", split, piece, segment->dims[0], segment->n_strips);
      add_place (doc, in_bands ? "band" : "tile", split, piece, segment->column_dims[0],
                 segment->n_columns);
    }
  return g_string_free (doc, FALSE);
}

/* Returns a table that maps the name of each node to its segment. */
static GHashTable *
map_segments (const CleaveFitPlan *plan)
{
  GHashTable *of = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; plan != NULL && i < cleave_fit_plan_get_n_segments (plan); i++)
    {
      const CleaveFitSegment *segment = cleave_fit_plan_get_segment (plan, i);

      for (guint n = 0; n < segment->n_nodes; n++)
        g_hash_table_insert (of, (gpointer) segment->nodes[n], (gpointer) segment);
    }
  return of;
}

void
cleave_piece_docs_add (CleaveGraph *graph,
                       const CleaveSplitReport *report,
                       const CleaveFitPlan *plan)
{
  g_autoptr (GHashTable) segments = map_segments (plan);
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autoptr (GPtrArray) docs = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i < cleave_split_report_get_n_split (report); i++)
    {
      const CleaveSplitNode *split = cleave_split_report_get_split (report, i);

      for (guint p = 0; p < split->n_pieces; p++)
        {
          g_ptr_array_add (names, (gpointer) split->piece_names[p]);
          g_ptr_array_add (docs, make_doc (split, p, g_hash_table_lookup (segments, split->name)));
        }
    }
  g_ptr_array_add (names, NULL);
  g_ptr_array_add (docs, NULL);
  cleave_onnx_set_node_docs (graph, (const char *const *) names->pdata,
                             (const char *const *) docs->pdata);
}
