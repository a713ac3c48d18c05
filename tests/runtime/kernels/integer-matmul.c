/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Matrix products of bytes (QLinearMatMul, MatMulInteger), compared with the reference kernels. */

#include "matmul-cases.h"

#define N_SEEDS KERNEL_TRIALS (1500)

static CleaveElement
draw_byte (GRand *rand)
{
  return g_rand_boolean (rand) ? CLEAVE_INT8 : CLEAVE_UINT8;
}

/* Returns a random type of scales or zero points for a stack of matrices: a scalar, a vector or a
 * stack. If `from_end` is 2, the vector or stack has one number for each row of a matrix. If
 * `from_end` is 1, it has one number for each column. */
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
      instance.small = seed % 2 == 0 ? 2 : 0;
      ck_assert (cleave_try_instance (&instance, level));
    }
}

START_TEST (integer_products_have_the_bits_of_the_reference) { each_level (try_integer_products); }
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
      ck_assert (cleave_try_instance (&instance, level));
    }
}

START_TEST (linear_products_have_the_bits_of_the_reference) { each_level (try_linear_products); }
END_TEST

/* Tries sums in which all products are as large as possible, with one sign. Sums of 259 products or
 * more exceed 2^24, sums of 33026 products or more exceed 2^31. */
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

START_TEST (sums_too_large_for_a_float_are_exact)
{
  each_level (try_sums_beyond_what_a_float_holds);
}
END_TEST

/* Tries products with more rows than the kernel processes at once. */
static void
try_large_products (const char *level)
{
  for (gint64 m = 1; m <= 2000; m += 399)
    {
      CleaveTrySite instance = { .op = "MatMulInteger",
                                 .n_operands = 2,
                                 .operands = { CLEAVE_TYPE (CLEAVE_UINT8, m, 100),
                                               CLEAVE_TYPE (CLEAVE_UINT8, 100, 50) },
                                 .constants = 2 };

      ck_assert (cleave_try_instance (&instance, level));
    }
}

START_TEST (large_products_have_the_bits_of_the_reference) { each_level (try_large_products); }
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "matmul", integer_products_have_the_bits_of_the_reference,
                   linear_products_have_the_bits_of_the_reference,
                   sums_too_large_for_a_float_are_exact,
                   large_products_have_the_bits_of_the_reference, NULL);
}

CLEAVE_TEST_SUITE ("kernel-integer-matmul", add_tests)
