/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "kernel-cases.h"

#define N_SEEDS 1500

typedef struct
{
  CleaveTrySite site;
  CleaveConvAttrs attrs;
} Conv;

/* A small depthwise convolution of any kind, in 1 or 2 dimensions. */
static void
draw_conv (Conv *conv, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  guint n = (guint) draw (rand, 1, 8) == 1 ? 1 : 2;
  gint64 multiplier = draw (rand, 1, 4) == 1 ? draw (rand, 2, 20) : 1;
  gint64 channels = draw (rand, 1, multiplier > 1 ? 4 : 35);
  CleaveConvAttrs *a = &conv->attrs;
  CleaveTensorType *x = &conv->site.operands[0], *w = &conv->site.operands[1];

  if (channels == 1)
    multiplier = MIN (multiplier, 7); /* more are for another kernel */
  *conv = (Conv){ .site = { .op = "Conv", .seed = seed, .attrs = a } };
  a->group = channels;
  a->strides = draw_each (rand, n, 1, 3);
  a->dilations = draw_each (rand, n, 1, g_rand_boolean (rand) ? 1 : 3);
  a->pads = draw_each (rand, 2 * n, 0, draw (rand, 1, 3) == 1 ? 0 : 3);
  *x = (CleaveTensorType){ CLEAVE_FLOAT32, { n + 2, { draw (rand, 1, 2), channels } } };
  *w = (CleaveTensorType){ CLEAVE_FLOAT32, { n + 2, { channels * multiplier, 1 } } };
  for (guint i = 0; i < n; i++)
    {
      w->shape.dim[2 + i] = draw (rand, 1, 5);
      x->shape.dim[2 + i] = (w->shape.dim[2 + i] - 1) * a->dilations.v[i] + draw (rand, 1, 20);
    }
  conv->site.operands[2] = CLEAVE_TYPE (CLEAVE_FLOAT32, w->shape.dim[0]);
  conv->site.n_operands = g_rand_boolean (rand) ? 3 : 2;
  conv->site.constants = (guint) draw (rand, 0, 3) * 2;
  conv->site.sliced = g_rand_boolean (rand) ? 6 : 0;
  conv->site.gap = draw (rand, 0, 2);
  conv->site.special = draw (rand, 1, 8) == 1;
}

static void
try_level (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      Conv conv;

      draw_conv (&conv, seed);
      ck_assert (cleave_try_site (&conv.site, level));
    }
}

START_TEST (every_level_has_the_bits_of_the_reference) { each_level (try_level); }
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "depthwise", every_level_has_the_bits_of_the_reference, NULL);
}

CLEAVE_TEST_MAIN ("kernel-depthwise", add_tests)
