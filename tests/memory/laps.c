/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Laps: values that are computed strip by strip and overlay values that die meanwhile. The tests
 * compare the outputs with the outputs of cleave_interpret(), and check that laps save memory. */

#include "../../lib/memory/ordering.h"

#include "graphs.h"
#include "run-help.h"

typedef struct
{
  CleaveGraph *graph;
  GRand *rand;
  gboolean is_image; /* TRUE: values are images in NHWC; FALSE: they are matrices */
} Net;

static gint64
from_to (Net *net, gint32 least, gint32 most)
{
  return g_rand_int_range (net->rand, least, most + 1);
}

static guint
get_rows (const Net *net)
{
  return net->is_image ? 1 : 0;
}

/* Adds a layer: a convolution with a 3x3 kernel, with `n_above` and `n_below` rows of padding, or a
 * product. */
static CleaveResult *
add_layer (Net *net, CleaveResult *x, CleaveResult *w, gint64 n_above, gint64 n_below)
{
  const CleaveConvAttrs attrs = { .group = 1,
                                  .layout = CLEAVE_LAYOUT_NHWC,
                                  .pads = CLEAVE_INTS (n_above, 1, n_below, 1) };
  CleaveResult *operands[] = { x, w };

  return net->is_image ? run_add (net->graph, "Conv", operands, 2, &attrs)
                       : run_add (net->graph, "MatMul", operands, 2, NULL);
}

/* Adds a layer that computes only the rows of `strip`. The layer reads a Slice with the rows of x
 * that these result rows need. If `is_residual`, adds the rows `strip` of x to the result. */
static CleaveResult *
add_strip (Net *net, CleaveResult *x, CleaveResult *w, CleaveSpan strip, gboolean is_residual)
{
  const guint rows = get_rows (net);
  CleaveRange whole = cleave_range_whole (&cleave_result_get_type (x)->shape), read = whole;
  gint64 n_rows = whole.dim[rows].end, halo = net->is_image ? 1 : 0;
  CleaveResult *y;

  read.dim[rows] = (CleaveSpan){ MAX (strip.begin - halo, 0), MIN (strip.end + halo, n_rows) };
  y = add_layer (net, run_slice (net->graph, x, read), w, read.dim[rows].begin - strip.begin + halo,
                 strip.end + halo - read.dim[rows].end);
  if (!is_residual)
    return y;
  read.dim[rows] = strip;
  return run_binary (net->graph, "Add", y, run_slice (net->graph, x, read));
}

/* Adds a layer with `n_channels` channels, strip by strip. */
static CleaveResult *
add_layer_in_strips (
    Net *net, CleaveResult *x, gint64 n_channels, gint64 n_strips, gboolean is_residual)
{
  const guint rows = get_rows (net);
  CleaveRange whole = cleave_range_whole (&cleave_result_get_type (x)->shape);
  const gint64 n_rows = whole.dim[rows].end, n = whole.dim[whole.rank - 1].end;
  CleaveResult *w = net->is_image
                        ? run_constant (net->graph, &CLEAVE_SHAPE (n_channels, n, 3, 3), 1)
                        : run_constant (net->graph, &CLEAVE_SHAPE (n, n_channels), 1);
  g_autofree CleaveResult **parts = g_new (CleaveResult *, (guint) n_strips);
  g_autofree CleaveRange *ranges = g_new (CleaveRange, (guint) n_strips);

  whole.dim[whole.rank - 1].end = n_channels;
  for (gint64 i = 0; i < n_strips; i++)
    {
      ranges[i] = whole;
      ranges[i].dim[rows] = (CleaveSpan){ n_rows * i / n_strips, n_rows * (i + 1) / n_strips };
      parts[i] = add_strip (net, x, w, ranges[i].dim[rows], is_residual);
    }
  return run_assemble (net->graph, parts, ranges, (guint) n_strips);
}

/* Adds a layer with as many channels as x, strip by strip. */
static CleaveResult *
add_strips (Net *net, CleaveResult *x, gint64 n_strips, gboolean is_residual)
{
  const CleaveShape *shape = &cleave_result_get_type (x)->shape;

  return add_layer_in_strips (net, x, shape->dim[shape->rank - 1], n_strips, is_residual);
}

static Net
begin_net (guint32 seed, gboolean is_image)
{
  return (Net){ cleave_graph_new (NULL), g_rand_new_with_seed (seed), is_image };
}

static CleaveResult *
begin_rows (Net *net, gint64 n_rows, gint64 n)
{
  CleaveResult *x = net->is_image ? run_input (net->graph, &CLEAVE_SHAPE (1, n_rows, 6, 2))
                                  : run_input (net->graph, &CLEAVE_SHAPE (n_rows, 2));
  CleaveResult *w = net->is_image ? run_constant (net->graph, &CLEAVE_SHAPE (n, 2, 3, 3), 1)
                                  : run_constant (net->graph, &CLEAVE_SHAPE (2, n), 1);

  return add_layer (net, x, w, 1, 1);
}

static CleaveResult *
add_mean (Net *net, CleaveResult *x)
{
  const CleaveReduceAttrs rows = { .axes = CLEAVE_INTS (get_rows (net)), .keepdims = TRUE };

  return run_add (net->graph, "ReduceMean", &x, 1, &rows);
}

/* Makes several consecutive layers. The result of each layer may overlay the result of the previous
 * layer. The result of the first layer may overlay the input of the graph, and the output may
 * overlay the result of the last layer. */
static Net
make_net (guint32 seed)
{
  Net net = begin_net (seed, seed % 2 == 0);
  const gint64 n_rows = from_to (&net, 12, 40), n = from_to (&net, 8, 24);
  CleaveResult *x = seed % 3 > 0   ? begin_rows (&net, n_rows, n)
                    : net.is_image ? run_input (net.graph, &CLEAVE_SHAPE (1, n_rows, 6, n))
                                   : run_input (net.graph, &CLEAVE_SHAPE (n_rows, n));

  for (gint64 n_layers = from_to (&net, 1, 5); n_layers > 0; n_layers--)
    {
      x = add_strips (&net, x, from_to (&net, 2, 12), from_to (&net, 0, 1) == 0);
      if (from_to (&net, 0, 2) == 0)
        x = run_unary (net.graph, "Relu", x);
    }
  run_output (net.graph, seed % 5 > 1 ? add_mean (&net, x) : x);
  return net;
}

static void
clear (Net *net)
{
  cleave_graph_unref (net->graph);
  g_rand_free (net->rand);
}

static gboolean
is_lapped (const CleaveGraph *graph)
{
  g_autoptr (CleaveStorage) storage = NULL;
  g_autoptr (GPtrArray) order = cleave_order_with_laps (graph, &storage, NULL);

  return order != NULL && storage->lap_edges != NULL;
}

START_TEST (bits_are_the_same)
{
  const guint n = CLEAVE_TRIALS (120);
  guint n_lapped = 0;

  for (guint32 seed = 0; seed < n; seed++)
    {
      Net net = make_net (seed);

      n_lapped += is_lapped (net.graph) ? 1 : 0;
      run_assert_same (net.graph, seed);
      clear (&net);
    }
  ck_assert_uint_gt (n_lapped, n / 3);
}
END_TEST

/* Values have 64 rows of 64 elements, and are cut into strips of 4 rows. With one thread, the arena
 * has one value and one strip. The input of the first layer dies before the first strip runs, so it
 * is in memory that the strips write later. With several threads, the arena has two values. */
START_TEST (the_arena_has_one_value_and_a_strip)
{
  const gint64 row = 64 * 4, whole = 64 * row;
  Net net = begin_net (0, FALSE);

  run_output (net.graph, add_mean (&net, add_strips (&net, begin_rows (&net, 64, 64), 16, FALSE)));
  ck_assert_int_eq (run_get_stats (net.graph, 1).arena_bytes, whole + 4 * row);
  ck_assert_int_ge (run_get_stats (net.graph, 2).arena_bytes, 2 * whole);
  clear (&net);
}
END_TEST

/* A strip of an image reads one more row on each side. The row that the next strip reads again is
 * not overwritten. */
START_TEST (rows_that_are_read_again_are_not_overwritten)
{
  const gint64 row = 6 * 32 * 4, whole = 40 * row;
  Net net = begin_net (0, TRUE);

  run_output (net.graph, add_mean (&net, add_strips (&net, begin_rows (&net, 40, 32), 20, TRUE)));
  ck_assert_int_eq (run_get_stats (net.graph, 1).arena_bytes, whole + 3 * row);
  clear (&net);
}
END_TEST

/* An output overlays an input: together they take the memory of one value of 64 rows and one strip
 * of 4 rows. */
START_TEST (an_output_overlays_an_input)
{
  const gint64 row = 64 * 4;
  Net net = begin_net (0, FALSE);
  CleaveResult *x = run_input (net.graph, &CLEAVE_SHAPE (64, 64));

  run_output (net.graph, add_strips (&net, x, 16, FALSE));
  ck_assert_int_eq (run_get_stats (net.graph, 1).arena_bytes, 64 * row + 4 * row);
  run_assert_same (net.graph, 1);
  clear (&net);
}
END_TEST

/* Each of three consecutive layers computes a value strip by strip. The values x, y and z have 2, 1
 * and 1 units of memory. If only y overlays x, z needs memory of its own, so the peak is 3 units.
 * If z also overlays x, the peak is 2 units and the rows that strips read ahead. */
START_TEST (a_chain_of_laps_lowers_the_peak)
{
  const gint64 row = 32 * 4, unit = 64 * row, input = 64 * 2 * 4;
  Net net = begin_net (0, FALSE);
  CleaveResult *x = add_layer_in_strips (&net, begin_rows (&net, 64, 64), 32, 16, FALSE);
  CleaveResult *y = add_layer_in_strips (&net, x, 32, 16, FALSE);

  run_output (net.graph, add_mean (&net, y));
  ck_assert_int_le (run_get_stats (net.graph, 1).arena_bytes, 2 * unit + 3 * 4 * row + input);
  run_assert_same (net.graph, 0);
  clear (&net);
}
END_TEST

/* No value overlays a value that a later node reads whole. */
START_TEST (a_value_that_is_read_again_is_not_overwritten)
{
  Net net = begin_net (0, FALSE);
  CleaveResult *x = begin_rows (&net, 64, 64), *y = add_strips (&net, x, 16, FALSE);

  run_output (net.graph, add_mean (&net, run_binary (net.graph, "Add", y, x)));
  run_assert_same (net.graph, 0);
  ck_assert (!is_lapped (net.graph));
  clear (&net);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "laps", bits_are_the_same, the_arena_has_one_value_and_a_strip,
                   rows_that_are_read_again_are_not_overwritten, an_output_overlays_an_input,
                   a_chain_of_laps_lowers_the_peak, a_value_that_is_read_again_is_not_overwritten,
                   NULL);
}

CLEAVE_TEST_SUITE ("laps", add_tests)
