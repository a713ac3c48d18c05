/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Rules out most parts of a candidate before iterations.c checks a part (repeats.h).
 *
 * To check each part of a candidate takes time quadratic in the period. But most parts fail because
 * of few nodes. For example, a node after the candidate reads a value of node 40, and is no Concat
 * of all iterations. Then each repeat begins after node 40, unless the value is a final state. So
 * each reason is a pair of nodes (`key`, `least`): a repeat that has node `key` begins at node
 * `least` or later. One visit of all operands and results of the candidate finds these pairs. A
 * part that meets all pairs may still fail in iterations.c. */

#include "repeats.h"

#include <string.h>

/* How an operand of a node compares with the same operand of the node one period later. */
typedef enum {
  OTHER,   /* neither SAME nor SHIFTED */
  SAME,    /* both are one value */
  SHIFTED, /* both are results of the same node of the period, one period apart */
} Change;

typedef struct
{
  const CleaveOnnxList *list;
  const CleaveOnnxCandidate *candidate;
  guint *least;     /* as in cleave_onnx_bound_repeats() */
  guint8 *changes;  /* Change, of operand list->first_input[begin] + i */
  guint n_results;  /* number of the results of one period */
  guint *distances; /* indexed by result of the period: nodes between computing a value of this
                     * result and its last reader in the candidate */
} Bounds;

/* Notes that a repeat with node `key` begins at node `least` or later. */
static void
add_bound (Bounds *bounds, guint key, guint least)
{
  const CleaveOnnxCandidate *candidate = bounds->candidate;

  if (key < candidate->end)
    bounds->least[key + 1 - candidate->begin] =
        MAX (bounds->least[key + 1 - candidate->begin], least);
}

/* Returns the first node from which node `at` is in one of the first CLEAVE_ONNX_MAX_LAG
 * iterations. Only these iterations may read an initial value. */
static guint
get_least_initial (const Bounds *bounds, guint at)
{
  guint n = CLEAVE_ONNX_MAX_LAG * bounds->candidate->period;

  return at < n ? 0 : at - n + 1;
}

static gboolean
is_moved (const CleaveOnnxList *list, guint node, guint input)
{
  guint n;

  return (input == 1 || input == 2) && cleave_onnx_list_begins (list, node, &n) != NULL;
}

static Change
find_change (const Bounds *bounds, guint node, guint input)
{
  const CleaveOnnxList *list = bounds->list;
  guint value = cleave_onnx_list_input (list, node, input);
  guint next = cleave_onnx_list_input (list, node + bounds->candidate->period, input);

  if (value == next || is_moved (list, node, input))
    return SAME;
  if (value == CLEAVE_NO_VALUE || next == CLEAVE_NO_VALUE ||
      list->places[value] == CLEAVE_NO_VALUE ||
      list->places[next] != list->places[value] + bounds->n_results)
    return OTHER;
  return node - list->makers[value] < (CLEAVE_ONNX_MAX_LAG + 1) * bounds->candidate->period
             ? SHIFTED
             : OTHER;
}

static void
bound_input (Bounds *bounds, guint node, guint input)
{
  const CleaveOnnxList *list = bounds->list;
  guint period = bounds->candidate->period;
  guint value = cleave_onnx_list_input (list, node, input);
  guint maker = value == CLEAVE_NO_VALUE ? CLEAVE_NO_VALUE : list->makers[value];
  guint8 *change =
      &bounds
           ->changes[list->first_input[node] + input - list->first_input[bounds->candidate->begin]];
  guint n_inputs = list->first_input[node + period] - list->first_input[node];

  *change = (guint8) find_change (bounds, node, input);
  if (*change == SAME && maker != CLEAVE_NO_VALUE)
    add_bound (bounds, node + period, maker + 1);
  if (*change == OTHER)
    add_bound (bounds, node + period, get_least_initial (bounds, node));
  if (node >= bounds->candidate->begin + period && *change != change[-(gint) n_inputs])
    add_bound (bounds, node + period, get_least_initial (bounds, node - period));
}

/* Notes where the begins of a Slice do not advance by equal steps. */
static void
bound_begins (Bounds *bounds, guint node)
{
  guint n, period = bounds->candidate->period;
  const gint64 *a = cleave_onnx_list_begins (bounds->list, node, &n), *b, *c;

  if (a == NULL || node + 2 * period >= bounds->candidate->end)
    return;
  b = cleave_onnx_list_begins (bounds->list, node + period, &n);
  c = cleave_onnx_list_begins (bounds->list, node + 2 * period, &n);
  for (guint i = 0; i < n; i++)
    if (c[i] - b[i] != b[i] - a[i])
      add_bound (bounds, node + 2 * period, node + 1);
}

/* Returns the index of a result of the candidate among the results of one period. */
static guint
get_index (const Bounds *bounds, guint place)
{
  return (place - bounds->list->first_result[bounds->candidate->begin]) % bounds->n_results;
}

static void
find_distances (Bounds *bounds)
{
  const CleaveOnnxList *list = bounds->list;
  guint begin = bounds->candidate->begin, period = bounds->candidate->period;

  for (guint node = begin + period; node < bounds->candidate->end; node++)
    for (guint k = 0; k < cleave_onnx_list_n_inputs (list, node); k++)
      {
        guint value = cleave_onnx_list_input (list, node, k);
        guint maker = value == CLEAVE_NO_VALUE ? CLEAVE_NO_VALUE : list->makers[value];
        guint before = list->first_input[node - period] + k - list->first_input[begin];

        if (maker != CLEAVE_NO_VALUE && maker >= begin && bounds->changes[before] == SHIFTED)
          {
            guint *distance = &bounds->distances[get_index (bounds, list->places[value])];

            *distance = MAX (*distance, node - maker);
          }
      }
}

/* Returns whether operand `input` of a Concat (an index into `inputs` of the list) is the result at
 * `place`. */
static gboolean
is_result (const CleaveOnnxList *list, guint concat, guint input, guint place)
{
  return input >= list->first_input[concat] && input < list->first_input[concat + 1] &&
         list->inputs[input] != CLEAVE_NO_VALUE && list->places[list->inputs[input]] == place;
}

/* Notes the bound that a reader after the candidate sets: `use` is an index into `uses`. The reader
 * is a Concat of the results of all iterations, or it reads a result of the last iterations. */
static void
bound_use (Bounds *bounds, guint node, guint place, guint use)
{
  const CleaveOnnxList *list = bounds->list;
  guint period = bounds->candidate->period, reader = list->uses[use];
  guint input = list->use_inputs[use];
  guint lag = bounds->distances[get_index (bounds, place)] / period + 1; /* an upper bound */
  guint key = node + MIN (lag, CLEAVE_ONNX_MAX_LAG) * period;

  if (strcmp (list->nodes[reader]->op_type, "Concat") != 0 ||
      !is_result (list, reader, input + 1, place + bounds->n_results))
    add_bound (bounds, key, node + 1);
  else if (node >= bounds->candidate->begin + period &&
           !is_result (list, reader, input - 1, place - bounds->n_results))
    add_bound (bounds, key, node - period + 1);
}

static void
bound_results (Bounds *bounds, guint node)
{
  const CleaveOnnxList *list = bounds->list;

  for (guint place = list->first_result[node]; place < list->first_result[node + 1]; place++)
    {
      guint value = list->results[place];

      if (value == CLEAVE_NO_VALUE)
        continue;
      if (list->is_output[value])
        add_bound (bounds, node, node + 1);
      for (guint u = list->first_use[value]; u < list->first_use[value + 1]; u++)
        if (list->uses[u] >= bounds->candidate->end)
          bound_use (bounds, node, place, u);
    }
}

/* Adds the bytes of the states of result `index` of node `node` of the first period to `steps`.
 * Phase p stands for the repeats that begin p nodes after the begin of the candidate, or whole
 * periods later. steps[p] is the bytes of the states in phase p, minus the bytes in phase p - 1;
 * steps[0] is the bytes in phase 0. */
static void
add_state_bytes (const Bounds *bounds, guint node, guint index, gint64 *steps)
{
  const CleaveOnnxList *list = bounds->list;
  guint period = bounds->candidate->period, distance = bounds->distances[index];
  guint value = list->results[list->first_result[bounds->candidate->begin] + index];
  guint end = node + 1 + distance % period; /* the phases from node + 1 to end - 1, modulo the
                                             * period, have one more iteration between computing and
                                             * reading the value */
  gint64 n_bytes;

  if (value == CLEAVE_NO_VALUE || !list->is_known[value])
    return;
  n_bytes = cleave_tensor_type_n_bytes (&list->types[value]);
  steps[0] += n_bytes * (distance / period + (end > period));
  steps[node + 1] += n_bytes;
  steps[end > period ? end - period : end] -= n_bytes;
}

void
cleave_onnx_bound_repeats (const CleaveOnnxList *list,
                           const CleaveOnnxCandidate *candidate,
                           guint *least,
                           gint64 *bytes)
{
  guint begin = candidate->begin, period = candidate->period, end = candidate->end;
  guint n_results = list->first_result[begin + period] - list->first_result[begin];
  g_autofree guint8 *changes =
      g_new (guint8, list->first_input[end] - list->first_input[begin] + 1);
  g_autofree guint *distances = g_new0 (guint, n_results + 1);
  Bounds bounds = { list, candidate, least, changes, n_results, distances };

  memset (least, 0, (end - begin + 1) * sizeof *least);
  memset (bytes, 0, (period + 1) * sizeof *bytes);
  for (guint node = begin; node + period < end; node++)
    {
      for (guint k = 0; k < cleave_onnx_list_n_inputs (list, node); k++)
        bound_input (&bounds, node, k);
      bound_begins (&bounds, node);
    }
  find_distances (&bounds);
  for (guint node = begin; node < end; node++)
    bound_results (&bounds, node);
  for (guint i = 0; i < end - begin; i++)
    least[i + 1] = MAX (least[i + 1], least[i]);
  for (guint node = 0; node < period; node++)
    for (guint r = list->first_result[begin + node]; r < list->first_result[begin + node + 1]; r++)
      add_state_bytes (&bounds, node, r - list->first_result[begin], bytes);
  for (guint phase = 1; phase < period; phase++)
    bytes[phase] += bytes[phase - 1];
}
