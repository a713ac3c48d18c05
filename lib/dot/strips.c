/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the strips of each band (frames.h), from the joins upwards. */

#include "frames.h"

#include "../ir/graph-private.h"

typedef struct
{
  const guint *band;
  guint *strip;          /* indexed by node id: number of the node's strip in its band; G_MAXUINT:
                          * the node is in no strip */
  guint *n;              /* indexed by band: number of strips */
  guint *parts;          /* indexed by band: number of operands in the band that number_parts() has
                          * counted for the current join */
  gboolean *passes_rows; /* indexed by band: whether a strip passes rows to a later strip */
} Search;

static const CleaveNode *
skip_views (const CleaveNode *node)
{
  while ((node->op->flags & CLEAVE_OP_VIEW) != 0 && cleave_node_operand_result (node, 0) != NULL)
    node = cleave_node_operand_result (node, 0)->node;
  return node;
}

/* Numbers the last node of each strip by the operands of `join`, which is in no band. The first
 * operand that a node of band b computes is the result of strip 0 of b, the second such operand is
 * the result of strip 1, and so on. */
static void
number_parts (Search *s, const CleaveNode *join)
{
  for (guint i = 0; i < join->n_operands; i++)
    {
      const CleaveNode *part = skip_views (cleave_node_operand_result (join, i)->node);
      guint band = s->band[part->id];

      if (band == G_MAXUINT)
        continue;
      if (s->strip[part->id] == G_MAXUINT)
        s->strip[part->id] = s->parts[band];
      s->parts[band]++;
      s->n[band] = MAX (s->n[band], s->parts[band]);
    }
  for (guint i = 0; i < join->n_operands; i++)
    {
      const CleaveNode *part = skip_views (cleave_node_operand_result (join, i)->node);

      if (s->band[part->id] != G_MAXUINT)
        s->parts[s->band[part->id]] = 0;
    }
}

/* Assigns a node to the first strip that reads it. */
static void
number_node (Search *s, const CleaveNode *node)
{
  guint first = s->strip[node->id];

  for (guint i = 0; i < node->n_results; i++)
    for (const CleaveOperand *use = node->results[i].first_use; use != NULL; use = use->next_use)
      if (use->node != NULL && s->band[use->node->id] == s->band[node->id])
        first = MIN (first, s->strip[use->node->id]);
  s->strip[node->id] = first;
}

/* Sets passes_rows[band] if a node passes rows from an earlier strip to a later strip of a band.
 * Only a view or a join passes rows; two branches that read one whole value pass no rows. */
static void
note_rows_passed_on (Search *s, const CleaveNode *node)
{
  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *value = cleave_node_operand_result (node, i);
      guint band = value == NULL ? G_MAXUINT : s->band[value->node->id];

      if (band != G_MAXUINT && band == s->band[node->id] &&
          s->strip[value->node->id] < s->strip[node->id] && s->strip[node->id] != G_MAXUINT &&
          (node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN)) != 0)
        s->passes_rows[band] = TRUE;
    }
}

void
cleave_strips_find (const CleaveGraph *graph,
                    const GPtrArray *order,
                    const guint *band,
                    guint *strip,
                    guint *n_strips)
{
  gsize n = (gsize) graph->n_ids + 1;
  g_autofree guint *parts = g_new0 (guint, n);
  g_autofree gboolean *passes_rows = g_new0 (gboolean, n);
  Search s = { band, strip, n_strips, parts, passes_rows };

  for (gsize i = 0; i < n; i++)
    strip[i] = G_MAXUINT;
  for (guint i = order->len; i-- > 0;)
    {
      const CleaveNode *node = order->pdata[i];

      if (band[node->id] != G_MAXUINT)
        number_node (&s, node);
      else if ((node->op->flags & CLEAVE_OP_JOIN) != 0)
        number_parts (&s, node);
    }
  for (guint i = 0; i < order->len; i++)
    note_rows_passed_on (&s, order->pdata[i]);
  for (guint i = 0; i < order->len; i++)
    {
      guint id = ((CleaveNode *) order->pdata[i])->id;

      if (band[id] != G_MAXUINT && !passes_rows[band[id]])
        strip[id] = G_MAXUINT;
    }
}
