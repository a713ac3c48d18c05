/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Splits every op along every dimension of its result with each of the five tilings. An accepted
 * split gives the same bits, interpreted and run, before and after a clean-up; a refused split has
 * a reason. The op is alone in its graph, or in a region that ends with a diamond. A region is
 * split with every depth, and with recomputed or carried halos. */

#include <string.h>

#include "../../../lib/ir/graph-private.h"
#include "graphs.h"
#include "interpret.h"
#include "random-ops.h"
#include "run-help.h"

#define N_OPTIONS 5

typedef struct
{
  guint accepted, refused;
} Count;

typedef struct
{
  guint32 seed;
  guint dim, option; /* dimension that is cut; index of the tiling, 0 to 4 */
  CleaveRecursion recursion;
  GRand *rand;
  CleaveGraph *graph;
  CleaveNode *node;
  GPtrArray *inputs, *expected;
  char *before;
} Trial;

static void
give_up (const Trial *trial, const char *what)
{
  g_autofree char *after = cleave_graph_print (trial->graph);

  ck_abort_msg (
      "{ .seed = %u, .dim = %u, .option = %u, .recursion = { .depth = %u, .halo = %d } }: "
      "%s\nbefore:\n%s\nafter:\n%s",
      trial->seed, trial->dim, trial->option, trial->recursion.depth, (int) trial->recursion.halo,
      what, trial->before, after);
}

static gint64
pick (const Trial *trial, gint64 min, gint64 max)
{
  return g_rand_int_range (trial->rand, (gint32) min, (gint32) max + 1);
}

static const CleaveShape *
shape_of (const CleaveNode *node)
{
  return &cleave_result_get_type (cleave_node_get_result (node, 0))->shape;
}

/* Each of the five functions below returns a tiling for a dimension of extent `n`. Each function
 * cuts another way: by number of chunks, one chunk size, a list of sizes, weights, or ranges. */

static CleaveTiling *
pick_num_chunks (const Trial *trial, const char *dims, gint64 n)
{
  gint64 k = pick (trial, MIN (n, 2), MIN (n, 4));

  return cleave_tiling_by_num_chunks (dims, &k, 1);
}

static CleaveTiling *
pick_chunk_size (const Trial *trial, const char *dims, gint64 n)
{
  gint64 size = pick (trial, 1, MAX (n - 1, 1));

  return cleave_tiling_by_chunk_size (dims, &size, 1);
}

static CleaveTiling *
pick_chunk_sizes (const Trial *trial, const char *dims, gint64 n)
{
  gint64 first = pick (trial, 1, MAX (n - 1, 1));
  const gint64 sizes[] = { first, -1 };
  const gint64 *const lists[] = { sizes };
  guint n_sizes = first < n ? 2 : 1;

  return cleave_tiling_by_chunk_sizes (dims, lists, &n_sizes, 1);
}

static CleaveTiling *
pick_chunk_weights (const Trial *trial, const char *dims, gint64 n)
{
  const double weights[] = { 1, 2.5, 0.3 };
  const double *const lists[] = { weights };
  gint64 k = pick (trial, 2, 3);
  guint n_weights = (guint) MIN (n, k);

  return cleave_tiling_by_chunk_weights (dims, lists, &n_weights, 1);
}

/* Returns the ranges of a grid in reverse order, some of them enlarged. */
static CleaveTiling *
pick_slice_ranges (const Trial *trial, const char *dims, gint64 n)
{
  g_autoptr (CleaveTiling) grid = pick_num_chunks (trial, dims, n);
  g_autoptr (GArray) ranges = cleave_tiling_get_ranges (grid, shape_of (trial->node), NULL, NULL);
  g_autofree CleaveRange *boxes = g_new (CleaveRange, ranges->len);

  for (guint i = 0; i < ranges->len; i++)
    {
      CleaveRange *box = &boxes[ranges->len - 1 - i];

      *box = g_array_index (ranges, CleaveRange, i);
      if (box->dim[trial->dim].end < n && pick (trial, 0, 1) == 0)
        box->dim[trial->dim].end++;
    }
  return cleave_tiling_by_slice_ranges (boxes, ranges->len);
}

static CleaveTiling *
pick_split (const Trial *trial)
{
  static CleaveTiling *(*const picks[N_OPTIONS]) (const Trial *, const char *, gint64) = {
    pick_num_chunks, pick_chunk_size, pick_chunk_sizes, pick_chunk_weights, pick_slice_ranges,
  };
  g_autofree char *dims = g_strdup_printf ("%u", trial->dim);

  return picks[trial->option](trial, dims, shape_of (trial->node)->dim[trial->dim]);
}

/* The functions below make the graphs that are split. */

static CleaveResult *
add_unary (CleaveGraph *graph, CleaveResult *x)
{
  static const char *const ops[] = { "Neg", "Not", "Identity" };
  CleaveNode *node = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (ops) && node == NULL; i++)
    node = cleave_graph_add (graph, cleave_op_lookup (ops[i]), NULL, &x, 1, 1, NULL, NULL);
  ck_assert_ptr_nonnull (node);
  return cleave_node_get_result (node, 0);
}

/* Inserts a node between each input and its readers. */
static void
add_producers (CleaveGraph *graph)
{
  for (guint i = 0; i < cleave_graph_get_n_inputs (graph); i++)
    {
      CleaveResult *x = cleave_graph_get_input (graph, i), *y = add_unary (graph, x);

      cleave_result_replace_uses (x, y);
      cleave_operand_set (cleave_node_get_operand (cleave_result_get_node (y), 0), x);
    }
}

/* Adds a diamond: a Neg of y, a Neg of a Neg of y, and a Concat or Max of both results. Returns its
 * last node. */
static CleaveNode *
add_diamond (CleaveGraph *graph, CleaveResult *y)
{
  CleaveResult *sides[] = { add_unary (graph, y), add_unary (graph, add_unary (graph, y)) };
  CleaveNode *join =
      cleave_graph_add (graph, cleave_op_lookup ("Max"), NULL, sides, 2, 1, NULL, NULL);
  CleaveAxisAttrs attrs = { .axis = 0 };

  if (join == NULL)
    join = cleave_graph_add (graph, cleave_op_lookup ("Concat"), NULL, sides, 2, 1, &attrs, NULL);
  return join;
}

static void
add_outputs (const Trial *trial, CleaveNode *node)
{
  for (guint r = 0; r < cleave_node_get_n_results (node); r++)
    {
      g_autofree char *name = g_strdup_printf ("out%u", cleave_graph_get_n_outputs (trial->graph));

      if (r == 0 || pick (trial, 0, 1) == 0)
        cleave_graph_add_output (trial->graph, name, cleave_node_get_result (node, r), NULL);
    }
}

static GPtrArray *
make_inputs (const Trial *trial)
{
  return cleave_random_inputs (trial->graph, trial->seed, trial->seed % 3 == 0);
}

/* Makes a graph of a node of the op. If `is_region`, adds a node before each input and a diamond
 * after the result, so that the op is inside a region. Returns FALSE if no diamond can read the
 * result. Also returns FALSE if the last node has no elements or no dimension `dim`. */
static gboolean
trial_init (Trial *trial, const CleaveRandomOp *op, gboolean is_region)
{
  trial->rand = g_rand_new_with_seed (trial->seed);
  trial->graph = cleave_graph_new (NULL);
  trial->node = op->make (trial->graph, trial->rand);
  add_outputs (trial, trial->node);
  if (is_region)
    {
      add_producers (trial->graph);
      trial->node = add_diamond (trial->graph, cleave_node_get_result (trial->node, 0));
      if (trial->node != NULL)
        add_outputs (trial, trial->node);
    }
  if (trial->node == NULL || trial->dim >= shape_of (trial->node)->rank ||
      cleave_shape_n_elements (shape_of (trial->node)) == 0)
    return FALSE;
  trial->before = cleave_graph_print (trial->graph);
  trial->inputs = make_inputs (trial);
  trial->expected = cleave_interpret (trial->graph, (CleaveTensor *const *) trial->inputs->pdata);
  return TRUE;
}

static void
trial_clear (Trial *trial)
{
  g_rand_free (trial->rand);
  cleave_graph_unref (trial->graph);
  g_free (trial->before);
  g_clear_pointer (&trial->inputs, g_ptr_array_unref);
  g_clear_pointer (&trial->expected, g_ptr_array_unref);
}

/* The functions below check the properties of a split. */

static void
check_outputs (const Trial *trial, const char *when)
{
  g_autoptr (GPtrArray) outputs = NULL;
  g_autoptr (GError) error = NULL;

  if (!cleave_graph_validate (trial->graph, &error))
    give_up (trial, error->message);
  outputs = cleave_interpret (trial->graph, (CleaveTensor *const *) trial->inputs->pdata);
  if (cleave_compare_outputs (trial->expected, outputs) >= 0)
    give_up (trial, when);
}

/* Compares the outputs of a program with the outputs of cleave_interpret(), which shares no code
 * with the runtime. The number of threads depends on the trial. */
static void
check_run (const Trial *trial)
{
  guint n_threads = 1u << (trial->seed + trial->option) % 3;
  g_autoptr (GPtrArray) outputs = run_graph (trial->graph, trial->inputs, n_threads);

  if (cleave_compare_outputs (trial->expected, outputs) >= 0)
    give_up (trial, "other bits when run");
}

static void
check_words (const Trial *trial, const CleaveSplitReport *report)
{
  for (guint i = 0; i < cleave_split_report_get_n_not_split (report); i++)
    {
      const CleaveUnsplitNode *stay = cleave_split_report_get_not_split (report, i);

      if (stay->message == NULL || *stay->message == '\0')
        give_up (trial, "not split, without a word");
    }
}

static void
count_op (const CleaveSplitReport *report, const CleaveOp *op, Count *count)
{
  for (guint i = 0; i < cleave_split_report_get_n_split (report); i++)
    count->accepted += cleave_split_report_get_split (report, i)->op == op;
  for (guint i = 0; i < cleave_split_report_get_n_not_split (report); i++)
    {
      const CleaveUnsplitNode *stay = cleave_split_report_get_not_split (report, i);

      count->refused += stay->op == op && (stay->reason == CLEAVE_NOT_SPLIT_REFUSED ||
                                           stay->reason == CLEAVE_NOT_SPLIT_UNSUPPORTED);
    }
}

static void
check_split (Trial *trial, const char *op, Count *count)
{
  g_autoptr (CleaveTiling) split = pick_split (trial);
  g_autoptr (CleaveSplitReport) report = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *after = NULL;

  report = cleave_split_node_recursively (trial->node, split, NULL, &trial->recursion, &error);
  if (report == NULL)
    give_up (trial, error->message);
  check_words (trial, report);
  count_op (report, cleave_op_lookup (op), count);
  if (cleave_split_report_get_n_split (report) == 0)
    {
      after = cleave_graph_print (trial->graph);
      if (strcmp (after, trial->before) != 0)
        give_up (trial, "nothing was split, but the graph changed");
      return;
    }
  check_outputs (trial, "other bits after the split");
  check_run (trial);
  if (!cleave_clean_up (trial->graph, NULL, &error))
    give_up (trial, error->message);
  check_outputs (trial, "other bits after cleaning up");
  if (trial->option == trial->seed % N_OPTIONS)
    check_run (trial);
}

/* The functions below loop over ops, dimensions and tilings. */

static void
try_alone (const CleaveRandomOp *op, guint32 seed, Count *count)
{
  for (guint dim = 0; dim < CLEAVE_MAX_RANK; dim++)
    for (guint option = 0; option < N_OPTIONS; option++)
      {
        Trial trial = { .seed = seed, .dim = dim, .option = option, .recursion = { .depth = 1 } };

        if (trial_init (&trial, op, FALSE))
          check_split (&trial, op->op, count);
        trial_clear (&trial);
      }
}

static void
try_in_region (const CleaveRandomOp *op, guint32 seed, Count *count)
{
  for (guint dim = 0; dim < CLEAVE_MAX_RANK; dim++)
    for (guint depth = 1; depth <= 6; depth++)
      {
        CleaveHalo halo = (CleaveHalo) ((seed + depth + dim) % (CLEAVE_HALO_CARRY_NARROW + 1));
        Trial trial = { .seed = seed,
                        .dim = dim,
                        .option = (seed + depth) % N_OPTIONS,
                        .recursion = { .depth = depth, .halo = halo } };

        if (trial_init (&trial, op, TRUE))
          check_split (&trial, op->op, count);
        trial_clear (&trial);
      }
}

typedef void (*Try) (const CleaveRandomOp *op, guint32 seed, Count *count);

static Count
try_op (const CleaveRandomOp *op, Try try, guint n_seeds)
{
  Count count = { 0 };

  for (guint32 seed = 0; seed < n_seeds; seed++)
    try (op, seed, &count);
  g_print ("%-22s %5u accepted %5u refused\n", op->op, count.accepted, count.refused);
  return count;
}

/* Returns whether the op may refuse some cuts of some nodes. All other ops must accept every cut.
 */
static gboolean
may_refuse (const char *op)
{
  /* clang-format off */
  static const char *const picky[] = {
    "AveragePool", "BlackmanWindow", "Col2Im", "Conv", "ConvInteger", "ConvTranspose", "CumSum", "DFT",
    "DeformConv", "DepthToSpace", "DynamicQuantizeLinear", "Flatten", "GRU", "HammingWindow", "HannWindow",
    "Hardmax", "InstanceNormalization", "LRN", "LSTM", "LayerNormalization", "LogSoftmax",
    "LpNormalization", "LpPool", "MaxPool", "MaxRoiPool", "MaxUnpool", "MeanVarianceNormalization", "MelWeightMatrix", "Pad",
    "QLinearConv", "RNN", "Range", "Reshape", "Resize", "ReverseSequence", "RoiAlign", "STFT",
    "ScatterElements", "ScatterND", "Shape", "Softmax", "SpaceToDepth", "Split",
    "Squeeze", "TfIdfVectorizer", "Tile", "TopK", NULL,
  };
  /* clang-format on */

  return g_strv_contains (picky, op);
}

static void
try_alone_all (const CleaveRandomOp *ops, guint n_seeds)
{
  for (const CleaveRandomOp *op = ops; op->op != NULL; op++)
    {
      Count count = try_op (op, try_alone, n_seeds);

      ck_assert_msg ((cleave_op_lookup (op->op)->maps != NULL) == (count.accepted > 0) &&
                         may_refuse (op->op) == (count.refused > 0),
                     "%s: %u accepted, %u refused", op->op, count.accepted, count.refused);
    }
}

/* Splits each op inside a region. A region includes views, but no nodes without operands, such as
 * weights. */
static void
try_in_region_all (const CleaveRandomOp *ops, guint n_seeds)
{
  for (const CleaveRandomOp *op = ops; op->op != NULL; op++)
    {
      Count count = try_op (op, try_in_region, n_seeds);
      const CleaveOp *record = cleave_op_lookup (op->op);

      ck_assert_msg (record->maps == NULL || record->min_operands == 0 ||
                         (record->flags & CLEAVE_OP_VIEW) != 0 || count.accepted > 0,
                     "%s: %u accepted, %u refused", op->op, count.accepted, count.refused);
    }
}

START_TEST (convolutions_pools_and_products) { try_alone_all (cleave_random_ops_conv, 12); }
END_TEST

START_TEST (moved_data) { try_alone_all (cleave_random_ops_move, 8); }
END_TEST

START_TEST (indexed_data) { try_alone_all (cleave_random_ops_index, 8); }
END_TEST

START_TEST (signals_and_samples) { try_alone_all (cleave_random_ops_signal, 6); }
END_TEST

START_TEST (elementwise_ops) { try_alone_all (cleave_random_ops_elementwise, 6); }
END_TEST

START_TEST (ops_along_axes) { try_alone_all (cleave_random_ops_axes, 6); }
END_TEST

START_TEST (quantized_ops) { try_alone_all (cleave_random_ops_quantized, 8); }
END_TEST

START_TEST (convolutions_pools_and_products_in_regions)
{
  try_in_region_all (cleave_random_ops_conv, 8);
}
END_TEST

START_TEST (moved_data_in_regions) { try_in_region_all (cleave_random_ops_move, 8); }
END_TEST

START_TEST (indexed_data_in_regions) { try_in_region_all (cleave_random_ops_index, 8); }
END_TEST

START_TEST (signals_and_samples_in_regions) { try_in_region_all (cleave_random_ops_signal, 6); }
END_TEST

START_TEST (elementwise_ops_in_regions) { try_in_region_all (cleave_random_ops_elementwise, 6); }
END_TEST

START_TEST (ops_along_axes_in_regions) { try_in_region_all (cleave_random_ops_axes, 6); }
END_TEST

START_TEST (quantized_ops_in_regions) { try_in_region_all (cleave_random_ops_quantized, 8); }
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "alone", convolutions_pools_and_products, moved_data, indexed_data,
                   signals_and_samples, elementwise_ops, ops_along_axes, quantized_ops, NULL);
  cleave_add_case (suite, "region", convolutions_pools_and_products_in_regions,
                   moved_data_in_regions, signals_and_samples_in_regions, indexed_data_in_regions,
                   elementwise_ops_in_regions, ops_along_axes_in_regions, quantized_ops_in_regions,
                   NULL);
}

CLEAVE_TEST_SUITE ("split-ops", add_tests)
