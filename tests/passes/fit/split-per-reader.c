/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The rewrite of the fit that splits a value per reader: nodes that read parts of a value get the
 * part from a node of their own. */

#include "../../../passes/fit/split-per-reader.h"

#include "../../../passes/fit/order.h"

#include <cleave/cleave-fit.h>

#include "graphs.h"
#include "run-help.h"

#define N_SEEDS CLEAVE_TRIALS (200)

static CleaveGraph *
parse (const char *text)
{
  g_autoptr (GError) error = NULL;
  CleaveGraph *graph = cleave_graph_parse (text, NULL, &error);

  if (graph == NULL)
    ck_abort_msg ("%s\n%s", error->message, text);
  return graph;
}

/* One product computes queries, keys and values, which a Split then separates. */
#define PACKED                                                                                     \
  "graph packed\n%x = Input : float32 1x64x16\n%w = Constant seed=1 : float32 16x48\n"             \
  "%b = Constant seed=2 : float32 48\n%n = Softmax %x axis=-1\n%m = MatMul %n, %w\n"               \
  "%a = Add %m, %b\n%r = Reshape %a shape=1,64,3,2,8\n%t = Transpose %r perm=2,0,3,1,4\n"          \
  "%q, %k, %v = Split %t axis=0 split=1,1,1\n%kt = Transpose %k perm=0,1,2,4,3\n"                  \
  "%s = MatMul %q, %kt\n%p = Softmax %s axis=-1\n%y = MatMul %p, %v\noutput %y\n"

START_TEST (columns_of_a_product_are_computed_separately)
{
  g_autoptr (CleaveGraph) graph = parse (PACKED);

  ck_assert (cleave_fit_reads_cut (graph, 1, NULL));
  cleave_assert_dump (graph, "%0 = Input : float32 1x64x16  # x\n"
                             "%1 = Softmax %0 axis=2 : float32 1x64x16  # n\n"
                             "%2 = Constant : float32 16x16  # m.0.B\n"
                             "%3 = MatMul %1, %2 : float32 1x64x16  # m.0\n"
                             "%4 = Constant : float32 16x16  # m.1.B\n"
                             "%5 = MatMul %1, %4 : float32 1x64x16  # m.1\n"
                             "%6 = Constant : float32 16x16  # m.2.B\n"
                             "%7 = MatMul %1, %6 : float32 1x64x16  # m.2\n"
                             "%8 = Constant : float32 16  # a.0.B\n"
                             "%9 = Add %3, %8 : float32 1x64x16  # a.0\n"
                             "%10 = Constant : float32 16  # a.1.B\n"
                             "%11 = Add %5, %10 : float32 1x64x16  # a.1\n"
                             "%12 = Constant : float32 16  # a.2.B\n"
                             "%13 = Add %7, %12 : float32 1x64x16  # a.2\n"
                             "%14 = Reshape %9 shape=1,64,1,2,8 : float32 1x64x1x2x8  # r.0\n"
                             "%15 = Reshape %11 shape=1,64,1,2,8 : float32 1x64x1x2x8  # r.1\n"
                             "%16 = Reshape %13 shape=1,64,1,2,8 : float32 1x64x1x2x8  # r.2\n"
                             "%17 = Transpose %14 perm=2,0,3,1,4 : float32 1x1x2x64x8  # t.0\n"
                             "%18 = Transpose %15 perm=2,0,3,1,4 : float32 1x1x2x64x8  # t.1\n"
                             "%19 = Transpose %18 perm=0,1,2,4,3 : float32 1x1x2x8x64  # kt\n"
                             "%20 = MatMul %17, %19 : float32 1x1x2x64x64  # s\n"
                             "%21 = Softmax %20 axis=4 : float32 1x1x2x64x64  # p\n"
                             "%22 = Transpose %16 perm=2,0,3,1,4 : float32 1x1x2x64x8  # t.2\n"
                             "%23 = MatMul %21, %22 : float32 1x1x2x64x8  # y\n"
                             "output %23  # y\n");
}
END_TEST

/* Three Gathers read row 0, row 1, and rows 2 and 3 of %e, which is computed from the smaller %x.
 */
#define STEPS                                                                                      \
  "graph steps\n%x = Input : float32 4x1x16\n%c = Constant seed=1 : float32 64x1\n"                \
  "%m = Mul %x, %c\n%e = Tanh %m\n%i0 = Constant value=0 : int64 scalar\n"                         \
  "%i1 = Constant value=-3 : int64 scalar\n%i2 = Constant value=2,3 : int32 2\n"                   \
  "%g0 = Gather %e, %i0 axis=0\n%g1 = Gather %e, %i1 axis=0\n%g2 = Gather %e, %i2 axis=0\n"        \
  "%a = Add %g0, %g1\n%y = Add %a, %g2\noutput %y\n"

START_TEST (rows_are_computed_for_each_reader)
{
  g_autoptr (CleaveGraph) graph = parse (STEPS);

  ck_assert (cleave_fit_reads_cut (graph, 1, NULL));
  cleave_assert_dump (graph, "%0 = Input : float32 4x1x16  # x\n"
                             "%1 = Constant : float32 64x1  # c\n"
                             "%2 = Constant : int64 scalar  # i0\n"
                             "%3 = Constant : int64 scalar  # i1\n"
                             "%4 = Constant : int32 2  # i2\n"
                             "%5 = Slice %0 0:1,0:1,0:16 : float32 1x1x16  # m.0.A\n"
                             "%6 = Mul %5, %1 : float32 1x64x16  # m.0\n"
                             "%7 = Slice %0 1:2,0:1,0:16 : float32 1x1x16  # m.1.A\n"
                             "%8 = Mul %7, %1 : float32 1x64x16  # m.1\n"
                             "%9 = Slice %0 2:4,0:1,0:16 : float32 2x1x16  # m.2.A\n"
                             "%10 = Mul %9, %1 : float32 2x64x16  # m.2\n"
                             "%11 = Tanh %6 : float32 1x64x16  # e.0\n"
                             "%12 = Reshape %11 shape=64,16 : float32 64x16  # g0\n"
                             "%13 = Tanh %8 : float32 1x64x16  # e.1\n"
                             "%14 = Reshape %13 shape=64,16 : float32 64x16  # g1\n"
                             "%15 = Add %12, %14 : float32 64x16  # a\n"
                             "%16 = Tanh %10 : float32 2x64x16  # e.2\n"
                             "%17 = Add %15, %16 : float32 2x64x16  # y\n"
                             "output %17  # y\n");
}
END_TEST

/* Returns the text of a graph in which each row of %v has a reader of its own. `made` has the lines
 * that compute %v. */
static char *
print_rows (guint n_rows, const char *made)
{
  GString *text = g_string_new ("graph rows\n");

  g_string_append_printf (text, "%%x = Input : float32 %ux16\n%s", n_rows, made);
  for (guint i = 0; i < n_rows; i++)
    g_string_append_printf (text,
                            "%%s%u = Slice %%v %u:%u,0:64\n%%y%u = Relu %%s%u\noutput %%y%u\n", i,
                            i, i + 1, i, i, i);
  return g_string_free (text, FALSE);
}

static guint
count (const CleaveGraph *graph, const char *op)
{
  guint n = 0;

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    n += g_str_equal (node->op->name, op);
  return n;
}

/* A value is computed in at most 64 parts. Adjacent rows are computed together. */
START_TEST (the_number_of_parts_is_limited)
{
  g_autofree char *plain = print_rows (100, "%h = Slice %x 0:100,0:1\n%c = Constant seed=1 : "
                                            "float32 64\n%v = Mul %h, %c\n");
  g_autofree char *product = print_rows (100, "%w = Constant seed=1 : float32 16x64\n"
                                              "%v = MatMul %x, %w\n");
  g_autoptr (CleaveGraph) rows = parse (plain), products = parse (product);

  ck_assert (cleave_fit_reads_cut (rows, 1, NULL));
  ck_assert_uint_eq (count (rows, "Mul"), 64);
  ck_assert_uint_eq (count (rows, "Assemble"), 0);
  run_assert_same (rows, 1);
  ck_assert (cleave_fit_reads_cut (products, 1, NULL));
  ck_assert_uint_eq (count (products, "MatMul"), 64);
  run_assert_same (products, 1);
}
END_TEST

#define HEAD                                                                                       \
  "graph g\n%x = Input : float32 8x16\n%w = Constant seed=1 : float32 16x64\n%p = MatMul %x, %w\n"

/* Graphs that the rewrite leaves unchanged, in groups by the reason. */
static const char *const whole[] = {
  /* not split: another reader, or an output, needs the whole value */
  HEAD "%a, %b = Split %p axis=1 split=32,32\n%r = Relu %p\noutput %a\noutput %b\noutput %r\n",
  HEAD "%a, %b = Split %p axis=1 split=32,32\n%y = Add %a, %b\noutput %y\noutput %p\n",
  HEAD "%a = Slice %p 0:8,0:32\n%b = Slice %p 0:8,0:64\noutput %a\noutput %b\n",
  /* not split: the parts overlap, have steps, are cut in two dimensions, or are equal */
  HEAD "%a = Slice %p 0:8,0:40\n%b = Slice %p 0:8,30:64\noutput %a\noutput %b\n",
  HEAD "%a = Slice %p 0:8,0:64:2\n%b = Slice %p 0:8,1:64:2\noutput %a\noutput %b\n",
  HEAD "%a = Slice %p 0:4,0:64\n%b = Slice %p 4:8,0:32\noutput %a\noutput %b\n",
  HEAD "%a = Slice %p 0:4,0:32\n%b = Slice %p 4:8,32:64\noutput %a\noutput %b\n",
  HEAD "%a = Slice %p 0:8,0:32\n%b = Slice %p 0:8,0:32\noutput %a\noutput %b\n",
  /* not split: the indices are not consecutive, or not constant */
  HEAD "%i = Constant value=0,2,1 : int64 3\n%a = Gather %p, %i axis=1\n"
       "%b = Slice %p 0:8,3:64\noutput %a\noutput %b\n",
  HEAD "%i = Input : int64 2\n%a = Gather %p, %i axis=1\n%b = Slice %p 0:8,3:64\noutput %a\n"
       "output %b\n",
  /* not split: the Gather reads the value as indices */
  "graph g\n%x = Input : int64 8\n%t = Constant seed=1 : float32 9x4\n%k = Constant value=2 : "
  "int64 8\n%h = Mul %x, %k\n%y = Gather %t, %h\n%a, %b = Split %y axis=0 split=4,4\n"
  "%z = Gather %t, %h\noutput %a\noutput %z\n",
  /* not split: each part of the Softmax depends on the whole operand of the Softmax */
  "graph g\n%x = Input : float32 8x1\n%w = Constant seed=1 : float32 64\n%p = Mul %x, %w\n"
  "%s = Softmax %p axis=1\n%a, %b = Split %s axis=1 split=32,32\noutput %a\noutput %b\n",
  /* not split: the operand of the value is as large as the value, and would stay alive instead */
  "graph g\n%x = Input : float32 8x64\n%w = Constant seed=1 : float32 64x64\n%p = MatMul %x, %w\n"
  "%a, %b = Split %p axis=1 split=32,32\noutput %a\noutput %b\n",
  /* not split: no node computes the value, which is a transposed input */
  "graph g\n%x = Input : float32 8x64\n%p = Transpose %x perm=1,0\n%a, %b = Split %p axis=0 "
  "split=32,32\noutput %a\noutput %b\n",
};

START_TEST (values_not_read_in_parts_are_not_cut)
{
  g_autoptr (CleaveGraph) graph = parse (whole[_i]);
  g_autofree char *before = cleave_graph_print (graph);

  ck_assert (!cleave_fit_reads_cut (graph, 1, NULL));
  cleave_assert_dump (graph, before);
}
END_TEST

START_TEST (small_values_are_not_cut)
{
  g_autoptr (CleaveGraph) graph = parse (PACKED);

  ck_assert (!cleave_fit_reads_cut (graph, 64 * 48 * 4 + 1, NULL));
  ck_assert (cleave_fit_reads_cut (graph, 64 * 48 * 4, NULL));
}
END_TEST

/* Returns the text of a graph in which a random chain computes a value, which is read in random
 * parts along a random dimension. */
static char *
print_random (GRand *rand)
{
  GString *text = g_string_new ("graph random\n");
  const gint64 rows = g_rand_int_range (rand, 2, 24), columns = g_rand_int_range (rand, 4, 40);
  const char *v = "v0";
  g_autofree char *last = NULL;
  guint n = (guint) g_rand_int_range (rand, 0, 4);
  gint64 dims[3] = { 2, rows, columns }, at = 0, dim;

  g_string_append_printf (text,
                          "%%x = Input : float32 2x%dx3\n%%w = Constant seed=%u : float32 3x%d\n"
                          "%%b = Constant seed=%u : float32 %d\n%%v0 = MatMul %%x, %%w\n",
                          (int) rows, g_rand_int (rand) % 1000, (int) columns,
                          g_rand_int (rand) % 1000, (int) columns);
  for (guint i = 0; i < n; i++)
    {
      static const char *const unary[] = { "Relu", "Tanh", "Sigmoid", "Exp" };
      g_autofree char *next = g_strdup_printf ("v%u", i + 1);

      if (g_rand_boolean (rand))
        g_string_append_printf (text, "%%%s = %s %%%s\n", next,
                                unary[g_rand_int_range (rand, 0, 4)], v);
      else
        g_string_append_printf (text, "%%%s = Mul %%%s, %%%s\n", next, v,
                                dims[2] == columns && g_rand_boolean (rand) ? "b" : v);
      g_free (last);
      v = last = g_steal_pointer (&next);
    }
  dim = g_rand_int_range (rand, 0, 3);
  for (guint i = 0; at < dims[dim]; i++)
    {
      gint64 end = at + g_rand_int_range (rand, 1, (gint) MAX (dims[dim] / 2, 1) + 1);
      GString *range = g_string_new (NULL);

      end = MIN (end, dims[dim]);
      for (gint64 d = 0; d < 3; d++)
        g_string_append_printf (range, "%s%d:%d", d == 0 ? "" : ",", d == dim ? (int) at : 0,
                                d == dim ? (int) end : (int) dims[d]);
      if (g_rand_int_range (rand, 0, 5) > 0)
        g_string_append_printf (text, "%%s%u = Slice %%%s %s\n%%y%u = Abs %%s%u\noutput %%%s%u\n",
                                i, v, range->str, i, i, g_rand_boolean (rand) ? "y" : "s", i);
      g_string_free (range, TRUE);
      at = end;
    }
  return g_string_free (text, FALSE);
}

static void
assert_same_outputs (const CleaveGraph *a, const CleaveGraph *b)
{
  ck_assert_uint_eq (cleave_graph_get_n_outputs (a), cleave_graph_get_n_outputs (b));
  for (guint i = 0; i < cleave_graph_get_n_outputs (a); i++)
    ck_assert_str_eq (cleave_graph_get_output_name (a, i), cleave_graph_get_output_name (b, i));
}

START_TEST (parts_have_the_same_bits)
{
  guint n_cut = 0, n_whole = 0;

  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      g_autofree char *text = print_random (rand);
      g_autoptr (CleaveGraph) graph = parse (text), cut = cleave_graph_copy (graph);
      g_autoptr (GPtrArray) inputs = run_random_inputs (graph, seed);
      g_autoptr (GPtrArray) want = NULL, have = NULL;
      g_autoptr (GError) error = NULL;

      if (!cleave_fit_reads_cut (cut, 1, NULL))
        {
          n_whole++;
          continue;
        }
      n_cut++;
      ck_assert_msg (cleave_graph_validate (cut, &error), "seed %u\n%s", seed, text);
      ck_assert_int_eq (cleave_graph_get_macs (cut), cleave_graph_get_macs (graph));
      assert_same_outputs (graph, cut);
      want = run_graph (graph, inputs, 1);
      have = run_graph (cut, inputs, 2);
      ck_assert_msg (cleave_compare_outputs (want, have) < 0, "seed %u\n%s", seed, text);
    }
  ck_assert (n_cut > N_SEEDS / 4 && n_whole > N_SEEDS / 20);
}
END_TEST

/* An attention layer on 64 rows. `@` and `#` stand for the numbers of its operand and its result. A
 * plan can compute a few rows of queries at a time. */
#define LAYER                                                                                      \
  "%w@ = Constant seed=@ : float32 16x48\n%n@ = Softmax %x@ axis=-1\n%m@ = MatMul %n@, %w@\n"      \
  "%r@ = Reshape %m@ shape=1,64,3,1,16\n%t@ = Transpose %r@ perm=2,0,3,1,4\n"                      \
  "%q@, %k@, %v@ = Split %t@ axis=0 split=1,1,1\n%kt@ = Transpose %k@ perm=0,1,2,4,3\n"            \
  "%s@ = MatMul %q@, %kt@\n%p@ = Softmax %s@ axis=-1\n%y@ = MatMul %p@, %v@\n"                     \
  "%o@ = Reshape %y@ shape=1,64,16\n%x# = Add %x@, %o@\n"

static CleaveGraph *
make_attention (void)
{
  g_autoptr (GString) text = g_string_new ("graph attention\n%x0 = Input : float32 1x64x16\n");

  g_string_append (text, LAYER);
  g_string_replace (text, "@", "0", 0);
  g_string_replace (text, "#", "1", 0);
  g_string_append (text, LAYER);
  g_string_replace (text, "@", "1", 0);
  g_string_replace (text, "#", "2", 0);
  g_string_append (text, "output %x2\n");
  return parse (text->str);
}

static CleaveFitPlan *
find_plan (const CleaveGraph *graph, gint64 max_memory)
{
  const CleaveFitOptions options = { .max_memory = max_memory, .max_added_macs = -1 };
  g_autoptr (GError) error = NULL;
  CleaveFitPlan *plan = cleave_fit_plan_new (graph, &options, &error);

  ck_assert (plan != NULL || g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT));
  return plan;
}

/* Finds the plan with the least memory. Asserts that the split graph has the totals of the plan and
 * needs less than `max_bytes`, and that the plan's arena is the smallest possible budget. */
static void
check (const CleaveGraph *graph, gint64 max_bytes)
{
  g_autoptr (CleaveGraph) split = cleave_graph_copy (graph);
  g_autoptr (CleaveFitPlan) plan = find_plan (graph, 0), same = NULL;
  const CleaveFitTotals *totals = cleave_fit_plan_get_totals (plan);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveSplitReport) report = cleave_fit_plan_apply (plan, split, &error);

  cleave_assert_no_error (error);
  ck_assert (cleave_fit_plan_changes (plan));
  ck_assert_int_eq (run_get_stats (graph, 1).arena_bytes, totals->arena_before);
  ck_assert_int_eq (run_get_stats (split, 1).arena_bytes, totals->arena_after);
  ck_assert_int_lt (totals->arena_after, max_bytes);
  ck_assert_int_eq (totals->macs_after, totals->macs_before);
  run_assert_same (split, 3);
  same = find_plan (graph, totals->arena_after);
  ck_assert_ptr_nonnull (same);
  ck_assert_int_eq (cleave_fit_plan_get_totals (same)->arena_after, totals->arena_after);
  ck_assert_ptr_null (find_plan (graph, totals->arena_after - 1));
}

/* At the peak of a layer, its residual sum, keys, values and a few rows of queries are alive: less
 * than five values of 64 x 16. If all queries were alive too, the plan would need more. */
START_TEST (plans_cut_values_that_are_read_in_parts)
{
  g_autoptr (CleaveGraph) graph = make_attention ();

  check (graph, 5 * 64 * 16 * 4);
}
END_TEST

/* A recurrent layer between a convolution, which is cut into columns, and a product, which is cut
 * into rows. */
#define RECURRENT                                                                                  \
  "graph recurrent\n%x = Input : float32 1x4x96\n%c = Constant seed=1 : float32 64x4x3\n"          \
  "%n = Conv %x, %c pads=1,1\n%a = Relu %n\n%t = Transpose %a perm=2,0,1\n"                        \
  "%w = Constant seed=2 : float32 1x256x64\n%u = Constant seed=3 : float32 1x256x64\n"             \
  "%h, %l, %m = LSTM %t, %w, %u hidden_size=64\n%s = Squeeze %h axes=1\n"                          \
  "%v = Constant seed=4 : float32 64x4\n%y = MatMul %s, %v\noutput %y\n"

START_TEST (plans_cut_recurrent_layers)
{
  g_autoptr (CleaveGraph) graph = parse (RECURRENT);

  check (graph, 96 * 64 * 4 / 2);
}
END_TEST

/* A value that is split per reader takes more time. If the added time exceeds the limit, the search
 * finds another plan. */
START_TEST (added_latency_is_limited)
{
  static const char *const texts[] = { PACKED, STEPS, RECURRENT };
  static const double limits[] = { -1, 0.01, 0.1, 0.25 };

  for (guint t = 0; t < G_N_ELEMENTS (texts); t++)
    for (guint l = 0; l < G_N_ELEMENTS (limits); l++)
      {
        g_autoptr (CleaveGraph) graph = parse (texts[t]);
        const CleaveFitOptions options = { .max_added_macs = -1, .max_added_latency = limits[l] };
        g_autoptr (GError) error = NULL;
        g_autoptr (CleaveFitPlan) plan = cleave_fit_plan_new (graph, &options, &error);
        const CleaveFitTotals *totals;

        cleave_assert_no_error (error);
        totals = cleave_fit_plan_get_totals (plan);
        ck_assert_int_le (totals->arena_after, totals->arena_before);
        ck_assert_double_le (totals->latency_after,
                             (1 + MAX (limits[l], 0)) * totals->latency_before);
      }
}
END_TEST

/* Computing the halves of a product separately needs less memory, even without a segment. */
#define HALVES                                                                                     \
  "graph halves\n%x0 = Input : float32 1x12x24\n%c1 = Constant seed=912 : float32 24x96\n"         \
  "%v2 = MatMul %x0, %c1\n%a3, %b3 = Split %v2 axis=2 split=48,48\n%v4 = Sigmoid %a3\n"            \
  "%v5 = Mul %v4, %b3\n%c6 = Constant seed=897 : float32 48x24\n%v7 = MatMul %v5, %c6\n"           \
  "%c8 = Constant seed=766 : float32 24x96\n%v9 = MatMul %v7, %c8\n%v10 = Relu %v9\n"              \
  "%v11 = ReduceMean %v10 axes=1 keepdims=1\n%c12 = Constant seed=921 : float32 96x24\n"           \
  "%v13 = MatMul %v11, %c12\n%v14 = Sigmoid %v13\n%c15 = Constant seed=560 : float32 24x96\n"      \
  "%v16 = MatMul %v14, %c15\n%v17 = Mul %v10, %v16\n%c18 = Constant seed=7 : float32 96x24\n"      \
  "%v19 = MatMul %v17, %c18\n%c20 = Constant seed=906 : float32 24x96\n"                           \
  "%v21 = MatMul %v19, %c20\n%a22, %b22 = Split %v21 axis=2 split=48,48\n%v23 = Sigmoid %a22\n"    \
  "%v24 = Mul %v23, %b22\n%c25 = Constant seed=910 : float32 48x24\n%v26 = MatMul %v24, %c25\n"    \
  "output %v26\n"

START_TEST (plans_without_segments_are_found_again)
{
  g_autoptr (CleaveGraph) graph = parse (HALVES);
  CleaveFitOptions options = { .max_added_macs = -1, .max_added_latency = 0.25 };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = cleave_fit_plan_new (graph, &options, &error), same = NULL;

  cleave_assert_no_error (error);
  ck_assert_uint_eq (cleave_fit_plan_get_n_segments (plan), 0);
  options.max_memory = cleave_fit_plan_get_totals (plan)->arena_after;
  ck_assert_int_lt (options.max_memory, cleave_fit_plan_get_totals (plan)->arena_before);
  same = cleave_fit_plan_new (graph, &options, &error);
  cleave_assert_no_error (error);
}
END_TEST

/* If the plan is applied to another graph, that is an error, and the other graph stays unchanged.
 * Values of the other graph could be split per reader, too. */
START_TEST (plans_with_parts_need_their_graph)
{
  g_autoptr (CleaveGraph) graph = make_attention (), other = parse (PACKED);
  g_autoptr (CleaveFitPlan) plan = find_plan (graph, 0);
  g_autofree char *before = cleave_graph_print (other);
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (cleave_fit_plan_apply (plan, other, &error));
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
  cleave_assert_dump (other, before);
}
END_TEST

START_TEST (without_its_segments_a_plan_has_no_parts)
{
  g_autoptr (CleaveGraph) graph = make_attention ();
  g_autoptr (CleaveFitPlan) plan = find_plan (graph, 0), some = NULL, none = NULL;
  const guint n = cleave_fit_plan_get_n_segments (plan);
  const CleaveFitTotals *totals;
  guint all[16];
  g_autoptr (GError) error = NULL;

  ck_assert (n > 1 && n <= G_N_ELEMENTS (all));
  for (guint i = 0; i < n; i++)
    all[i] = i;
  some = cleave_fit_plan_new_without (plan, graph, 1, all, &error);
  cleave_assert_no_error (error);
  totals = cleave_fit_plan_get_totals (some);
  ck_assert_int_gt (totals->nodes_after, totals->nodes_before);
  none = cleave_fit_plan_new_without (plan, graph, n, all, &error);
  cleave_assert_no_error (error);
  totals = cleave_fit_plan_get_totals (none);
  ck_assert_uint_eq (totals->nodes_after, totals->nodes_before);
  ck_assert_int_eq (totals->arena_after, totals->arena_before);
}
END_TEST

START_TEST (frontiers_have_plans_of_parts)
{
  g_autoptr (CleaveGraph) graph = make_attention ();
  const CleaveFitOptions options = { .max_added_macs = -1 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) plans = cleave_fit_plan_new_frontier (graph, &options, &error);
  g_autoptr (CleaveFitPlan) least = find_plan (graph, 0);

  cleave_assert_no_error (error);
  ck_assert_int_eq (cleave_fit_plan_get_totals (plans->pdata[plans->len - 1])->arena_after,
                    cleave_fit_plan_get_totals (least)->arena_after);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *stay = tcase_create ("stay");

  cleave_add_case (suite, "reads", columns_of_a_product_are_computed_separately,
                   rows_are_computed_for_each_reader, the_number_of_parts_is_limited,
                   small_values_are_not_cut, parts_have_the_same_bits, NULL);
  cleave_add_case (suite, "plans", plans_cut_values_that_are_read_in_parts,
                   plans_cut_recurrent_layers, added_latency_is_limited,
                   plans_without_segments_are_found_again, plans_with_parts_need_their_graph,
                   without_its_segments_a_plan_has_no_parts, frontiers_have_plans_of_parts, NULL);
  tcase_add_loop_test (stay, values_not_read_in_parts_are_not_cut, 0, G_N_ELEMENTS (whole));
  suite_add_tcase (suite, stay);
}

CLEAVE_TEST_SUITE ("fit-reads", add_tests)
