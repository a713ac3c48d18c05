/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Overlays: results of depthwise convolutions in the memory of their operand. The tests compare the
 * outputs with the outputs of cleave_interpret(), and check that overlays save memory. */

#include "../../lib/ir/debug.h"
#include "../../lib/ir/graph-private.h"
#include "../../lib/ir/overlay.h"

#include "overlay-nets.h"
#include "run-help.h"

START_TEST (bits_are_the_same)
{
  guint n[OVERLAY_N_KINDS] = { 0 }, n_graphs = CLEAVE_TRIALS (20 * OVERLAY_N_KINDS);

  for (guint32 seed = 0; seed < n_graphs; seed++)
    {
      OverlayNet net = overlay_make_net (seed, 1);

      n[seed % OVERLAY_N_KINDS] += overlay_count (net.graph);
      run_assert_same (net.graph, seed);
      overlay_clear (&net);
    }
  for (guint k = 0; k < OVERLAY_N_KINDS; k++)
    if (overlay_kinds[k].never)
      ck_assert_uint_eq (n[k], 0);
    else
      ck_assert_uint_gt (n[k], n_graphs / OVERLAY_N_KINDS / 5);
}
END_TEST

/* Returns the shift of an overlay (overlay.h): the smallest legal distance from the begin of the
 * result to the begin of the operand, in elements of the operand. Computes the distance for every
 * row, unlike the library. The kernel reads `ahead` rows before it writes the first row. */
static gint64
ask_each_row (const CleaveCall *call, guint rows, gint64 ahead)
{
  const CleaveTensorType *x = &call->operands[0], *y = &call->results[0];
  gint64 x_row = cleave_tensor_type_n_bytes (x) / x->shape.dim[rows];
  gint64 y_row = cleave_tensor_type_n_bytes (y) / y->shape.dim[rows], most = 0;
  gint64 x_size = (gint64) cleave_element_size (x->element);
  CleaveRange chunk = cleave_range_whole (&y->shape);

  for (gint64 i = ahead; i < y->shape.dim[rows]; i++)
    {
      chunk.dim[rows] = (CleaveSpan){ i, i + 1 };
      most = MAX (most, (i + 1 - ahead) * y_row -
                            cleave_call_slice (call, 0, &chunk).range.dim[rows].begin * x_row);
    }
  return (most + x_size - 1) / x_size;
}

START_TEST (three_rows_decide_for_all)
{
  guint n_asked = 0;

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (100 * OVERLAY_N_KINDS); seed++)
    {
      OverlayNet net = overlay_make_net (seed, 1);

      for (CleaveNode *node = net.graph->first; node != NULL; node = node->next)
        {
          g_auto (CleaveNodeCall) call = { 0 };
          gint64 shift, ahead = node->results[0].type.element == CLEAVE_FLOAT32 ? 0 : 1;
          guint rows;

          cleave_node_call_init (&call, node);
          if (node->op->kernel == NULL || !cleave_call_overlay (&call.call, 0, &rows, &shift))
            continue;
          ck_assert_int_eq (shift, ask_each_row (&call.call, rows, ahead));
          n_asked++;
        }
      overlay_clear (&net);
    }
  ck_assert_uint_gt (n_asked, 100);
}
END_TEST

/* The image has 10^11 rows, so the library must not compute anything row by row. */
START_TEST (very_many_rows_are_handled)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 3, G_GINT64_CONSTANT (100000000000), 100));

  run_output (graph, run_depthwise (graph, run_conv (graph, x, 8, 1, CLEAVE_LAYOUT_NCHW)));
  ck_assert_uint_eq (overlay_count (graph), 0); /* no overlay, since the depthwise convolution
                                                 * computes an output of the graph */
  run_output (graph,
              run_conv (graph, run_depthwise (graph, run_conv (graph, x, 8, 1, 0)), 1, 1, 0));
  ck_assert_uint_eq (overlay_count (graph), 1);
}
END_TEST

/* A depthwise convolution with stride 2 overlays its operand, 48 channels of 40 x 40. The peak is
 * the bytes of the operand and, for some element types, the bytes of one row. Floats of 32 bits
 * need one row of the result. ConvInteger needs one row of the operand: a row of its 4-byte results
 * overwrites two rows of bytes. */
START_TEST (the_peak_is_that_of_the_larger_value)
{
  static const gint64 want[] = { (40 * 40 + 20) * 48 * 4, 40 * 40 * 48,     40 * 40 * 48,
                                 40 * 40 * 48 * 2,        40 * 40 * 48 * 2, (40 + 1) * 40 * 48 };

  for (guint k = 0; k < G_N_ELEMENTS (want); k++)
    {
      OverlayNet net = { cleave_graph_new (NULL), g_rand_new_with_seed (k), &overlay_kinds[k] };
      CleaveTensorType type = { overlay_kinds[k].element, CLEAVE_SHAPE (1, 1, 40, 40) };
      CleaveConvAttrs attrs = { .group = 48,
                                .strides = CLEAVE_INTS (2, 2),
                                .pads = CLEAVE_INTS (1, 1, 1, 1) };
      CleaveResult *x = cleave_graph_add_input (net.graph, "x", &type, NULL);
      gint64 peak;

      x = overlay_add_pointwise (&net, x, 48, CLEAVE_LAYOUT_NCHW);
      overlay_end_net (&net, overlay_add_conv (&net, x, CLEAVE_SHAPE (48, 1, 3, 3), &attrs),
                       CLEAVE_LAYOUT_NCHW);
      peak = cleave_graph_get_peak_bytes (net.graph, NULL);
      /* The input is live while the first convolution runs. */
      ck_assert_int_eq (peak, want[k] + 40 * 40 * (gint64) cleave_element_size (type.element));
      if (!cleave_debug_is_on (CLEAVE_DEBUG_REFERENCE)) /* reference kernels do not run tile by
                                                           tile, so the arena has another size */
        ck_assert_int_eq (run_get_stats (net.graph, 1).arena_bytes, peak);
      run_assert_same (net.graph, k);
      overlay_clear (&net);
    }
}
END_TEST

/* Each case prevents an overlay: a batch of two images, a result that is an output of the graph, a
 * join, or a second reader. */
START_TEST (overlays_that_are_impossible_are_left_out)
{
  for (guint32 seed = 0; seed < OVERLAY_N_KINDS; seed++)
    {
      OverlayNet net = overlay_make_net (seed, 2);

      ck_assert_uint_eq (overlay_count (net.graph), 0);
      run_assert_same (net.graph, seed);
      overlay_clear (&net);
    }
  for (guint what = 0; what < 3; what++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, 16, 16));
      CleaveResult *wide = run_conv (graph, x, 16, 1, CLEAVE_LAYOUT_NCHW);
      CleaveResult *y = run_depthwise (graph, wide);

      if (what == 1)
        y = run_conv (
            graph, run_concat (graph, (CleaveResult *[]){ run_conv (graph, x, 3, 1, 0), y }, 2, 1),
            1, 1, CLEAVE_LAYOUT_NCHW);
      else if (what == 2)
        y = run_conv (graph, run_binary (graph, "Add", y, wide), 1, 1, CLEAVE_LAYOUT_NCHW);
      run_output (graph, y);
      ck_assert_uint_eq (overlay_count (graph), 0);
      run_assert_same (graph, what);
    }
}
END_TEST

/* Begins a network with a quantized group that has ops before or after its convolution. */
static OverlayNet
begin_group (CleaveResult **x, guint32 seed)
{
  OverlayNet net = { cleave_graph_new (NULL), g_rand_new_with_seed (seed), &overlay_kinds[2] };
  CleaveTensorType type = { CLEAVE_INT8, CLEAVE_SHAPE (1, 1, 12, 12) };
  CleaveResult *in = cleave_graph_add_input (net.graph, "x", &type, NULL);

  g_assert (net.kind->form == OVERLAY_CONVERTED);
  *x = overlay_add_pointwise (&net, in, 24, CLEAVE_LAYOUT_NCHW);
  return net;
}

static CleaveResult *
add_windows (OverlayNet *net, CleaveResult *x, CleaveInts strides, CleaveInts pads)
{
  CleaveConvAttrs attrs = { .group = 24, .strides = strides, .pads = pads };
  CleaveResult *w = overlay_random_constant (net, CLEAVE_INT8, CLEAVE_SHAPE (24, 1, 3, 3));
  CleaveResult *operands[] = { x, overlay_convert (net, "DequantizeLinear", w, 0.1f) };

  return run_add (net->graph, "Conv", operands, 2, &attrs);
}

static CleaveResult *
dequantize (OverlayNet *net, CleaveResult *x)
{
  return overlay_convert (net, "DequantizeLinear", x, 0.05f);
}

static CleaveResult *
transpose_rows (OverlayNet *net, CleaveResult *x)
{
  return run_add (net->graph, "Transpose", &x, 1,
                  &(CleaveTransposeAttrs){ .perm = CLEAVE_INTS (0, 1, 3, 2) });
}

static CleaveResult *
turn_over (OverlayNet *net, CleaveResult *x)
{
  CleaveSliceAttrs attrs = { .starts = CLEAVE_INTS (11),
                             .ends = CLEAVE_INTS (G_MININT64),
                             .axes = CLEAVE_INTS (2),
                             .steps = CLEAVE_INTS (-1) };

  return run_add (net->graph, "Slice", &x, 1, &attrs);
}

/* A result can overlay an operand only if the quantized group reads all rows of the operand in
 * order. No group of this test reads its rows in order. */
START_TEST (groups_decide_in_which_order_rows_are_read)
{
  const CleaveInts once = CLEAVE_INTS (1, 1), same = CLEAVE_INTS (1, 1, 1, 1);

  for (guint what = 0; what < 5; what++)
    {
      CleaveResult *x, *y, *other;
      OverlayNet net = begin_group (&x, what);

      if (what < 2)
        y = add_windows (&net,
                         (what == 0 ? transpose_rows : turn_over) (&net, dequantize (&net, x)),
                         once, same);
      else if (what == 2)
        {
          other = overlay_add_pointwise (&net, x, 24, CLEAVE_LAYOUT_NCHW);
          y = add_windows (
              &net, run_binary (net.graph, "Mul", dequantize (&net, x), dequantize (&net, other)),
              once, same);
        }
      else if (what == 3)
        /* The convolution has stride 2, but because of its padding, the result has as many rows as
         * the operand x. So for row r of the result, the group reads row r of x in the Add, and
         * rows 2r to 2r + 2 of x in the convolution. */
        y = run_binary (net.graph, "Add", dequantize (&net, x),
                        add_windows (&net, dequantize (&net, x), CLEAVE_INTS (2, 2),
                                     CLEAVE_INTS (0, 0, 13, 13)));
      else
        y = run_binary (
            net.graph, "Add", dequantize (&net, x),
            add_windows (&net, transpose_rows (&net, dequantize (&net, x)), once, same));
      y = overlay_convert (&net, "QuantizeLinear", y, 1.5f);
      if (what == 2) /* a later node reads x again */
        y = overlay_add_pointwise (&net, run_concat (net.graph, (CleaveResult *[]){ y, x }, 2, 1),
                                   2, CLEAVE_LAYOUT_NCHW);
      run_output (net.graph, overlay_add_pointwise (&net, y, 2, CLEAVE_LAYOUT_NCHW));
      if (!cleave_debug_is_on (CLEAVE_DEBUG_REFERENCE)) /* with reference kernels, the nodes of a
                                                         * quantized group run one by one */
        ck_assert_uint_eq (overlay_count (net.graph), 0);
      run_assert_same (net.graph, what);
      overlay_clear (&net);
    }
}
END_TEST

/* A row is larger than a tile, so tiles are cut along columns, and an overlaid result goes through
 * scratch. */
START_TEST (tiles_of_columns_go_through_scratch)
{
  OverlayNet net = { cleave_graph_new (NULL), g_rand_new_with_seed (1), &overlay_kinds[2] };
  CleaveTensorType type = { CLEAVE_INT8, CLEAVE_SHAPE (1, 1, 6, 400) };
  CleaveConvAttrs attrs = { .group = 96, .pads = CLEAVE_INTS (1, 1, 1, 1) };
  CleaveResult *x = cleave_graph_add_input (net.graph, "x", &type, NULL);

  x = overlay_add_conv (&net, overlay_add_pointwise (&net, x, 96, CLEAVE_LAYOUT_NCHW),
                        CLEAVE_SHAPE (96, 1, 3, 3), &attrs);
  run_output (net.graph, overlay_add_pointwise (&net, x, 1, CLEAVE_LAYOUT_NCHW));
  ck_assert_uint_eq (overlay_count (net.graph), 1);
  run_assert_same (net.graph, 1);
  overlay_clear (&net);
}
END_TEST

/* Adds a depthwise convolution of x whose weights are a Slice of x (if `is_view`) or are computed
 * from x. */
static CleaveResult *
add_depthwise_by_part (CleaveGraph *graph, CleaveResult *x, gboolean is_view)
{
  CleaveResult *w = run_slice (graph, x, CLEAVE_RANGE (0, 1, 0, 16, 3, 4, 5, 6));
  CleaveConvAttrs attrs = { .group = 16 };

  w = run_add (graph, "Transpose", &w, 1,
               &(CleaveTransposeAttrs){ .perm = CLEAVE_INTS (1, 0, 2, 3) });
  if (!is_view)
    w = run_unary (graph, "Sigmoid", w);
  return run_add (graph, "Conv", (CleaveResult *[]){ x, w }, 2, &attrs);
}

/* The result of a node does not overlay an operand that is a join. The result does not overlay a
 * value either if another operand of the node is a view of a part of this value. An earlier node
 * may read a part of the value.
 */
START_TEST (parts_of_an_operand_prevent_an_overlay)
{
  for (guint what = 0; what < 3; what++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *in = run_input (graph, &CLEAVE_SHAPE (1, 2, 16, 16));
      CleaveResult *a = run_conv (graph, in, 16, 1, CLEAVE_LAYOUT_NCHW);
      CleaveResult *y;

      if (what == 0)
        a = run_concat (
            graph, (CleaveResult *[]){ a, run_conv (graph, in, 16, 3, CLEAVE_LAYOUT_NCHW) }, 2, 1);
      y = what == 0 ? run_depthwise (graph, a) : add_depthwise_by_part (graph, a, what == 2);
      run_output (graph, run_conv (graph, y, 1, 1, CLEAVE_LAYOUT_NCHW));
      ck_assert_uint_eq (overlay_count (graph), what == 1 ? 1 : 0);
      run_assert_same (graph, what);
    }
}
END_TEST

/* The Assemble has two overlapping parts; the depthwise convolution computes the second part. If
 * the second part overlaid the operand of the convolution in the memory of the Assemble, the
 * convolution could overwrite the first part. */
START_TEST (results_inside_a_join_are_not_overlaid)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, 16, 16));
  CleaveResult *spot =
      run_unary (graph, "Sigmoid", run_slice (graph, x, CLEAVE_RANGE (0, 1, 0, 2, 0, 4, 0, 4)));
  CleaveResult *wide = run_conv (graph, x, 16, 1, CLEAVE_LAYOUT_NCHW), *parts[2], *y;
  CleaveRange ranges[] = { CLEAVE_RANGE (0, 1, 3, 5, 8, 12, 2, 6),
                           CLEAVE_RANGE (0, 1, 0, 16, 0, 16, 0, 16) };

  parts[0] = spot;
  parts[1] = run_depthwise (graph, wide);
  y = run_assemble (graph, parts, ranges, 2);
  run_output (graph, run_conv (graph, y, 1, 1, CLEAVE_LAYOUT_NCHW));
  ck_assert_uint_eq (overlay_count (graph), 0);
  run_assert_same (graph, 1);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (
      suite, "overlays", bits_are_the_same, three_rows_decide_for_all, very_many_rows_are_handled,
      the_peak_is_that_of_the_larger_value, overlays_that_are_impossible_are_left_out,
      groups_decide_in_which_order_rows_are_read, tiles_of_columns_go_through_scratch,
      results_inside_a_join_are_not_overlaid, parts_of_an_operand_prevent_an_overlay, NULL);
}

CLEAVE_TEST_SUITE ("overlays", add_tests)
