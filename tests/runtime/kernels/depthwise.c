/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernels of depthwise and grouped convolutions, compared with the reference kernel. */

#include "kernel-cases.h"

#define N_SEEDS KERNEL_TRIALS (1500)

typedef struct
{
  CleaveTrySite instance;
  CleaveConvAttrs attrs;
} Conv;

/* Makes a random small depthwise convolution with 1 or 2 spatial dimensions, or with 3 if
 * `is_volume`. */
static void
draw_conv (Conv *conv, guint32 seed, gboolean is_volume)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  guint n = is_volume ? 3 : draw (rand, 1, 8) == 1 ? 1 : 2;
  gint64 multiplier = draw (rand, 1, 4) == 1 ? draw (rand, 2, 20) : 1;
  gint64 channels = draw (rand, 1, multiplier > 1 ? 4 : 35);
  CleaveConvAttrs *a = &conv->attrs;
  CleaveTensorType *x = &conv->instance.operands[0], *w = &conv->instance.operands[1];

  if (is_volume)
    channels++; /* at least 2 channels, since another kernel serves a single channel of a volume */
  if (channels == 1)
    multiplier = MIN (multiplier, 7); /* at most 7 result channels, since another kernel serves a
                                       * convolution of one channel to more channels */
  *conv = (Conv){ .instance = { .op = "Conv", .seed = seed, .attrs = a } };
  a->group = channels;
  a->strides = draw_each (rand, n, 1, 3);
  a->dilations = draw_each (rand, n, 1, g_rand_boolean (rand) ? 1 : 4);
  a->pads = draw_each (rand, 2 * n, 0, draw (rand, 1, 3) == 1 ? 0 : 3);
  *x = (CleaveTensorType){ CLEAVE_FLOAT32, { n + 2, { draw (rand, 1, 2), channels } } };
  *w = (CleaveTensorType){ CLEAVE_FLOAT32, { n + 2, { channels * multiplier, 1 } } };
  for (guint i = 0; i < n; i++)
    {
      w->shape.dim[2 + i] = draw (rand, 1, is_volume ? 3 : 7);
      x->shape.dim[2 + i] =
          (w->shape.dim[2 + i] - 1) * a->dilations.v[i] + draw (rand, 1, is_volume ? 8 : 20);
    }
  conv->instance.operands[2] = CLEAVE_TYPE (CLEAVE_FLOAT32, w->shape.dim[0]);
  conv->instance.n_operands = g_rand_boolean (rand) ? 3 : 2;
  conv->instance.constants = (guint) draw (rand, 0, 3) * 2;
  conv->instance.sliced = g_rand_boolean (rand) ? 6 : 0;
  conv->instance.gap = draw (rand, 0, 2);
  conv->instance.y_gap = draw (rand, 1, 4) == 1;
  conv->instance.special = draw (rand, 1, 8) == 1;
}

/* Chooses a random convolution with draw_conv(), and changes it to groups of a few channels.
 * Several groups fit into a vector. */
static void
draw_groups (Conv *conv, guint32 seed, gboolean is_volume, gint32 most)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  gint64 n_in = G_GINT64_CONSTANT (1) << draw (rand, 1, most);
  gint64 n_groups = draw (rand, (gint32) (16 / n_in), (gint32) (56 / n_in));
  CleaveTensorType *o = conv->instance.operands;

  draw_conv (conv, seed, is_volume);
  conv->attrs.group = n_groups;
  o[0].shape.dim[1] = o[1].shape.dim[0] = o[2].shape.dim[0] = n_groups * n_in;
  o[1].shape.dim[1] = n_in;
}

/* Changes the convolution that draw_conv() made. Either makes its operands 16-bit floats, or makes
 * its operands bytes and its op QLinearConv or ConvInteger. */
static void
draw_upcast (Conv *conv, guint32 seed)
{
  static const CleaveElement halves[] = { CLEAVE_FLOAT16, CLEAVE_BFLOAT16 };
  static const CleaveElement bytes[] = { CLEAVE_INT8, CLEAVE_UINT8 };
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  CleaveTrySite *instance = &conv->instance;
  CleaveTensorType *o = instance->operands, w = o[1];
  CleaveElement element = bytes[draw (rand, 0, 1)], by = bytes[draw (rand, 0, 1)];
  CleaveShape n_out = { 1, { w.shape.dim[0] } };
  CleaveShape zeros = g_rand_boolean (rand) ? n_out : (CleaveShape){ 0 };

  instance->special = g_rand_boolean (rand);
  instance->row_major = draw (rand, 1, 6) == 1 ? 1 : 0;
  instance->y_row_major = draw (rand, 1, 6) == 1;
  if (g_rand_boolean (rand))
    {
      o[0].element = o[1].element = o[2].element = halves[draw (rand, 0, 1)];
      return;
    }
  instance->sliced = 0;
  o[0].element = element;
  w.element = by;
  if (g_rand_boolean (rand))
    {
      instance->op = "ConvInteger";
      instance->n_operands = 4;
      o[1] = w;
      o[2] = CLEAVE_SCALAR (element);
      o[3] = (CleaveTensorType){ g_rand_boolean (rand) ? by : CLEAVE_NONE, zeros };
      return;
    }
  instance->op = "QLinearConv";
  instance->n_operands = 9;
  instance->constants = (guint) draw (rand, 0, 0xff) * 2;
  o[1] = o[6] = CLEAVE_SCALAR (CLEAVE_FLOAT32);
  o[2] = CLEAVE_SCALAR (element);
  o[3] = w;
  o[4] = (CleaveTensorType){ CLEAVE_FLOAT32, zeros };
  o[5] = (CleaveTensorType){ by, zeros };
  o[7] = CLEAVE_SCALAR (bytes[draw (rand, 0, 1)]);
  o[8] = (CleaveTensorType){ g_rand_boolean (rand) ? CLEAVE_INT32 : CLEAVE_NONE, n_out };
}

static void
try_level (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      Conv conv;

      draw_conv (&conv, seed, seed % 4 == 3);
      ck_assert (cleave_try_instance (&conv.instance, level));
      if (seed % 4 == 3)
        continue;
      draw_upcast (&conv, seed);
      ck_assert (cleave_try_instance (&conv.instance, level));
    }
}

START_TEST (every_level_has_the_bits_of_the_reference) { each_level (try_level); }
END_TEST

static void
try_groups (const char *level)
{
  gint32 most =
      level[1] == '3' || level[1] == '4' ? 3 : 2; /* a group is not larger than a vector */

  for (guint32 seed = 0; seed < N_SEEDS / 3; seed++)
    {
      Conv conv;

      draw_groups (&conv, seed, seed % 4 == 3, most);
      ck_assert (cleave_try_instance (&conv.instance, level));
    }
}

START_TEST (groups_have_the_bits_of_the_reference) { each_level (try_groups); }
END_TEST

/* The convolutions are transposed, and have random strides and random pads. The weights and the
 * bias may be slices of larger values. */
START_TEST (transposed_ones_have_the_bits_of_the_reference)
{
  guint n_served = 0;

  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      guint n = draw (rand, 1, 8) == 1 ? 1 : draw (rand, 1, 8) == 1 ? 3 : 2;
      gint64 channels = draw (rand, 2, 40);
      CleaveConvTransposeAttrs attrs = { .group = channels,
                                         .strides = draw_each (rand, n, 1, 3),
                                         .dilations = draw_each (rand, n, 1, 1),
                                         .pads = draw_each (rand, 2 * n, 0, 1) };
      CleaveTrySite instance = { .op = "ConvTranspose",
                                 .attrs = &attrs,
                                 .n_operands = g_rand_boolean (rand) ? 3 : 2,
                                 .constants = (guint) draw (rand, 0, 3) * 2,
                                 .sliced = g_rand_boolean (rand) ? 6 : 0,
                                 .gap = draw (rand, 0, 2),
                                 .y_gap = draw (rand, 1, 4) == 1,
                                 .special = draw (rand, 1, 8) == 1,
                                 .seed = seed };
      CleaveShape *x = &instance.operands[0].shape, *w = &instance.operands[1].shape;

      *x = (CleaveShape){ n + 2, { draw (rand, 1, 2), channels } };
      *w = (CleaveShape){ n + 2, { channels, 1 } };
      for (guint i = 0; i < n; i++)
        {
          w->dim[2 + i] = draw (rand, (gint32) attrs.strides.v[i], n == 3 ? 3 : 5);
          x->dim[2 + i] = draw (rand, 3, n == 3 ? 5 : 20);
        }
      instance.operands[2] = CLEAVE_TYPE (CLEAVE_FLOAT32, channels);
      instance.operands[0].element = instance.operands[1].element = CLEAVE_FLOAT32;
      for (guint i = 0; nth_level (i) != NULL; i++)
        n_served += cleave_try_instance (&instance, nth_level (i)) ? 1 : 0;
    }
  ck_assert_uint_gt (n_served, N_SEEDS / 2);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "depthwise", every_level_has_the_bits_of_the_reference,
                   groups_have_the_bits_of_the_reference,
                   transposed_ones_have_the_bits_of_the_reference, NULL);
}

CLEAVE_TEST_SUITE ("kernel-depthwise", add_tests)
