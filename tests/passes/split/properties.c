/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The central property: a graph computes the same bits before the split, after the split, and after
 * a clean-up. This is true for every graph, every tiling, every halo policy, and every depth of a
 * recursive split. */

#include "graphs.h"
#include "interpret.h"
#include "run-help.h"
#include "test.h"

#include "../../../lib/ir/graph-private.h"

#include <string.h>

#define N_SEEDS CLEAVE_TRIALS (1000)

typedef struct
{
  guint split, not_split;
} Count;

static Count *
count_of (GHashTable *counts, const CleaveOp *op)
{
  Count *count = g_hash_table_lookup (counts, op);

  if (count == NULL)
    {
      count = g_new0 (Count, 1);
      g_hash_table_insert (counts, (gpointer) op, count);
    }
  return count;
}

/* A case of the test: one graph and one request. */
typedef struct
{
  guint32 seed;
  GRand *rand;
  CleaveGraph *graph;
  GPtrArray *inputs, *expected;
  char *before;
  GString *request; /* description of the requested split, for messages */
} Trial;

static void
give_up (const Trial *trial, const char *what)
{
  g_autofree char *after = cleave_graph_print (trial->graph);

  ck_abort_msg ("seed %u: %s\n%s\nbefore:\n%s\nafter:\n%s", trial->seed, what, trial->request->str,
                trial->before, after);
}

static gint64
pick (const Trial *trial, gint64 min, gint64 max)
{
  return g_rand_int_range (trial->rand, (gint32) min, (gint32) max + 1);
}

static void
check_outputs (const Trial *trial, const char *when)
{
  g_autoptr (GPtrArray) outputs = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *what = NULL;
  int differs;

  if (!cleave_graph_validate (trial->graph, &error))
    give_up (trial, error->message);
  outputs = cleave_interpret (trial->graph, (CleaveTensor *const *) trial->inputs->pdata);
  differs = cleave_compare_outputs (trial->expected, outputs);
  if (differs < 0)
    return;
  what = g_strdup_printf ("output %d differs %s", differs, when);
  give_up (trial, what);
}

/* Returns a node that is neither an input nor a constant; NULL if there is none. */
static CleaveNode *
pick_node (const Trial *trial)
{
  g_autoptr (GPtrArray) nodes = g_ptr_array_new ();

  for (CleaveNode *node = cleave_graph_get_first_node (trial->graph); node != NULL;
       node = cleave_node_get_next (node))
    if (!cleave_node_is_input (node) && cleave_node_get_constant (node) == NULL)
      g_ptr_array_add (nodes, node);
  return nodes->len == 0 ? NULL
                         : g_ptr_array_index (nodes, pick (trial, 0, (gint64) nodes->len - 1));
}

/* Returns the ranges of a grid in random order, some of them enlarged. */
static CleaveTiling *
pick_boxes (const Trial *trial, const CleaveShape *shape, CleaveTiling *grid)
{
  g_autoptr (GArray) ranges = cleave_tiling_get_ranges (grid, shape, NULL, NULL);

  for (guint i = 0; i < ranges->len; i++)
    {
      CleaveRange *range = &g_array_index (ranges, CleaveRange, i);
      guint d = (guint) pick (trial, 0, (gint64) shape->rank - 1),
            j = (guint) pick (trial, 0, (gint64) ranges->len - 1);
      CleaveRange other;

      if (range->dim[d].end < shape->dim[d] && pick (trial, 0, 1) == 0)
        range->dim[d].end++;
      other = *range;
      *range = g_array_index (ranges, CleaveRange, j);
      g_array_index (ranges, CleaveRange, j) = other;
    }
  return cleave_tiling_by_slice_ranges ((const CleaveRange *) ranges->data, ranges->len);
}

static CleaveTiling *
pick_split (const Trial *trial, const CleaveNode *node)
{
  const CleaveShape *shape = &cleave_result_get_type (cleave_node_get_result (node, 0))->shape;
  guint a = (guint) pick (trial, 0, (gint64) shape->rank - 1);
  guint b = (guint) pick (trial, 0, (gint64) shape->rank - 1);
  g_autofree char *dims = a == b ? g_strdup_printf ("%u", a) : g_strdup_printf ("%u,%u", a, b);
  guint n = a == b ? 1 : 2;
  const gint64 counts[] = { pick (trial, 1, MIN (shape->dim[a], 4)),
                            pick (trial, 1, MIN (shape->dim[b], 3)) };
  const gint64 sizes[] = { pick (trial, 1, shape->dim[a]), pick (trial, 1, shape->dim[b]) };
  const double weights[] = { 1, 2.5, 0.3 };
  const double *const lists[] = { weights, weights };
  const guint n_weights[] = { (guint) MIN (shape->dim[a], 3), (guint) MIN (shape->dim[b], 2) };
  const gint64 parts[2][2] = { { sizes[0], -1 }, { sizes[1], -1 } };
  const gint64 *const exact[] = { parts[0], parts[1] };
  const guint n_exact[] = { sizes[0] < shape->dim[a] ? 2 : 1, sizes[1] < shape->dim[b] ? 2 : 1 };
  g_autoptr (CleaveTiling) grid = cleave_tiling_by_num_chunks (dims, counts, n);

  g_string_append_printf (trial->request, "%s, dims %s, counts %d %d, sizes %d %d",
                          cleave_node_get_name (node), dims, (int) counts[0], (int) counts[1],
                          (int) sizes[0], (int) sizes[1]);
  switch (pick (trial, 0, 4))
    {
    case 3:
      return cleave_tiling_by_chunk_sizes (dims, exact, n_exact, n);
    case 0:
      return cleave_tiling_by_chunk_size (dims, sizes, n);
    case 1:
      return cleave_tiling_by_chunk_weights (dims, lists, n_weights, n);
    case 2:
      return pick_boxes (trial, shape, grid);
    default:
      return g_steal_pointer (&grid);
    }
}

static void
trial_init (Trial *trial, guint32 seed)
{
  *trial =
      (Trial){ .seed = seed, .rand = g_rand_new_with_seed (seed), .request = g_string_new (NULL) };
  trial->graph = cleave_random_graph (seed, (guint) pick (trial, 4, 16));
  trial->before = cleave_graph_print (trial->graph);
  trial->inputs = cleave_random_inputs (trial->graph, seed, seed % 3 == 0);
  trial->expected = cleave_interpret (trial->graph, (CleaveTensor *const *) trial->inputs->pdata);
}

static void
trial_clear (Trial *trial)
{
  g_rand_free (trial->rand);
  g_string_free (trial->request, TRUE);
  g_ptr_array_unref (trial->inputs);
  g_ptr_array_unref (trial->expected);
  cleave_graph_unref (trial->graph);
  g_free (trial->before);
}

static void
count_report (const Trial *trial, const CleaveSplitReport *report, GHashTable *counts)
{
  for (guint i = 0; i < cleave_split_report_get_n_split (report); i++)
    {
      const CleaveSplitNode *split = cleave_split_report_get_split (report, i);

      count_of (counts, split->op)->split++;
      for (guint p = 0; p < split->n_pieces; p++)
        if (strcmp (cleave_node_get_name (split->pieces[p]), split->piece_names[p]) != 0)
          give_up (trial, "the report names another piece");
    }
  for (guint i = 0; i < cleave_split_report_get_n_not_split (report); i++)
    {
      const CleaveUnsplitNode *stay = cleave_split_report_get_not_split (report, i);

      count_of (counts, stay->op)->not_split++;
      if (stay->message == NULL || *stay->message == '\0')
        give_up (trial, "a node was not split without a word");
    }
}

static void
check_unchanged (const Trial *trial)
{
  g_autofree char *after = cleave_graph_print (trial->graph);

  if (strcmp (after, trial->before) != 0)
    give_up (trial, "nothing was split, but the graph changed");
}

/* Splits one to three nodes in one call. */
static CleaveSplitReport *
split_some (const Trial *trial, const CleaveRecursion *recursion, GError **error)
{
  static const char *const halos[] = { "recompute", "carry", "exchange", "carry-narrow" };
  g_autoptr (GPtrArray) splits =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tiling_unref);
  CleaveSplitRequest requests[3];
  guint n = 0, wanted = pick (trial, 0, 3) == 0 ? 3 : 1;

  while (n < wanted)
    {
      CleaveNode *node = pick_node (trial);
      CleaveTiling *split = pick_split (trial, node);
      gboolean again = FALSE;

      g_ptr_array_add (splits, split);
      for (guint i = 0; i < n; i++)
        again |= requests[i].node == node;
      if (again)
        break;
      requests[n++] = (CleaveSplitRequest){ node, split, NULL };
    }
  g_string_append_printf (trial->request, "; %u of them, depth %u, %s, %u strips per band%s", n,
                          recursion->depth, halos[recursion->halo], recursion->strips_per_band,
                          recursion->single_use ? ", single use" : "");
  return cleave_split_nodes_recursively (trial->graph, requests, n, recursion, error);
}

static void
try_graph (guint32 seed, CleaveHalo halo, GHashTable *counts)
{
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autoptr (GError) error = NULL;
  CleaveRecursion recursion = { .halo = halo };
  Trial trial;

  trial_init (&trial, seed);
  if (pick_node (&trial) == NULL)
    {
      trial_clear (&trial);
      return;
    }
  recursion.depth = (guint) pick (&trial, 1, 6);
  recursion.strips_per_band = (guint) pick (&trial, 0, 2);
  recursion.single_use = pick (&trial, 0, 5) == 0;
  report = split_some (&trial, &recursion, &error);
  if (report == NULL)
    give_up (&trial, error->message);
  count_report (&trial, report, counts);
  if (cleave_split_report_get_n_split (report) == 0)
    check_unchanged (&trial);
  check_outputs (&trial, "after the split");
  if (!cleave_clean_up (trial.graph, NULL, &error))
    give_up (&trial, error->message);
  check_outputs (&trial, "after cleaning up");
  if (seed % 10 == 0)
    run_assert_same (trial.graph, seed);
  trial_clear (&trial);
}

static void
try_graphs (CleaveHalo halo)
{
  static const char *const can_refuse[] = { "Conv",    "MaxPool", "Slice", "Concat",
                                            "Reshape", "Split",   NULL };
  g_autoptr (GHashTable) counts = g_hash_table_new_full (NULL, NULL, NULL, g_free);

  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    try_graph (seed, halo, counts);
  for (guint i = 0; can_refuse[i] != NULL; i++)
    {
      const Count *count = count_of (counts, cleave_op_lookup (can_refuse[i]));

      ck_assert_msg (count->split > N_SEEDS / 50 && count->not_split > 0, "%s: %u split, %u not",
                     can_refuse[i], count->split, count->not_split);
    }
}

START_TEST (recomputing_gives_the_same_bits) { try_graphs (CLEAVE_HALO_RECOMPUTE); }
END_TEST

START_TEST (carrying_gives_the_same_bits) { try_graphs (CLEAVE_HALO_CARRY); }
END_TEST

START_TEST (exchanging_gives_the_same_bits) { try_graphs (CLEAVE_HALO_EXCHANGE); }
END_TEST

START_TEST (carrying_narrow_values_gives_the_same_bits) { try_graphs (CLEAVE_HALO_CARRY_NARROW); }
END_TEST

static gboolean
never (const CleavePlan *plan, gpointer data, GString *why)
{
  g_string_append (why, "never");
  ++*(guint *) data;
  return FALSE;
}

START_TEST (planning_changes_nothing)
{
  guint n_asked = 0;

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (300); seed++)
    {
      CleaveConstraint constraint = { .predicate = never, .data = &n_asked };
      CleaveRecursion recursion = { .depth = 4 };
      g_autoptr (CleaveSplitReport) report = NULL;
      g_autoptr (CleaveTiling) split = NULL;
      CleaveNode *node;
      Trial trial;

      trial_init (&trial, seed);
      node = pick_node (&trial);
      if (node != NULL)
        {
          split = pick_split (&trial, node);
          report = cleave_split_node_recursively (node, split, &constraint, &recursion, NULL);
          ck_assert_ptr_nonnull (report);
          ck_assert_uint_eq (cleave_split_report_get_n_split (report), 0);
          check_unchanged (&trial);
        }
      trial_clear (&trial);
    }
  ck_assert_uint_gt (n_asked, CLEAVE_TRIALS (100));
}
END_TEST

/* The functions below test that no pass undoes a split by merging pieces. */

static gboolean
computes (const CleaveNode *node)
{
  return !cleave_node_is_input (node) && cleave_node_get_constant (node) == NULL &&
         (cleave_node_get_op (node)->flags &
          (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN | CLEAVE_OP_ROW_MAJOR)) == 0;
}

/* Returns the number of nodes for each pair of an op and a type of result 0. Views and joins are
 * not counted. */
static GHashTable *
count_computing (const CleaveGraph *graph)
{
  GHashTable *counts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);

  for (CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL;
       node = cleave_node_get_next (node))
    {
      const CleaveTensorType *type = cleave_result_get_type (cleave_node_get_result (node, 0));
      g_autofree char *text = cleave_tensor_type_to_string (type);
      char *key = g_strdup_printf ("%s %s", cleave_op_get_name (cleave_node_get_op (node)), text);
      guint n = GPOINTER_TO_UINT (g_hash_table_lookup (counts, key));

      if (computes (node))
        g_hash_table_replace (counts, key, GUINT_TO_POINTER (n + 1));
      else
        g_free (key);
    }
  return counts;
}

/* Runs each pass alone until the pass changes nothing. The first of these passes is random. Then
 * runs all passes in turn until none of them changes the graph. */
static void
run_all_passes (const Trial *trial)
{
  static const CleavePass passes[] = {
    { "merge-equal", cleave_pass_merge_equal, NULL },
    { "fold-views", cleave_pass_fold_views, NULL },
    { "remove-dead", cleave_pass_remove_dead, NULL },
    { "forward-slices", cleave_pass_forward_slices, NULL },
    { "fold-constants", cleave_pass_fold_constants, NULL },
    { "join-elementwise", cleave_pass_join_elementwise, NULL },
  };
  const guint n = G_N_ELEMENTS (passes);
  guint first = (guint) pick (trial, 0, (gint64) n - 1);
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < n; i++)
    cleave_passes_run_to_end (trial->graph, &passes[(first + i) % n], 1, NULL, &error);
  cleave_passes_run_to_end (trial->graph, passes, n, NULL, &error);
  if (error != NULL)
    give_up (trial, error->message);
}

/* Compares the numbers of nodes by op and type with `before`, the numbers before the passes.
 * Asserts that no number is larger now. If a pass merged pieces, it would make a node of a larger
 * type, and the number for that type would be larger. */
static void
check_no_new_nodes (const Trial *trial, GHashTable *before)
{
  g_autoptr (GHashTable) after = count_computing (trial->graph);
  GHashTableIter iter;
  gpointer key, n;

  g_hash_table_iter_init (&iter, after);
  while (g_hash_table_iter_next (&iter, &key, &n))
    if (GPOINTER_TO_UINT (n) > GPOINTER_TO_UINT (g_hash_table_lookup (before, key)))
      give_up (trial, key);
}

START_TEST (no_pass_merges_pieces)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (400); seed++)
    {
      CleaveRecursion recursion = { .depth = 1 + seed % 6,
                                    .halo = seed % 2 ? CLEAVE_HALO_CARRY : CLEAVE_HALO_RECOMPUTE };
      g_autoptr (CleaveSplitReport) report = NULL;
      g_autoptr (GHashTable) before = NULL;
      Trial trial;

      trial_init (&trial, seed);
      /* The pass join-elementwise merges parallel pieces of element-wise nodes that the model has
       * before the split. Passes after the split must not merge the pieces of the split. */
      cleave_pass_join_elementwise (trial.graph, NULL, NULL, NULL);
      cleave_clean_up (trial.graph, NULL, NULL);
      if (pick_node (&trial) != NULL)
        {
          report = split_some (&trial, &recursion, NULL);
          before = count_computing (trial.graph);
          run_all_passes (&trial);
          check_no_new_nodes (&trial, before);
          check_outputs (&trial, "after all passes");
        }
      trial_clear (&trial);
    }
}
END_TEST

static guint
count_pieces (const CleaveSplitReport *report)
{
  guint n = 0;

  for (guint i = 0; i < cleave_split_report_get_n_split (report); i++)
    n += cleave_split_report_get_split (report, i)->n_pieces;
  return n;
}

/* Splits the example graph along each dimension, so that all pieces of its three nodes differ. No
 * pass may remove or merge a piece. */
START_TEST (all_pieces_outlive_all_passes)
{
  for (guint i = 0; i < 4 * 4 * 2; i++)
    {
      gint64 k = 1 + i / 4 % 4;
      CleaveRecursion recursion = { .depth = 3, .halo = (CleaveHalo) (i / 16) };
      Trial trial = { .seed = i, .rand = g_rand_new_with_seed (i), .graph = cleave_test_figure () };
      g_autofree char *dims = g_strdup_printf ("%u", i % 4);
      g_autoptr (CleaveTiling) split = cleave_tiling_by_num_chunks (dims, &k, 1);
      g_autoptr (CleaveSplitReport) report = cleave_split_node_recursively (
          cleave_graph_find_node (trial.graph, "pool"), split, NULL, &recursion, NULL);
      guint n = count_pieces (report) + 3 - cleave_split_report_get_n_split (report);

      ck_assert_uint_eq (cleave_split_report_get_n_split (report), k == 1 ? 0 : 3);
      run_all_passes (&trial);
      ck_assert_uint_eq (cleave_count_nodes (trial.graph, "Conv") +
                             cleave_count_nodes (trial.graph, "Relu") +
                             cleave_count_nodes (trial.graph, "MaxPool"),
                         n);
      g_rand_free (trial.rand);
      cleave_graph_unref (trial.graph);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "bits", recomputing_gives_the_same_bits, carrying_gives_the_same_bits,
                   exchanging_gives_the_same_bits, carrying_narrow_values_gives_the_same_bits,
                   NULL);
  cleave_add_case (suite, "plan", planning_changes_nothing, NULL);
  cleave_add_case (suite, "passes", no_pass_merges_pieces, all_pieces_outlive_all_passes, NULL);
}

CLEAVE_TEST_SUITE ("split-properties", add_tests)
