/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Memory of constants in a program that takes ownership of its graph: a constant is freed if the
 * program reads only its packed form. */

#include "run-help.h"

#include "../../lib/ir/debug.h"

#define N_CHANNELS 16
#define N_WEIGHTS (N_CHANNELS * 9)

/* Weights whose destructor sets `is_gone`. */
typedef struct
{
  float data[N_WEIGHTS];
  gboolean is_gone;
} Watched;

static void
note_gone (gpointer data)
{
  Watched *watched = data;

  watched->is_gone = TRUE;
}

static CleaveTensor *
watch (Watched *watched)
{
  g_autoptr (GBytes) bytes = NULL;

  for (guint i = 0; i < N_WEIGHTS; i++)
    watched->data[i] = (float) i - 30;
  bytes = g_bytes_new_with_free_func (watched->data, sizeof watched->data, note_gone, watched);
  return cleave_tensor_new_from_bytes (&CLEAVE_TYPE (CLEAVE_FLOAT32, N_CHANNELS, 1, 3, 3), bytes,
                                       NULL);
}

static CleaveResult *
add_depthwise (CleaveGraph *graph, CleaveResult *x, CleaveTensor *weights)
{
  CleaveConvAttrs attrs = { .pads = CLEAVE_INTS (1, 1, 1, 1),
                            .group = cleave_tensor_get_type (weights)->shape.dim[0] };
  g_autoptr (GError) error = NULL;
  CleaveResult *y = cleave_graph_add_conv (
      graph, NULL, x, cleave_graph_add_constant (graph, NULL, weights), NULL, &attrs, &error);

  cleave_assert_no_error (error);
  return y;
}

/* Makes two convolutions of half of the channels, each with its part of the weights, and a
 * convolution of all channels with all weights. */
static CleaveGraph *
make_graph (Watched *watched)
{
  g_autoptr (CleaveTensor) whole = watch (watched);
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, N_CHANNELS, 6, 6)), *y[2];
  gint64 half = N_CHANNELS / 2;

  for (guint i = 0; i < 2; i++)
    {
      CleaveRange part = CLEAVE_RANGE (i * half, (i + 1) * half, 0, 1, 0, 3, 0, 3);
      g_autoptr (CleaveTensor) weights = cleave_tensor_new_slice (whole, &part);

      y[i] = add_depthwise (
          graph, run_slice (graph, x, CLEAVE_RANGE (0, 1, i * half, (i + 1) * half, 0, 6, 0, 6)),
          weights);
    }
  run_output (graph, add_depthwise (graph, run_concat (graph, y, 2, 1), whole));
  return graph;
}

static gboolean
are_packed (gboolean reference)
{
  return !reference && !cleave_debug_is_on (CLEAVE_DEBUG_REFERENCE);
}

START_TEST (packed_weights_are_stored_once)
{
  for (gboolean reference = FALSE; reference <= TRUE; reference++)
    {
      Watched watched = { 0 };
      CleaveProgramOptions options = { .n_threads = 1, .reference = reference };
      g_autoptr (CleaveGraph) graph = make_graph (&watched);
      g_autoptr (CleaveProgram) program = cleave_program_new (graph, &options, NULL);
      CleaveProgramStats stats;

      cleave_program_get_stats (program, &stats);
      ck_assert_int_eq (stats.weight_bytes, sizeof watched.data);
      ck_assert (!watched.is_gone);
      g_clear_pointer (&graph, cleave_graph_unref);
      ck_assert_int_eq (watched.is_gone, are_packed (reference));
      g_clear_pointer (&program, cleave_program_unref);
      ck_assert (watched.is_gone);
    }
}
END_TEST

static CleaveTensor *
run_alone (CleaveProgram *program)
{
  g_autoptr (CleaveTensor) x =
      cleave_random_tensor (&CLEAVE_TYPE (CLEAVE_FLOAT32, 1, N_CHANNELS, 6, 6), 1, FALSE);
  CleaveTensor *y = cleave_tensor_new (&CLEAVE_TYPE (CLEAVE_FLOAT32, 1, N_CHANNELS, 6, 6), NULL);

  ck_assert (cleave_program_bind (program, &x, 1, &y, 1, NULL));
  cleave_program_run (program);
  return y;
}

START_TEST (taking_the_graph_frees_packed_weights_at_once)
{
  for (guint n_threads = 1; n_threads <= 2; n_threads++)
    {
      Watched kept = { 0 }, watched = { 0 };
      CleaveProgramOptions options = { .n_threads = n_threads };
      g_autoptr (CleaveGraph) graph = make_graph (&kept);
      g_autoptr (CleaveProgram) whole = cleave_program_new (graph, &options, NULL);
      g_autoptr (CleaveProgram) taken =
          cleave_program_new_take (make_graph (&watched), &options, NULL);
      g_autoptr (CleaveTensor) a = NULL, b = NULL;

      ck_assert_int_eq (watched.is_gone, are_packed (FALSE));
      for (guint i = 0; watched.is_gone && i < N_WEIGHTS; i++)
        watched.data[i] = 0;
      a = run_alone (whole);
      b = run_alone (taken);
      ck_assert (cleave_tensor_equal (a, b));
    }
}
END_TEST

/* A convolution packs the weights, and the weights are also an output, so the program keeps both
 * forms. */
START_TEST (weights_read_without_packing_are_kept)
{
  Watched watched = { 0 };
  g_autoptr (CleaveTensor) weights = watch (&watched);
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, N_CHANNELS, 6, 6)), *c;
  CleaveConvAttrs attrs = { .pads = CLEAVE_INTS (1, 1, 1, 1), .group = N_CHANNELS };
  g_autoptr (CleaveProgram) program = NULL;
  CleaveProgramStats stats;

  c = cleave_graph_add_constant (graph, NULL, weights);
  run_output (graph, cleave_graph_add_conv (graph, NULL, x, c, NULL, &attrs, NULL));
  run_output (graph, c);
  g_clear_pointer (&weights, cleave_tensor_unref);
  program = cleave_program_new_take (graph, NULL, NULL);
  ck_assert (!watched.is_gone);
  cleave_program_get_stats (program, &stats);
  ck_assert_int_eq (stats.weight_bytes, (are_packed (FALSE) ? 2 : 1) * sizeof watched.data);
}
END_TEST

/* Makes two convolutions of a constant image of three rows: one of rows 0 and 1, one of rows 1
 * and 2. The weights of both convolutions are an input of the graph. */
static CleaveGraph *
make_images (Watched *watched)
{
  g_autoptr (CleaveTensor) weights = watch (watched);
  g_autoptr (GBytes) bytes = cleave_tensor_dup_bytes (weights);
  g_autoptr (CleaveTensor) image = cleave_tensor_new_from_bytes (
      &CLEAVE_TYPE (CLEAVE_FLOAT32, 1, N_CHANNELS, 3, 3), bytes, NULL);
  CleaveConvAttrs attrs = { .pads = CLEAVE_INTS (1, 1, 1, 1) };
  CleaveGraph *graph = cleave_graph_new (NULL);
  CleaveResult *w = run_input (graph, &CLEAVE_SHAPE (N_CHANNELS, N_CHANNELS, 3, 3));

  for (gint64 row = 0; row < 3; row += 2)
    {
      CleaveRange rows = CLEAVE_RANGE (0, 1, 0, N_CHANNELS, row / 2, row / 2 + 2, 0, 3);
      g_autoptr (CleaveTensor) part = cleave_tensor_new_slice (image, &rows);
      CleaveResult *x = cleave_graph_add_constant (graph, NULL, part);

      run_output (graph, cleave_graph_add_conv (graph, NULL, x, w, NULL, &attrs, NULL));
    }
  return graph;
}

START_TEST (a_constant_image_is_stored_once_with_channels_innermost)
{
  const CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 1, N_CHANNELS, 2, 3);
  g_autoptr (CleaveTensor) w =
      cleave_random_tensor (&CLEAVE_TYPE (CLEAVE_FLOAT32, N_CHANNELS, N_CHANNELS, 3, 3), 1, FALSE);
  CleaveTensor *y[2][2];

  for (gboolean reference = FALSE; reference <= TRUE; reference++)
    {
      Watched watched = { 0 };
      CleaveProgramOptions options = { .n_threads = 1, .reference = reference };
      g_autoptr (CleaveProgram) program =
          cleave_program_new_take (make_images (&watched), &options, NULL);
      CleaveProgramStats stats;

      cleave_program_get_stats (program, &stats);
      ck_assert_int_eq (stats.weight_bytes, sizeof watched.data);
      ck_assert_int_eq (watched.is_gone, are_packed (reference));
      for (guint i = 0; i < 2; i++)
        y[reference][i] = cleave_tensor_new (&type, NULL);
      ck_assert (cleave_program_bind (program, &w, 1, y[reference], 2, NULL));
      cleave_program_run (program);
    }
  for (guint i = 0; i < 2; i++)
    {
      ck_assert (cleave_tensor_equal (y[0][i], y[1][i]));
      cleave_tensor_unref (y[0][i]);
      cleave_tensor_unref (y[1][i]);
    }
}
END_TEST

START_TEST (taking_the_graph_frees_it_on_error)
{
  Watched watched = { 0 };
  CleaveProgramOptions options = { .n_threads = 5000 };
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (cleave_program_new_take (make_graph (&watched), &options, &error));
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
  ck_assert (watched.is_gone);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "constants", packed_weights_are_stored_once,
                   taking_the_graph_frees_packed_weights_at_once,
                   weights_read_without_packing_are_kept,
                   a_constant_image_is_stored_once_with_channels_innermost,
                   taking_the_graph_frees_it_on_error, NULL);
}

CLEAVE_TEST_SUITE ("constants", add_tests)
