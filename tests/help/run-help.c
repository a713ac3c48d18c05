/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs programs with tensors and an arena full of garbage, and builds graphs whose errors fail the
 * test. */

#include "run-help.h"

#include <string.h>

#include "../../lib/runtime/program-private.h"
#include "interpret.h"

GPtrArray *
run_random_inputs (const CleaveGraph *graph, guint32 seed)
{
  GPtrArray *inputs = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

  for (guint i = 0; i < cleave_graph_get_n_inputs (graph); i++)
    g_ptr_array_add (
        inputs, cleave_random_tensor (cleave_result_get_type (cleave_graph_get_input (graph, i)),
                                      seed + i, FALSE));
  return inputs;
}

/* Makes a tensor for each output, filled with garbage like the arena, since a program may use
 * outputs as working memory. */
static GPtrArray *
make_outputs (const CleaveGraph *graph)
{
  GPtrArray *outputs = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);

  for (guint i = 0; i < cleave_graph_get_n_outputs (graph); i++)
    {
      CleaveResult *output = cleave_operand_get_result (cleave_graph_get_output (graph, i));

      CleaveTensor *tensor = cleave_tensor_new (cleave_result_get_type (output), NULL);

      memset (cleave_tensor_get_mutable_data (tensor), 0xff,
              (gsize) cleave_tensor_type_n_bytes (cleave_result_get_type (output)));
      g_ptr_array_add (outputs, tensor);
    }
  return outputs;
}

static CleaveProgram *
make_program (const CleaveGraph *graph, guint n_threads)
{
  CleaveProgramOptions options = { .n_threads = n_threads };
  g_autoptr (GError) error = NULL;
  CleaveProgram *program = cleave_program_new (graph, &options, &error);

  cleave_assert_no_error (error);
  return program;
}

static void
assert_outputs (
    const CleaveGraph *graph, GPtrArray *got, GPtrArray *want, guint n_threads, guint32 seed)
{
  for (guint i = 0; i < want->len; i++)
    if (!cleave_tensor_equal (got->pdata[i], want->pdata[i]))
      {
        g_autofree char *dump = cleave_graph_print (graph);

        ck_abort_msg ("seed %u, %u threads: output %u differs in\n%s", seed, n_threads, i, dump);
      }
}

GPtrArray *
run_program (CleaveProgram *program, const CleaveGraph *graph, const GPtrArray *inputs)
{
  GPtrArray *outputs = make_outputs (graph);
  g_autoptr (GError) error = NULL;

  cleave_program_bind (program, (CleaveTensor *const *) inputs->pdata, inputs->len,
                       (CleaveTensor *const *) outputs->pdata, outputs->len, &error);
  cleave_assert_no_error (error);
  memset (program->arena, 0xff, (gsize) program->stats.arena_bytes);
  cleave_program_run (program);
  return outputs;
}

static void
assert_threads (
    const CleaveGraph *graph, GPtrArray *inputs, GPtrArray *want, guint n_threads, guint32 seed)
{
  g_autoptr (CleaveProgram) program = make_program (graph, n_threads);

  for (guint run = 0; run < 2; run++)
    {
      g_autoptr (GPtrArray) outputs = run_program (program, graph, inputs);

      assert_outputs (graph, outputs, want, n_threads, seed);
    }
}

GPtrArray *
run_graph (const CleaveGraph *graph, const GPtrArray *inputs, guint n_threads)
{
  g_autoptr (CleaveProgram) program = make_program (graph, n_threads);

  return run_program (program, graph, inputs);
}

void
run_assert_same (const CleaveGraph *graph, guint32 seed)
{
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, seed);
  g_autoptr (GPtrArray) want = cleave_interpret (graph, (CleaveTensor *const *) inputs->pdata);

  assert_threads (graph, inputs, want, 1, seed);
  assert_threads (graph, inputs, want, 2, seed);
  assert_threads (graph, inputs, want, 3, seed);
  assert_threads (graph, inputs, want, 8, seed);
}

CleaveProgramStats
run_get_stats (const CleaveGraph *graph, guint n_threads)
{
  g_autoptr (CleaveProgram) program = make_program (graph, n_threads);
  CleaveProgramStats stats;

  cleave_program_get_stats (program, &stats);
  return stats;
}

CleaveResult *
run_input (CleaveGraph *graph, const CleaveShape *shape)
{
  CleaveTensorType type = { CLEAVE_FLOAT32, *shape };
  g_autofree char *name = g_strdup_printf ("x%u", cleave_graph_get_n_inputs (graph));
  g_autoptr (GError) error = NULL;
  CleaveResult *input = cleave_graph_add_input (graph, name, &type, &error);

  cleave_assert_no_error (error);
  return input;
}

CleaveResult *
run_constant (CleaveGraph *graph, const CleaveShape *shape, guint32 seed)
{
  CleaveTensorType type = { CLEAVE_FLOAT32, *shape };
  g_autoptr (CleaveTensor) value = cleave_random_tensor (&type, seed, FALSE);

  return cleave_graph_add_constant (graph, NULL, value);
}

CleaveResult *
run_add (
    CleaveGraph *graph, const char *op, CleaveResult *const *operands, guint n, gconstpointer attrs)
{
  g_autoptr (GError) error = NULL;
  CleaveNode *node;

  ck_assert_msg (cleave_op_lookup (op) != NULL, "no op %s", op);
  node = cleave_graph_add (graph, cleave_op_lookup (op), NULL, operands, n, 1, attrs, &error);
  cleave_assert_no_error (error);
  return cleave_node_get_result (node, 0);
}

CleaveResult *
run_unary (CleaveGraph *graph, const char *op, CleaveResult *x)
{
  return run_add (graph, op, &x, 1, NULL);
}

CleaveResult *
run_binary (CleaveGraph *graph, const char *op, CleaveResult *a, CleaveResult *b)
{
  return run_add (graph, op, (CleaveResult *[]){ a, b }, 2, NULL);
}

CleaveResult *
run_hard_swish (CleaveGraph *graph, CleaveResult *x, gboolean swap)
{
  const CleaveClipAttrs clip = { 0, 6 };
  CleaveResult *one = run_constant (graph, &CLEAVE_SHAPE (1), 7);
  CleaveResult *t = run_binary (graph, "Add", x, one);

  t = run_add (graph, "Clip", &t, 1, &clip);
  x = swap ? run_binary (graph, "Mul", t, x) : run_binary (graph, "Mul", x, t);
  return run_binary (graph, "Div", x, one);
}

CleaveResult *
run_conv (
    CleaveGraph *graph, CleaveResult *x, gint64 n_channels, gint64 kernel, CleaveLayout layout)
{
  const CleaveShape *shape = &cleave_result_get_type (x)->shape;
  gint64 from = shape->dim[layout == CLEAVE_LAYOUT_NHWC ? 3 : 1], pad = kernel / 2;
  CleaveConvAttrs attrs = { .layout = layout, .pads = CLEAVE_INTS (pad, pad, pad, pad) };
  CleaveResult *w = run_constant (graph, &CLEAVE_SHAPE (n_channels, from, kernel, kernel),
                                  cleave_graph_get_n_nodes (graph));
  g_autoptr (GError) error = NULL;
  CleaveResult *y = cleave_graph_add_conv (graph, NULL, x, w, NULL, &attrs, &error);

  cleave_assert_no_error (error);
  return y;
}

CleaveResult *
run_slice (CleaveGraph *graph, CleaveResult *x, CleaveRange range)
{
  g_autoptr (GError) error = NULL;
  CleaveResult *y = cleave_graph_add_slice_range (graph, NULL, x, &range, &error);

  cleave_assert_no_error (error);
  return y;
}

CleaveResult *
run_concat (CleaveGraph *graph, CleaveResult *const *operands, guint n, gint64 axis)
{
  g_autoptr (GError) error = NULL;
  CleaveResult *y = cleave_graph_add_concat (graph, NULL, operands, n, axis, &error);

  cleave_assert_no_error (error);
  return y;
}

CleaveResult *
run_assemble (CleaveGraph *graph, CleaveResult *const *parts, const CleaveRange *ranges, guint n)
{
  g_autoptr (GError) error = NULL;
  CleaveResult *y = cleave_graph_add_assemble (graph, NULL, parts, ranges, n, &error);

  cleave_assert_no_error (error);
  return y;
}

void
run_output (CleaveGraph *graph, CleaveResult *value)
{
  g_autofree char *name = g_strdup_printf ("y%u", cleave_graph_get_n_outputs (graph));
  g_autoptr (GError) error = NULL;

  cleave_graph_add_output (graph, name, value, &error);
  cleave_assert_no_error (error);
}

CleaveResult *
run_depthwise (CleaveGraph *graph, CleaveResult *x)
{
  gint64 n = cleave_result_get_type (x)->shape.dim[1];
  CleaveConvAttrs attrs = { .group = n, .pads = CLEAVE_INTS (1, 1, 1, 1) };
  CleaveResult *w = run_constant (graph, &CLEAVE_SHAPE (n, 1, 3, 3), 5);

  return run_add (graph, "Conv", (CleaveResult *[]){ x, w }, 2, &attrs);
}

CleaveResult *
run_normalize_by (CleaveGraph *graph, CleaveResult *x, CleaveResult *variance)
{
  const CleaveShape n = CLEAVE_SHAPE (cleave_result_get_type (x)->shape.dim[1]);
  CleaveNormAttrs attrs = { .epsilon = 1e-3 };
  CleaveResult *operands[] = { x, run_constant (graph, &n, 6), run_constant (graph, &n, 7),
                               run_constant (graph, &n, 8), variance };

  return run_add (graph, "BatchNormalization", operands, 5, &attrs);
}

CleaveResult *
run_normalize_for_good (CleaveGraph *graph, CleaveResult *x)
{
  const CleaveShape n = CLEAVE_SHAPE (cleave_result_get_type (x)->shape.dim[1]);

  return run_normalize_by (graph, x, run_constant (graph, &n, 9));
}

CleaveResult *
run_halve (CleaveGraph *graph, CleaveResult *x)
{
  const CleavePoolAttrs pool = { .kernel_shape = CLEAVE_INTS (2, 2),
                                 .strides = CLEAVE_INTS (2, 2) };

  return run_add (graph, "MaxPool", &x, 1, &pool);
}

CleaveGraph *
run_unet (void)
{
  CleaveGraph *graph = cleave_graph_new ("unet");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 3, 48, 32));
  CleaveResult *wide = run_conv (graph, x, 8, 3, CLEAVE_LAYOUT_NCHW), *down, *both[2];
  CleaveDepthAttrs up = { .blocksize = 2 };

  down = run_halve (graph, wide);
  down = run_conv (graph, run_unary (graph, "Relu", down), 32, 3, CLEAVE_LAYOUT_NCHW);
  both[0] = wide;
  both[1] = run_add (graph, "DepthToSpace", &down, 1, &up);
  down = run_concat (graph, both, 2, 1);
  run_output (graph, run_conv (graph, down, 2, 3, CLEAVE_LAYOUT_NCHW));
  run_output (graph, run_unary (graph, "Relu", both[1]));
  return graph;
}
