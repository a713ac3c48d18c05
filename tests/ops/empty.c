/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Values without elements (empty values): a node that reads or computes an empty value accepts any
 * split. After the split, all values have the same shapes in the graph, in a run, and in the
 * exported model. */

#include "empty-ops.h"
#include "graphs.h"
#include "interpret.h"
#include "run-help.h"

#include "../../lib/ir/graph-private.h"

#include <string.h>

#define N_SEEDS 25
/* The number of nodes with an empty value after which an op's trials end. */
#define ENOUGH (CLEAVE_SANITIZED ? 4 : N_SEEDS)

typedef struct
{
  const char *op;
  guint32 seed;
  CleaveGraph *graph;
  CleaveNode *node;
  GPtrArray *inputs, *expected;
} Trial;

static void
give_up (const Trial *trial, const char *what)
{
  g_autofree char *dump = cleave_graph_print (trial->graph);

  ck_abort_msg ("%s, seed %u: %s\n%s", trial->op, trial->seed, what, dump);
}

static gboolean
trial_init (Trial *trial, const CleaveRandomOp *op, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);

  *trial = (Trial){ .op = op->op, .seed = seed, .graph = cleave_graph_new (NULL) };
  trial->node = cleave_random_op_emptied (op, trial->graph, rand);
  if (trial->node == NULL)
    return FALSE;
  for (guint r = 0; r < trial->node->n_results; r++)
    {
      g_autofree char *name = g_strdup_printf ("out%u", r);

      cleave_graph_add_output (trial->graph, name, &trial->node->results[r], NULL);
    }
  trial->inputs = cleave_random_inputs (trial->graph, seed, FALSE);
  trial->expected = cleave_interpret (trial->graph, (CleaveTensor *const *) trial->inputs->pdata);
  return TRUE;
}

static void
trial_clear (Trial *trial)
{
  cleave_graph_unref (trial->graph);
  g_clear_pointer (&trial->inputs, g_ptr_array_unref);
  g_clear_pointer (&trial->expected, g_ptr_array_unref);
}

static void
check_run (const Trial *trial, const CleaveGraph *graph, const char *when)
{
  g_autoptr (GPtrArray) outputs = run_graph (graph, trial->inputs, 2);
  g_autofree char *what = g_strdup_printf ("other outputs %s", when);

  if (cleave_compare_outputs (trial->expected, outputs) >= 0)
    give_up (trial, what);
}

/* Asserts that an exported model can be read again. */
static void
check_written (const Trial *trial)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = cleave_onnx_serialize (trial->graph, &error);
  g_autoptr (CleaveGraph) graph =
      bytes == NULL ? NULL : cleave_onnx_parse (bytes, NULL, NULL, &error);

  if (bytes == NULL && strstr (error->message, "has no form in") != NULL)
    return;
  if (graph == NULL)
    give_up (trial, error->message);
  check_run (trial, graph, "as a model");
}

static void
split (const Trial *trial, guint32 seed, guint *n_split)
{
  const CleaveShape *shape = &trial->node->results[0].type.shape;
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  gint64 chunks[] = { 2, 2 };
  guint d = shape->rank < 2 ? 0 : (guint) g_rand_int_range (rand, 0, (gint32) shape->rank - 1);
  g_autofree char *dims = shape->rank < 2 || g_rand_boolean (rand)
                              ? g_strdup_printf ("%u", d)
                              : g_strdup_printf ("%u,%u", d, d + 1);
  g_autoptr (CleaveTiling) split =
      cleave_tiling_by_num_chunks (dims, chunks, g_strrstr (dims, ",") == NULL ? 1 : 2);
  CleaveRecursion recursion = { .depth = 3, .halo = (CleaveHalo) (seed % 3) };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveSplitReport) report =
      cleave_split_node_recursively (trial->node, split, NULL, &recursion, &error);

  *n_split += report != NULL && cleave_split_report_get_n_split (report) > 0;
}

/* Splits random nodes of the op that have an empty value (a value without elements). Returns FALSE
 * if no random node has an empty value. */
static gboolean
try_op (const CleaveRandomOp *op)
{
  guint n_made = 0, n_split = 0;

  for (guint32 seed = 0; seed < N_SEEDS && n_made < ENOUGH; seed++)
    {
      Trial trial;
      g_autoptr (GError) error = NULL;

      if (trial_init (&trial, op, seed))
        {
          n_made++;
          check_run (&trial, trial.graph, "as it is");
          split (&trial, seed, &n_split);
          if (!cleave_graph_validate (trial.graph, &error))
            give_up (&trial, error->message);
          check_run (&trial, trial.graph, "after the split");
          check_written (&trial);
        }
      trial_clear (&trial);
    }
  g_print ("%-22s %2u empty, %2u split\n", op->op, n_made, n_split);
  return n_made > 0;
}

/* Returns whether no random node of the op has an empty value. */
static gboolean
is_never_empty (const char *op)
{
  static const char *const names[] = { "Assemble", "Range", NULL };

  return g_strv_contains (names, op);
}

START_TEST (a_split_keeps_the_shapes)
{
  for (const CleaveRandomOp *op = cleave_random_op_lists[_i]; op->op != NULL; op++)
    ck_assert_msg (try_op (op) != is_never_empty (op->op), "%s: empty or not", op->op);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = tcase_create ("split");
  gint n = 0;

  while (cleave_random_op_lists[n] != NULL)
    n++;
  tcase_set_timeout (tcase, 60);
  tcase_add_loop_test (tcase, a_split_keeps_the_shapes, 0, n);
  suite_add_tcase (suite, tcase);
}

CLEAVE_TEST_SUITE ("empty", add_tests)
