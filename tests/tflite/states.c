/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Operators of TensorFlow Lite with a state, SVDF and LSTM, against scalar models of their rules.
 */

#include "exact.h"

#include <string.h>

/* Runs an SVDF on int8 six times, with a state of int8 or int16. The tests compare the results with
 * SvdfModel, a scalar model of the operator. SvdfModel keeps the last results of each filter in
 * `state`. */

enum { BATCH = 2, INPUTS = 5, FILTERS = 6, MEMORY = 4, RANK = 2, UNITS = FILTERS / RANK, RUNS = 6 };

typedef struct
{
  gint8 feature[FILTERS][INPUTS];
  gint16 time[FILTERS][MEMORY];
  gint32 bias[UNITS];
  gint16 state[BATCH][FILTERS][MEMORY]; /* state of each filter: elements minus the zero point */
  float x, weights, time_scale, state_scale, y;
} SvdfModel;

static void
step_svdf (SvdfModel *m, gint zero, gint64 lowest, const gint8 *x, gint8 *y)
{
  Ratio in = ratio_of ((double) (m->x * m->weights / m->state_scale));
  Ratio out = ratio_of ((double) (m->state_scale * m->time_scale / m->y));

  for (gint b = 0; b < BATCH; b++)
    for (gint u = 0; u < UNITS; u++)
      {
        gint64 all = m->bias[u], model;

        for (gint f = u * RANK; f < (u + 1) * RANK; f++)
          {
            gint16 *line = m->state[b][f];
            gint64 dot = 0;

            for (gint i = 0; i < INPUTS; i++)
              dot += m->feature[f][i] * (x[b * INPUTS + i] - 3);
            memmove (line, line + 1, sizeof (gint16) * (MEMORY - 1));
            dot = times (dot, in);
            dot = CLAMP (dot, lowest, -(lowest + 1)) + zero;
            line[MEMORY - 1] = (gint16) ((lowest == G_MININT8 ? (gint8) dot : (gint16) dot) - zero);
            for (gint k = 0; k < MEMORY; k++)
              all += line[k] * m->time[f][k];
          }
        model = times (all, out) - 7;
        y[b * UNITS + u] = (gint8) CLAMP (model, G_MININT8, G_MAXINT8);
      }
}

/* Runs the scalar model and the graph, and compares the results of each run. `zero` is the zero
 * point of the state. */
static void
check_svdf (gint state_type, gint zero)
{
  gboolean is_16 = state_type == TFLITE_INT16;
  CleaveTensorType state =
      CLEAVE_TYPE (is_16 ? CLEAVE_INT16 : CLEAVE_INT8, BATCH, FILTERS * MEMORY);
  SvdfModel m = { .x = 0.1f,
                  .weights = 0.02f,
                  .time_scale = is_16 ? 0x1p-13f : 0.02f,
                  .state_scale = is_16 ? 0x1p-11f : 0.05f,
                  .y = 0.11f };
  g_autoptr (GRand) rand = g_rand_new_with_seed (27);
  gint8 narrow_time[FILTERS][MEMORY];
  const TfliteTensor tensors[] = {
    { .name = "x", .type = TFLITE_INT8, .shape = "2x5", .scales = &m.x, .n_scales = 1, .zero = 3 },
    { .name = "f",
      .type = TFLITE_INT8,
      .shape = "6x5",
      .data = m.feature,
      .n_bytes = sizeof (m.feature),
      .scales = &m.weights,
      .n_scales = 1 },
    { .name = "t",
      .type = state_type,
      .shape = "6x4",
      .data = is_16 ? (gconstpointer) m.time : narrow_time,
      .n_bytes = is_16 ? sizeof (m.time) : sizeof (narrow_time),
      .scales = &m.time_scale,
      .n_scales = 1 },
    { .name = "b", .type = TFLITE_INT32, .shape = "3", .data = m.bias, .n_bytes = sizeof (m.bias) },
    { .name = "s",
      .type = state_type,
      .shape = "2x24",
      .scales = &m.state_scale,
      .n_scales = 1,
      .zero = zero,
      .is_variable = TRUE },
    { .name = "y", .type = TFLITE_INT8, .shape = "2x3", .scales = &m.y, .n_scales = 1, .zero = -7 },
  };
  const TfliteOperator op = { 27, NULL, { 0, 1, 2, 3, 4 }, 5, { 5 }, 1, 1, { { 0, 'i', RANK } } };
  const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0 }, 1, { 5 }, 1, 0 };
  g_autoptr (CleaveTensor) kept = cleave_tensor_new (&state, NULL);
  g_autoptr (CleaveGraph) graph = NULL;
  g_autoptr (GBytes) bytes = NULL;
  GError *error = NULL;

  for (gint i = 0; i < FILTERS * INPUTS; i++)
    m.feature[0][i] = (gint8) g_rand_int_range (rand, -128, 128);
  for (gint i = 0; i < FILTERS * MEMORY; i++)
    {
      m.time[0][i] = (gint16) (is_16 ? g_rand_int_range (rand, -32768, 32768)
                                     : g_rand_int_range (rand, -128, 128));
      narrow_time[0][i] = (gint8) m.time[0][i];
    }
  for (gint i = 0; i < UNITS; i++)
    m.bias[i] = g_rand_int_range (rand, -1000, 1000);
  for (gint i = 0; i < BATCH * FILTERS * MEMORY; i++)
    if (is_16)
      ((gint16 *) cleave_tensor_get_mutable_data (kept))[i] = (gint16) zero;
    else
      ((gint8 *) cleave_tensor_get_mutable_data (kept))[i] = (gint8) zero;
  bytes = tflite_file_new (&file);
  graph = cleave_tflite_parse (bytes, &error);
  ck_assert_msg (graph != NULL, "%s", error == NULL ? "" : error->message);
  for (guint run = 0; run < RUNS; run++)
    {
      g_autoptr (GPtrArray) inputs = tensors_new (), outputs = NULL;
      gint8 expected[BATCH * UNITS];

      g_ptr_array_add (inputs, cleave_random_tensor (&CLEAVE_TYPE (CLEAVE_INT8, 2, 5), run, FALSE));
      g_ptr_array_add (inputs, cleave_tensor_ref (kept));
      step_svdf (&m, zero, is_16 ? G_MININT16 : G_MININT8,
                 cleave_tensor_get_data (inputs->pdata[0]), expected);
      outputs = run_graph (graph, inputs, 2);
      ck_assert_mem_eq (cleave_tensor_get_data (outputs->pdata[0]), expected, sizeof (expected));
      cleave_tensor_unref (kept);
      kept = cleave_tensor_ref (outputs->pdata[1]);
    }
}

START_TEST (svdf_keeps_its_state_from_run_to_run)
{
  check_svdf (TFLITE_INT8, 0);
  check_svdf (TFLITE_INT8, -20);
  check_svdf (TFLITE_INT16, 0);
}
END_TEST

/* The tests below check the LSTM. */

enum { UNITS_L = 3, INPUTS_L = 4, STEPS = 5 };

/* An LSTM with a batch of 1. All weights of a gate have the same scale. */
typedef struct
{
  gint8 w[4][UNITS_L][INPUTS_L], r[4][UNITS_L][UNITS_L];
  gint64 b[4][UNITS_L];
  gint32 b_32[4][UNITS_L];
  gint64 h[UNITS_L], c[UNITS_L];
  float x, h_scale, c_scale, w_scale, r_scale;
  gint x_zero, h_zero;
  gboolean is_16;
} LstmModel;

static gint64
clamp_16 (gint64 v)
{
  return CLAMP (v, G_MININT16, G_MAXINT16);
}

/* Returns LOGISTIC or TANH of x, computed by the operator on int16. x is in units of `scale`, and
 * the result is in units of 2^-15. */
static gint16
through_operator (gint code, float scale, gint16 x)
{
  static const float y_scale = 0x1p-15f;
  const TfliteTensor tensors[] = {
    { .name = "x", .type = TFLITE_INT16, .shape = "1", .scales = &scale, .n_scales = 1 },
    { .name = "y", .type = TFLITE_INT16, .shape = "1", .scales = &y_scale, .n_scales = 1 },
  };
  const TfliteOperator op = { code, NULL, { 0 }, 1, { 1 }, 1, 1, { { 0 } } };
  const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0 }, 1, { 1 }, 1, 0 };
  g_autoptr (GPtrArray) inputs = tensors_new ();
  g_autoptr (GBytes) bytes = NULL;

  g_ptr_array_add (inputs, cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_INT16, 1), &x, NULL));
  bytes = run_file (&file, inputs);
  return *(const gint16 *) g_bytes_get_data (bytes, NULL);
}

static gint64
gate_of (const LstmModel *m, guint gate, guint unit, const gint64 *x, const gint64 *h)
{
  Ratio of_x = ratio_of ((double) (m->x * m->w_scale) * 0x1p12);
  Ratio of_h = ratio_of ((double) (m->h_scale * m->r_scale) * 0x1p12);
  gint64 a = m->b[gate][unit], b = 0;

  for (guint i = 0; i < INPUTS_L; i++)
    a += m->w[gate][unit][i] * (x[i] - m->x_zero);
  for (guint i = 0; i < UNITS_L; i++)
    b += m->r[gate][unit][i] * (h[i] - m->h_zero);
  a = m->is_16 ? times_wide (a, of_x) : times (a, of_x);
  b = m->is_16 ? times_wide (b, of_h) : times (b, of_h);
  return clamp_16 (clamp_16 (a) + clamp_16 (b));
}

static void
step_lstm (LstmModel *m, const gint64 *x)
{
  enum { LOGISTIC = 14, TANH = 28 };
  double c_scale = (double) m->c_scale;
  gint64 h[UNITS_L];

  memcpy (h, m->h, sizeof (h));
  for (guint u = 0; u < UNITS_L; u++)
    {
      gint64 gate[4], kept, added, y;

      for (guint g = 0; g < 4; g++)
        gate[g] =
            through_operator (g == 2 ? TANH : LOGISTIC, 0x1p-12f, (gint16) gate_of (m, g, u, x, h));
      kept = clamp_16 (times (gate[1] * m->c[u], ratio_of (0x1p-15)));
      added = clamp_16 (times (gate[0] * gate[2], ratio_of (0x1p-30 / c_scale)));
      m->c[u] = clamp_16 (kept + added);
      y = times (through_operator (TANH, m->c_scale, (gint16) m->c[u]) * gate[3],
                 ratio_of (0x1p-30 / (double) m->h_scale));
      y += m->h_zero;
      m->h[u] = m->is_16 ? clamp_16 (y) : CLAMP (y, G_MININT8, G_MAXINT8);
    }
}

static GBytes *
write_lstm (const LstmModel *m)
{
  static const gint inputs[24] = { 0, 1,  2,  3,  4,  5,  6,  7,  8,  -1, -1, -1,
                                   9, 10, 11, 12, -1, -1, 13, 14, -1, -1, -1, -1 };
  gint type = m->is_16 ? TFLITE_INT16 : TFLITE_INT8;
  TfliteTensor tensors[16] = {
    { .name = "x",
      .type = type,
      .shape = "1x5x4",
      .scales = &m->x,
      .n_scales = 1,
      .zero = m->x_zero },
    [13] = { .name = "h",
             .type = type,
             .shape = "1x3",
             .scales = &m->h_scale,
             .n_scales = 1,
             .zero = m->h_zero,
             .is_variable = TRUE },
    [14] = { .name = "c",
             .type = TFLITE_INT16,
             .shape = "1x3",
             .scales = &m->c_scale,
             .n_scales = 1,
             .is_variable = TRUE },
    [15] = { .name = "y",
             .type = type,
             .shape = "1x5x3",
             .scales = &m->h_scale,
             .n_scales = 1,
             .zero = m->h_zero },
  };
  TfliteOperator op = { 44, NULL, { 0 }, 24, { 15 }, 1, 1, { { 0, 'b', 4 } } };
  const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0 }, 1, { 15 }, 1, 0 };

  memcpy (op.inputs, inputs, sizeof (inputs));
  for (guint g = 0; g < 4; g++)
    {
      tensors[1 + g] = (TfliteTensor){ .type = TFLITE_INT8,
                                       .shape = "3x4",
                                       .data = m->w[g],
                                       .n_bytes = sizeof (m->w[g]),
                                       .scales = &m->w_scale,
                                       .n_scales = 1 };
      tensors[5 + g] = (TfliteTensor){ .type = TFLITE_INT8,
                                       .shape = "3x3",
                                       .data = m->r[g],
                                       .n_bytes = sizeof (m->r[g]),
                                       .scales = &m->r_scale,
                                       .n_scales = 1 };
      tensors[9 + g] =
          (TfliteTensor){ .type = m->is_16 ? TFLITE_INT64 : TFLITE_INT32,
                          .shape = "3",
                          .data = m->is_16 ? (gconstpointer) m->b[g] : m->b_32[g],
                          .n_bytes = m->is_16 ? sizeof (m->b[g]) : sizeof (m->b_32[g]) };
    }
  return tflite_file_new (&file);
}

/* Returns a tensor of int8, or of int16 for a model of int16. */
static CleaveTensor *
integers (gboolean is_16, const CleaveShape *shape, const gint64 *from)
{
  CleaveTensorType type = { is_16 ? CLEAVE_INT16 : CLEAVE_INT8, *shape };
  CleaveTensor *tensor = cleave_tensor_new (&type, NULL);

  for (gint64 i = 0; i < cleave_shape_n_elements (shape); i++)
    if (is_16)
      ((gint16 *) cleave_tensor_get_mutable_data (tensor))[i] = (gint16) from[i];
    else
      ((gint8 *) cleave_tensor_get_mutable_data (tensor))[i] = (gint8) from[i];
  return tensor;
}

static void
check_lstm (gboolean is_16)
{
  LstmModel m = { .is_16 = is_16,
                  .x = is_16 ? 0x1p-12f : 0.03f,
                  .h_scale = is_16 ? 0x1p-15f : 0x1p-7f,
                  .c_scale = 0x1p-11f,
                  .w_scale = 0.02f,
                  .r_scale = 0.011f,
                  .x_zero = is_16 ? 0 : 5,
                  .h_zero = is_16 ? 0 : -4 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (44);
  CleaveShape x_shape = CLEAVE_SHAPE (1, STEPS, INPUTS_L), state = CLEAVE_SHAPE (1, UNITS_L);
  g_autoptr (GPtrArray) inputs = tensors_new (), outputs = NULL;
  g_autoptr (CleaveGraph) graph = NULL;
  g_autoptr (CleaveTensor) y = NULL, h = NULL, c = NULL;
  g_autoptr (GBytes) bytes = NULL;
  gint64 x[STEPS][INPUTS_L], expected[STEPS][UNITS_L];

  for (guint i = 0; i < sizeof (m.w); i++)
    m.w[0][0][i] = (gint8) g_rand_int_range (rand, -128, 128);
  for (guint i = 0; i < sizeof (m.r); i++)
    m.r[0][0][i] = (gint8) g_rand_int_range (rand, -128, 128);
  for (guint i = 0; i < 4 * UNITS_L; i++)
    m.b[0][i] = m.b_32[0][i] = g_rand_int_range (rand, -900, 900);
  for (guint u = 0; u < UNITS_L; u++)
    {
      m.h[u] = m.h_zero;
      m.c[u] = g_rand_int_range (rand, -4000, 4000);
    }
  for (guint i = 0; i < STEPS * INPUTS_L; i++)
    x[0][i] = is_16 ? g_rand_int_range (rand, -8000, 8000) : g_rand_int_range (rand, -128, 128);
  bytes = write_lstm (&m);
  graph = cleave_tflite_parse (bytes, NULL);
  ck_assert_ptr_nonnull (graph);
  g_ptr_array_add (inputs, integers (is_16, &x_shape, x[0]));
  g_ptr_array_add (inputs, integers (is_16, &state, m.h));
  g_ptr_array_add (inputs, integers (TRUE, &state, m.c));
  outputs = run_graph (graph, inputs, 2);
  for (guint t = 0; t < STEPS; t++)
    {
      step_lstm (&m, x[t]);
      memcpy (expected[t], m.h, sizeof (m.h));
    }
  y = integers (is_16, &CLEAVE_SHAPE (1, STEPS, UNITS_L), expected[0]);
  h = integers (is_16, &state, m.h);
  c = integers (TRUE, &state, m.c);
  ck_assert (cleave_tensor_equal (outputs->pdata[0], y));
  ck_assert (cleave_tensor_equal (outputs->pdata[1], h));
  ck_assert (cleave_tensor_equal (outputs->pdata[2], c));
}

START_TEST (lstms_follow_the_rule_at_each_step)
{
  check_lstm (FALSE);
  check_lstm (TRUE);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "rules", svdf_keeps_its_state_from_run_to_run,
                   lstms_follow_the_rule_at_each_step, NULL);
}

CLEAVE_TEST_SUITE ("tflite-states", add_tests)
