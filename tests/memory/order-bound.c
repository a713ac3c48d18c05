/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Lower bounds for the memory that an order of nodes needs. If the bound is too large, a search
 * rejects the order without measuring it. */

#include "../../lib/memory/order-bound.h"

#include "../../lib/ir/topology.h"
#include "../../lib/memory/node-orders.h"
#include "../../lib/memory/order-combine.h"
#include "orders.h"
#include "random-graph.h"
#include "run-help.h"

/* Makes a chain of `n` Relus, and cuts the chain into two halves of the rows. In the order of the
 * graph, nodes of the two halves alternate. */
static CleaveGraph *
split_relus (guint n)
{
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, 16, 4));
  CleaveRange ranges[2] = { CLEAVE_RANGE (0, 1, 0, 2, 0, 8, 0, 4),
                            CLEAVE_RANGE (0, 1, 0, 2, 8, 16, 0, 4) };
  CleaveResult *parts[2] = { run_slice (graph, x, ranges[0]), run_slice (graph, x, ranges[1]) };

  for (guint k = 0; k < n; k++)
    for (guint i = 0; i < 2; i++)
      parts[i] = run_unary (graph, "Relu", parts[i]);
  run_output (graph, run_assemble (graph, parts, ranges, 2));
  return graph;
}

static gint64 *
find_least (const CleaveGraph *graph, const GPtrArray *order)
{
  g_autoptr (CleaveGraphFacts) facts = cleave_graph_facts_new (graph);

  return cleave_order_find_least (graph, facts, order);
}

/* Asserts that each node of the order needs at least the bytes of its lower bound. Returns the
 * number of nodes that have a bound. */
static guint
check_bound (const CleaveGraph *graph, GPtrArray *order)
{
  g_autoptr (CleaveStorage) storage = cleave_storage_new (graph, order);
  g_autofree gint64 *least = find_least (graph, order), *live = NULL;
  guint n = 0;

  if (least == NULL)
    return 0;
  live = cleave_storage_get_live (storage);
  for (guint i = 0; i < order->len; i++)
    {
      n += least[i] > 0 ? 1 : 0;
      ck_assert_int_le (least[i], live[i]);
    }
  return n;
}

START_TEST (no_order_needs_less_than_its_bound)
{
  guint n_bounds = 0;

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (300); seed++)
    {
      g_autoptr (CleaveGraph) graph =
          seed % 3 == 0 ? random_graph (seed, 40) : random_split_graph (seed);
      g_autoptr (GPtrArray) file = cleave_topology_sort (graph, NULL);
      g_autoptr (GPtrArray) first = cleave_order_depth_first (graph, NULL);
      g_autoptr (GPtrArray) eager = cleave_order_eager (graph, file);

      n_bounds += check_bound (graph, file) + check_bound (graph, first);
      n_bounds += check_bound (graph, eager);
    }
  ck_assert_uint_gt (n_bounds, 10 * CLEAVE_TRIALS (300));
}
END_TEST

/* One row of `large` is copied for a late Concat. While the copy waits for the Concat's other
 * operand, `large` is free and does not count in the bound. */
START_TEST (a_copied_value_no_longer_counts)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 4, 16, 16));
  CleaveResult *large = run_conv (graph, x, 64, 1, CLEAVE_LAYOUT_NCHW);
  CleaveResult *few = run_conv (graph, large, 2, 1, CLEAVE_LAYOUT_NCHW);
  CleaveResult *kept = run_slice (graph, large, CLEAVE_RANGE (0, 1, 0, 64, 15, 16, 0, 16));
  CleaveResult *again = run_conv (graph, few, 96, 1, CLEAVE_LAYOUT_NCHW);
  CleaveResult *back = run_conv (graph, again, 64, 1, CLEAVE_LAYOUT_NCHW);
  CleaveResult *whole = run_concat (graph, (CleaveResult *[]){ kept, back }, 2, 2);
  g_autoptr (GPtrArray) order = NULL;
  g_autoptr (CleaveStorage) storage = NULL;

  run_output (graph, run_conv (graph, whole, 2, 1, CLEAVE_LAYOUT_NCHW));
  order = cleave_topology_sort (graph, NULL);
  storage = cleave_storage_new (graph, order);
  ck_assert (storage->materializes);
  ck_assert_uint_gt (check_bound (graph, order), 0);
}
END_TEST

START_TEST (the_bound_of_a_chain_is_exact)
{
  g_autoptr (CleaveGraph) graph = split_relus (5);
  g_autoptr (GPtrArray) file = cleave_topology_sort (graph, NULL);
  g_autofree gint64 *least = find_least (graph, file);
  gint64 most = 0;

  for (guint i = 0; i < file->len; i++)
    most = MAX (most, least[i]);
  ck_assert_int_eq (most, 1024);
  ck_assert_int_eq (order_peak (graph, file), 1024);
}
END_TEST

/* The bound counts a value and its overwritten operand once: the sum overwrites one of its two
 * operands, and the Relu its only operand. */
START_TEST (an_overwritten_value_counts_once)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (16)),
               *z = run_input (graph, &CLEAVE_SHAPE (16));
  CleaveResult *sum = run_binary (graph, "Add", x, z);
  g_autoptr (GPtrArray) file = NULL;
  g_autofree gint64 *least = NULL;

  run_output (graph, run_unary (graph, "Relu", sum));
  file = cleave_topology_sort (graph, NULL);
  least = find_least (graph, file);
  ck_assert_int_eq (least[0], 0);
  ck_assert_int_eq (least[2], 128);
  ck_assert_int_eq (least[3], 64);
}
END_TEST

START_TEST (graphs_with_useless_values_have_no_bound)
{
  g_autoptr (CleaveGraph) dead = split_relus (1), overlapping = cleave_graph_new (NULL);
  CleaveResult *x = run_input (overlapping, &CLEAVE_SHAPE (16));
  CleaveResult *parts[2] = { run_unary (overlapping, "Relu", x),
                             run_unary (overlapping, "Relu", x) };
  CleaveRange ranges[2] = { CLEAVE_RANGE (0, 16), CLEAVE_RANGE (0, 16) };
  g_autoptr (GPtrArray) a = NULL, b = NULL;

  run_unary (dead, "Relu", cleave_graph_get_input (dead, 0));
  run_output (overlapping, run_assemble (overlapping, parts, ranges, 2));
  a = cleave_topology_sort (dead, NULL);
  b = cleave_topology_sort (overlapping, NULL);
  ck_assert_ptr_null (find_least (dead, a));
  ck_assert_ptr_null (find_least (overlapping, b));
}
END_TEST

/* Two diamonds, one after the other. The two branches of a diamond may run in either order. */
typedef struct
{
  CleaveGraph *graph;
  GPtrArray *candidates;
  CleaveOrderCandidate one, other;
  gint64 live[2][7];
} Diamonds;

static void
diamonds_clear (Diamonds *d)
{
  g_ptr_array_unref (d->one.order);
  g_ptr_array_unref (d->other.order);
  g_ptr_array_unref (d->candidates);
  cleave_graph_unref (d->graph);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Diamonds, diamonds_clear)

/* Makes two diamonds, and two orders of their nodes. A diamond has a Relu and a Neg of one value,
 * and an Add of both. The second order swaps the Relu and the Neg. `bounds` has lower bounds in
 * bytes for the second order at the steps of the two Relus and the two Negs. The search has no
 * other data about the second order. */
static void
diamonds_init (Diamonds *d, const gint64 *bounds)
{
  static const guint swapped[7] = { 0, 2, 1, 3, 5, 4, 6 };
  CleaveResult *x;

  *d = (Diamonds){ .graph = cleave_graph_new (NULL), .candidates = g_ptr_array_new () };
  x = run_input (d->graph, &CLEAVE_SHAPE (16));
  for (guint i = 0; i < 2; i++)
    x = run_binary (d->graph, "Add", run_unary (d->graph, "Relu", x),
                    run_unary (d->graph, "Neg", x));
  run_output (d->graph, x);
  d->one =
      (CleaveOrderCandidate){ .order = cleave_topology_sort (d->graph, NULL), .live = d->live[0] };
  d->other =
      (CleaveOrderCandidate){ .order = g_ptr_array_new (), .live = d->live[1], .is_bound = TRUE };
  for (guint i = 0; i < 7; i++)
    {
      g_ptr_array_add (d->other.order, d->one.order->pdata[swapped[i]]);
      d->live[0][i] = 10;
    }
  d->one.peak = 10;
  d->live[1][1] = bounds[0];
  d->live[1][2] = bounds[1];
  d->live[1][4] = bounds[2];
  d->live[1][5] = bounds[3];
  for (guint i = 0; i < 7; i++)
    d->other.peak = MAX (d->other.peak, d->live[1][i]);
  g_ptr_array_add (d->candidates, &d->one);
  g_ptr_array_add (d->candidates, &d->other);
}

START_TEST (an_order_that_may_be_better_in_a_stretch_is_measured)
{
  g_auto (Diamonds) d = { 0 };
  CleaveOrderCandidate *unknown;
  g_autoptr (GPtrArray) combined = NULL;

  diamonds_init (&d, (const gint64[]){ 13, 13, 9, 5 });
  d.live[0][4] = d.one.peak = 12;
  ck_assert_ptr_null (cleave_order_combine (d.graph, d.candidates, &unknown));
  ck_assert_ptr_eq (unknown, &d.other);
  d.other.is_bound = FALSE;
  combined = cleave_order_combine (d.graph, d.candidates, &unknown);
  ck_assert_ptr_null (unknown);
  ck_assert_ptr_nonnull (combined);
  ck_assert_ptr_eq (combined->pdata[1], d.one.order->pdata[1]);
  ck_assert_ptr_eq (combined->pdata[4], d.one.order->pdata[5]);
}
END_TEST

/* Both orders need the same memory at the peak, and the second order is better at other steps. The
 * search does not measure the second order. */
START_TEST (an_order_better_outside_of_the_peak_is_not_measured)
{
  g_auto (Diamonds) d = { 0 };
  CleaveOrderCandidate *unknown;

  diamonds_init (&d, (const gint64[]){ 12, 12, 9, 5 });
  d.other.is_bound = FALSE;
  ck_assert_ptr_null (cleave_order_combine (d.graph, d.candidates, &unknown));
  ck_assert_ptr_null (unknown);
}
END_TEST

START_TEST (an_order_that_is_nowhere_better_is_not_measured)
{
  g_auto (Diamonds) d = { 0 };
  CleaveOrderCandidate *unknown;

  diamonds_init (&d, (const gint64[]){ 12, 2, 10, 5 });
  ck_assert_ptr_null (cleave_order_combine (d.graph, d.candidates, &unknown));
  ck_assert_ptr_null (unknown);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "bound", no_order_needs_less_than_its_bound,
                   a_copied_value_no_longer_counts, the_bound_of_a_chain_is_exact,
                   an_overwritten_value_counts_once, graphs_with_useless_values_have_no_bound,
                   NULL);
  cleave_add_case (suite, "combining", an_order_that_may_be_better_in_a_stretch_is_measured,
                   an_order_better_outside_of_the_peak_is_not_measured,
                   an_order_that_is_nowhere_better_is_not_measured, NULL);
}

CLEAVE_TEST_SUITE ("order-bound", add_tests)
