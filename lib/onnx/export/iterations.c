/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Checks whether the nodes of a repeat (a run of nodes that occurs several times in a row,
 * repeats.h) can become iterations of one Loop body.
 *
 * All iterations must read corresponding operands: results of the same node of the body, computed
 * the same number of iterations before. An operand from outside the repeat must be the same value
 * in all iterations, or a slice whose begin advances by equal steps. Nodes after the repeat may
 * read only final states, or a Concat that joins one result of the body from all iterations. */

#include "repeats.h"

#include <string.h>

guint
cleave_onnx_repeat_end (const CleaveOnnxRepeat *repeat)
{
  return repeat->begin + repeat->period * repeat->n_iterations;
}

static gboolean
is_inside (const CleaveOnnxRepeat *repeat, guint node)
{
  return node >= repeat->begin && node < cleave_onnx_repeat_end (repeat);
}

/* Returns the source of operand `input` of a node: a result of the same or an earlier iteration, or
 * a value from outside the repeat. */
static CleaveOnnxRelation
relate (const CleaveOnnxList *list, const CleaveOnnxRepeat *repeat, guint node, guint input)
{
  guint value = cleave_onnx_list_input (list, node, input);
  guint maker = value == CLEAVE_NO_VALUE ? CLEAVE_NO_VALUE : list->makers[value];
  guint iteration = (node - repeat->begin) / repeat->period;
  CleaveOnnxRelation relation = { 0 };

  if (maker == CLEAVE_NO_VALUE || !is_inside (repeat, maker))
    return relation;
  return (CleaveOnnxRelation){ .is_made = TRUE,
                               .node = (maker - repeat->begin) % repeat->period,
                               .result = list->places[value] - list->first_result[maker],
                               .lag = iteration - (maker - repeat->begin) / repeat->period };
}

CleaveOnnxRelation
cleave_onnx_list_relate (const CleaveOnnxList *list,
                         const CleaveOnnxRepeat *repeat,
                         guint node,
                         guint input)
{
  return relate (list, repeat, repeat->begin + repeat->period * (repeat->n_iterations - 1) + node,
                 input);
}

/* The functions below compare the nodes of all iterations. */

static gboolean
moves_evenly (const CleaveOnnxList *list, const CleaveOnnxRepeat *repeat, guint node)
{
  guint n, at = repeat->begin + node, p = repeat->period;
  const gint64 *first = cleave_onnx_list_begins (list, at, &n);
  const gint64 *second = first == NULL ? NULL : cleave_onnx_list_begins (list, at + p, &n);

  for (guint iteration = 2; first != NULL && iteration < repeat->n_iterations; iteration++)
    {
      const gint64 *begins = cleave_onnx_list_begins (list, at + iteration * p, &n);

      for (guint i = 0; i < n; i++)
        if (begins[i] != first[i] + iteration * (second[i] - first[i]))
          return FALSE;
    }
  return TRUE;
}

static CleaveOnnxState *
get_state (CleaveOnnxRepeat *repeat, const CleaveOnnxRelation *relation)
{
  CleaveOnnxState state = { relation->node, relation->result, 0, { 0 } };

  for (guint i = 0; i < repeat->states->len; i++)
    {
      CleaveOnnxState *known = &g_array_index (repeat->states, CleaveOnnxState, i);

      if (known->node == relation->node && known->result == relation->result)
        return known;
    }
  for (guint i = 0; i < G_N_ELEMENTS (state.first); i++)
    state.first[i] = CLEAVE_NO_VALUE;
  g_array_append_val (repeat->states, state);
  return &g_array_index (repeat->states, CleaveOnnxState, repeat->states->len - 1);
}

/* Adds a state for an operand that is a result of `lag` iterations ago. The first `lag` iterations
 * read initial values instead, which the function stores in the state. Returns FALSE if an initial
 * value has another type than the result, or if the lag is too large. */
static gboolean
add_state (const CleaveOnnxList *list,
           CleaveOnnxRepeat *repeat,
           const CleaveOnnxRelation *relation,
           guint node,
           guint input)
{
  guint own = cleave_onnx_list_result (list, repeat->begin + relation->node, relation->result);
  CleaveOnnxState *state = get_state (repeat, relation);

  if (relation->lag > CLEAVE_ONNX_MAX_LAG || relation->lag >= repeat->n_iterations ||
      !list->is_known[own])
    return FALSE;
  state->lag = MAX (state->lag, relation->lag);
  for (guint iteration = 0; iteration < relation->lag; iteration++)
    {
      guint value =
          cleave_onnx_list_input (list, repeat->begin + iteration * repeat->period + node, input);
      guint *first = &state->first[relation->lag - iteration - 1];

      if (!list->is_known[value] ||
          !cleave_tensor_type_equal (&list->types[value], &list->types[own]) ||
          (*first != CLEAVE_NO_VALUE && *first != value))
        return FALSE;
      *first = value;
    }
  return TRUE;
}

static gboolean
relations_equal (const CleaveOnnxRelation *a, const CleaveOnnxRelation *b)
{
  return a->is_made == b->is_made && a->node == b->node && a->result == b->result &&
         a->lag == b->lag;
}

static gboolean
check_input (const CleaveOnnxList *list, CleaveOnnxRepeat *repeat, guint node, guint input)
{
  CleaveOnnxRelation last = cleave_onnx_list_relate (list, repeat, node, input);
  guint value = cleave_onnx_list_input (list, repeat->begin + node, input);

  for (guint iteration = 0; iteration < repeat->n_iterations; iteration++)
    {
      guint at = repeat->begin + iteration * repeat->period + node;
      CleaveOnnxRelation relation = relate (list, repeat, at, input);

      if (iteration < last.lag ? relation.is_made : !relations_equal (&relation, &last))
        return FALSE;
      if (!last.is_made && cleave_onnx_list_input (list, at, input) != value)
        return FALSE;
    }
  return last.lag == 0 || add_state (list, repeat, &last, node, input);
}

gboolean
cleave_onnx_check_iterations (const CleaveOnnxList *list, CleaveOnnxRepeat *repeat)
{
  for (guint node = 0; node < repeat->period; node++)
    {
      guint at = repeat->begin + node, n;
      gboolean moves = cleave_onnx_list_begins (list, at, &n) != NULL;

      if (!moves_evenly (list, repeat, node))
        return FALSE;
      for (guint k = 0; k < cleave_onnx_list_n_inputs (list, at); k++)
        if (!(moves && (k == 1 || k == 2)) && !check_input (list, repeat, node, k))
          return FALSE;
    }
  for (guint i = 0; i < repeat->states->len; i++)
    {
      const CleaveOnnxState *state = &g_array_index (repeat->states, CleaveOnnxState, i);

      for (guint lag = 0; lag < state->lag; lag++)
        if (state->first[lag] == CLEAVE_NO_VALUE)
          return FALSE;
    }
  return TRUE;
}

/* The functions below check the readers that come after the iterations. */

/* Sets the remaining fields of `stack` if `reader` is a Concat that joins a result from all
 * iterations, in their order. `stack->node` is the node of the body, and `stack->result` the index
 * of the result. Returns FALSE if `reader` is another op, or if the Concat lacks the result of an
 * iteration. */
static gboolean
find_stack (const CleaveOnnxList *list,
            const CleaveOnnxRepeat *repeat,
            guint reader,
            CleaveOnnxStack *stack)
{
  guint n = cleave_onnx_list_n_inputs (list, reader), begin = 0;
  guint first = cleave_onnx_list_result (list, repeat->begin + stack->node, stack->result);

  if (strcmp (list->nodes[reader]->op_type, "Concat") != 0)
    return FALSE;
  while (begin < n && cleave_onnx_list_input (list, reader, begin) != first)
    begin++;
  if (begin + repeat->n_iterations > n || !list->is_known[first])
    return FALSE;
  for (guint iteration = 0; iteration < repeat->n_iterations; iteration++)
    {
      guint at = repeat->begin + iteration * repeat->period + stack->node;

      if (cleave_onnx_list_input (list, reader, begin + iteration) !=
          cleave_onnx_list_result (list, at, stack->result))
        return FALSE;
    }
  stack->reader = reader;
  stack->input = begin;
  return TRUE;
}

static gboolean
is_last_state (const CleaveOnnxRepeat *repeat, guint node, guint result, guint iteration)
{
  for (guint i = 0; i < repeat->states->len; i++)
    {
      const CleaveOnnxState *state = &g_array_index (repeat->states, CleaveOnnxState, i);

      if (state->node == node && state->result == result)
        return repeat->n_iterations - iteration <= state->lag;
    }
  return FALSE;
}

static gboolean
has_stack (const CleaveOnnxRepeat *repeat, const CleaveOnnxStack *stack, guint reader)
{
  for (guint i = 0; i < repeat->stacks->len; i++)
    {
      const CleaveOnnxStack *known = &g_array_index (repeat->stacks, CleaveOnnxStack, i);

      if (known->node == stack->node && known->result == stack->result && known->reader == reader)
        return TRUE;
    }
  return FALSE;
}

/* Returns whether node `reader` may read result `result` of node `at`. If `reader` is a Concat that
 * joins this result from all iterations, adds a CleaveOnnxStack to the repeat. Adds it only if `at`
 * is a node of the first iteration. */
static gboolean
check_reader (
    const CleaveOnnxList *list, CleaveOnnxRepeat *repeat, guint at, guint result, guint reader)
{
  guint iteration = (at - repeat->begin) / repeat->period;
  CleaveOnnxStack stack = { .node = (at - repeat->begin) % repeat->period, .result = result };

  if (is_inside (repeat, reader))
    return TRUE;
  if (has_stack (repeat, &stack, reader))
    return iteration > 0; /* the visit of iteration 0 adds the CleaveOnnxStack; if it already exists
                           * then, the Concat reads the result of iteration 0 twice */
  if (iteration > 0 || !find_stack (list, repeat, reader, &stack))
    return is_last_state (repeat, stack.node, result, iteration);
  g_array_append_val (repeat->stacks, stack);
  return TRUE;
}

/* Besides the checks that repeats.h lists: returns FALSE if the Loop would have no result, since
 * the repeat has neither states nor results that a Concat joins. */
gboolean
cleave_onnx_check_readers (const CleaveOnnxList *list, CleaveOnnxRepeat *repeat)
{
  for (guint at = repeat->begin; at < cleave_onnx_repeat_end (repeat); at++)
    for (guint r = 0; r < list->nodes[at]->n_output; r++)
      {
        guint value = cleave_onnx_list_result (list, at, r);

        if (value == CLEAVE_NO_VALUE)
          continue;
        if (list->is_output[value])
          return FALSE;
        for (guint u = list->first_use[value]; u < list->first_use[value + 1]; u++)
          if (!check_reader (list, repeat, at, r, list->uses[u]))
            return FALSE;
      }
  return repeat->states->len + repeat->stacks->len > 0;
}
