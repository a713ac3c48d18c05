/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernels of convolutions and matrix products, compared with the reference kernels. A panel is
 * the columns that a kernel computes at once. */

#include "kernel-cases.h"

#define N_SEEDS KERNEL_TRIALS (1000)
/* A trial of Winograd's algorithm has up to 40 operand channels and 140 result channels, and takes
 * ten times as long as other trials. */
#define N_WINOGRAD_SEEDS KERNEL_TRIALS (250)

typedef struct
{
  CleaveTrySite instance;
  CleaveGemmAttrs attrs;
} Gemm;

typedef struct
{
  CleaveTrySite instance;
  CleaveConvAttrs attrs;
} Conv;

/* Draws a small convolution of any kind that is not depthwise, in 1 to 3 dimensions. */
static void
draw_conv (Conv *conv, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  guint n = (guint) draw (rand, 1, 8) > 6 ? (guint) draw (rand, 1, 3) : 2;
  gint64 group_in = draw (rand, 2, g_rand_boolean (rand) ? 5 : 40);
  gint64 group_out = draw (rand, 1, g_rand_boolean (rand) ? 9 : 70);
  CleaveConvAttrs *a = &conv->attrs;
  CleaveTensorType *x = &conv->instance.operands[0], *w = &conv->instance.operands[1];

  *conv = (Conv){ .instance = { .op = "Conv", .seed = seed, .attrs = a } };
  a->group = draw (rand, 1, 4) == 1 ? draw (rand, 2, 3) : 1;
  a->strides = draw_each (rand, n, 1, 3);
  a->dilations = g_rand_boolean (rand) ? draw_each (rand, n, 1, 1) : draw_each (rand, n, 1, 2);
  a->pads = draw (rand, 1, 3) == 1 ? draw_each (rand, 2 * n, 0, 0) : draw_each (rand, 2 * n, 0, 3);
  *x = (CleaveTensorType){ CLEAVE_FLOAT32, { n + 2, { draw (rand, 1, 2), a->group * group_in } } };
  *w = (CleaveTensorType){ CLEAVE_FLOAT32, { n + 2, { a->group * group_out, group_in } } };
  for (guint i = 0; i < n; i++)
    {
      w->shape.dim[2 + i] = draw (rand, 1, n == 3 ? 2 : 4);
      x->shape.dim[2 + i] =
          (w->shape.dim[2 + i] - 1) * a->dilations.v[i] + draw (rand, 1, n == 3 ? 5 : 20);
    }
  conv->instance.operands[2] = CLEAVE_TYPE (CLEAVE_FLOAT32, w->shape.dim[0]);
  conv->instance.n_operands = g_rand_boolean (rand) ? 3 : 2;
  conv->instance.constants = (guint) draw (rand, 0, 3) * 2;
  conv->instance.sliced = g_rand_boolean (rand) ? 6 : 0;
  conv->instance.gap = draw (rand, 0, 2);
  conv->instance.y_gap = draw (rand, 1, 4) == 1;
  conv->instance.special = draw (rand, 1, 8) == 1;
}

static void
try_convolutions (const char *level)
{
  guint n_served = 0;

  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      Conv conv;

      draw_conv (&conv, seed);
      n_served += cleave_try_instance (&conv.instance, level) ? 1 : 0;
    }
  ck_assert_uint_eq (n_served, N_SEEDS);
}

/* Draws a random convolution of one group that the kernel computes by Winograd's F(2x2, 3x3). */
static void
draw_winograd (Conv *conv, guint32 seed)
{
  g_autoptr (GRand) rand = NULL;
  gint64 n_in = 0, n_out = 0;

  draw_conv (conv, seed);
  rand = g_rand_new_with_seed (seed);
  n_in = draw (rand, 1, 40);
  n_out = draw (rand, 1, g_rand_boolean (rand) ? 9 : 140);
  conv->attrs =
      (CleaveConvAttrs){ .pads = draw_each (rand, 4, 0, 3), .winograd = draw_each (rand, 2, 0, 1) };
  conv->instance.operands[0] =
      CLEAVE_TYPE (CLEAVE_FLOAT32, draw (rand, 1, 2), n_in, draw (rand, 3, 30), draw (rand, 3, 30));
  conv->instance.operands[1] = CLEAVE_TYPE (CLEAVE_FLOAT32, n_out, n_in, 3, 3);
  conv->instance.operands[2] = CLEAVE_TYPE (CLEAVE_FLOAT32, n_out);
}

static void
try_winograd (const char *level)
{
  for (guint32 seed = 0; seed < N_WINOGRAD_SEEDS; seed++)
    {
      Conv conv;

      draw_winograd (&conv, seed);
      ck_assert (cleave_try_instance (&conv.instance, level));
    }
}

START_TEST (winograd_has_the_bits_of_the_reference) { each_brgemm_level (try_winograd); }
END_TEST

START_TEST (convolutions_have_the_bits_of_the_reference) { each_brgemm_level (try_convolutions); }
END_TEST

/* Tries small transposed convolutions in 1 to 3 dimensions. */
static void
try_transposed_convolutions (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      guint n = draw (rand, 1, 8) == 1 ? 1 : draw (rand, 1, 4) == 1 ? 3 : 2;
      gint64 group = draw (rand, 1, 3) == 1 ? draw (rand, 2, 4) : 1;
      gint64 n_in = group * draw (rand, 1, 20), n_out = draw (rand, 1, 40);
      CleaveConvTransposeAttrs attrs = { .group = group,
                                         .strides = draw_each (rand, n, 1, 3),
                                         .dilations = draw_each (rand, n, 1, 2),
                                         .pads = draw_each (rand, 2 * n, 0, 1) };
      CleaveTrySite instance = { .op = "ConvTranspose", .attrs = &attrs, .seed = seed };
      CleaveShape *x = &instance.operands[0].shape, *w = &instance.operands[1].shape;

      instance.n_operands = g_rand_boolean (rand) ? 3 : 2;
      instance.constants = (guint) draw (rand, 0, 3) * 2;
      instance.sliced = g_rand_boolean (rand) ? 2 : 0;
      instance.sliced_dim = 1;
      instance.gap = draw (rand, 0, 2);
      *x = (CleaveShape){ n + 2, { draw (rand, 1, 2), n_in } };
      *w = (CleaveShape){ n + 2, { n_in, n_out } };
      for (guint i = 0; i < n; i++)
        {
          w->dim[2 + i] = draw (rand, 1, 4);
          x->dim[2 + i] = draw (rand, 3, n == 3 ? 5 : 12);
        }
      instance.operands[2] = CLEAVE_TYPE (CLEAVE_FLOAT32, group * n_out);
      instance.operands[0].element = instance.operands[1].element = CLEAVE_FLOAT32;
      ck_assert (cleave_try_instance (&instance, level));
    }
}

START_TEST (transposed_convolutions_have_the_bits_of_the_reference)
{
  each_brgemm_level (try_transposed_convolutions);
}
END_TEST

/* Tries all numbers of channels of x and y, so that vectors and panels have every remainder. */
static void
try_every_number_of_channels (const char *level)
{
  for (gint64 n_out = 1; n_out <= 67; n_out++)
    for (gint64 n_in = 2; n_in <= 35; n_in += n_in < 10 ? 1 : 5)
      {
        CleaveConvAttrs attrs = { .pads = CLEAVE_INTS (1, 1, 1, 1) };
        CleaveTrySite instance = { .op = "Conv",
                                   .attrs = &attrs,
                                   .n_operands = 3,
                                   .operands = { CLEAVE_TYPE (CLEAVE_FLOAT32, 1, n_in, 4,
                                                              1 + n_out % 9),
                                                 CLEAVE_TYPE (CLEAVE_FLOAT32, n_out, n_in, 3, 3),
                                                 CLEAVE_TYPE (CLEAVE_FLOAT32, n_out) },
                                   .constants = 6,
                                   .sliced = n_in % 2 == 0 ? 6 : 0,
                                   .gap = n_out % 2 };

        ck_assert (cleave_try_instance (&instance, level));
      }
}

START_TEST (every_number_of_channels_has_the_bits_of_the_reference)
{
  each_brgemm_level (try_every_number_of_channels);
}
END_TEST

/* Tries convolutions that the kernel cuts: long sums into several calls, and many rows into several
 * ranges of rows. */
static void
try_large_convolutions (const char *level)
{
  static const struct
  {
    gint64 n_in, n_out, kernel, h, w;
  } cases[] = { { 700, 40, 1, 3, 5 },  { 1031, 33, 1, 2, 2 }, { 1536, 24, 1, 4, 3 },
                { 320, 72, 3, 5, 6 },  { 3, 32, 3, 40, 131 }, { 3, 16, 7, 30, 30 },
                { 64, 40, 3, 33, 34 }, { 16, 8, 1, 60, 90 },  { 96, 24, 1, 56, 40 },
                { 8, 48, 5, 12, 13 },  { 256, 24, 3, 5, 37 } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (gint64 stride = 1; stride <= 2; stride++)
      {
        gint64 pad = cases[i].kernel / 2, k = cases[i].kernel;
        CleaveConvAttrs attrs = { .pads = CLEAVE_INTS (pad, pad, pad, pad),
                                  .strides = CLEAVE_INTS (stride, stride) };
        CleaveTrySite instance = {
          .op = "Conv",
          .attrs = &attrs,
          .n_operands = 2 + (guint) stride % 2,
          .operands = { CLEAVE_TYPE (CLEAVE_FLOAT32, 1, cases[i].n_in, cases[i].h, cases[i].w),
                        CLEAVE_TYPE (CLEAVE_FLOAT32, cases[i].n_out, cases[i].n_in, k, k),
                        CLEAVE_TYPE (CLEAVE_FLOAT32, cases[i].n_out) },
          .constants = 6
        };

        ck_assert (cleave_try_instance (&instance, level));
      }
}

START_TEST (large_convolutions_have_the_bits_of_the_reference)
{
  each_brgemm_level (try_large_convolutions);
}
END_TEST

/* Draws a random MatMul: ranks 1 to 4, broadcast batches, rows and columns in any memory order. */
static void
draw_matmul (CleaveTrySite *instance, CleaveElement element, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  gint64 m = draw (rand, 1, g_rand_boolean (rand) ? 3 : 40);
  gint64 n = draw (rand, 1, g_rand_boolean (rand) ? 9 : 80);
  gint64 k = draw (rand, 1, g_rand_boolean (rand) ? 9 : 90);
  guint n_batch = (guint) draw (rand, 0, 2);

  *instance = (CleaveTrySite){ .op = "MatMul", .seed = seed, .n_operands = 2 };
  instance->operands[0] = (CleaveTensorType){ element, { n_batch + 2, { 0 } } };
  instance->operands[1] = instance->operands[0];
  for (guint d = 0; d < n_batch; d++)
    {
      gint64 extent = draw (rand, 1, 3);

      instance->operands[0].shape.dim[d] = draw (rand, 1, 4) == 1 ? 1 : extent;
      instance->operands[1].shape.dim[d] = draw (rand, 1, 2) == 1 ? 1 : extent;
    }
  if (n_batch == 2 &&
      g_rand_boolean (rand)) /* one operand broadcasts the innermost batch dimension */
    {
      guint has = (guint) draw (rand, 0, 1);

      instance->operands[has].shape.dim[1] = draw (rand, 2, 20);
      instance->operands[1 - has].shape.dim[1] = 1;
    }
  instance->operands[0].shape.dim[n_batch] = m;
  instance->operands[0].shape.dim[n_batch + 1] = k;
  instance->operands[1].shape.dim[n_batch] = k;
  instance->operands[1].shape.dim[n_batch + 1] = n;
  if (n_batch == 0 && draw (rand, 1, 4) == 1)
    instance->operands[0].shape = CLEAVE_SHAPE (k);
  if (draw (rand, 1, 8) == 1)
    instance->operands[1].shape = CLEAVE_SHAPE (k);
  instance->constants = (guint) draw (rand, 0, 2);
  instance->sliced = g_rand_boolean (rand) ? instance->constants : 0;
  instance->sliced_dim = instance->constants == 1 ? MAX (instance->operands[0].shape.rank, 2) - 2
                                                  : instance->operands[1].shape.rank - 1;
  instance->row_major = (guint) draw (rand, 0, 3);
  instance->y_row_major = g_rand_boolean (
      rand); /* FALSE: the rows of y are not contiguous, and neither are its columns */
  instance->gap = draw (rand, 0, 2);
}

static void
draw_gemm (Gemm *gemm, CleaveElement element, guint32 seed)
{
  static const double fractions[] = { 1, 0.3, 0 }, whole[] = { 1, -3, 0 };
  const double *factors = cleave_element_is_float (element) ? fractions : whole;
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  gint64 m = draw (rand, 1, 20), n = draw (rand, 1, 70), k = draw (rand, 1, 70);
  gboolean turns_a = g_rand_boolean (rand), turns_b = g_rand_boolean (rand);

  gemm->attrs = (CleaveGemmAttrs){ .alpha = factors[draw (rand, 0, 2)],
                                   .beta = factors[draw (rand, 0, 2)],
                                   .transA = turns_a,
                                   .transB = turns_b };
  gemm->instance = (CleaveTrySite){ .op = "Gemm",
                                    .attrs = &gemm->attrs,
                                    .seed = seed,
                                    .n_operands = g_rand_boolean (rand) ? 3 : 2,
                                    .constants = (guint) draw (rand, 0, 3) * 2,
                                    .sliced = g_rand_boolean (rand) ? 2 : 0,
                                    .sliced_dim = turns_b ? 0 : 1,
                                    .gap = draw (rand, 0, 2) };
  gemm->instance.operands[0] = turns_a ? CLEAVE_TYPE (element, k, m) : CLEAVE_TYPE (element, m, k);
  gemm->instance.operands[1] = turns_b ? CLEAVE_TYPE (element, n, k) : CLEAVE_TYPE (element, k, n);
  gemm->instance.operands[2] = g_rand_boolean (rand)
                                   ? CLEAVE_TYPE (element, n)
                                   : CLEAVE_TYPE (element, g_rand_boolean (rand) ? m : 1, n);
}

/* Tries random products, and asserts that the fast kernel serves all of them. */
static void
try_products (CleaveElement element, guint n_seeds, const char *level)
{
  for (guint32 seed = 0; seed < n_seeds; seed++)
    {
      CleaveTrySite matmul;
      Gemm gemm;

      draw_matmul (&matmul, element, seed);
      ck_assert (cleave_try_instance (&matmul, level));
      draw_gemm (&gemm, element, seed);
      ck_assert (cleave_try_instance (&gemm.instance, level));
    }
}

static void
try_float_products (const char *level)
{
  try_products (CLEAVE_FLOAT32, N_SEEDS, level);
}

START_TEST (products_have_the_bits_of_the_reference) { each_level (try_float_products); }
END_TEST

/* Tries products of 64-bit floats and of 32-bit and 64-bit integers, which Cleave's own kernels
 * serve. */
static void
try_wide_products (const char *level)
{
  try_products (CLEAVE_FLOAT64, N_SEEDS / 5, level);
  try_products (CLEAVE_INT32, N_SEEDS / 5, level);
  try_products (CLEAVE_UINT32, N_SEEDS / 5, level);
  try_products (CLEAVE_INT64, N_SEEDS / 5, level);
  try_products (CLEAVE_UINT64, N_SEEDS / 5, level);
}

START_TEST (wide_products_have_the_bits_of_the_reference) { each_level (try_wide_products); }
END_TEST

/* Tries a Gemm with many rows, which the kernel packs in several ranges of rows. */
static void
try_tall_gemm (const char *level)
{
  CleaveGemmAttrs attrs = { .alpha = 1, .beta = 1, .transA = TRUE };
  CleaveTrySite instance = { .op = "Gemm", .attrs = &attrs, .n_operands = 3 };

  instance.operands[0] = CLEAVE_TYPE (CLEAVE_FLOAT32, 50, 3001);
  instance.operands[1] = CLEAVE_TYPE (CLEAVE_FLOAT32, 50, 21);
  instance.operands[2] = CLEAVE_TYPE (CLEAVE_FLOAT32, 21);
  ck_assert (cleave_try_instance (&instance, level));
}

START_TEST (tall_gemm_has_the_bits_of_the_reference) { each_brgemm_level (try_tall_gemm); }
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "convolution", convolutions_have_the_bits_of_the_reference,
                   winograd_has_the_bits_of_the_reference,
                   every_number_of_channels_has_the_bits_of_the_reference,
                   large_convolutions_have_the_bits_of_the_reference,
                   transposed_convolutions_have_the_bits_of_the_reference, NULL);
  cleave_add_case (suite, "product", products_have_the_bits_of_the_reference,
                   wide_products_have_the_bits_of_the_reference,
                   tall_gemm_has_the_bits_of_the_reference, NULL);
}

CLEAVE_TEST_SUITE ("kernel-brgemm", add_tests)
