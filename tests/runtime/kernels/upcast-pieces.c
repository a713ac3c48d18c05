/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Kernels of float32 that serve 16-bit floats in pieces: each piece is upcast, computed in float32
 * and rounded. */

#include "kernel-cases.h"

#define N_SEEDS KERNEL_TRIALS (240)

static const char *const reductions[] = { "ReduceSum", "ReduceMean", "ReduceMax", "ReduceL2" };

/* Returns an instance of 16-bit floats, of any rank and memory order. Some operands have more
 * elements than the kernel upcasts at once. */
static CleaveTrySite
draw_instance (GRand *rand, guint32 seed, guint least_rank)
{
  CleaveTrySite instance = { .n_operands = 1,
                             .gap = draw (rand, 0, 2),
                             .row_major = (guint) draw (rand, 0, 1),
                             .special = draw (rand, 1, 4) == 1,
                             .seed = seed };
  CleaveShape *x = &instance.operands[0].shape;
  gboolean is_large = draw (rand, 1, 25) == 1;

  instance.y_row_major = g_rand_boolean (rand);
  instance.operands[0].element = g_rand_boolean (rand) ? CLEAVE_FLOAT16 : CLEAVE_BFLOAT16;
  x->rank = (guint) draw (rand, (gint32) least_rank, 4);
  for (guint d = 0; d < x->rank; d++)
    x->dim[d] = draw (rand, 1, d < 2 && is_large ? 200 : d < 2 ? 12 : 7);
  return instance;
}

static void
add_operand (CleaveTrySite *instance, CleaveElement element, gint64 extent)
{
  instance->operands[instance->n_operands++] = CLEAVE_TYPE (element, extent);
}

static gboolean
try_along_axis (guint32 seed, const char *level)
{
  static const char *const ops[] = { "Softmax", "LogSoftmax" };
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  CleaveTrySite instance = draw_instance (rand, seed, 1);
  CleaveAxisAttrs attrs = { .axis = draw (rand, 0, (gint32) instance.operands[0].shape.rank - 1) };

  instance.op = ops[draw (rand, 0, 1)];
  instance.attrs = &attrs;
  instance.in_place = g_rand_boolean (rand);
  instance.y_row_major = (instance.row_major & 1) != 0;
  return cleave_try_instance (&instance, level);
}

static gboolean
try_layer_norm (guint32 seed, const char *level)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  CleaveTrySite instance = draw_instance (rand, seed, 1);
  const CleaveTensorType *x = &instance.operands[0];
  CleaveLayerNormAttrs attrs = { .axis = (gint64) x->shape.rank - 1,
                                 .epsilon = 1e-5,
                                 .stash_type = 1 };

  instance.op = "LayerNormalization";
  instance.attrs = &attrs;
  instance.n_results = (guint) draw (rand, 1, 3);
  add_operand (&instance, x->element, x->shape.dim[attrs.axis]);
  if (g_rand_boolean (rand))
    add_operand (&instance, x->element, x->shape.dim[attrs.axis]);
  return cleave_try_instance (&instance, level);
}

/* Tries normalizations, some of which have parameters of float32. */
static gboolean
try_norm (guint32 seed, const char *level)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  CleaveTrySite instance = draw_instance (rand, seed, 3);
  gboolean is_batch = g_rand_boolean (rand);
  CleaveNormAttrs attrs = { .epsilon = 1e-3 };
  CleaveElement element =
      is_batch && g_rand_boolean (rand) ? CLEAVE_FLOAT32 : instance.operands[0].element;

  instance.op = is_batch ? "BatchNormalization" : "InstanceNormalization";
  instance.attrs = &attrs;
  for (guint i = 0; i < (is_batch ? 4 : 2); i++)
    add_operand (&instance, element, instance.operands[0].shape.dim[1]);
  return cleave_try_instance (&instance, level);
}

static gboolean
try_reduction (guint32 seed, const char *level)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  CleaveTrySite instance = draw_instance (rand, seed, 1);
  CleaveReduceAttrs attrs = { .keepdims = g_rand_boolean (rand) };

  instance.op = reductions[draw (rand, 0, 3)];
  instance.attrs = &attrs;
  for (guint d = 0; d < instance.operands[0].shape.rank; d++)
    if (g_rand_boolean (rand))
      attrs.axes.v[attrs.axes.n++] = d;
  return cleave_try_instance (&instance, level);
}

static gboolean
try_arg (guint32 seed, const char *level)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  CleaveTrySite instance = draw_instance (rand, seed, 1);
  CleaveArgAttrs attrs = { .axis = draw (rand, 0, (gint32) instance.operands[0].shape.rank - 1),
                           .keepdims = g_rand_boolean (rand),
                           .select_last_index = g_rand_boolean (rand) };

  instance.op = g_rand_boolean (rand) ? "ArgMax" : "ArgMin";
  instance.attrs = &attrs;
  return cleave_try_instance (&instance, level);
}

static gboolean
try_lrn (guint32 seed, const char *level)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  CleaveTrySite instance = draw_instance (rand, seed, 3);
  CleaveLrnAttrs attrs = { .alpha = 0.02, .beta = 0.75, .bias = 1, .size = draw (rand, 1, 7) };

  instance.op = "LRN";
  instance.attrs = &attrs;
  return cleave_try_instance (&instance, level);
}

/* Tries a Resize, whose pieces also read elements around their own. */
static gboolean
try_resize (guint32 seed, const char *level)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  CleaveTrySite instance = draw_instance (rand, seed, 4);
  CleaveShape *x = &instance.operands[0].shape;
  gint64 n_channels = x->dim[1] = MAX (x->dim[1], 2);
  CleaveResizeAttrs attrs = { .mode = (CleaveResizeMode) draw (rand, 0, 2),
                              .cubic_coeff_a = -0.75,
                              .sizes = { .n = 4, .v = { x->dim[0], n_channels } } };

  instance.op = "Resize";
  instance.attrs = &attrs;
  instance.row_major = 0;
  instance.y_row_major = FALSE;
  for (guint d = 2; d < 4; d++)
    attrs.sizes.v[d] = x->dim[d] * draw (rand, 1, 4);
  return cleave_try_instance (&instance, level);
}

/* Tries transposed convolutions. Instances that are served in float32 are also served in 16-bit
 * floats. */
static void
try_transposed (const char *level)
{
  guint n_served = 0;

  for (guint32 seed = 0; seed < N_SEEDS / 4; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      CleaveTrySite instance = draw_instance (rand, seed, 4);
      CleaveShape *x = &instance.operands[0].shape;
      gint64 kernel = draw (rand, 1, 4), n_out = draw (rand, 1, 20);
      CleaveConvTransposeAttrs attrs = { .group = 1,
                                         .strides = draw_each (rand, 2, 1, 3),
                                         .dilations = { .n = 2, .v = { 1, 1 } } };

      instance.op = "ConvTranspose";
      instance.attrs = &attrs;
      instance.row_major = 0;
      instance.y_row_major = FALSE;
      x->dim[0] = draw (rand, 1, 2);
      instance.operands[1] =
          (CleaveTensorType){ instance.operands[0].element,
                              { .rank = 4, .dim = { x->dim[1], n_out, kernel, kernel } } };
      instance.n_operands = 2;
      if (g_rand_boolean (rand))
        add_operand (&instance, instance.operands[0].element, n_out);
      instance.constants = (guint) draw (rand, 0, 1) * 6;
      n_served += cleave_try_instance (&instance, level) ? 1 : 0;
    }
  ck_assert_uint_ge (n_served, N_SEEDS / 8);
}

START_TEST (transposed_convolutions_have_the_bits_of_the_reference)
{
  each_brgemm_level (try_transposed);
}
END_TEST

/* Tries convolutions by Winograd's algorithm, and convolutions with few output channels. */
static void
try_convolutions (const char *level)
{
  for (guint32 seed = 0; seed < N_SEEDS / 4; seed++)
    {
      g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
      CleaveTrySite instance = draw_instance (rand, seed, 4);
      CleaveShape *x = &instance.operands[0].shape;
      gboolean by_tiles = g_rand_boolean (rand);
      gint64 n_out = draw (rand, 1, by_tiles ? 40 : 4);
      CleaveConvAttrs attrs = { .group = 1, .pads = draw_each (rand, 4, 0, 2) };

      instance.op = "Conv";
      instance.attrs = &attrs;
      instance.row_major = 0;
      instance.y_row_major = FALSE;
      x->dim[0] = draw (rand, 1, 2);
      for (guint d = 2; d < 4; d++)
        x->dim[d] = draw (rand, 3, 20);
      if (by_tiles)
        attrs.winograd = draw_each (rand, 2, 0, 1);
      instance.operands[1] = (CleaveTensorType){ instance.operands[0].element,
                                                 { .rank = 4, .dim = { n_out, x->dim[1], 3, 3 } } };
      instance.n_operands = 2;
      if (g_rand_boolean (rand))
        add_operand (&instance, instance.operands[0].element, n_out);
      instance.constants = (guint) draw (rand, 0, 1) * 6;
      ck_assert_msg (cleave_try_instance (&instance, level), "seed %u is not served", seed);
    }
}

START_TEST (convolutions_have_the_bits_of_the_reference) { each_brgemm_level (try_convolutions); }
END_TEST

static void
try_level (const char *level)
{
  static gboolean (*const tries[]) (guint32, const char *) = {
    try_along_axis, try_layer_norm, try_norm, try_reduction, try_arg, try_lrn, try_resize,
  };

  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    ck_assert_msg (tries[seed % G_N_ELEMENTS (tries)](seed, level), "seed %u is not served", seed);
}

START_TEST (every_level_has_the_bits_of_the_reference) { each_level (try_level); }
END_TEST

/* A step is not computed in pieces if one piece would overwrite operands of another piece. */
START_TEST (pieces_do_not_overwrite_operands_of_others)
{
  CleaveAxisAttrs attrs = { .axis = 1 };
  CleaveTrySite instance = { .op = "Softmax",
                             .attrs = &attrs,
                             .n_operands = 1,
                             .operands = { CLEAVE_TYPE (CLEAVE_FLOAT16, 40, 4000) },
                             .row_major = 1,
                             .y_row_major = TRUE,
                             .in_place = TRUE };

  ck_assert (cleave_try_instance (&instance, NULL));
}
END_TEST

/* The fast kernel does not serve a Hardmax, or a Softmax of float64. The reference kernel runs
 * instead. */
START_TEST (not_served)
{
  CleaveAxisAttrs attrs = { .axis = 0 };
  CleaveTrySite instance = { .op = "Hardmax",
                             .attrs = &attrs,
                             .n_operands = 1,
                             .operands = { CLEAVE_TYPE (CLEAVE_FLOAT16, 3, 2) } };

  ck_assert (!cleave_try_instance (&instance, NULL));
  instance.op = "Softmax";
  ck_assert (cleave_try_instance (&instance, NULL));
  instance.operands[0] = CLEAVE_TYPE (CLEAVE_FLOAT64, 3, 2);
  ck_assert (!cleave_try_instance (&instance, NULL));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "upcast-pieces", every_level_has_the_bits_of_the_reference,
                   transposed_convolutions_have_the_bits_of_the_reference,
                   pieces_do_not_overwrite_operands_of_others,
                   convolutions_have_the_bits_of_the_reference, not_served, NULL);
}

CLEAVE_TEST_SUITE ("kernel-upcast-pieces", add_tests)
