/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Implements CleaveFitPart (measurement.h), a segment of a plan that is described by names of
 * nodes. */

#include "measurement.h"

static void
part_clear (gpointer data)
{
  CleaveFitPart *part = data;

  g_strfreev (part->nodes);
  g_strfreev (part->ends);
  g_array_unref (part->dims);
  g_array_unref (part->columns);
}

static void
part_unref (gpointer part)
{
  g_atomic_rc_box_release_full (part, part_clear);
}

/* Returns whether a node of a segment reads a result of `node`. `members` is the set of the
 * segment's nodes. */
static gboolean
is_read_in (const CleaveFitSteps *steps, const CleaveNode *node, GHashTable *members)
{
  for (guint r = 0; r < node->n_results; r++)
    for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
      if (use->node != NULL && g_hash_table_contains (members, use->node))
        return TRUE;
  return FALSE;
}

CleaveFitPart *
cleave_fit_part_new (void)
{
  CleaveFitPart *part = g_atomic_rc_box_new0 (CleaveFitPart);

  part->dims = g_array_new (FALSE, FALSE, sizeof (guint));
  part->columns = g_array_new (FALSE, FALSE, sizeof (guint));
  return part;
}

GPtrArray *
cleave_fit_parts_new (void)
{
  return g_ptr_array_new_with_free_func (part_unref);
}

CleaveFitPart *
cleave_fit_part_new_of (const CleaveFitCandidates *candidates, const CleaveFitCandidate *segment)
{
  const CleaveFitSteps *steps = candidates->steps;
  g_autoptr (GHashTable) members = g_hash_table_new (NULL, NULL);
  g_autoptr (GPtrArray) nodes = g_ptr_array_new (), ends = g_ptr_array_new ();
  CleaveFitPart *part = cleave_fit_part_new ();
  guint first = steps->first_node[segment->begin], last = steps->first_node[segment->end];

  part->candidate = *segment;
  part->is_even = candidates->is_even;
  for (guint i = first; i < last; i++)
    {
      g_hash_table_add (members, cleave_fit_node (steps, i)->node);
      g_ptr_array_add (nodes, g_strdup (cleave_fit_node (steps, i)->node->name));
    }
  for (guint i = last; i-- > first;)
    {
      const CleaveNode *node = cleave_fit_node (steps, i)->node;
      guint dim, column;

      if (is_read_in (steps, node, members))
        continue;
      dim = (guint) cleave_fit_axes_find_dim (steps, i, segment->cut);
      column = segment->n_columns > 1
                   ? (guint) cleave_fit_axes_find_dim (steps, i, segment->column_cut)
                   : 0;
      g_array_append_val (part->dims, dim);
      g_array_append_val (part->columns, column);
      g_ptr_array_add (ends, g_strdup (node->name));
    }
  g_ptr_array_add (nodes, NULL);
  g_ptr_array_add (ends, NULL);
  part->nodes = (char **) g_ptr_array_steal (nodes, NULL);
  part->ends = (char **) g_ptr_array_steal (ends, NULL);
  return part;
}
