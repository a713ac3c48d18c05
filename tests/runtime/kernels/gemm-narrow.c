/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Convolutions, transposed or not, with few output channels per group. */

#include "kernel-cases.h"

#define N_SEEDS KERNEL_TRIALS (1200)

typedef struct
{
  CleaveTrySite instance;
  CleaveConvAttrs conv;
  CleaveConvTransposeAttrs transposed;
} Case;

static void
draw_memory (CleaveTrySite *instance, GRand *rand)
{
  instance->n_operands = g_rand_boolean (rand) ? 3 : 2;
  instance->constants = (guint) draw (rand, 0, 3) * 2;
  instance->gap = draw (rand, 0, 2);
  instance->special = draw (rand, 1, 4) == 1;
}

/* Moves channels to the end of the shapes of x and y. */
static void
make_nhwc (CleaveTrySite *instance)
{
  CleaveShape *x = &instance->operands[0].shape;
  gint64 n_channels = x->dim[1];

  for (guint d = 1; d + 1 < x->rank; d++)
    x->dim[d] = x->dim[d + 1];
  x->dim[x->rank - 1] = n_channels;
  instance->row_major |= 1;
  instance->y_row_major = TRUE;
}

/* Returns an extent: rows are shorter than a vector, as long as several tiles, or between. */
static gint64
draw_extent (GRand *rand, guint dim, guint n)
{
  gint64 longest = draw (rand, 1, 8) == 1 ? 500 : 70;

  return dim + 1 == n ? draw (rand, 3, (gint32) longest) : draw (rand, 2, 8);
}

static void
draw_types (CleaveTrySite *instance, GRand *rand, guint n, gint64 n_in, gint64 w0, gint64 w1)
{
  CleaveShape *x = &instance->operands[0].shape, *w = &instance->operands[1].shape;

  for (guint i = 0; i < 3; i++)
    instance->operands[i].element = CLEAVE_FLOAT32;
  *x = (CleaveShape){ n + 2, { draw (rand, 1, 2), n_in } };
  *w = (CleaveShape){ n + 2, { w0, w1 } };
  for (guint i = 0; i < n; i++)
    w->dim[2 + i] = draw (rand, 1, 4);
}

static void
draw_conv (Case *c, GRand *rand, guint32 seed)
{
  guint n = draw (rand, 1, 6) == 1 ? 1 : 2;
  gint64 group = draw (rand, 1, 3) == 1 ? draw (rand, 2, 3) : 1;
  gint64 group_in = draw (rand, 1, g_rand_boolean (rand) ? 9 : 40), group_out = draw (rand, 1, 5);
  CleaveConvAttrs *a = &c->conv;
  CleaveTrySite *instance = &c->instance;

  *instance = (CleaveTrySite){ .op = "Conv", .seed = seed, .attrs = a };
  *a = (CleaveConvAttrs){ .group = group,
                          .strides = draw_each (rand, n, 1, 3),
                          .dilations = draw_each (rand, n, 1, 2),
                          .pads = draw_each (rand, 2 * n, 0, draw (rand, 1, 4) == 1 ? 12 : 3) };
  draw_memory (instance, rand);
  instance->sliced = g_rand_boolean (rand) ? 6 : 0;
  draw_types (instance, rand, n, group * group_in, group * group_out, group_in);
  if (n == 1 && g_rand_boolean (rand))
    instance->operands[1].shape.dim[2] =
        draw (rand, 30, 120); /* a long kernel along one dimension, as in networks on sound */
  for (guint i = 0; i < n; i++)
    instance->operands[0].shape.dim[2 + i] =
        (instance->operands[1].shape.dim[2 + i] - 1) * a->dilations.v[i] + draw_extent (rand, i, n);
  instance->operands[2].shape = CLEAVE_SHAPE (group * group_out);
  if (g_rand_boolean (rand))
    {
      a->layout = CLEAVE_LAYOUT_NHWC;
      make_nhwc (instance);
    }
}

static void
try_convolutions (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      Case c;

      draw_conv (&c, rand, seed);
      ck_assert (cleave_try_instance (&c.instance, level));
    }
}

START_TEST (convolutions_have_the_bits_of_the_reference) { each_brgemm_level (try_convolutions); }
END_TEST

/* Chooses a random transposed convolution whose result has at least one element. Often, the strides
 * equal the extents of the kernel. */
static void
draw_transposed (Case *c, GRand *rand, guint32 seed)
{
  guint n = draw (rand, 1, 6) == 1 ? 1 : 2;
  gint64 group = draw (rand, 1, 3) == 1 ? draw (rand, 2, 3) : 1;
  gint64 group_in = draw (rand, 1, 30), group_out = draw (rand, 1, 5);
  gboolean fits = g_rand_boolean (rand);
  CleaveConvTransposeAttrs *a = &c->transposed;
  CleaveTrySite *instance = &c->instance;

  *instance = (CleaveTrySite){ .op = "ConvTranspose", .seed = seed, .attrs = a };
  *a = (CleaveConvTransposeAttrs){ .group = group,
                                   .strides = draw_each (rand, n, 1, 4),
                                   .dilations = draw_each (rand, n, 1, fits ? 1 : 2),
                                   .pads = draw_each (rand, 2 * n, 0, fits ? 1 : 2),
                                   .output_padding = { .n = n } };
  draw_memory (instance, rand);
  instance->sliced = group == 1 && g_rand_boolean (rand) ? 2 : 0;
  instance->sliced_dim = 1;
  draw_types (instance, rand, n, group * group_in, group * group_in, group_out);
  for (guint i = 0; i < n; i++)
    {
      gint64 stride = a->strides.v[i];

      if (fits)
        instance->operands[1].shape.dim[2 + i] = stride;
      if (stride > 1)
        a->output_padding.v[i] = draw (rand, 0, (gint32) stride - 1);
      instance->operands[0].shape.dim[2 + i] = 3 + draw_extent (rand, i, n);
    }
  instance->operands[2].shape = CLEAVE_SHAPE (group * group_out);
  if (g_rand_boolean (rand))
    {
      a->layout = CLEAVE_LAYOUT_NHWC;
      make_nhwc (instance);
    }
}

static void
try_transposed_convolutions (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      Case c;

      draw_transposed (&c, rand, seed);
      ck_assert (cleave_try_instance (&c.instance, level));
    }
}

START_TEST (transposed_convolutions_have_the_bits_of_the_reference)
{
  each_brgemm_level (try_transposed_convolutions);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "narrow", convolutions_have_the_bits_of_the_reference,
                   transposed_convolutions_have_the_bits_of_the_reference, NULL);
}

CLEAVE_TEST_SUITE ("kernel-narrow", add_tests)
