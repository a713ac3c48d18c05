/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Pairs an input with the output that is its value in the next run; the input is then a state. A
 * state lies in memory that the caller keeps from run to run. At the end of a run, the bundle
 * copies the output to that memory. Before the first run, a state is zero; a quantized state is its
 * zero point. */

#include <string.h>

#include "../ir/align.h"

#include "model-parts.h"

#define NEXT "_next"

/* alignment of a state in bytes: the size of the largest elements */
#define STATE_ALIGN 8

static gboolean
fail (GError **error, const char *format, const char *a, const char *b)
{
  g_autoptr (GString) message = g_string_new (format);

  g_string_replace (message, "{a}", a, 1);
  g_string_replace (message, "{b}", b, 1);
  g_set_error_literal (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION, message->str);
  return FALSE;
}

static guint
find_input (const CleaveGraph *graph, const char *name)
{
  for (guint i = 0; i < graph->inputs->len; i++)
    if (strcmp (cleave_graph_get_input (graph, i)->node->name, name) == 0)
      return i;
  return CLEAVE_BUNDLE_NONE;
}

static guint
find_output (const CleaveGraph *graph, const char *name)
{
  for (guint i = 0; i < graph->outputs->len; i++)
    if (strcmp (cleave_graph_get_output_name (graph, i), name) == 0)
      return i;
  return CLEAVE_BUNDLE_NONE;
}

const CleaveBundleKept *
cleave_bundle_find_kept (const CleaveBundleModel *model, guint port, gboolean is_input)
{
  for (guint i = 0; i < model->states->len; i++)
    {
      const CleaveBundleKept *kept = &g_array_index (model->states, CleaveBundleKept, i);

      if ((is_input ? kept->input : kept->output) == port)
        return kept;
    }
  return NULL;
}

/* Adds the state of an input and an output. Fails if the input and the output have different types,
 * or if another state has this input or this output. */
static gboolean
add (CleaveBundleBuilder *b, guint input, guint output, GError **error)
{
  CleaveBundleModel *model = b->model;
  const CleaveResult *x = cleave_graph_get_input (model->graph, input);
  const CleaveTensorType *y =
      &cleave_operand_get_result (cleave_graph_get_output (model->graph, output))->type;
  const char *name = cleave_graph_get_output_name (model->graph, output);
  CleaveBundleKept kept = { input, output, model->state_bytes, cleave_tensor_type_n_bytes (y), 0 };

  if (!cleave_tensor_type_equal (&x->type, y))
    return fail (error, "state '{a}' and output '{b}', its next value, must have one type",
                 x->node->name, name);
  if (cleave_bundle_find_kept (model, input, TRUE) != NULL ||
      cleave_bundle_find_kept (model, output, FALSE) != NULL)
    return fail (error, "state '{a}' or its next value, output '{b}', is part of another state",
                 x->node->name, name);
  model->state_bytes = cleave_align_up (kept.offset + kept.n_bytes, STATE_ALIGN);
  g_array_append_val (model->states, kept);
  return TRUE;
}

/* Adds a state for each input that has an output with the input's name plus "_next". */
static gboolean
add_all (CleaveBundleBuilder *b, GError **error)
{
  for (guint i = 0; i < b->model->graph->inputs->len; i++)
    {
      const CleaveResult *x = cleave_graph_get_input (b->model->graph, i);
      g_autofree char *name = g_strconcat (x->node->name, NEXT, NULL);
      guint output = find_output (b->model->graph, name);

      if (output != CLEAVE_BUNDLE_NONE && cleave_bundle_find_kept (b->model, i, TRUE) == NULL &&
          !add (b, i, output, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
add_named (CleaveBundleBuilder *b, const CleaveBundleState *state, GError **error)
{
  g_autofree char *next = g_strconcat (state->input, NEXT, NULL);
  const char *name = state->output != NULL ? state->output : next;
  guint input = find_input (b->model->graph, state->input);
  guint output = find_output (b->model->graph, name);

  if (input == CLEAVE_BUNDLE_NONE)
    return fail (error, "the graph has no input named '{a}' for the state", state->input, "");
  if (output == CLEAVE_BUNDLE_NONE)
    return fail (error, "the graph has no output named '{a}', the value of state '{b}' after a run",
                 name, state->input);
  return add (b, input, output, error);
}

gboolean
cleave_bundle_find_states (CleaveBundleBuilder *b, GError **error)
{
  gboolean is_all = FALSE;

  for (guint i = 0; i < b->options->n_states; i++)
    if (b->options->states[i].input == NULL)
      is_all = TRUE;
    else if (!add_named (b, &b->options->states[i], error))
      return FALSE;
  return !is_all || add_all (b, error);
}

/* The functions below find the values of states before the first run. */

static gboolean
contains (const GArray *values, guint value)
{
  for (guint i = 0; i < values->len; i++)
    if (g_array_index (values, guint, i) == value)
      return TRUE;
  return FALSE;
}

/* Adds `value`, and each value that shares its bytes, to the list `values`, unless it is in the
 * list. */
static void
add_views (const CleaveBundleModel *model, guint value, GArray *values)
{
  for (guint i = 0; i < model->values->len; i++)
    if ((i == value || cleave_bundle_value (model, i)->base == value) && !contains (values, i))
      g_array_append_val (values, i);
}

/* Returns the zero point with which the first layer reads a value; 0 if no layer has one. Layers
 * that only move elements have no zero point, so the search also follows their results. */
static gint64
find_zero (const CleaveBundleModel *model, guint value)
{
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (guint));

  add_views (model, value, values);
  for (guint i = 0; i < values->len; i++)
    {
      guint x = g_array_index (values, guint, i);

      for (guint k = model->first_reader[x]; k < model->first_reader[x + 1]; k++)
        {
          const CleaveBundleStep *step = cleave_bundle_step (model, model->readers[k].step);
          guint slot = step->slots[model->readers[k].operand];

          if (step->layer->zero_operand == slot + 1)
            return step->layer->zero;
          if (step->node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN | CLEAVE_OP_ROW_MAJOR))
            add_views (model, step->result, values);
        }
    }
  return 0;
}

void
cleave_bundle_set_starts (CleaveBundleModel *model)
{
  for (guint i = 0; i < model->states->len; i++)
    {
      CleaveBundleKept *kept = &g_array_index (model->states, CleaveBundleKept, i);
      const CleaveResult *x = cleave_graph_get_input (model->graph, kept->input);

      if (cleave_element_size (x->type.element) == 1)
        kept->start = find_zero (model, kept->input);
    }
}
