/* SPDX-License-Identifier: GPL-2.0-or-later */

/* BIDIRECTIONAL_SEQUENCE_LSTM on floats, against a scalar model of its definition. */

#include "exact.h"

#include <string.h>

enum { TIME = 3, BATCH = 2, INPUTS = 2, HIDDEN = 3, N_GATES = 4 };

/* Weights and states of one direction; gates in the order input, forget, cell, output. */
typedef struct
{
  float w[N_GATES][HIDDEN][INPUTS], r[N_GATES][HIDDEN][HIDDEN], b[N_GATES][HIDDEN];
  float h[BATCH][HIDDEN], c[BATCH][HIDDEN];
} Direction;

static void
draw (GRand *rand, float *values, gsize n_bytes)
{
  for (gsize i = 0; i < n_bytes / sizeof (float); i++)
    values[i] = (float) g_rand_double_range (rand, -1, 1);
}

static double
gate_of (const Direction *d, guint gate, guint unit, const float *x, const double *h)
{
  double sum = (double) d->b[gate][unit];

  for (guint i = 0; i < INPUTS; i++)
    sum += (double) d->w[gate][unit][i] * (double) x[i];
  for (guint i = 0; i < HIDDEN; i++)
    sum += (double) d->r[gate][unit][i] * h[i];
  return gate == 2 ? tanh (sum) : 1 / (1 + exp (-sum));
}

/* Computes the results of one direction for one sequence, [time, hidden]. */
static void
run_direction (
    const Direction *d, guint batch, gboolean is_reverse, float (*x)[INPUTS], double (*y)[HIDDEN])
{
  double h[HIDDEN], c[HIDDEN];

  for (guint u = 0; u < HIDDEN; u++)
    {
      h[u] = (double) d->h[batch][u];
      c[u] = (double) d->c[batch][u];
    }
  for (guint step = 0; step < TIME; step++)
    {
      guint t = is_reverse ? TIME - 1 - step : step;

      for (guint u = 0; u < HIDDEN; u++)
        {
          c[u] = gate_of (d, 1, u, x[t], h) * c[u] +
                 gate_of (d, 0, u, x[t], h) * gate_of (d, 2, u, x[t], h);
          y[t][u] = gate_of (d, 3, u, x[t], h) * tanh (c[u]);
        }
      memcpy (h, y[t], sizeof (h));
    }
}

/* Adds the constants of a direction as tensors, and sets the inputs of the operator. */
static void
add_direction (const Direction *d,
               gint first,
               gint hidden,
               TfliteTensor *tensors,
               guint *n,
               TfliteOperator *op)
{
  for (gint g = 0; g < N_GATES; g++)
    {
      const TfliteTensor parts[] = {
        { .name = "w", .shape = "3x2", .data = d->w[g], .n_bytes = sizeof (d->w[g]) },
        { .name = "r", .shape = "3x3", .data = d->r[g], .n_bytes = sizeof (d->r[g]) },
        { .name = "b", .shape = "3", .data = d->b[g], .n_bytes = sizeof (d->b[g]) },
      };
      const gint at[] = { first + g, first + 4 + g, first + 11 + g };

      for (guint i = 0; i < N (parts); i++)
        {
          op->inputs[at[i]] = (gint) *n;
          tensors[(*n)++] = parts[i];
        }
    }
  for (gint i = 0; i < 2; i++)
    {
      op->inputs[hidden + i] = (gint) *n;
      tensors[(*n)++] =
          (TfliteTensor){ .name = i == 0 ? "h" : "c", .shape = "2x3", .is_variable = TRUE };
    }
}

static GBytes *
write_file (const Direction d[2], gboolean is_merged, gboolean is_time_major)
{
  TfliteTensor tensors[64] = { { .name = "x", .shape = is_time_major ? "3x2x2" : "2x3x2" } };
  TfliteOperator op = { .code = 52,
                        .n_inputs = 48,
                        .n_outputs = is_merged ? 1 : 2,
                        .options_type = 1,
                        .options = {
                            { 0, 'b', 4 }, { 3, 'b', is_merged }, { 4, 'b', is_time_major } } };
  TfliteGraph file = { .operators = &op, .n_operators = 1, .n_inputs = 1 };
  guint n = 1;

  for (guint i = 1; i < 48; i++)
    op.inputs[i] = -1;
  add_direction (&d[0], 1, 35, tensors, &n, &op);
  add_direction (&d[1], 18, 37, tensors, &n, &op);
  for (gint i = 0; i < op.n_outputs; i++)
    {
      file.outputs[i] = op.outputs[i] = (gint) n;
      tensors[n++] = (TfliteTensor){ .name = "y",
                                     .shape = is_merged       ? "2x3x6"
                                              : is_time_major ? "3x2x3"
                                                              : "2x3x3" };
    }
  file.n_outputs = op.n_outputs;
  file.tensors = tensors;
  file.n_tensors = n;
  return tflite_file_new (&file);
}

/* Returns the inputs: x, then the states h and c of each direction. */
static GPtrArray *
inputs_of (const Direction d[2], const float *x, gboolean is_time_major)
{
  CleaveTensorType type = is_time_major ? CLEAVE_TYPE (CLEAVE_FLOAT32, TIME, BATCH, INPUTS)
                                        : CLEAVE_TYPE (CLEAVE_FLOAT32, BATCH, TIME, INPUTS);
  CleaveTensorType state = CLEAVE_TYPE (CLEAVE_FLOAT32, BATCH, HIDDEN);
  GPtrArray *inputs = tensors_new ();

  g_ptr_array_add (inputs, cleave_tensor_new_copy (&type, x, NULL));
  for (guint i = 0; i < 2; i++)
    {
      g_ptr_array_add (inputs, cleave_tensor_new_copy (&state, d[i].h, NULL));
      g_ptr_array_add (inputs, cleave_tensor_new_copy (&state, d[i].c, NULL));
    }
  return inputs;
}

/* Asserts the results of both directions, and the last states. */
static void
check (gboolean is_merged, gboolean is_time_major)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (52);
  g_autoptr (GPtrArray) inputs = NULL, outputs = NULL;
  g_autoptr (CleaveGraph) graph = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = NULL;
  float x[BATCH][TIME][INPUTS], given[TIME][BATCH][INPUTS];
  double y[TIME][HIDDEN];
  Direction d[2];

  draw (rand, (float *) d, sizeof (d));
  draw (rand, x[0][0], sizeof (x));
  for (guint i = 0; i < BATCH * TIME; i++)
    memcpy (given[i % TIME][i / TIME], x[i / TIME][i % TIME], sizeof (given[0][0]));
  bytes = write_file (d, is_merged, is_time_major);
  graph = cleave_tflite_parse (bytes, &error);
  ck_assert_msg (graph != NULL, "%s", error == NULL ? "" : error->message);
  inputs = inputs_of (d, is_time_major ? given[0][0] : x[0][0], is_time_major);
  outputs = run_graph (graph, inputs, 2);
  ck_assert_uint_eq (outputs->len, is_merged ? 5 : 6);
  for (guint i = 0; i < 2 * BATCH; i++)
    {
      guint back = i % 2, batch = i / 2;
      const float *got = cleave_tensor_get_data (outputs->pdata[is_merged ? 0 : back]);

      run_direction (&d[back], batch, back == 1, x[batch], y);
      for (guint at = 0; at < TIME * HIDDEN; at++)
        {
          guint t = at / HIDDEN, u = at % HIDDEN;
          guint line = is_time_major ? t * BATCH + batch : batch * TIME + t;

          ck_assert_double_eq_tol (
              (double) got[is_merged ? line * 2 * HIDDEN + back * HIDDEN + u : line * HIDDEN + u],
              y[t][u], 1e-6);
        }
    }
}

START_TEST (both_directions_follow_the_definition)
{
  check (TRUE, FALSE);
  check (FALSE, FALSE);
  check (FALSE, TRUE);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "directions", both_directions_follow_the_definition, NULL);
}

CLEAVE_TEST_SUITE ("tflite bidirectional", add_tests)
