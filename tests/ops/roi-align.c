/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op RoiAlign, which pools regions of an image at sampling points. */

#include "apply.h"
#include "op-case.h"

static CleaveResult *
add (CleaveGraph *graph, CleaveResult *const *operands, gconstpointer attrs, GError **error)
{
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup ("RoiAlign"), "r", operands, 3, 1, attrs, error);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

static CleaveResult *
add_indices (CleaveGraph *graph, gint64 n)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT64, n);
  g_autoptr (CleaveTensor) zeros = cleave_tensor_new (&type, NULL);

  return cleave_graph_add_constant (graph, "batch", zeros);
}

START_TEST (pools_regions)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *operands[] = { cleave_case_steps (graph, CLEAVE_SHAPE (1, 1, 4, 4), 0, 1),
                               cleave_case_steps (graph, CLEAVE_SHAPE (1, 4), 0, 1),
                               add_indices (graph, 1) };
  CleaveRoiAlignAttrs a = { CLEAVE_ROI_AVG, CLEAVE_ROI_OUTPUT_HALF_PIXEL, 1, 1, 1, 1 };

  /* The region reaches from row 1 to row 3 and from column 0 to column 2, so its center is row 2,
   * column 1. */
  cleave_assert_values (add (graph, operands, &a, &error), "9");
  a.sampling_ratio = 2; /* the samples are at the rows 1.5 and 2.5 and the columns 0.5 and 1.5 */
  cleave_assert_values (add (graph, operands, &a, &error), "9");
  a.mode = CLEAVE_ROI_MAX;
  cleave_assert_values (add (graph, operands, &a, &error), "11.5");
  a.coordinate_transformation_mode = CLEAVE_ROI_HALF_PIXEL;
  cleave_assert_values (add (graph, operands, &a, &error), "9");
}
END_TEST

START_TEST (regions_and_channels_split)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *operands[] = { cleave_case_input (graph, "x", CLEAVE_SHAPE (2, 6, 5, 4)),
                               cleave_case_input (graph, "rois", CLEAVE_SHAPE (7, 4)),
                               add_indices (graph, 7) };
  CleaveRoiAlignAttrs a = { CLEAVE_ROI_AVG, CLEAVE_ROI_HALF_PIXEL, 3, 2, 0, 1 };

  cleave_assert_infers (add (graph, operands, &a, &error), &error, "float32 7x6x3x2");
  cleave_assert_chunk (add (graph, operands, &a, &error), "2:5,1:4,0:3,0:2",
                       "0:2,1:4,0:5,0:4 2:5,0:4 2:5 output_height=3 output_width=2");
  cleave_assert_chunk (add (graph, operands, &a, &error), "0:7,0:6,0:2,0:2",
                       "refused: dimension 2 cannot be cut there: a piece of 2 of Y would have 3");
  operands[2] = add_indices (graph, 6);
  cleave_assert_infers (add (graph, operands, &a, &error), &error,
                        "RoiAlign 'r': rois is 7x4, batch_indices 6, but they should be Rx4 and R");
  operands[2] = add_indices (graph, 7);
  a.sampling_ratio = 5000;
  cleave_assert_infers (add (graph, operands, &a, &error), &error,
                        "RoiAlign 'r': sampling_ratio must be at most 4096, not 5000");
}
END_TEST

/* A RoiAlign of one region and one channel. The test computes the result by the definition, from
 * all sampling points. */

typedef struct
{
  const double *image;
  gint64 extent[2];
  double roi[4];
  CleaveRoiAlignAttrs attrs;
} Region;

static double
point (const Region *region, const double *at)
{
  gint64 low[2], high[2];
  double part[2];

  for (guint d = 0; d < 2; d++)
    {
      gint64 last = region->extent[d] - 1;
      double position = MAX (at[d], 0);

      if (!(at[d] >= -1 && at[d] <= (double) region->extent[d]))
        return 0;
      low[d] = MIN ((gint64) position, last);
      high[d] = MIN (low[d] + 1, last);
      part[d] = low[d] == last ? 0 : position - (double) low[d];
    }
  return (1 - part[0]) * (1 - part[1]) * region->image[low[0] * region->extent[1] + low[1]] +
         (1 - part[0]) * part[1] * region->image[low[0] * region->extent[1] + high[1]] +
         part[0] * (1 - part[1]) * region->image[high[0] * region->extent[1] + low[1]] +
         part[0] * part[1] * region->image[high[0] * region->extent[1] + high[1]];
}

static double
element (const Region *region, const gint64 *out)
{
  const CleaveRoiAlignAttrs *a = &region->attrs;
  gint64 n_out[2] = { a->output_height, a->output_width }, n[2];
  double begin[2], step[2], sum = 0, greatest = -INFINITY;

  for (guint d = 0; d < 2; d++)
    {
      gboolean half = a->coordinate_transformation_mode == CLEAVE_ROI_HALF_PIXEL;
      double extent = (region->roi[3 - d] - region->roi[1 - d]) * a->spatial_scale;

      begin[d] = region->roi[1 - d] * a->spatial_scale - (half ? 0.5 : 0);
      step[d] = (half ? extent : MAX (extent, 1)) / (double) n_out[d];
      n[d] = a->sampling_ratio > 0 ? a->sampling_ratio : step[d] > 0 ? (gint64) ceil (step[d]) : 0;
    }
  for (gint64 i = 0; i < n[0]; i++)
    for (gint64 j = 0; j < n[1]; j++)
      {
        gint64 index[2] = { i, j };
        double at[2], value;

        for (guint d = 0; d < 2; d++)
          at[d] = begin[d] + (double) out[d] * step[d] +
                  ((double) index[d] + 0.5) * step[d] / (double) n[d];
        value = point (region, at);
        greatest = MAX (greatest, value);
        sum += value;
      }
  if (n[0] * n[1] == 0)
    return 0;
  return a->mode == CLEAVE_ROI_MAX ? greatest : sum / (double) (n[0] * n[1]);
}

static CleaveTensor *
align (const Region *region)
{
  double zero = 0;
  g_autoptr (CleaveTensor) image = cleave_apply_tensor (
      CLEAVE_FLOAT64, CLEAVE_SHAPE (1, 1, region->extent[0], region->extent[1]), region->image);
  g_autoptr (CleaveTensor) roi =
      cleave_apply_tensor (CLEAVE_FLOAT64, CLEAVE_SHAPE (1, 4), region->roi);
  g_autoptr (CleaveTensor) index = cleave_apply_tensor (CLEAVE_INT64, CLEAVE_SHAPE (1), &zero);
  CleaveTensor *operands[] = { image, roi, index };

  return cleave_apply ("RoiAlign", operands, 3, &region->attrs);
}

static double
random_corner (GRand *rand)
{
  double sizes[] = { 4, 20, 200 };
  double size = sizes[g_rand_int_range (rand, 0, 3)];

  return g_rand_double_range (rand, -size, size);
}

START_TEST (results_have_the_bits_of_the_definition)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed ((guint32) _i);
  double image[48];
  Region region = { image,
                    { g_rand_int_range (rand, 1, 7), g_rand_int_range (rand, 1, 9) },
                    { 0 },
                    { g_rand_boolean (rand) ? CLEAVE_ROI_MAX : CLEAVE_ROI_AVG,
                      g_rand_boolean (rand) ? CLEAVE_ROI_HALF_PIXEL : CLEAVE_ROI_OUTPUT_HALF_PIXEL,
                      g_rand_int_range (rand, 1, 4), g_rand_int_range (rand, 1, 4),
                      g_rand_boolean (rand) ? 0 : g_rand_int_range (rand, 1, 4),
                      g_rand_boolean (rand) ? 1 : 3.5 } };
  g_autoptr (CleaveTensor) y = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (image); i++)
    image[i] = g_rand_double_range (rand, -1, 1);
  for (guint i = 0; i < 4; i++)
    region.roi[i] = random_corner (rand);
  y = align (&region);
  for (gint64 i = 0; i < region.attrs.output_height * region.attrs.output_width; i++)
    {
      double expected = element (
          &region, (gint64[]){ i / region.attrs.output_width, i % region.attrs.output_width });
      double got = cleave_apply_at (y, i);

      ck_assert_msg (memcmp (&expected, &got, sizeof got) == 0, "element %d: %.17g, not %.17g",
                     (int) i, got, expected);
    }
}
END_TEST

/* The work for a region is limited by the size of the image, for any corners of the region. */
START_TEST (the_work_is_limited_by_the_image)
{
  static const double corners[] = { 0,     1e9,    -1e9,     3e38,      -3e38,
                                    1e308, -1e308, INFINITY, -INFINITY, NAN };
  static const double image[] = { 1, 2, 3, 4, 5, 6 };
  const int n = G_N_ELEMENTS (corners);
  Region region = {
    image, { 2, 3 }, { 0 }, { CLEAVE_ROI_AVG, CLEAVE_ROI_HALF_PIXEL, 3, 2, 0, 3.5 }
  };

  for (int i = 0; i < n * n * n * n * 4; i++)
    {
      g_autoptr (CleaveTensor) y = NULL;

      for (int c = 0, left = i / 4; c < 4; c++, left /= n)
        region.roi[c] = corners[left % n];
      region.attrs.mode = i % 2 == 0 ? CLEAVE_ROI_AVG : CLEAVE_ROI_MAX;
      region.attrs.coordinate_transformation_mode =
          i % 4 < 2 ? CLEAVE_ROI_HALF_PIXEL : CLEAVE_ROI_OUTPUT_HALF_PIXEL;
      y = align (&region);
      for (gint64 k = 0; k < 6; k++)
        if (!(cleave_apply_at (y, k) >= 0 && cleave_apply_at (y, k) <= 6))
          ck_abort_msg ("case %d, element %d: %g", i, (int) k, cleave_apply_at (y, k));
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *random = tcase_create ("random");

  cleave_add_case (suite, "roi-align", pools_regions, regions_and_channels_split,
                   the_work_is_limited_by_the_image, NULL);
  tcase_add_loop_test (random, results_have_the_bits_of_the_definition, 0, CLEAVE_TRIALS (300));
  suite_add_tcase (suite, random);
}

CLEAVE_TEST_SUITE ("roi-align", add_tests)
