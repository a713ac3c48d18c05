/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Models in old forms, and the nodes that replace them. Each model has the input x and the output
 * y. */

#include <math.h>

#include "test.h"

#include "models.h"

static Model *
model_of (gint64 opset, const char *dims, const char *op, const char *operands)
{
  Model *model = model_new (opset);

  model_add_input (model, "x", dims);
  model_add_node (model, op, "n", operands, "y");
  model_add_output (model, "y");
  return model;
}

static Onnx__NodeProto *
node_of (Model *model)
{
  return model->graph->node[0];
}

START_TEST (clip_6_has_attributes)
{
  g_autoptr (Model) model = model_of (6, "2", "Clip", "x");

  node_add_float (node_of (model), "min", 0);
  node_add_float (node_of (model), "max", 6);
  model_assert_dump (model, "%0 = Input : float32 2  # x\n"
                            "%1 = Clip %0 min=0 max=6 : float32 2  # n\n"
                            "output %1  # y\n");
}
END_TEST

START_TEST (clip_may_have_computed_bounds)
{
  g_autoptr (Model) model = model_of (13, "2", "Clip", "x low high");
  CleaveTensorType type = CLEAVE_SCALAR (CLEAVE_FLOAT32);

  model_add_input (model, "low", "1");
  model_add_initializer (model, "high", &type, NULL);
  model_assert_dump (model, "%0 = Input : float32 2  # x\n"
                            "%1 = Input : float32 1  # low\n"
                            "%2 = Max %0, %1 : float32 2  # n.Max\n"
                            "%3 = Constant : float32 scalar  # high\n"
                            "%4 = Min %2, %3 : float32 2  # n.Min\n"
                            "output %4  # y\n");
}
END_TEST

/* A bound of a Clip that is a NaN makes the whole result NaN, whether the bound is constant or
 * computed. */
START_TEST (clip_may_have_a_nan_as_a_bound)
{
  g_autoptr (Model) model = model_of (13, "2", "Clip", "x low");
  CleaveTensorType type = CLEAVE_SCALAR (CLEAVE_FLOAT32);
  const float low = NAN;

  model_add_initializer (model, "low", &type, &low);
  model_assert_dump (model, "%0 = Input : float32 2  # x\n"
                            "%1 = Constant : float32 scalar  # low\n"
                            "%2 = Max %0, %1 : float32 2  # n.Max\n"
                            "output %2  # y\n");
}
END_TEST

START_TEST (clip_keeps_all_digits_of_integers)
{
  static const gint64 low = ((gint64) 1 << 53) + 1, high = (gint64) 1 << 53;
  g_autoptr (Model) model = model_new (13);
  CleaveTensorType type = CLEAVE_SCALAR (CLEAVE_INT64);
  Onnx__ValueInfoProto *x = model_add_input (model, "x", "2");

  x->type->tensor_type->elem_type = ONNX__TENSOR_PROTO__DATA_TYPE__INT64;
  model_add_initializer (model, "low", &type, &low);
  model_add_initializer (model, "high", &type, &high);
  model_add_node (model, "Clip", "n", "x low", "y");
  model_add_node (model, "Clip", "m", "x - high", "z");
  model_add_output (model, "y");
  model_add_output (model, "z");
  model_assert_dump (model, "%0 = Input : int64 2  # x\n"
                            "%1 = Constant : int64 scalar  # low\n"
                            "%2 = Max %0, %1 : int64 2  # n.Max\n"
                            "%3 = Clip %0 max=9.00719925e+15 : int64 2  # m\n"
                            "output %2  # y\n"
                            "output %3  # z\n");
}
END_TEST

START_TEST (slice_9_has_attributes)
{
  g_autoptr (Model) model = model_of (9, "4x6", "Slice", "x");
  CleaveInts starts = CLEAVE_INTS (1), ends = CLEAVE_INTS (G_MAXINT64), axes = CLEAVE_INTS (1);

  node_add_ints (node_of (model), "starts", &starts);
  node_add_ints (node_of (model), "ends", &ends);
  node_add_ints (node_of (model), "axes", &axes);
  model_assert_dump (model, "%0 = Input : float32 4x6  # x\n"
                            "%1 = Slice %0 0:4,1:6 : float32 4x5  # n\n"
                            "output %1  # y\n");
}
END_TEST

START_TEST (pad_2_has_attributes)
{
  g_autoptr (Model) model = model_of (9, "4x6", "Pad", "x");
  CleaveInts pads = CLEAVE_INTS (0, 1, 0, 2);

  node_add_ints (node_of (model), "pads", &pads);
  node_add_float (node_of (model), "value", 7);
  model_assert_dump (model, "%0 = Input : float32 4x6  # x\n"
                            "%1 = Pad %0 pads=0,1,0,2 constant_value=7 : float32 4x9  # n\n"
                            "output %1  # y\n");
}
END_TEST

START_TEST (axes_may_be_attributes_before_opset_13)
{
  static const struct
  {
    const char *op, *dump;
  } cases[] = {
    { "Squeeze", "%1 = Squeeze %0 axes=1 : float32 4x6  # n\n" },
    { "Unsqueeze", "%1 = Unsqueeze %0 axes=1 : float32 4x1x1x6  # n\n" },
    { "ReduceSum", "%1 = ReduceSum %0 axes=1 : float32 4x1x6  # n\n" },
  };
  CleaveInts axes = CLEAVE_INTS (1);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (Model) model = model_of (11, "4x1x6", cases[i].op, "x");
      g_autofree char *dump = g_strconcat ("%0 = Input : float32 4x1x6  # x\n", cases[i].dump,
                                           "output %1  # y\n", NULL);

      node_add_ints (node_of (model), "axes", &axes);
      model_assert_dump (model, dump);
    }
}
END_TEST

START_TEST (split_2_has_an_attribute)
{
  g_autoptr (Model) model = model_new (11);
  CleaveInts sizes = CLEAVE_INTS (2, 4);

  model_add_input (model, "x", "6");
  model_add_node (model, "Split", "n", "x", "y z");
  node_add_ints (node_of (model), "split", &sizes);
  model_add_output (model, "y");
  model_assert_dump (model, "%0 = Input : float32 6  # x\n"
                            "%1, %2 = Split %0 split=2,4 : float32 2, float32 4  # n\n"
                            "output %1  # y\n");
}
END_TEST

START_TEST (softmax_12_flattens)
{
  g_autoptr (Model) model = model_of (12, "2x3x4", "Softmax", "x");
  g_autoptr (Model) last = model_of (12, "2x3x4", "Softmax", "x");

  model_assert_dump (model, "%0 = Input : float32 2x3x4  # x\n"
                            "%1 = Reshape %0 shape=2,12 : float32 2x12  # n.flat\n"
                            "%2 = Softmax %1 axis=1 : float32 2x12  # n\n"
                            "%3 = Reshape %2 shape=2,3,4 : float32 2x3x4  # n.shaped\n"
                            "output %3  # y\n");
  node_add_int (node_of (last), "axis", 2);
  model_assert_dump (last, "%0 = Input : float32 2x3x4  # x\n"
                           "%1 = Softmax %0 axis=2 : float32 2x3x4  # n\n"
                           "output %1  # y\n");
}
END_TEST

START_TEST (upsample_becomes_resize)
{
  g_autoptr (Model) seven = model_of (7, "1x1x2x2", "Upsample", "x");
  g_autoptr (Model) nine = model_of (9, "1x1x2x2", "Upsample", "x s");
  g_autoptr (Model) ten = model_of (10, "1x1x2x2", "Upsample", "x s");
  CleaveDoubles scales = CLEAVE_DOUBLES (1, 1, 2, 3);
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 4);
  float data[] = { 1, 1, 2, 3 };
  const char *dump = "%0 = Input : float32 1x1x2x2  # x\n"
                     "%1 = Resize %0 coordinate_transformation_mode=asymmetric nearest_mode=floor "
                     "scales=1,1,2,3 : float32 1x1x4x6  # n\n"
                     "output %1  # y\n";

  node_add_floats (node_of (seven), "scales", &scales);
  model_assert_dump (seven, dump);
  model_add_initializer (nine, "s", &type, data);
  model_assert_dump (nine, dump);
  model_add_initializer (ten, "s", &type, data);
  model_assert_error (ten, CLEAVE_ERROR_MODEL, "Upsample 'n': opset 10 has no such op here");
}
END_TEST

START_TEST (resize_10_is_asymmetric)
{
  g_autoptr (Model) model = model_of (10, "2", "Resize", "x s");
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 1);
  float scale = 2;

  model_add_initializer (model, "s", &type, &scale);
  model_assert_dump (model,
                     "%0 = Input : float32 2  # x\n"
                     "%1 = Resize %0 coordinate_transformation_mode=asymmetric nearest_mode=floor "
                     "scales=2 : float32 4  # n\n"
                     "output %1  # y\n");
}
END_TEST

/* A Resize of opset 11 that does not crop ignores its region, even if the region has too many
 * elements. */
START_TEST (resize_11_without_crop_needs_no_region)
{
  g_autoptr (Model) model = model_of (11, "2", "Resize", "x r s");
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 1), roi = CLEAVE_TYPE (CLEAVE_FLOAT32, 10);
  float scale = 2;

  model_add_initializer (model, "s", &type, &scale);
  model_add_initializer (model, "r", &roi, NULL);
  model_assert_dump (model, "%0 = Input : float32 2  # x\n"
                            "%1 = Resize %0 scales=2 : float32 4  # n\n"
                            "output %1  # y\n");
}
END_TEST

/* In Resize 11, tf_half_pixel_for_nn gives coordinates that are larger by 0.5 than the coordinates
 * of half_pixel. The import changes the mode to half_pixel, and also changes nearest_mode so that
 * the same elements are selected. Example: floor becomes round_prefer_ceil. No nearest_mode
 * replaces ceil. */
START_TEST (resize_11_has_coordinates_for_nearest)
{
  static const char *const modes[] = { "floor", "round_prefer_floor", "ceil" };
  static const char *const becomes[] = { "round_prefer_ceil", "ceil", NULL };

  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      g_autoptr (Model) model = model_of (11, "2", "Resize", "x r s");
      CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 1),
                       none = CLEAVE_TYPE (CLEAVE_FLOAT32, 0);
      g_autofree char *dump =
          g_strdup_printf ("%%0 = Input : float32 2  # x\n"
                           "%%1 = Resize %%0 nearest_mode=%s scales=2 : float32 "
                           "4  # n\n"
                           "output %%1  # y\n",
                           becomes[i]);
      float scale = 2;

      model_add_initializer (model, "r", &none, NULL);
      model_add_initializer (model, "s", &type, &scale);
      node_add_string (node_of (model), "coordinate_transformation_mode", "tf_half_pixel_for_nn");
      node_add_string (node_of (model), "nearest_mode", modes[i]);
      if (becomes[i] != NULL)
        model_assert_dump (model, dump);
      else
        model_assert_error (
            model, CLEAVE_ERROR_MODEL,
            "Resize 'n': tf_half_pixel_for_nn with nearest_mode 'ceil' is not supported");
    }
}
END_TEST

/* In mode TFIDF, a Mul multiplies the counts of n-grams by their weights, in the order of the
 * result. In mode IDF, a Min limits the counts to 1 before the Mul. */
START_TEST (weights_of_n_grams_become_a_mul)
{
#define COUNTS                                                                                     \
  "%0 = Input : float32 4  # x\n"                                                                  \
  "%1 = Cast %0 to=int64 : int64 4  # c\n"                                                         \
  "%2 = TfIdfVectorizer %1 mode=TF min_gram_length=1 max_gram_length=1 max_skip_count=0 "          \
  "ngram_counts=0 ngram_indexes=1,0 pool_int64s=7,8 : float32 2  # n\n"
  static const char *const modes[] = { "TFIDF", "IDF" };
  static const char *const dumps[] = {
    COUNTS "%3 = Constant : float32 2  # constant\n"
           "%4 = Mul %2, %3 : float32 2  # n.Mul\n"
           "output %4  # y\n",
    COUNTS "%3 = Constant : float32 scalar  # constant\n"
           "%4 = Min %2, %3 : float32 2  # n.Min\n"
           "%5 = Constant : float32 2  # constant_1\n"
           "%6 = Mul %4, %5 : float32 2  # n.Mul\n"
           "output %6  # y\n",
  };
  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      g_autoptr (Model) model = model_new (13);
      CleaveDoubles weights = CLEAVE_DOUBLES (0.5, 0.25);
      CleaveInts counts = CLEAVE_INTS (0), indexes = CLEAVE_INTS (1, 0), pool = CLEAVE_INTS (7, 8);
      Onnx__NodeProto *node;

      model_add_input (model, "x", "4");
      node_add_int (model_add_node (model, "Cast", "c", "x", "i"), "to", 7);
      node = model_add_node (model, "TfIdfVectorizer", "n", "i", "y");
      model_add_output (model, "y");
      node_add_string (node, "mode", modes[i]);
      node_add_int (node, "min_gram_length", 1);
      node_add_int (node, "max_gram_length", 1);
      node_add_int (node, "max_skip_count", 0);
      node_add_ints (node, "ngram_counts", &counts);
      node_add_ints (node, "ngram_indexes", &indexes);
      node_add_ints (node, "pool_int64s", &pool);
      node_add_floats (node, "weights", &weights);
      model_assert_dump (model, dumps[i]);
    }
}
END_TEST

START_TEST (dropout_does_nothing)
{
  g_autoptr (Model) model = model_of (7, "2", "Dropout", "x");

  node_add_float (node_of (model), "ratio", 0.25f);
  model_assert_dump (model, "%0 = Input : float32 2  # x\n"
                            "%1 = Dropout %0 ratio=0.25 : float32 2  # n\n"
                            "output %1  # y\n");
}
END_TEST

START_TEST (training_is_an_error)
{
  g_autoptr (Model) model = model_of (14, "1x2", "Dropout", "x r t");

  model_add_initializer (model, "r", &CLEAVE_SCALAR (CLEAVE_FLOAT32), &(float){ 0.5f });
  model_add_initializer (model, "t", &CLEAVE_SCALAR (CLEAVE_BOOL), &(guint8){ TRUE });
  model_assert_error (model, CLEAVE_ERROR_ATTRIBUTE,
                      "Dropout 'n': training_mode drops at random, which is not supported but for "
                      "a ratio of 0");
}
END_TEST

START_TEST (broadcast_6_has_an_axis)
{
  g_autoptr (Model) model = model_of (6, "2x3x4", "Add", "x w");
  g_autoptr (Model) wrong = model_of (6, "2x3x4", "Add", "x w");
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 3);

  model_add_initializer (model, "w", &type, NULL);
  node_add_int (node_of (model), "broadcast", 1);
  node_add_int (node_of (model), "axis", 1);
  model_assert_dump (model, "%0 = Input : float32 2x3x4  # x\n"
                            "%1 = Constant : float32 3x1  # constant\n"
                            "%2 = Add %0, %1 : float32 2x3x4  # n\n"
                            "output %2  # y\n");
  model_add_initializer (wrong, "w", &type, NULL);
  node_add_int (node_of (wrong), "axis", 3);
  model_assert_error (wrong, CLEAVE_ERROR_MODEL, "Add 'n': axis 3 does not fit ranks 3 and 1");
}
END_TEST

/* The tests below check constants in old forms. */

static Onnx__NodeProto *
constant_node (Model **model)
{
  *model = model_new (13);
  model_add_output (*model, "y");
  return model_add_node (*model, "Constant", "n", "", "y");
}

START_TEST (constants_have_five_forms)
{
  CleaveInts ints = CLEAVE_INTS (3, 4);
  CleaveDoubles floats = CLEAVE_DOUBLES (3, 4, 5);
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT64, 2);
  static const char *const types[] = { "int64 scalar", "int64 2", "float32 scalar", "float32 3",
                                       "float64 2" };

  for (guint i = 0; i < G_N_ELEMENTS (types); i++)
    {
      g_autoptr (Model) model = NULL;
      Onnx__NodeProto *node = constant_node (&model);
      g_autofree char *dump =
          g_strdup_printf ("%%0 = Constant : %s  # y\noutput %%0  # y\n", types[i]);

      if (i == 0)
        node_add_int (node, "value_int", 3);
      else if (i == 1)
        node_add_ints (node, "value_ints", &ints);
      else if (i == 2)
        node_add_float (node, "value_float", 3);
      else if (i == 3)
        node_add_floats (node, "value_floats", &floats);
      else
        node_add_attr (node, "value", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR)->t =
            tensor_new (NULL, &type, NULL);
      model_assert_dump (model, dump);
    }
}
END_TEST

START_TEST (constants_are_checked)
{
  g_autoptr (Model) none = NULL;
  g_autoptr (Model) string = NULL;
  g_autoptr (Model) other = NULL;

  constant_node (&none);
  model_assert_error (none, CLEAVE_ERROR_MODEL, "Constant 'n': it has 0 attributes, not one");
  node_add_string (constant_node (&string), "value_string", "text");
  model_assert_error (string, CLEAVE_ERROR_MODEL,
                      "Constant 'n': strings and labels are not supported here: a tensor of the "
                      "static part has numbers");
  node_add_int (constant_node (&other), "valve", 1);
  model_assert_error (other, CLEAVE_ERROR_MODEL, "Constant 'n': attribute 'valve' is not a value");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "moved", clip_6_has_attributes, clip_may_have_computed_bounds,
                   clip_may_have_a_nan_as_a_bound, clip_keeps_all_digits_of_integers,
                   slice_9_has_attributes, pad_2_has_attributes,
                   axes_may_be_attributes_before_opset_13, split_2_has_an_attribute,
                   dropout_does_nothing, training_is_an_error, NULL);
  cleave_add_case (suite, "changed", softmax_12_flattens, upsample_becomes_resize,
                   resize_10_is_asymmetric, resize_11_without_crop_needs_no_region,
                   resize_11_has_coordinates_for_nearest, weights_of_n_grams_become_a_mul,
                   broadcast_6_has_an_axis, NULL);
  cleave_add_case (suite, "constant", constants_have_five_forms, constants_are_checked, NULL);
}

CLEAVE_TEST_SUITE ("upgrade", add_tests)
