/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prints the plan of a bundle as text, for `cleave bundle`. */

#include <string.h>

#include "bundle.h"

/* Returns the name of a step's op, or a description of a step that computes no op. */
static const char *
find_title (const CleaveBundleStep *step)
{
  if (step->node == NULL)
    return "(rows of the caller)";
  return cleave_bundle_is_context (step) ? "(context buffer)" : step->node->op->name;
}

/* Appends a line for each step of a segment. If the name of a node is a list of names, as for fused
 * layers of TensorFlow Lite, prints only the first name. */
static void
print_steps (const CleaveBundle *bundle, const CleaveBundleFlow *flow, GString *out)
{
  const CleaveBundleSegment *g = &flow->segment;

  for (guint s = g->first; s < g->end; s++)
    {
      const CleaveBundleStep *step = cleave_bundle_step (bundle->model, s);
      const CleaveBundleSlot *slot = &flow->slots[s - g->first];
      const CleaveBundleValue *value = cleave_bundle_value (bundle->model, step->result);
      const CleaveBundleSlot *owner = &flow->slots[slot->shares - g->first];
      const char *name = step->node == NULL ? "" : step->node->name;

      g_string_append_printf (
          out, "    %-24.*s %-20s %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT "x%" G_GINT64_FORMAT,
          (int) strcspn (name, ";"), name, find_title (step), value->image.rows,
          value->image.columns, value->image.channels);
      if (slot->is_whole)
        g_string_append (out, "  whole\n");
      else if (slot->shares != s)
        g_string_append (out, "  in place\n");
      else
        g_string_append_printf (
            out, "  ring of %" G_GINT64_FORMAT " row%s, %" G_GINT64_FORMAT " column%s\n",
            owner->capacity, owner->capacity == 1 ? "" : "s", owner->columns,
            owner->columns == 1 ? "" : "s");
    }
}

/**
 * cleave_bundle_print:
 * @bundle: a bundle
 *
 * Returns the plan as text: each loop with its layers, and the rows that each value has in memory.
 *
 * Returns: (transfer full): the text
 *
 * Since: 0.2
 */
char *
cleave_bundle_print (const CleaveBundle *bundle)
{
  GString *out = g_string_new (NULL);
  CleaveBundleFlow flow;

  g_return_val_if_fail (bundle != NULL, NULL);
  cleave_bundle_flow_init (&flow, bundle->model, bundle->align);
  g_string_append_printf (out, "arena of %" G_GINT64_FORMAT " bytes\n", bundle->layout->n_bytes);
  for (guint i = 0; i < bundle->plan->segments->len; i++)
    {
      const CleaveBundleSegment *g =
          &g_array_index (bundle->plan->segments, CleaveBundleSegment, i);

      cleave_bundle_flow_repeat (&flow, g);
      g_string_append_printf (
          out, "loop %u: %u layer%s, %u band%s%s, rings of %" G_GINT64_FORMAT " bytes\n", i,
          g->end - g->first, g->end - g->first == 1 ? "" : "s", g->n_bands,
          g->n_bands == 1 ? "" : "s", g->is_upward ? ", upward" : "", g->ring_bytes);
      print_steps (bundle, &flow, out);
    }
  cleave_bundle_flow_clear (&flow);
  return g_string_free (out, FALSE);
}
