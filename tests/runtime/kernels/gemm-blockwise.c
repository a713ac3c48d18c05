/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Matrix products whose weights stay integers of 4 or 8 bits with a scale for each block, compared
 * with the reference kernel. */

#include "kernel-cases.h"

#include <math.h>

#define N_SEEDS KERNEL_TRIALS (60)

/* If a matrix has at least this many weights, a program keeps them as integers with a scale for
 * each block. */
#define N_WEIGHTS (128 * 1024)

static void
try_product (guint32 seed, const char *level)
{
  static const gint64 blocks[] = { 16, 32, 64, 128, 100000 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  gboolean is_gemm = g_rand_boolean (rand), turned = is_gemm && g_rand_boolean (rand);
  gint64 k = draw (rand, 16, 700), n = N_WEIGHTS / k + draw (rand, 1, 100);
  gint64 m = draw (rand, 1, g_rand_boolean (rand) ? 1 : 6);
  CleaveGemmAttrs gemm = { .alpha = 1, .beta = 1, .transB = turned };
  CleaveTrySite instance = { .op = is_gemm ? "Gemm" : "MatMul",
                             .attrs = is_gemm ? &gemm : NULL,
                             .n_operands = 2,
                             .operands = { CLEAVE_TYPE (CLEAVE_FLOAT32, m, k),
                                           turned ? CLEAVE_TYPE (CLEAVE_FLOAT32, n, k)
                                                  : CLEAVE_TYPE (CLEAVE_FLOAT32, k, n) },
                             .constants = 2,
                             .sliced = g_rand_boolean (rand) ? 2 : 0,
                             .sliced_dim = turned ? 0 : 1,
                             .gap = draw (rand, 0, 1),
                             .special = draw (rand, 0, 5) == 0,
                             .in_blocks = 2,
                             .block_dim = turned ? 1 : 0,
                             .block_bits = g_rand_boolean (rand) ? 4 : 8,
                             .block = blocks[draw (rand, 0, 4)],
                             .seed = seed };

  if (is_gemm && g_rand_boolean (rand))
    instance.operands[instance.n_operands++] = CLEAVE_TYPE (CLEAVE_FLOAT32, n);
  ck_assert (cleave_try_instance (&instance, level));
}

static void
try_level (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    try_product (seed, level);
}

/* Tries products with more than 512 rows. The kernel converts the integers to weights once for each
 * 512 rows. */
static void
try_many_rows (const char *level)
{
  CleaveTrySite instance = { .op = "MatMul",
                             .n_operands = 2,
                             .operands = { CLEAVE_TYPE (CLEAVE_FLOAT32, 520, 64),
                                           CLEAVE_TYPE (CLEAVE_FLOAT32, 64, N_WEIGHTS / 64) },
                             .constants = 2,
                             .in_blocks = 2,
                             .block_bits = 4,
                             .block = 32 };

  ck_assert (cleave_try_instance (&instance, level));
}

START_TEST (many_rows_have_the_bits_of_the_reference) { each_brgemm_level (try_many_rows); }
END_TEST

START_TEST (every_level_has_the_bits_of_the_reference) { each_brgemm_level (try_level); }
END_TEST

/* Returns the number of bytes in which a program keeps the weights of a matrix of 512 x 512. */
static gint64
count_weight_bytes (const float *weights, gint64 n_rows)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("product");
  g_autoptr (CleaveProgram) program = NULL;
  g_autoptr (CleaveTensor) constant = NULL;
  g_autoptr (GBytes) bytes = NULL;
  CleaveProgramStats stats;
  g_autoptr (GError) error = NULL;
  CleaveResult *x, *y;

  x = cleave_graph_add_input (graph, "x", &CLEAVE_TYPE (CLEAVE_FLOAT32, n_rows, 512), &error);
  bytes = g_bytes_new (weights, 512 * 512 * sizeof *weights);
  constant = cleave_tensor_new_from_bytes (&CLEAVE_TYPE (CLEAVE_FLOAT32, 512, 512), bytes, &error);
  ck_assert_ptr_nonnull (constant);
  y = cleave_graph_add_matmul (graph, "y", x, cleave_graph_add_constant (graph, "w", constant),
                               &error);
  ck_assert_ptr_nonnull (y);
  ck_assert (cleave_graph_add_output (graph, "y", y, &error));
  program = cleave_program_new (graph, NULL, &error);
  ck_assert_ptr_nonnull (program);
  cleave_program_get_stats (program, &stats);
  return stats.weight_bytes;
}

/* Checks the number of bytes in which a program keeps weights of 4 bits and of 8 bits. Each block
 * of 32 weights has a scale and an offset. Also checks weights that have no form in blocks. */
START_TEST (weights_take_the_bytes_of_their_integers)
{
  const gint64 n = 512 * 512, of_blocks = n / 32 * 2 * (gint64) sizeof (float);
  g_autofree float *weights = g_new (float, (gsize) n);

  for (gint64 i = 0; i < n; i++)
    weights[i] = (float) (i * 7 % 16 - 8) * (0.1f + (float) (i / 512 / 32 * 512 + i % 512) * 1e-5f);
  ck_assert_int_le (count_weight_bytes (weights, 1), n / 2 + of_blocks + 4096);
  for (gint64 i = 0; i < n; i++)
    weights[i] =
        (float) (i * 7 % 256 - 8) * (0.1f + (float) (i / 512 / 32 * 512 + i % 512) * 1e-5f);
  ck_assert_int_le (count_weight_bytes (weights, 64), n + of_blocks + 4096);
  weights[n - 1] = nextafterf (weights[n - 1], 0);
  weights[n - 2] *= 0.77f;
  ck_assert_int_ge (count_weight_bytes (weights, 1), n * (gint64) sizeof (float));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "blockwise", every_level_has_the_bits_of_the_reference,
                   many_rows_have_the_bits_of_the_reference,
                   weights_take_the_bytes_of_their_integers, NULL);
}

CLEAVE_TEST_SUITE ("kernel-blockwise", add_tests)
