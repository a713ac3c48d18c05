/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel of RNN, GRU and LSTM, compared with the reference kernel. */

#include "kernel-cases.h"

#include "../../../lib/ops/recurrent.h"

#define N_SEEDS KERNEL_TRIALS (400)

static const struct
{
  const char *op;
  gint64 n_gates;
  guint n_functions, n_operands, n_results;
} kinds[] = { { "RNN", 1, 1, 6, 2 }, { "GRU", 3, 2, 6, 2 }, { "LSTM", 4, 3, 8, 3 } };

static void
draw_attrs (GRand *rand, guint n_functions, CleaveRecurrentAttrs *a)
{
  a->direction = (CleaveDirection) draw (rand, 0, 2);
  a->layout = draw (rand, 0, 1);
  a->linear_before_reset = g_rand_boolean (rand);
  a->input_forget = draw (rand, 0, 3) == 0;
  a->clip = g_rand_boolean (rand) ? 0.4 : 0;
  if (a->direction == CLEAVE_DIRECTION_BIDIRECTIONAL)
    n_functions *= 2;
  if (g_rand_boolean (rand))
    a->activations = draw_each (rand, n_functions, 0, CLEAVE_ACTIVATION_SOFTPLUS);
}

/* Sets the types of the operands. Each optional operand is absent in a third of the cases. */
static void
set_operands (GRand *rand, gint64 n_gates, const CleaveRecurrentAttrs *a, CleaveTrySite *instance)
{
  gint64 d = a->direction == CLEAVE_DIRECTION_BIDIRECTIONAL ? 2 : 1;
  gint64 time = draw (rand, 1, 12), batch = draw (rand, 1, g_rand_boolean (rand) ? 9 : 2);
  gint64 inputs = draw (rand, 1, 30), n = draw (rand, 1, g_rand_boolean (rand) ? 70 : 9);
  CleaveElement e = g_rand_boolean (rand) ? CLEAVE_FLOAT32
                    : draw (rand, 0, 1)   ? CLEAVE_FLOAT16
                                          : CLEAVE_BFLOAT16;
  CleaveShape state = a->layout == 0 ? CLEAVE_SHAPE (d, batch, n) : CLEAVE_SHAPE (batch, d, n);
  const CleaveTensorType types[] = { { e, a->layout == 0 ? CLEAVE_SHAPE (time, batch, inputs)
                                                         : CLEAVE_SHAPE (batch, time, inputs) },
                                     CLEAVE_TYPE (e, d, n_gates * n, inputs),
                                     CLEAVE_TYPE (e, d, n_gates * n, n),
                                     CLEAVE_TYPE (e, d, 2 * n_gates * n),
                                     CLEAVE_TYPE (CLEAVE_INT32, batch),
                                     { e, state },
                                     { e, state },
                                     CLEAVE_TYPE (e, d, 3 * n) };

  for (guint i = 0; i < instance->n_operands; i++)
    if (i < 3 || draw (rand, 0, 2) > 0)
      instance->operands[i] = types[i];
}

/* Changes the operands of a layer to the form of a lowered sequence: X contains the products of the
 * inputs and W, and W is absent. The layer has one direction and no sequence lengths. */
static void
take_sums (CleaveTrySite *instance)
{
  instance->operands[0].shape.dim[2] = instance->operands[2].shape.dim[1];
  instance->operands[1] = instance->operands[4] = (CleaveTensorType){ 0 };
}

/* Tries `RecurrentSums`, the op that computes the products of X and W, plus the biases, for all
 * time steps. */
static void
try_sums (CleaveTrySite instance, const char *level)
{
  instance.op = "RecurrentSums";
  instance.record = &cleave_op_recurrent_sums;
  instance.operands[2] = instance.operands[3];
  instance.n_operands = 3;
  instance.n_results = 1;
  instance.row_major = 7;
  instance.y_row_major = TRUE;
  instance.gap = 0;
  ck_assert (cleave_try_instance (&instance, level));
}

static void
try_layer (guint32 seed, const char *level)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  guint kind = seed % G_N_ELEMENTS (kinds);
  CleaveRecurrentAttrs a = { 0 };
  CleaveTrySite instance = { .op = kinds[kind].op,
                             .attrs = &a,
                             .n_operands = kinds[kind].n_operands,
                             .n_results = kinds[kind].n_results,
                             .constants = (guint) draw (rand, 0, 7) << 1,
                             .row_major = (guint) draw (rand, 0, 255),
                             .y_row_major = g_rand_boolean (rand),
                             .gap = draw (rand, 0, 2),
                             .y_gap = draw (rand, 0, 2),
                             .special = draw (rand, 0, 5) == 0,
                             .seed = seed };

  draw_attrs (rand, kinds[kind].n_functions, &a);
  set_operands (rand, kinds[kind].n_gates, &a, &instance);
  ck_assert (cleave_try_instance (&instance, level));
  if (a.direction == CLEAVE_DIRECTION_BIDIRECTIONAL ||
      instance.operands[0].element != CLEAVE_FLOAT32)
    return;
  try_sums (instance, level);
  take_sums (&instance);
  ck_assert (cleave_try_instance (&instance, level));
}

static void
try_level (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    try_layer (seed, level);
}

START_TEST (every_level_has_the_bits_of_the_reference) { each_brgemm_level (try_level); }
END_TEST

/* Tries layers with more time steps than the kernel multiplies by W at once. The kernel computes a
 * panel of columns at once. The units of a layer fill several panels, or less than one panel. */
static void
try_long (const char *level)
{
  CleaveRecurrentAttrs a = { .direction = CLEAVE_DIRECTION_BIDIRECTIONAL };
  CleaveTrySite instance = { .op = "LSTM",
                             .attrs = &a,
                             .n_operands = 5,
                             .n_results = 3,
                             .constants = 6,
                             .operands = { CLEAVE_TYPE (CLEAVE_FLOAT32, 150, 3, 5),
                                           CLEAVE_TYPE (CLEAVE_FLOAT32, 2, 148, 5),
                                           CLEAVE_TYPE (CLEAVE_FLOAT32, 2, 148, 37),
                                           { 0 },
                                           CLEAVE_TYPE (CLEAVE_INT32, 3) } };

  ck_assert (cleave_try_instance (&instance, level));
}

START_TEST (many_steps_are_computed_in_blocks) { each_brgemm_level (try_long); }
END_TEST

/* The fast kernel does not serve an RNN of float64. The reference kernel runs instead. */
START_TEST (not_served)
{
  CleaveTrySite instance = { .op = "RNN",
                             .n_operands = 3,
                             .n_results = 2,
                             .operands = { CLEAVE_TYPE (CLEAVE_FLOAT64, 2, 1, 3),
                                           CLEAVE_TYPE (CLEAVE_FLOAT64, 1, 4, 3),
                                           CLEAVE_TYPE (CLEAVE_FLOAT64, 1, 4, 4) } };

  ck_assert (!cleave_try_instance (&instance, NULL));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "recurrent", every_level_has_the_bits_of_the_reference,
                   many_steps_are_computed_in_blocks, not_served, NULL);
}

CLEAVE_TEST_SUITE ("kernel-recurrent", add_tests)
