/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "test.h"

#include "model-node.h"

/* What nodes of other opsets mean, by their values: what the text of the opset says, and where it
 * is silent what ONNX Runtime 1.30 computes, for which such models are made. */

typedef struct
{
  gint64 opset;
  const char *op, *operands, *attrs; /* as model_of_node() reads them */
  const char *value;
  const char *results; /* NULL: y */
} Meaning;

#define TF "coordinate_transformation_mode=tf_half_pixel_for_nn"
#define CROP "coordinate_transformation_mode=tf_crop_and_resize"

/* clang-format off */
static const Meaning meanings[] = {
  /* Before opset 11 the nearest element is the next above where it shrinks. */
  { 10, "Resize", "#1x1x5x6 ~1,1,0.4,0.7", "mode=nearest", .value = "1x1x2x4: 0 2 3 5 18 20 21 23" },
  { 10, "Resize", "#1x1x5x6 ~1,1,0.5,0.5", "mode=nearest", .value = "1x1x2x3: 0 2 4 12 14 16" },
  { 10, "Resize", "#1x1x5x6 ~1,1,0.6,1.3", "mode=nearest",
    .value = "1x1x3x7: 0 0 1 2 3 3 4 12 12 13 14 15 15 16 24 24 25 26 27 27 28" },
  { 10, "Resize", "#1x1x3x3 ~1,1,1.15,1.15", "mode=linear", .value = "1x1x3x3: 0 1 2 3 4 5 6 7 8" },
  { 9, "Upsample", "#1x1x3x3 ~1,1,1.15,1.15", "mode=nearest", .value = "1x1x3x3: 0 1 2 3 4 5 6 7 8" },
  { 11, "Resize", "#1x1x3x4 - ~1,1,2,0.5", "mode=linear " TF,
    .value = "1x1x6x2: 2 4 4 6 6 8 8 10 9 11 9 11" },
  { 11, "Resize", "#1x1x1x4 - ~1,1,1,1.5", "mode=linear " TF,
    .value = "1x1x1x6: 0.33333 1 1.6667 2.3333 3 3" },
  { 11, "Resize", "#1x1x3x4 - ~1,1,2,0.5", "mode=cubic " TF,
    .value = "1x1x6x2: 1.7656 3.7656 3.6719 5.6719 6.3281 8.3281 8.2344 10.234 9.4219 11.422 9.1406 11.141" },
  { 11, "Resize", "#1x1x3x4 - - =1,1,2,6", "mode=linear " TF,
    .value = "1x1x2x6: 3.3333 4 4.6667 5.3333 6 6 8.3333 9 9.6667 10.333 11 11" },
  { 11, "Resize", "#1x1x3x4 - ~1,1,2,2", "mode=cubic exclude_outside=1 " TF,
    .value = "Resize 'n': tf_half_pixel_for_nn with exclude_outside is not supported" },
  { 11, "Resize", "#1x1x5x6 ~0,0,0.2,0.1,1,1,0.7,1.3 - =1,1,3,7", "mode=nearest extrapolation_value=-1.0 " CROP,
    .value = "1x1x3x7: 6 7 8 9 10 -1 -1 12 13 14 15 16 -1 -1 18 19 20 21 22 -1 -1" },
  { 11, "Resize", "#1x1x5x6 ~0,0,0.2,0.1,1,1,0.7,1.3 - =1,1,3,7",
    "mode=nearest nearest_mode=ceil extrapolation_value=-1.0 " CROP,
    .value = "1x1x3x7: 7 8 9 10 11 -1 -1 13 14 15 16 17 -1 -1 19 20 21 22 23 -1 -1" },
  /* Positions are rounded as float32: 3 / 0.6 is 5. */
  { 11, "Resize", "#1x1x1x10 - ~1,1,1,0.6", "mode=nearest nearest_mode=floor coordinate_transformation_mode=asymmetric",
    .value = "1x1x1x6: 0 1 3 5 6 8" },
  /* From opset 16 on RoiAlign has the coordinates of the images. */
  { 10, "RoiAlign", "#1x1x4x4 ~0.5,0.5,3,2.5@1x4 =0", "output_height=2 output_width=2 sampling_ratio=2",
    .value = "1x1x2x2: 5.125 6.375 9.125 10.375" },
  { 15, "RoiAlign", "#1x1x4x4 ~0.5,0.5,3,2.5@1x4 =0", "output_height=2 output_width=2 sampling_ratio=2",
    .value = "1x1x2x2: 5.125 6.375 9.125 10.375" },
  { 16, "RoiAlign", "#1x1x4x4 ~0.5,0.5,3,2.5@1x4 =0", "output_height=2 output_width=2 sampling_ratio=2",
    .value = "1x1x2x2: 2.625 3.875 6.625 7.875" },
};
/* clang-format on */

START_TEST (a_node_has_its_value)
{
  const Meaning *m = &meanings[_i];
  g_autoptr (Model) model =
      model_of_node (m->opset, m->op, m->operands, m->attrs, m->results == NULL ? "y" : m->results);
  g_autofree char *value = model_value (model);

  ck_assert_msg (g_str_equal (value, m->value), "%s %s of opset %d: %s, not %s", m->op, m->operands,
                 (int) m->opset, value, m->value);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *table = tcase_create ("values");

  tcase_add_loop_test (table, a_node_has_its_value, 0, G_N_ELEMENTS (meanings));
  suite_add_tcase (suite, table);
}

CLEAVE_TEST_MAIN ("upgrade-meaning", add_tests)
