/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The matrix-product kernel on Einsums that are matrix products, compared with the reference
 * kernel. */

#include "kernel-cases.h"

#define N_SEEDS KERNEL_TRIALS (300)

/* Einsums that are matrix products: with several labels for rows, columns and sums, transposed,
 * broadcast, and with a constant operand. */
static const struct
{
  const char *equation, *a, *b;
} cases[] = {
  { "ij,jk->ik", "ij", "jk" },
  { "bqhd,bkhd->bhqk", "bqhd", "bkhd" },
  { "bhqk,bkhd->bqhd", "bhqk", "bkhd" },
  { "abc,cde->abde", "abc", "cde" },
  { "abcd,cde->abe", "abcd", "cde" },
  { "kj,ki->ij", "kj", "ki" },
  { "bhd,bkhd->bhk", "bhd", "bkhd" },
  { "bchw,bkc->bkhw", "bchw", "bkc" },
  { "ij,j->i", "ij", "j" },
  { "i,i->", "i", "i" },
  { "aij,bjk->abik", "aij", "bjk" },
  { "jk,ij->ik", "jk", "ij" },
};

static CleaveTensorType
make_type (const char *labels, CleaveElement element, const gint64 *extent)
{
  CleaveTensorType type = { .element = element };

  for (const char *label = labels; *label != '\0'; label++)
    type.shape.dim[type.shape.rank++] = extent[(guint8) *label];
  return type;
}

/* Tries an Einsum of the table. Returns whether the fast kernel serves it. */
static gboolean
try_einsum (guint32 seed, const char *level)
{
  static const CleaveElement elements[] = { CLEAVE_FLOAT32, CLEAVE_FLOAT32,  CLEAVE_FLOAT32,
                                            CLEAVE_FLOAT16, CLEAVE_BFLOAT16, CLEAVE_FLOAT64,
                                            CLEAVE_INT32,   CLEAVE_INT64 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  guint k = seed % G_N_ELEMENTS (cases);
  CleaveEinsumAttrs attrs = { (char *) cases[k].equation };
  CleaveElement element = elements[draw (rand, 0, 7)];
  CleaveTrySite instance = { .op = "Einsum",
                             .attrs = &attrs,
                             .n_operands = 2,
                             .gap = draw (rand, 0, 2),
                             .row_major = draw (rand, 0, 3) != 0 ? 3 : (guint) draw (rand, 0, 2),
                             .constants = (guint) draw (rand, 0, 2),
                             .special = draw (rand, 1, 4) == 1,
                             .seed = seed };
  gint64 extent[128];

  for (guint i = 0; i < G_N_ELEMENTS (extent); i++)
    extent[i] = draw (rand, 1, draw (rand, 0, 3) == 0 ? 40 : 6);
  instance.y_row_major = draw (rand, 0, 3) != 0;
  instance.operands[0] = make_type (cases[k].a, element, extent);
  instance.operands[1] = make_type (cases[k].b, element, extent);
  return cleave_try_instance (&instance, level);
}

static void
try_level (const char *level)
{
  guint n_served = 0;

  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    n_served += try_einsum (seed, level) ? 1 : 0;
  ck_assert_uint_gt (n_served, N_SEEDS / 2);
}

START_TEST (every_level_has_the_bits_of_the_reference) { each_brgemm_level (try_level); }
END_TEST

/* Asserts that the product kernel serves the products of attention in their usual layout. */
static void
serves_attention (const char *level)
{
  CleaveEinsumAttrs attrs = { (char *) "bqhd,bkhd->bhqk" };
  CleaveTrySite instance = { .op = "Einsum",
                             .attrs = &attrs,
                             .n_operands = 2,
                             .operands = { CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 5, 3, 16),
                                           CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 7, 3, 16) },
                             .row_major = 3,
                             .y_row_major = TRUE };

  ck_assert (cleave_try_instance (&instance, level));
  attrs.equation = (char *) "bqhd,bkhd->bhqd"; /* only one operand has the label k, so the fast
                                                  kernel of products does not serve the equation */
  ck_assert (!cleave_try_instance (&instance, level));
}

START_TEST (products_of_matrices_are_served) { each_brgemm_level (serves_attention); }
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "einsum", every_level_has_the_bits_of_the_reference,
                   products_of_matrices_are_served, NULL);
}

CLEAVE_TEST_SUITE ("kernel-einsum", add_tests)
