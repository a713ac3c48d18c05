/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Grows a trial (a random model) node by node. */

#include "trial-ops.h"

#define LAST_OPSET 26

/* The numbers of values and nodes and the work of a trial at one moment. undo() removes all later
 * values and nodes. */
typedef struct
{
  guint n_values, n_nodes;
  gint64 work;
} Mark;

static void
undo (Trial *trial, const Mark *mark)
{
  for (guint i = mark->n_nodes; i < trial->nodes->len; i++)
    {
      const TrialNode *node = &g_array_index (trial->nodes, TrialNode, i);

      for (guint o = 0; o < node->n_in; o++)
        g_array_index (trial->values, TrialValue, node->in[o]).n_uses--;
    }
  g_array_set_size (trial->values, mark->n_values);
  g_array_set_size (trial->nodes, mark->n_nodes);
  trial->work = mark->work;
  trial->failed = FALSE;
}

static guint
get_weight (void)
{
  guint weight = 0;

  for (guint t = 0; trial_tables[t] != NULL; t++)
    for (const TrialOp *op = trial_tables[t]; op->op != NULL; op++)
      weight += op->weight;
  return weight;
}

/* Returns an op whose result can be cut along nearly every dimension. */
static const TrialOp *
pick_deep_op (Trial *trial)
{
  static const char *const names[] = { "Relu",   "Conv",    "Conv",   "Conv",    "Add",    "Mul",
                                       "MatMul", "MaxPool", "Concat", "Softmax", "Sigmoid" };
  const char *name = names[pick (trial, G_N_ELEMENTS (names))];

  for (guint t = 0; trial_tables[t] != NULL; t++)
    for (const TrialOp *op = trial_tables[t]; op->op != NULL; op++)
      if (g_str_equal (op->op, name))
        return op;
  g_assert_not_reached ();
}

static const TrialOp *
pick_op (Trial *trial)
{
  static guint weight;
  guint at;

  if (weight == 0)
    weight = get_weight ();
  if (trial->deep && chance (trial, 88))
    return pick_deep_op (trial);
  at = pick (trial, weight);
  for (guint t = 0; trial_tables[t] != NULL; t++)
    for (const TrialOp *op = trial_tables[t]; op->op != NULL; at -= op->weight, op++)
      if (at < op->weight)
        return op;
  g_assert_not_reached ();
}

static void
grow_once (Trial *trial)
{
  Mark mark = { trial->values->len, trial->nodes->len, trial->work };
  const TrialOp *op = pick_op (trial);

  op->grow (trial, op->op);
  if (trial->qdq && !trial->failed)
    trial_requantize (trial);
  if (trial->failed)
    undo (trial, &mark);
}

static void
add_outputs (Trial *trial)
{
  for (guint v = 1; v < trial->values->len; v++)
    {
      const TrialValue *value = &g_array_index (trial->values, TrialValue, v);

      if (value->kind == TRIAL_RESULT && (value->n_uses == 0 || chance (trial, 10)))
        g_array_append_val (trial->outputs, v);
    }
}

static void
make_values (Trial *trial)
{
  for (guint v = 1; v < trial->values->len; v++)
    {
      TrialValue *value = &g_array_index (trial->values, TrialValue, v);

      if (value->kind <= TRIAL_CONSTANT && value->data == NULL)
        g_ptr_array_add (trial->memory, value->data = make_elements (value));
    }
}

/* Returns the probability, in percent, that the trial grows by another node. */
static guint
get_growth (const Trial *trial)
{
  return trial->large ? 70 : trial->deep ? 95 : 85;
}

/* Adds nodes and outputs. About one of a hundred graphs has large values. Such a graph can be split
 * for threads, and runs kernels that serve only large values. One of sixteen graphs can be fitted
 * into less memory. */
void
trial_grow (Trial *trial)
{
  guint tries = 0;

  if (chance (trial, 50))
    trial->opset += 1 + pick (trial, LAST_OPSET - trial->opset);
  trial->hostile = chance (trial, 25);
  trial->empty = chance (trial, 20);
  trial->large = chance (trial, 1);
  trial->qdq = chance (trial, 10);
  trial->deep = !trial->large && chance (trial, 6);
  if (trial->large)
    {
      trial->max_elements = 300000;
      trial->max_work = 40000000;
    }
  if (trial->deep)
    {
      trial->max_elements = 12000;
      trial->max_work = 3000000;
      trial->max_nodes = MIN (trial->max_nodes, 16);
      add_image (trial);
    }
  do
    grow_once (trial);
  while (++tries < 40 && trial->nodes->len < trial->max_nodes &&
         (trial->nodes->len == 0 || chance (trial, get_growth (trial))));
  add_outputs (trial);
  make_values (trial);
}
