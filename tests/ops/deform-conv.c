/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op DeformConv: a convolution whose taps are moved by offsets and multiplied by a mask. */

#include "apply.h"
#include "op-case.h"

static const CleaveElement elements[] = { CLEAVE_FLOAT32, CLEAVE_FLOAT64, CLEAVE_FLOAT16 };

static const double pixels[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };

/* With offsets of 0, a DeformConv is a convolution whose taps are multiplied by the mask. */
START_TEST (the_mask_weights_the_taps)
{
  static const double w[] = { 1, 10, 20, 30 }, b[] = { 3 }, offsets[8 * 4] = { 0 };
  static const double mask[] = { 1, 1, 1, 1, 0.5, 1, 1, 0, 1, 1, 1, 1, 1, 1, 2, 1 };
  static const double plain[] = { 254, 315, 437, 498 };
  static const double masked[] = { 244, 315, 677, 438 };
  static const CleaveDeformConvAttrs attrs = { .group = 1, .offset_group = 1 };

  for (guint e = 0; e < G_N_ELEMENTS (elements); e++)
    {
      g_autoptr (CleaveTensor) x =
          cleave_apply_tensor (elements[e], CLEAVE_SHAPE (1, 1, 3, 3), pixels);
      g_autoptr (CleaveTensor) weights =
          cleave_apply_tensor (elements[e], CLEAVE_SHAPE (1, 1, 2, 2), w);
      g_autoptr (CleaveTensor) offset =
          cleave_apply_tensor (elements[e], CLEAVE_SHAPE (1, 8, 2, 2), offsets);
      g_autoptr (CleaveTensor) bias = cleave_apply_tensor (elements[e], CLEAVE_SHAPE (1), b);
      g_autoptr (CleaveTensor) by =
          cleave_apply_tensor (elements[e], CLEAVE_SHAPE (1, 4, 2, 2), mask);
      g_autoptr (CleaveTensor) one =
          cleave_apply ("DeformConv", (CleaveTensor *[]){ x, weights, offset, bias }, 4, &attrs);
      g_autoptr (CleaveTensor) two = cleave_apply (
          "DeformConv", (CleaveTensor *[]){ x, weights, offset, bias, by }, 5, &attrs);

      cleave_apply_check ("plain", one, plain, 0);
      cleave_apply_check ("masked", two, masked, 0);
    }
}
END_TEST

/* A single tap reads at positions between rows, between columns, half outside the image, outside,
 * and infinitely far away. */
START_TEST (offsets_move_the_taps)
{
  static const double one[] = { 1 };
  static const double offsets[2 * 9] = { 0.5, 0, -0.5, -1, 0.25, 0,  1, 0, INFINITY,
                                         0,   0, 0.5,  0,  0.25, -1, 0, 0, 0 };
  static const double y[] = { 2.5, 2, 0.75, 1, 6, 5, 0, 8, 0 };
  static const CleaveDeformConvAttrs attrs = { .group = 1, .offset_group = 1 };

  for (guint e = 0; e < G_N_ELEMENTS (elements); e++)
    {
      g_autoptr (CleaveTensor) x =
          cleave_apply_tensor (elements[e], CLEAVE_SHAPE (1, 1, 3, 3), pixels);
      g_autoptr (CleaveTensor) w =
          cleave_apply_tensor (elements[e], CLEAVE_SHAPE (1, 1, 1, 1), one);
      g_autoptr (CleaveTensor) offset =
          cleave_apply_tensor (elements[e], CLEAVE_SHAPE (1, 2, 3, 3), offsets);
      g_autoptr (CleaveTensor) got =
          cleave_apply ("DeformConv", (CleaveTensor *[]){ x, w, offset }, 3, &attrs);

      cleave_apply_check ("offsets", got, y, 0);
    }
}
END_TEST

typedef struct
{
  CleaveShape x, w, offset, mask;
  CleaveDeformConvAttrs attrs;
} Case;

static CleaveResult *
add (CleaveGraph *graph, const Case *c, GError **error)
{
  g_autofree char *i = g_strdup_printf ("%u", cleave_graph_get_n_inputs (graph));
  g_autofree char *w = g_strconcat ("w", i, NULL), *o = g_strconcat ("o", i, NULL),
                  *m = g_strconcat ("m", i, NULL);
  CleaveResult *operands[] = { cleave_case_input (graph, i, c->x),
                               cleave_case_input (graph, w, c->w),
                               cleave_case_input (graph, o, c->offset), NULL,
                               c->mask.rank == 0 ? NULL : cleave_case_input (graph, m, c->mask) };
  CleaveNode *node = cleave_graph_add (graph, cleave_op_lookup ("DeformConv"), "d", operands,
                                       c->mask.rank == 0 ? 3 : 5, 1, &c->attrs, error);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

/* A piece reads only its rows and columns of the offsets, but all rows and columns of X. The pads
 * of the piece determine its position in X. */
START_TEST (offsets_are_cut_and_images_are_not)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  const Case c = {
    { 4, { 2, 4, 8, 8 } },
    { 4, { 6, 2, 3, 3 } },
    { 4, { 2, 18, 4, 8 } },
    { 4, { 2, 9, 4, 8 } },
    { .group = 2, .offset_group = 1, .strides = { 2, { 2, 1 } }, .pads = { 4, { 1, 1, 1, 1 } } }
  };
  const Case nested = { { 4, { 1, 8, 3, 3 } },
                        { 4, { 4, 4, 1, 1 } },
                        { 4, { 1, 8, 3, 3 } },
                        { 0 },
                        { .group = 2, .offset_group = 4 } };
  const Case apart = { { 4, { 1, 6, 3, 3 } },
                       { 4, { 2, 3, 1, 1 } },
                       { 4, { 1, 6, 3, 3 } },
                       { 0 },
                       { .group = 2, .offset_group = 3 } };
  CleaveResult *y = add (graph, &c, NULL);

  cleave_assert_chunk (y, "1:2,0:6,1:3,2:8",
                       "1:2,0:4,0:8,0:8 0:6,0:2,0:3,0:3 1:2,0:18,1:3,2:8 - "
                       "1:2,0:9,1:3,2:8 group=2 strides=2,1 pads=-1,-1,-2,1");
  cleave_assert_chunk (y, "0:2,1:3,0:4,0:8",
                       "0:2,0:2,0:8,0:8 1:3,0:2,0:3,0:3 0:2,0:18,0:4,0:8 - "
                       "0:2,0:9,0:4,0:8 strides=2,1 pads=1,1,1,1");
  cleave_assert_chunk (y, "0:2,2:6,0:4,0:8",
                       "refused: chunk [2,6) straddles groups of 3 channels: it must lie inside "
                       "one, or be made of whole ones");
  y = add (graph, &nested, NULL);
  cleave_assert_chunk (y, "0:1,2:4,0:3,0:3",
                       "0:1,4:8,0:3,0:3 2:4,0:4,0:1,0:1 0:1,4:8,0:3,0:3 offset_group=2");
  y = add (graph, &apart, NULL);
  cleave_assert_chunk (y, "0:1,1:2,0:3,0:3",
                       "refused: groups and offset groups do not nest: channels must not be cut");
}
END_TEST

START_TEST (mistakes_are_errors)
{
  static const struct
  {
    Case c;
    const char *message;
  } cases[] = {
    { { { 4, { 1, 4, 3, 3 } },
        { 4, { 4, 4, 2, 2 } },
        { 4, { 1, 8, 3, 2 } },
        { 0 },
        { .group = 1, .offset_group = 1 } },
      "offset is 1x8x3x2, but should be 1x8x2x2" },
    { { { 4, { 1, 4, 3, 3 } },
        { 4, { 4, 4, 2, 2 } },
        { 4, { 1, 16, 2, 2 } },
        { 4, { 1, 4, 2, 2 } },
        { .group = 1, .offset_group = 2 } },
      "mask is 1x4x2x2, but should be 1x8x2x2" },
    { { { 4, { 1, 4, 3, 3 } },
        { 4, { 4, 4, 2, 2 } },
        { 4, { 1, 24, 2, 2 } },
        { 0 },
        { .group = 1, .offset_group = 3 } },
      "X has 4 channels, not a multiple of offset_group 3" },
    { { { 4, { 1, 4, 3, 3 } },
        { 4, { 4, 4, 2, 2 } },
        { 4, { 1, 8, 2, 2 } },
        { 0 },
        { .group = 2, .offset_group = 1 } },
      "W expects 4 channels in each of 2 groups, X has 4" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      g_autofree char *message = g_strdup_printf ("DeformConv 'd': %s", cases[i].message);
      GError *error = NULL;

      ck_assert_ptr_null (add (graph, &cases[i].c, &error));
      cleave_assert_error (&error, CLEAVE_ERROR_SHAPE, message);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "deform-conv", the_mask_weights_the_taps, offsets_move_the_taps,
                   offsets_are_cut_and_images_are_not, mistakes_are_errors, NULL);
}

CLEAVE_TEST_SUITE ("deform-conv", add_tests)
