/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel-cases.h"

#define N_SEEDS 1500

static CleaveElement
draw_byte (GRand *rand)
{
  return g_rand_boolean (rand) ? CLEAVE_INT8 : CLEAVE_UINT8;
}

static CleaveElement
draw_half (GRand *rand)
{
  return g_rand_boolean (rand) ? CLEAVE_FLOAT16 : CLEAVE_BFLOAT16;
}

/* Stacks A and B of ranks 1 to 4, whose batches are broadcast; rows and columns in any order; now
 * and then one of them is empty. */
static void
draw_stacks (
    CleaveTrySite *instance, GRand *rand, guint32 seed, CleaveTensorType *a, CleaveTensorType *b)
{
  gint32 least = draw (rand, 1, 8) == 1 ? 0 : 1;
  gint64 m = draw (rand, least, g_rand_boolean (rand) ? 3 : 40);
  gint64 n = draw (rand, least, g_rand_boolean (rand) ? 9 : 80);
  gint64 k = draw (rand, least, g_rand_boolean (rand) ? 9 : 300);
  guint n_batch = (guint) draw (rand, 0, 2);

  *instance = (CleaveTrySite){ .seed = seed, .n_operands = 2 };
  a->shape = b->shape = (CleaveShape){ n_batch + 2, { 0 } };
  for (guint d = 0; d < n_batch; d++)
    {
      gint64 extent = draw (rand, least, 3);

      a->shape.dim[d] = draw (rand, 1, 4) == 1 ? 1 : extent;
      b->shape.dim[d] = draw (rand, 1, 2) == 1 ? 1 : extent;
    }
  a->shape.dim[n_batch] = m;
  a->shape.dim[n_batch + 1] = k;
  b->shape.dim[n_batch] = k;
  b->shape.dim[n_batch + 1] = n;
  if (draw (rand, 1, 6) == 1)
    a->shape = CLEAVE_SHAPE (k);
  if (draw (rand, 1, 8) == 1)
    b->shape = CLEAVE_SHAPE (k);
  instance->row_major = (guint) draw (rand, 0, 0x1ff);
  instance->y_row_major = draw (rand, 1, 4) != 1;
  instance->gap = draw (rand, 0, 2);
  instance->special = g_rand_boolean (rand);
}

static gboolean
is_empty (const CleaveTrySite *instance)
{
  return cleave_shape_n_elements (&instance->operands[0].shape) == 0;
}

/* A scalar, a vector, or a stack, for rows (from the end: 2) or columns (1) of a stack. */
static CleaveTensorType
draw_parameter (GRand *rand, CleaveElement element, const CleaveShape *stack, guint from_end)
{
  CleaveTensorType type = { element, *stack };

  if (stack->rank == 1 || draw (rand, 1, 3) == 1)
    return g_rand_boolean (rand) ? CLEAVE_SCALAR (element) : CLEAVE_TYPE (element, 1);
  if (g_rand_boolean (rand))
    return CLEAVE_TYPE (element, stack->dim[stack->rank - from_end]);
  type.shape.dim[stack->rank - 3 + from_end] = 1;
  return type;
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

START_TEST (products_of_halves_have_the_bits_of_the_reference)
{
  each_brgemm_level (try_products_of_halves);
}
END_TEST

static void
try_integer_products (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      CleaveTensorType a = { .element = draw_byte (rand) }, b = { .element = draw_byte (rand) };
      CleaveTrySite instance;

      draw_stacks (&instance, rand, seed, &a, &b);
      instance.op = "MatMulInteger";
      instance.n_operands = 4;
      instance.operands[0] = a;
      instance.operands[1] = b;
      if (g_rand_boolean (rand))
        instance.operands[2] = draw_parameter (rand, a.element, &a.shape, 2);
      if (g_rand_boolean (rand))
        instance.operands[3] = draw_parameter (rand, b.element, &b.shape, 1);
      instance.constants = (guint) draw (rand, 0, 7) * 2;
      if (b.shape.rank == 2 && g_rand_boolean (rand))
        {
          instance.sliced_dim = 1;
          instance.sliced = 2;
        }
      ck_assert (cleave_try_instance (&instance, level) || is_empty (&instance));
    }
}

START_TEST (integer_products_have_the_bits_of_the_reference)
{
  each_brgemm_level (try_integer_products);
}
END_TEST

static void
try_linear_products (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      CleaveTensorType a = { .element = draw_byte (rand) }, b = { .element = draw_byte (rand) };
      CleaveTensorType rows, columns, y;
      CleaveTrySite instance;

      draw_stacks (&instance, rand, seed, &a, &b);
      rows = draw_parameter (rand, CLEAVE_FLOAT32, &a.shape, 2);
      columns = draw_parameter (rand, CLEAVE_FLOAT32, &b.shape, 1);
      y = draw_parameter (rand, CLEAVE_FLOAT32, &a.shape, 2);
      instance.op = "QLinearMatMul";
      instance.n_operands = 8;
      instance.operands[0] = a;
      instance.operands[1] = rows;
      instance.operands[2] = (CleaveTensorType){ a.element, rows.shape };
      instance.operands[3] = b;
      instance.operands[4] = columns;
      instance.operands[5] = (CleaveTensorType){ b.element, columns.shape };
      instance.operands[6] = y;
      instance.operands[7] = (CleaveTensorType){ draw_byte (rand), y.shape };
      instance.constants = g_rand_boolean (rand) ? 0xfe : (guint) draw (rand, 0, 0x7f) * 2;
      ck_assert (cleave_try_instance (&instance, level) || is_empty (&instance));
    }
}

START_TEST (linear_products_have_the_bits_of_the_reference)
{
  each_brgemm_level (try_linear_products);
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

START_TEST (gemm_of_halves_has_the_bits_of_the_reference)
{
  each_brgemm_level (try_gemm_of_halves);
}
END_TEST

/* All products the largest there are, and of one sign: from 259 on beyond 2^24, from 33026 on
 * beyond 2^31. */
static void
try_sums_beyond_what_a_float_holds (const char *level)
{
  static const gint64 lengths[] = { 258, 259, 2000, 40000 };

  for (guint i = 0; i < G_N_ELEMENTS (lengths); i++)
    for (guint constants = 0; constants <= 14; constants += 2)
      {
        CleaveTrySite instance = { .op = "MatMulInteger",
                                   .n_operands = 4,
                                   .operands = { CLEAVE_TYPE (CLEAVE_UINT8, 3, lengths[i]),
                                                 CLEAVE_TYPE (CLEAVE_INT8, lengths[i], 5),
                                                 CLEAVE_TYPE (CLEAVE_UINT8, 3),
                                                 CLEAVE_TYPE (CLEAVE_INT8, 5) },
                                   .constants = constants,
                                   .filled = 15,
                                   .fill = { 255, 0x80, 0, 0x7f } };

        ck_assert (cleave_try_instance (&instance, level));
      }
}

START_TEST (sums_beyond_what_a_float_holds_are_exact)
{
  each_brgemm_level (try_sums_beyond_what_a_float_holds);
}
END_TEST

/* More rows than are done at once. */
static void
try_large_products (const char *level)
{
  static const CleaveElement elements[] = { CLEAVE_UINT8, CLEAVE_FLOAT16 };

  for (guint e = 0; e < G_N_ELEMENTS (elements); e++)
    for (gint64 m = 1; m <= 2000; m += 399)
      {
        CleaveTrySite instance = { .op = e == 0 ? "MatMulInteger" : "MatMul",
                                   .n_operands = 2,
                                   .operands = { CLEAVE_TYPE (elements[e], m, 100),
                                                 CLEAVE_TYPE (elements[e], 100, 50) },
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
  cleave_add_case (suite, "bytes", integer_products_have_the_bits_of_the_reference,
                   linear_products_have_the_bits_of_the_reference,
                   sums_beyond_what_a_float_holds_are_exact, NULL);
  cleave_add_case (suite, "any", products_of_halves_have_the_bits_of_the_reference,
                   gemm_of_halves_has_the_bits_of_the_reference,
                   large_products_have_the_bits_of_the_reference, NULL);
}

CLEAVE_TEST_MAIN ("kernel-widened-matmul", add_tests)
