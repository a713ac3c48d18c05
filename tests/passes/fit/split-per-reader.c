/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The rewrite of the fit that splits a value per reader. If several nodes read separate parts of a
 * value, each of these nodes gets a node that computes only this part. */

#include "../../../passes/fit/split-per-reader.h"

#include "graphs.h"
#include "per-reader.h"
#include "run-help.h"

#define N_SEEDS CLEAVE_TRIALS (200)

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
  /* not split: the ranges of the two Slices overlap, are strided, differ in two dimensions, or are
   * equal */
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
  /* not split: each half of the result of the Softmax depends on the whole operand */
  "graph g\n%x = Input : float32 8x1\n%w = Constant seed=1 : float32 64\n%p = Mul %x, %w\n"
  "%s = Softmax %p axis=1\n%a, %b = Split %s axis=1 split=32,32\noutput %a\noutput %b\n",
  /* not split: the operand of the MatMul is as large as its result, and would stay alive in place
   * of the result */
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

/* Returns the text of a graph. A random chain computes a value, and readers read random parts of
 * the value along a random dimension. */
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

static void
add_tests (Suite *suite)
{
  TCase *stay = tcase_create ("stay");

  cleave_add_case (suite, "reads", columns_of_a_product_are_computed_separately,
                   rows_are_computed_for_each_reader, the_number_of_parts_is_limited,
                   small_values_are_not_cut, parts_have_the_same_bits, NULL);
  tcase_add_loop_test (stay, values_not_read_in_parts_are_not_cut, 0, G_N_ELEMENTS (whole));
  suite_add_tcase (suite, stay);
}

CLEAVE_TEST_SUITE ("fit-reads", add_tests)
