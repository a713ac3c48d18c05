/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Convolutions of 16-bit floats that are upcast to float32, compared with the reference kernel. */

#include "conv-cases.h"

#define N_SEEDS KERNEL_TRIALS (1200)

static void
try_convolutions_of_halves (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      CleaveElement element = g_rand_boolean (rand) ? CLEAVE_FLOAT16 : CLEAVE_BFLOAT16;
      Conv conv;

      draw_conv (&conv, rand, element, element);
      conv.instance.op = "Conv";
      conv.instance.seed = seed;
      conv.instance.n_operands = g_rand_boolean (rand) ? 3 : 2;
      conv.instance.operands[0] = conv.x;
      conv.instance.operands[1] = conv.w;
      conv.instance.operands[2] = CLEAVE_TYPE (element, conv.n_out);
      conv.instance.constants = (guint) draw (rand, 0, 3) * 2;
      conv.instance.sliced = g_rand_boolean (rand) ? 6 : 0;
      ck_assert (cleave_try_instance (&conv.instance, level));
    }
}

START_TEST (convolutions_of_16_bit_floats_have_the_bits_of_the_reference)
{
  each_brgemm_level (try_convolutions_of_halves);
}
END_TEST

static void
try_large_convolutions (const char *level)
{
  static const struct
  {
    gint64 n_in, n_out, kernel, h, w;
  } cases[] = { { 700, 40, 1, 3, 5 },  { 320, 72, 3, 5, 6 }, { 3, 32, 3, 40, 131 },
                { 64, 40, 3, 33, 34 }, { 16, 8, 1, 60, 90 }, { 64, 64, 3, 60, 20 } };
  static const CleaveElement elements[] = { CLEAVE_FLOAT16, CLEAVE_BFLOAT16 };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint e = 0; e < G_N_ELEMENTS (elements); e++)
      {
        gint64 pad = cases[i].kernel / 2, k = cases[i].kernel;
        CleaveConvAttrs attrs = { .pads = CLEAVE_INTS (pad, pad, pad, pad) };
        CleaveTrySite instance = {
          .op = "Conv",
          .attrs = &attrs,
          .n_operands = 2,
          .operands = { CLEAVE_TYPE (elements[e], 1, cases[i].n_in, cases[i].h, cases[i].w),
                        CLEAVE_TYPE (elements[e], cases[i].n_out, cases[i].n_in, k, k) },
          .constants = 2
        };

        ck_assert (cleave_try_instance (&instance, level));
      }
}

START_TEST (large_convolutions_have_the_bits_of_the_reference)
{
  each_brgemm_level (try_large_convolutions);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "halves", convolutions_of_16_bit_floats_have_the_bits_of_the_reference,
                   large_convolutions_have_the_bits_of_the_reference, NULL);
}

CLEAVE_TEST_SUITE ("kernel-widened-conv", add_tests)
