/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Adds the inputs and outputs of the graph to the model, and sets the memory in which they lie. */

#include "model-parts.h"

#include <string.h>

static CleaveBundleWhere
find_where (const CleaveBundleIo *entries, guint n, const char *name)
{
  CleaveBundleWhere where = CLEAVE_BUNDLE_IN_ARENA;

  for (guint i = 0; i < n; i++)
    if (entries[i].name == NULL)
      where = entries[i].where;
  for (guint i = 0; i < n; i++)
    if (entries[i].name != NULL && strcmp (entries[i].name, name) == 0)
      where = entries[i].where;
  return where;
}

void
cleave_bundle_add_inputs (CleaveBundleBuilder *b)
{
  const CleaveGraph *graph = b->model->graph;

  for (guint i = 0; i < graph->inputs->len; i++)
    {
      const CleaveResult *input = graph->inputs->pdata[i];
      guint index = cleave_bundle_add_value (b, input);
      CleaveBundleValue *value = cleave_bundle_value (b->model, index);
      CleaveBundleWhere where =
          cleave_bundle_find_kept (b->model, i, TRUE) != NULL
              ? CLEAVE_BUNDLE_APART
              : find_where (b->options->inputs, b->options->n_inputs, input->node->name);

      value->port = i;
      if (where == CLEAVE_BUNDLE_APART)
        value->place = CLEAVE_BUNDLE_INPUT;
      if (where == CLEAVE_BUNDLE_ROWS)
        {
          CleaveBundleStep step = { .layer = cleave_bundle_layer_new (b->model->pool) };

          cleave_bundle_append_step (b, &step, index);
        }
    }
}

static void
mark_last_readers (CleaveBundleModel *model)
{
  for (guint s = 0; s < model->steps->len; s++)
    {
      const CleaveBundleStep *step = cleave_bundle_step (model, s);

      for (guint i = 0; i < step->n_operands; i++)
        {
          guint base = cleave_bundle_value (model, step->operands[i])->base;

          cleave_bundle_value (model, base)->last_reader = s;
        }
    }
}

static gboolean
fail (const CleaveOutput *output, GError **error, const char *why)
{
  return cleave_fail (error, CLEAVE_ERROR_MODEL, "output '%s': %s", output->name, why);
}

/* Marks the value of output `i` as an output, and sets the memory in which it lies. */
static gboolean
mark_output (CleaveBundleBuilder *b, guint i, GError **error)
{
  const CleaveOutput *output = b->model->graph->outputs->pdata[i];
  gboolean is_state = cleave_bundle_find_kept (b->model, i, FALSE) != NULL;
  CleaveBundleValue *base;

  if (cleave_node_is_fixed (output->operand.result->node))
    return fail (output, error, "a bundle computes each output, but this one is constant");
  b->model->outputs[i] = cleave_bundle_find_value (b, output->operand.result);
  base = cleave_bundle_value (b->model, b->model->outputs[i]);
  base = cleave_bundle_value (b->model, base->base);
  base->last_reader = b->model->steps->len;
  if (is_state && base->place != CLEAVE_BUNDLE_ARENA)
    return fail (output, error,
                 "a state must be computed by a node in the arena, but this output is an input or "
                 "lies apart; leave it out of the states");
  if (is_state ||
      find_where (b->options->outputs, b->options->n_outputs, output->name) != CLEAVE_BUNDLE_APART)
    return TRUE;
  if (base->producer == CLEAVE_BUNDLE_NONE || base->place != CLEAVE_BUNDLE_ARENA)
    return fail (output, error,
                 "an output that is an input or another output cannot lie apart; leave it in the "
                 "arena");
  base->place = CLEAVE_BUNDLE_OUTPUT;
  base->port = i;
  return TRUE;
}

gboolean
cleave_bundle_mark_readers (CleaveBundleBuilder *b, GError **error)
{
  mark_last_readers (b->model);
  for (guint i = 0; i < b->model->graph->outputs->len; i++)
    if (!mark_output (b, i, error))
      return FALSE;
  return TRUE;
}
