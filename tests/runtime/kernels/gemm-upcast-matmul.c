/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Matrix products of 16-bit floats that are upcast to float32, compared with the reference kernel.
 */

#include "matmul-cases.h"

#define N_SEEDS KERNEL_TRIALS (1500)

static CleaveElement
draw_half (GRand *rand)
{
  return g_rand_boolean (rand) ? CLEAVE_FLOAT16 : CLEAVE_BFLOAT16;
}

static void
try_products_of_halves (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      CleaveTensorType a = { .element = draw_half (rand) }, b = a;
      CleaveTrySite instance;

      draw_stacks (&instance, rand, seed, &a, &b);
      instance.op = "MatMul";
      instance.operands[0] = a;
      instance.operands[1] = b;
      instance.constants = (guint) draw (rand, 0, 1) * 2;
      instance.sliced = g_rand_boolean (rand) ? 2 : 0;
      instance.sliced_dim = b.shape.rank - 1;
      ck_assert (cleave_try_instance (&instance, level));
    }
}

START_TEST (products_of_16_bit_floats_have_the_bits_of_the_reference)
{
  each_brgemm_level (try_products_of_halves);
}
END_TEST

static void
try_gemm_of_halves (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      gint64 m = draw (rand, 1, 20), n = draw (rand, 1, 70), k = draw (rand, 1, 70);
      static const double factors[] = { 1, 0.3, 0 };
      CleaveElement e = draw_half (rand);
      CleaveGemmAttrs attrs = { .alpha = factors[draw (rand, 0, 2)],
                                .beta = factors[draw (rand, 0, 2)],
                                .transA = draw (rand, 1, 8) == 1,
                                .transB = g_rand_boolean (rand) };
      CleaveTrySite instance = { .op = "Gemm",
                                 .attrs = &attrs,
                                 .seed = seed,
                                 .n_operands = g_rand_boolean (rand) ? 3 : 2,
                                 .constants = (guint) draw (rand, 0, 3) * 2,
                                 .sliced = g_rand_boolean (rand) ? 2 : 0,
                                 .sliced_dim = attrs.transB ? 0 : 1,
                                 .gap = draw (rand, 0, 2),
                                 .special = g_rand_boolean (rand) };

      instance.operands[0] = attrs.transA ? CLEAVE_TYPE (e, k, m) : CLEAVE_TYPE (e, m, k);
      instance.operands[1] = attrs.transB ? CLEAVE_TYPE (e, n, k) : CLEAVE_TYPE (e, k, n);
      instance.operands[2] = g_rand_boolean (rand) ? CLEAVE_TYPE (e, n)
                                                   : CLEAVE_TYPE (e, g_rand_boolean (rand) ? m : 1,
                                                                  g_rand_boolean (rand) ? n : 1);
      ck_assert (cleave_try_instance (&instance, level));
    }
}

START_TEST (gemm_of_16_bit_floats_has_the_bits_of_the_reference)
{
  each_brgemm_level (try_gemm_of_halves);
}
END_TEST

/* Tries products with more rows than the kernel processes at once. */
static void
try_large_products (const char *level)
{
  for (gint64 m = 1; m <= 2000; m += 399)
    {
      CleaveTrySite instance = { .op = "MatMul",
                                 .n_operands = 2,
                                 .operands = { CLEAVE_TYPE (CLEAVE_FLOAT16, m, 100),
                                               CLEAVE_TYPE (CLEAVE_FLOAT16, 100, 50) },
                                 .constants = 2 };

      ck_assert (cleave_try_instance (&instance, level));
    }
}

START_TEST (large_products_have_the_bits_of_the_reference)
{
  each_brgemm_level (try_large_products);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "halves", products_of_16_bit_floats_have_the_bits_of_the_reference,
                   gemm_of_16_bit_floats_has_the_bits_of_the_reference,
                   large_products_have_the_bits_of_the_reference, NULL);
}

CLEAVE_TEST_SUITE ("kernel-widened-matmul", add_tests)
