/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests forms of nodes in early opsets, and further forms that ONNX Runtime accepts. A form is a
 * model with one node, and its value or its error. The values come from ONNX Runtime 1.30 if it
 * supports the opset, otherwise from the opset's specification. */

#include "test.h"

#include "model-node.h"

typedef struct
{
  gint64 opset;
  const char *op, *operands, *attrs; /* as in the arguments of model_of_node() */
  const char *value;
  const char *results; /* results as text, such as "z y"; NULL: "y" */
} Form;

/* clang-format off */
static const Form forms[] = {
  /* The attribute consumed_inputs, a hint about memory that any op before opset 6 may have. */
  { 1, "Relu", "~-1,2", "consumed_inputs=0,", .value = "2: 0 2" },
  { 5, "Add", "~1,2 ~3,4", "consumed_inputs=0,0", .value = "2: 4 6" },
  { 4, "Reshape", "#2x3", "consumed_inputs=0, shape=3,2", .value = "3x2: 0 1 2 3 4 5" },
  { 1, "BatchNormalization", "#1x2x2 ~1,2 ~0.5,0 ~1,2 ~4,1", "consumed_inputs=0,0,0,1,1 is_test=1 epsilon=0.0",
    .value = "1x2x2: 0 0.5 0 2" },
  { 6, "Relu", "~-1,2", "consumed_inputs=0,", .value = "Relu 'n': attribute 'consumed_inputs' is not known in opset 6" },
  /* Nodes whose attributes and operands have other names or types in early opsets. */
  { 1, "Cast", "~1.5,-2", "to=INT32", .value = "2: 1 -2" },
  { 5, "Cast", "=0,3", "to=FLOAT", .value = "2: 0 3" },
  { 1, "Cast", "~1.5,-2", "to=int7", .value = "Cast 'n': its attribute 'to' does not name an element type: 'int7'" },
  { 1, "Cast", "~1.5,-2", "to=1", .value = "Cast 'n': its attribute 'to' must name an element type, such as FLOAT" },
  { 1, "Pad", "#2x2", "paddings=0,1,1,0 value=7.5", .value = "3x3: 7.5 0 1 7.5 2 3 7.5 7.5 7.5" },
  { 1, "Pad", "#1x3", "paddings=0,1,0,1 mode=reflect", .value = "1x5: 1 0 1 2 1" },
  { 2, "Pad", "#2x2", "paddings=0,1,1,0", .value = "Pad 'n': attribute 'paddings' is not known in opset 2" },
  { 1, "Selu", "~-1,2", "", .value = "2: -1.1113 2.1014" },
  { 5, "Selu", "~-1,2", "alpha=1.0 gamma=2.0", .value = "2: -1.2642 4" },
  { 1, "Split", "#4 ~1,3", "axis=0", .value = "3: 1 2 3", .results = "z y" },
  { 1, "Split", "#4", "axis=0 split=1,3", .value = "3: 1 2 3", .results = "z y" },
  { 1, "Split", "#4 ~1.5,2.5", "axis=0", .value = "Split 'n': split must be whole numbers, not 1.5", .results = "z y" },
  { 1, "Tile", "#2x2 s:~2 s:~1", "", .value = "2x4: 0 1 0 1 2 3 2 3" },
  { 5, "Tile", "#2x2 =3 =-2", "", .value = "6x2: 0 1 2 3 0 1 2 3 0 1 2 3" },
  { 5, "Tile", "#2x2 =3 =2", "", .value = "Tile 'n': axis 2 does not fit rank 2" },
  { 1, "Upsample", "#1x1x1x2", "height_scale=2.0 width_scale=1.5", .value = "1x1x2x3: 0 0 1 0 0 1" },
  { 6, "Upsample", "#1x1x1x2", "height_scale=1.0 width_scale=2.0 mode=bilinear", .value = "1x1x1x4: 0 0.5 1 1" },
  { 6, "Upsample", "#1x1x1x2", "height_scale=1.0", .value = "Upsample 'n': it has no width_scale" },
  { 1, "GlobalLpPool", "~3,4@1x1x2", "p=2.0", .value = "1x1x1: 5" },
  { 1, "LpPool", "~3,4,0@1x1x3", "kernel_shape=2, p=1.0", .value = "1x1x2: 7 4" },
  { 1, "LpPool", "~3,4,0@1x1x3", "kernel_shape=2,", .value = "1x1x2: 5 4" },
  { 1, "LpPool", "~3,4,0@1x1x3", "kernel_shape=2, p=2.5", .value = "LpPool 'n': p must be a whole number, not 2.5" },
  /* ONNX Runtime does not fill the mask of a Dropout before opset 12. Before opset 10, the mask has
   * the operand's element type. */
  { 6, "Dropout", "~1.5,2", "", .value = "2: 0 0", .results = "z y" },
  { 7, "Dropout", "~1.5,2", "", .value = "2: 0 0", .results = "z y" },
  { 11, "Dropout", "~1.5,2", "", .value = "2: 0 0", .results = "z y" },
  { 12, "Dropout", "~1.5,2", "", .value = "2: 1 1", .results = "z y" },
  { 7, "Dropout", "~1.5,2", "ratio=0.25", .value = "2: 1.5 2", .results = "y z" },
  /* BatchNormalization in all opsets, and LayerNormalization whose Scale or B broadcasts in several dimensions. */
  { 7, "BatchNormalization", "~1,2,4 ~2, ~1, ~2, ~4,", "epsilon=0.0", .value = "3: 0 1 3" },
  { 15, "BatchNormalization", "~1,2,4 ~2, ~1, ~2, ~4,", "epsilon=0.0", .value = "3: 0 1 3" },
  { 15, "BatchNormalization", "~1,3 ~1, ~0, ~0, ~1,", "epsilon=0.0 training_mode=1 momentum=0.5", .value = "1: 1", .results = "- y z" },
  { 7, "BatchNormalization", "#1x1x2 ~1,2@1x2 ~0.5,0@1x2 ~1,2@1x2 ~4,1@1x2", "spatial=0 epsilon=0.0", .value = "1x1x2: 0 -2" },
  { 17, "LayerNormalization", "~1,3,2,6@2x2 ~1,2@1x2", "epsilon=0.0", .value = "2x2: -1 2 -1 2" },
  { 17, "LayerNormalization", "~1,3,2,6@2x2 ~1,2@2x1 ~0.5,1@2x1", "epsilon=0.0", .value = "2x2: -0.5 1.5 -1 3" },
  { 17, "LayerNormalization", "~1,3,2,6@2x2 ~1,2,3,4@2x2", "epsilon=0.0", .value = "2x2: -1 2 -3 4" },
  { 17, "LayerNormalization", "~1,3,2,6@2x2 ~1,2,3,4@2x2", "epsilon=0.0", .value = "2x1: 2 4", .results = "- y" },
  { 17, "LayerNormalization", "f16:~1,3,2,6@2x2 f16:~1,2@2x1", "epsilon=0.0", .value = "2x2: -1 1 -2 2" },
  { 17, "LayerNormalization", "~1,3,2,6@2x2 ~1,2,3@3x1", "",
    .value = "LayerNormalization 'n': Scale with 3x1 does not fit the dimensions of X from axis 1 on" },
  /* STFT of a real signal. The signal lacks the last dimension, whose only element would be the
   * real part. */
  { 17, "STFT", "~1,2,3,4@1x4 s:=2 ~1,0 s:=2", "", .value = "1x2x2x2: 1 0 1 0 3 0 3 0" },
  { 17, "STFT", "~1,2,3,4@1x4x1 s:=2 ~1,0 s:=2", "", .value = "1x2x2x2: 1 0 1 0 3 0 3 0" },
  { 17, "STFT", "~1,2,3,4@1x4 s:i32:=2 ~1,0 -", "onesided=0", .value = "1x2x2x2: 1 0 1 0 3 0 3 0" },
  /* QuantizeLinear and DequantizeLinear of 16-bit integers. */
  { 21, "QuantizeLinear", "~-9,0.25,0.75,9 s:~0.0005 s:i16:~4", "", .value = "4: -17996 504 1504 18004" },
  { 21, "QuantizeLinear", "~-90,0.25,0.75,90 s:~0.0005 s:i16:~4", "", .value = "4: -32768 504 1504 32767" },
  { 21, "QuantizeLinear", "~-90,0.5,1.5,90 s:~1 s:u16:~65530", "", .value = "4: 65440 65530 65532 65535" },
  { 21, "QuantizeLinear", "~1,2,3,4@2x2 ~1,0.5 i16:~0,100", "axis=0", .value = "2x2: 1 2 106 108" },
  { 21, "QuantizeLinear", "i32:~-3,70000 s:~2 s:u16:~1", "", .value = "2: 0 35001" },
  { 21, "QuantizeLinear", "~1,2 s:~0.001", "output_dtype=5", .value = "2: 1000 2000" },
  { 21, "QuantizeLinear", "~1,2 s:~0.001", "output_dtype=4", .value = "2: 1000 2000" },
  { 25, "DequantizeLinear", "u16:~0,65535 s:~0.5 s:u16:~1", "", .value = "2: -0.5 32767" },
  { 21, "DequantizeLinear", "i16:~-32768,32767 s:~0.5", "", .value = "2: -16384 16384" },
  { 21, "DequantizeLinear", "i16:~1,2,3,4@2x2 ~1,0.5 i16:~0,100", "axis=1", .value = "2x2: 1 -49 3 -48" },
  { 21, "DequantizeLinear", "i16:~1,2,3,4@1x4 ~1,0.5@1x2", "axis=1 block_size=2", .value = "1x4: 1 2 1.5 2" },
  { 13, "com.microsoft:QuantizeLinear", "~-9,9 s:~0.0005 s:i16:~4", "", .value = "2: -17996 18004" },
  { 13, "com.microsoft:DequantizeLinear", "u16:~0,65535 s:~0.5 s:u16:~1", "", .value = "2: -0.5 32767" },
  { 20, "QuantizeLinear", "~1,2 s:~0.001 s:i16:~0", "", .value = "QuantizeLinear 'n': it is of opset 21, the model of 20" },
  { 20, "DequantizeLinear", "u16:~1,2 s:~0.001", "", .value = "DequantizeLinear 'n': it is of opset 21, the model of 20" },
  /* Resizes with antialias, with the mode half_pixel_symmetric, and with
   * keep_aspect_ratio_policy. */
  { 18, "Resize", "#1x1x1x4 - ~1,1,1,0.5", "mode=linear antialias=1", .value = "1x1x1x2: 0.625 2.375" },
  { 18, "Resize", "#1x1x1x4 - ~1,1,1,0.5", "mode=linear antialias=1 exclude_outside=1", .value = "1x1x1x2: 0.71429 2.2857" },
  { 18, "Resize", "#1x1x1x4 - ~1,1,1,0.5", "mode=cubic antialias=1", .value = "1x1x1x2: 0.49023 2.5098" },
  { 18, "Resize", "#1x1x1x4 - ~1,1,1,0.5", "mode=nearest antialias=1", .value = "1x1x1x2: 0 2" },
  { 18, "Resize", "u8:~0,10,30,255@1x1x1x4 - - =1,1,1,2", "mode=linear antialias=1", .value = "1x1x1x2: 8 140" },
  { 18, "Resize", "f16:~0,10,30,255@1x1x1x4 - - =1,1,1,2", "mode=linear antialias=1", .value = "1x1x1x2: 7.5 140" },
  { 18, "Resize", "#1x1x2x2 - ~1,1,0.5,2", "mode=linear antialias=1", .value = "1x1x1x4: 1 1.25 1.75 2" },
  { 18, "Resize", "i64:~0,10,30,255@1x1x1x4 - - =1,1,1,2", "mode=linear antialias=1",
    .value = "Resize 'n': its weights are not supported for int64" },
  { 19, "Resize", "#1x1x1x3 - ~1,1,1,1.5", "mode=linear coordinate_transformation_mode=half_pixel_symmetric",
    .value = "1x1x1x4: 0 0.66667 1.3333 2" },
  { 19, "Resize", "#1x1x1x3 - ~1,1,1,1.5", "mode=nearest coordinate_transformation_mode=half_pixel_symmetric",
    .value = "1x1x1x4: 0 1 1 2" },
  { 19, "Resize", "#1x1x1x3 - ~1,1,1,2", "mode=nearest coordinate_transformation_mode=half_pixel_symmetric",
    .value = "1x1x1x6: 0 0 1 1 2 2" },
  { 18, "Resize", "#1x1x2x5 - - =2,3", "mode=linear axes=2,3 keep_aspect_ratio_policy=not_larger", .value = "1x1x1x3: 2 3.6667 5.3333" },
  { 18, "Resize", "#1x1x2x5 - - =2,3", "mode=nearest axes=2,3 keep_aspect_ratio_policy=not_larger", .value = "1x1x1x3: 0 2 4" },
  { 18, "Resize", "#1x1x2x5 - - =3,2", "mode=linear axes=2,3 keep_aspect_ratio_policy=not_smaller", .value = 
    "1x1x3x8: 0 0.5 1.1667 1.8333 2.5 3.1667 3.8333 4 2.5 3 3.6667 4.3333 5 5.6667 6.3333 6.5 5 5.5 6.1667 6.8333 7.5 8.1667 8.8333 9" },
  { 18, "Resize", "#1x1x2x5 - - =3,2", "mode=linear axes=2,3 keep_aspect_ratio_policy=narrow",
    .value = "Resize 'n': keep_aspect_ratio_policy 'narrow' is not known: it must be stretch, not_larger or not_smaller" },
  { 18, "Resize", "#1x1x1x4 ~0,0,0,0.25,1,1,1,1 - =1,1,1,2",
    "mode=linear antialias=1 coordinate_transformation_mode=tf_crop_and_resize", .value = "1x1x1x2: 0.8125 2.75" },
  { 18, "Resize", "#1x1x1x4 - ~1,1,1,0.5", "mode=linear antialias=1 color=blue", .value = "Resize 'n': attribute 'color' is not known in opset 18" },
  /* Pad with the mode wrap, which repeats the operand. */
  { 19, "Pad", "#2x3 =0,1,0,1", "mode=wrap", .value = "2x5: 2 0 1 2 0 5 3 4 5 3" },
  { 19, "Pad", "#2x3 =2,-1 - =1,", "mode=wrap", .value = "2x4: 0 1 0 1 3 4 3 4" },
  { 19, "Pad", "#2x3 =0,0,0,0", "mode=wrap", .value = "2x3: 0 1 2 3 4 5" },
  { 19, "Pad", "i64:#2x1 =1,0,0,2", "mode=wrap", .value = "3x3: 1 1 1 0 0 0 1 1 1" },
  { 19, "Pad", "#2x3 =-3,0,0,0", "mode=wrap", .value = "Pad 'n': dimension 0 of 2 cannot be padded" },
  { 18, "Pad", "#2x3 =0,1,0,1", "mode=wrap", .value = "Pad 'n': mode 'wrap' is not supported" },
  /* QuantizeLinear and DequantizeLinear with a scale for each block; the last block is shorter. */
  { 21, "DequantizeLinear", "u8:#2x5 ~1,0.5,2,1@2x2", "axis=1 block_size=3", .value = "2x5: 0 1 2 1.5 2 10 12 14 8 9" },
  { 21, "QuantizeLinear", "#1x5 ~1,0.5@1x2 i16:~1,2@1x2", "axis=1 block_size=3", .value = "1x5: 1 2 3 8 10" },
  { 21, "DequantizeLinear", "u8:#3x4 ~1,1,1@3x1", "axis=1 block_size=3",
    .value = "DequantizeLinear 'n': the scale must have the shape 3x2, but has 3x1" },
  { 21, "DequantizeLinear", "u8:#3x4 ~1,1,1@3x1", "axis=1 block_size=-1",
    .value = "DequantizeLinear 'n': block_size must be at least 1, and its axis within rank 2" },
  /* Experimental ops of opset 1. */
  { 1, "Affine", "~1,2", "alpha=2.0 beta=0.5", .value = "2: 2.5 4.5" },
  { 7, "Scale", "~1,2", "scale=2.0", .value = "2: 2 4" },
  { 7, "ScaledTanh", "~1,2", "alpha=2.0 beta=0.5", .value = "2: 0.92423 1.5232" },
  { 7, "ParametricSoftplus", "~1,2", "alpha=2.0 beta=0.5", .value = "2: 1.9482 2.6265" },
  { 9, "ImageScaler", "#1x2x1x2", "scale=2.0 bias=1.0,0.5", .value = "1x2x1x2: 1 3 4.5 6.5" },
  { 9, "ImageScaler", "#1x2x1x2", "scale=2.0 bias=1.0,0.5,2.0",
    .value = "ImageScaler 'n': its operand must have rank 4, and bias a number for each channel" },
  { 1, "Crop", "#1x1x3x4", "border=1,0,1,2", .value = "1x1x1x2: 1 2" },
  { 1, "Crop", "#1x1x3x4", "border=1,1,0,0 scale=2,1", .value = "1x1x2x1: 5 9" },
  { 1, "Crop", "#1x1x3x4", "border=1,2,0,2", .value = "Crop 'n': dimension 2 of 3 cannot be cropped" },
  { 1, "DynamicSlice", "#2x3 =0,1 =1,3", "", .value = "1x2: 1 2" },
  { 10, "Affine", "~1,2", "alpha=2.0 beta=0.5", .value = "Affine 'n': opset 10 has no such op here" },
  /* New opsets of ops whose new version differs only in the element types. The last two rows are
   * errors: an opset and an op that Cleave does not support. */
  { 25, "Transpose", "#2x2", "perm=1,0", .value = "2x2: 0 2 1 3" },
  { 26, "Pad", "#2 =1,0", "", .value = "3: 0 0 1" },
  { 26, "Relu", "~-1,2", "", .value = "2: 0 2" },
  { 27, "Relu", "~-1,2", "", .value = "opset 27 is not supported: it must be between 1 and 26" },
  { 26, "CumProd", "~1,2 s:=0", "", .value = "CumProd 'n': opset 26 has no such op here" },
};
/* clang-format on */

START_TEST (every_form_has_its_value)
{
  const Form *f = &forms[_i];
  g_autoptr (Model) model =
      model_of_node (f->opset, f->op, f->operands, f->attrs, f->results == NULL ? "y" : f->results);
  g_autofree char *value = model_value (model);

  ck_assert_msg (g_str_equal (value, f->value), "%s %s of opset %d: %s, not %s", f->op, f->operands,
                 (int) f->opset, value, f->value);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *table = tcase_create ("forms");

  tcase_add_loop_test (table, every_form_has_its_value, 0, G_N_ELEMENTS (forms));
  suite_add_tcase (suite, table);
}

CLEAVE_TEST_SUITE ("upgrade-forms", add_tests)
