/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the values of nodes whose meaning depends on the opset. A line of the table is a model with
 * one node, and its value or its error. The values come from the opset's specification, or from
 * ONNX Runtime 1.30 if the specification does not define them.
 *
 * Over 400 lines: this file has one long table. */

#include "test.h"

#include "model-node.h"

typedef struct
{
  gint64 opset;
  const char *op, *operands, *attrs; /* as in the arguments of model_of_node() */
  const char *value;
  const char *results; /* results as text, such as "z y"; NULL: "y" */
} Meaning;

#define TF "coordinate_transformation_mode=tf_half_pixel_for_nn"
#define CROP "coordinate_transformation_mode=tf_crop_and_resize"

/* clang-format off */
static const Meaning meanings[] = {
  /* Before opset 11, a Resize with mode nearest that reduces the size rounds positions up. */
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
  /* Positions are computed in float32, where 3 / 0.6 is exactly 5. */
  { 11, "Resize", "#1x1x1x10 - ~1,1,1,0.6", "mode=nearest nearest_mode=floor coordinate_transformation_mode=asymmetric",
    .value = "1x1x1x6: 0 1 3 5 6 8" },
  /* From opset 16 on, RoiAlign has the attribute coordinate_transformation_mode. Its default,
   * half_pixel, shifts coordinates by half a pixel. */
  { 10, "RoiAlign", "#1x1x4x4 ~0.5,0.5,3,2.5@1x4 =0", "output_height=2 output_width=2 sampling_ratio=2",
    .value = "1x1x2x2: 5.125 6.375 9.125 10.375" },
  { 15, "RoiAlign", "#1x1x4x4 ~0.5,0.5,3,2.5@1x4 =0", "output_height=2 output_width=2 sampling_ratio=2",
    .value = "1x1x2x2: 5.125 6.375 9.125 10.375" },
  { 16, "RoiAlign", "#1x1x4x4 ~0.5,0.5,3,2.5@1x4 =0", "output_height=2 output_width=2 sampling_ratio=2",
    .value = "1x1x2x2: 2.625 3.875 6.625 7.875" },
  /* Nodes of opsets after 17. */
  { 18, "Mish", "~-1,0.5,3", "",
    .value = "3: -0.3034 0.37525 2.9865" },
  { 20, "Gelu", "~-1,0.5,3", "",
    .value = "3: -0.15866 0.34573 2.996" },
  { 20, "Gelu", "~-1,0.5,3", "approximate=tanh",
    .value = "3: -0.15881 0.34571 2.9964" },
  { 24, "Swish", "~-1,0.5,3", "alpha=1.5",
    .value = "3: -0.18243 0.33959 2.967" },
  { 18, "GroupNormalization", "#1x4x1x2 ~1,2 ~0.5,-1", "num_groups=2",
    .value = "1x4x1x2: -0.84164 0.052788 0.94721 1.8416 -3.6833 -1.8944 -0.10558 1.6833" },
  { 21, "GroupNormalization", "#1x4x1x2 ~1,2,3,4 ~0,1,0,2", "num_groups=2",
    .value = "1x4x1x2: -1.3416 -0.44721 1.8944 3.6833 -4.0249 -1.3416 3.7888 7.3665" },
  { 23, "RMSNormalization", "#2x3 ~1,2,3", "",
    .value = "2x3: 0 1.5492 4.6476 0.73485 1.9596 3.6742" },
  { 23, "RMSNormalization", "#1x2x2 ~1,2,3,4@2x2", "axis=1 epsilon=0.01",
    .value = "1x2x2: 0 1.0675 3.2026 6.4051" },
  { 18, "CenterCropPad", "#3x4 =2,7", "",
    .value = "2x7: 0 0 1 2 3 0 0 0 4 5 6 7 0 0" },
  { 18, "CenterCropPad", "#3x4 =5", "axes=-2,",
    .value = "5x4: 0 0 0 0 0 1 2 3 4 5 6 7 8 9 10 11 0 0 0 0" },
  { 18, "Pad", "#2x3 =1,2 s:~7 =-1", "",
    .value = "2x6: 7 0 1 2 7 7 7 3 4 5 7 7" },
  { 18, "Pad", "#2x3 =1,-1 - =1", "mode=edge",
    .value = "2x3: 0 0 1 3 3 4" },
  { 18, "Resize", "#1x1x2x4 - ~2,0.5", "mode=nearest axes=2,3",
    .value = "1x1x4x2: 0 2 0 2 4 6 4 6" },
  { 18, "Resize", "#1x1x2x4 - - =3,4", "mode=linear axes=2,3 keep_aspect_ratio_policy=not_larger",
    .value = "1x1x2x4: 0 1 2 3 4 5 6 7" },
  { 19, "Resize", "#1x1x1x4 - ~1,1,1,1.5", "mode=linear coordinate_transformation_mode=half_pixel_symmetric",
    .value = "1x1x1x6: 0 0.5 1.1667 1.8333 2.5 3" },
  { 18, "Resize", "#1x1x1x3 - ~1,1,1,2", "mode=linear antialias=1",
    .value = "1x1x1x6: 0 0.25 0.75 1.25 1.75 2" },
  { 18, "BitwiseNot", "u8:#3", "",
    .value = "3: 255 254 253" },
  { 18, "BitwiseXor", "i8:~-1,12,3 i8:~5,10,3", "",
    .value = "3: -6 6 0" },
  { 18, "ScatterElements", "#1x3 =2,0@1x2 ~1,5@1x2", "axis=1 reduction=max",
    .value = "1x3: 5 1 2" },
  { 18, "ScatterND", "#3x2 =1@1x1 ~5,-1@1x2", "reduction=min",
    .value = "3x2: 0 1 2 -1 4 5" },
  { 18, "Col2Im", "#1x4x2 =2,3 =2,2", "",
    .value = "1x1x2x3: 0 3 3 4 11 7" },
  { 19, "DeformConv", "#1x1x2x2 ~1,2@1x1x1x2 ~0.5,0,0,0,0,0,0,0@1x4x2x1", "kernel_shape=1,2",
    .value = "1x1x2x1: 3 8" },
  { 20, "DFT", "#1x3x2x1 - s:=1", "",
    .value = "1x3x2x2: 6 0 9 0 -3 1.7321 -3 1.7321 -3 -1.7321 -3 -1.7321" },
  { 20, "DFT", "#1x2x3x1", "",
    .value = "1x2x3x2: 3 0 -1.5 0.86603 -1.5 -0.86603 12 0 -1.5 0.86603 -1.5 -0.86603" },
  { 20, "GridSample", "#1x1x2x2 ~0.1,0.2,-0.5,0.7@1x1x2x2", "mode=linear",
    .value = "1x1x1x2: 2 1.6" },
  { 20, "GridSample", "#1x1x2x2x2 ~0.1,0.2,0.4@1x1x1x1x3", "mode=linear align_corners=1",
    .value = "1x1x1x1x1: 4.55" },
  { 19, "GridSample", "#1x1x2x2x2 ~0.1,0.2,0.4@1x1x1x1x3", "",
    .value = "GridSample 'n': it is of opset 20, the model of 19" },
  { 21, "QuantizeLinear", "~-1,0.5,3 s:~0.1", "output_dtype=3",
    .value = "3: -10 5 30" },
  { 21, "QuantizeLinear", "#4x2 ~1,2,0.5,4@2x2 u8:~1,0,2,3@2x2", "axis=0 block_size=2",
    .value = "4x2: 1 0 3 2 10 4 14 5" },
  { 21, "QuantizeLinear", "#2x4 ~1,2,0.5,4@2x2", "axis=-1 block_size=2",
    .value = "2x4: 0 1 1 2 8 10 2 2" },
  { 19, "QuantizeLinear", "f16:~-1,0.5,3 s:f16:~0.5 s:u8:~2", "",
    .value = "3: 0 3 8" },
  { 19, "DequantizeLinear", "u8:#3 s:f16:~0.5 s:u8:~1", "",
    .value = "3: -0.5 0 0.5" },
  { 21, "DequantizeLinear", "i8:#1x4 f16:~0.5,3@1x2", "axis=1 block_size=2",
    .value = "1x4: 0 0.5 6 9" },
  { 21, "QLinearMatMul", "u8:#1x2 s:f16:~0.5 s:u8:~0 u8:~2,4@2x1 s:f16:~0.5 s:u8:~0 s:f16:~0.25 s:u8:~1", "",
    .value = "1x1: 5" },
  { 20, "AffineGrid", "~1,0,0,0,1,0@1x2x3 =1,1,2,3", "",
    .value = "1x2x3x2: -0.66667 -0.5 0 -0.5 0.66667 -0.5 -0.66667 0.5 0 0.5 0.66667 0.5" },
  { 20, "AffineGrid", "~2,0,1,0,1,-1@1x2x3 =1,1,2,2", "align_corners=1",
    .value = "1x2x2x2: -1 -2 3 -2 -1 0 3 0" },
  { 20, "AffineGrid", "~1,0,0,0,0,1,0,0,0,0,1,0.5@1x3x4 =1,1,1,1,2", "",
    .value = "1x1x1x2x3: -0.5 0 0.5 0.5 0 0.5" },
  { 24, "TensorScatter", "#2x4x1 ~8,9,16,17@2x2x1 =1,2", "",
    .value = "2x4x1: 0 8 9 3 4 5 16 17" },
  { 24, "TensorScatter", "#2x4x1 ~8,9,16,17@2x2x1 =3,2", "axis=1 mode=circular",
    .value = "2x4x1: 9 1 2 8 4 5 16 17" },
  { 24, "TensorScatter", "#1x3x1 ~8,9@1x2x1", "",
    .value = "1x3x1: 8 9 2" },
  { 21, "DequantizeLinear", "u8:#4x2 ~1,2,0.5,3@2x2 u8:~1,0,2,3@2x2", "axis=0 block_size=2",
    .value = "4x2: -1 2 1 6 1 6 2 12" },
  { 21, "DequantizeLinear", "i8:#1x2x4 ~1,2,0.5,3@1x2x2", "axis=-1 block_size=2",
    .value = "1x2x4: 0 1 4 6 2 2.5 18 21" },
  { 19, "Cast", "~-1.5,0.5,3", "to=7 saturate=1",
    .value = "3: -1 0 3" },
  { 19, "AveragePool", "#1x1x4x4", "kernel_shape=2,2 dilations=2,2",
    .value = "1x1x2x2: 5 6 9 10" },
  { 22, "MaxPool", "#1x1x3x3", "kernel_shape=2,2",
    .value = "1x1x2x2: 4 5 7 8" },
  { 24, "Reshape", "#2x3 =3,2", "",
    .value = "3x2: 0 1 2 3 4 5" },
  { 20, "ReduceMax", "#2x3 =1", "",
    .value = "2x1: 2 5" },
  { 23, "Attention", "~1,2,3,-1,0.5,2,1,-2@1x2x4 ~1,0,-1,2@1x2x2 ~3,4,5,-6@1x2x2", "q_num_heads=2 kv_num_heads=1 is_causal=1",
    .value = "1x2x4: 3 4 3 4 4.7859 -4.9296 3.0283 3.8583" },
  { 24, "Attention", "~1,2,3,-1@1x1x2x2 ~1,0,-1,2@1x1x2x2 ~3,4,5,-6@1x1x2x2 ~0,-1,1,0,-1,1@2x3 ~1,1@1x1x1x2 ~2,2@1x1x1x2", "scale=0.5 softcap=2.5",
    .value = "1x1x2x2: 4.1447 -3.5298 2.5964 1.904" },
  { 24, "Attention", "~1,2,3,-1@1x1x2x2 ~1,0,-1,2@1x1x2x2 ~3,4,5,-6@1x1x2x2 - - - =1", "",
    .value = "1x1x2x2: 3 4 3 4" },
  { 23, "Attention", "~1,2,3,-1@1x1x2x2 ~1,0,-1,2@1x1x2x2 ~3,4,5,-6@1x1x2x2 ~0,-1,1,0@2x2", "scale=0.5 softcap=2.5 qk_matmul_output_mode=0",
    .value = "1x1x2x2: 0.5 1.5 1.5 -2.5", .results = "a b c y" },
  { 23, "Attention", "~1,2,3,-1@1x1x2x2 ~1,0,-1,2@1x1x2x2 ~3,4,5,-6@1x1x2x2 ~0,-1,1,0@2x2", "scale=0.5 softcap=2.5 qk_matmul_output_mode=1",
    .value = "1x1x2x2: 0.49344 1.3426 1.3426 -1.904", .results = "a b c y" },
  { 23, "Attention", "~1,2,3,-1@1x1x2x2 ~1,0,-1,2@1x1x2x2 ~3,4,5,-6@1x1x2x2 ~0,-1,1,0@2x2", "scale=0.5 softcap=2.5 qk_matmul_output_mode=2",
    .value = "1x1x2x2: 0.49344 0.34262 2.3426 -1.904", .results = "a b c y" },
  { 23, "Attention", "~1,2,3,-1@1x1x2x2 ~1,0,-1,2@1x1x2x2 ~3,4,5,-6@1x1x2x2 ~0,-1,1,0@2x2", "scale=0.5 softcap=2.5 qk_matmul_output_mode=3",
    .value = "1x1x2x2: 0.53763 0.46237 0.98589 0.014111", .results = "a b c y" },
  { 23, "RotaryEmbedding", "#1x2x4 ~1,0.5,0.25,0@2x2 ~0,0.5,0.75,1@2x2 =1,0@1x2", "num_heads=1 interleaved=1",
    .value = "1x2x4: -0.75 0.25 -3 2 4 5 -0.5 6.5" },
  { 23, "RotaryEmbedding", "#1x1x2x4 ~1,0.5@1x2x1 ~0,0.5@1x2x1", "rotary_embedding_dim=2",
    .value = "1x1x2x4: 0 1 2 3 -0.5 4.5 6 7" },
  /* A reduction without axes computes only its element-wise step, such as the square. */
  { 18, "ReduceSumSquare", "~-2,0.5,3", "noop_with_empty_axes=1",
    .value = "3: 4 0.25 9" },
  { 18, "ReduceL1", "~-2,0.5,3", "noop_with_empty_axes=1",
    .value = "3: 2 0.5 3" },
  { 18, "ReduceL2", "~-2,0.5,3", "noop_with_empty_axes=1",
    .value = "3: 2 0.5 3" },
  { 18, "ReduceLogSum", "~-2,0.5,3", "noop_with_empty_axes=1",
    .value = "3: nan -0.69315 1.0986" },
  { 18, "ReduceLogSumExp", "~-2,0.5,3", "noop_with_empty_axes=1",
    .value = "3: -2 0.5 3" },
  { 18, "ReduceSum", "~-2,0.5,3", "noop_with_empty_axes=1",
    .value = "3: -2 0.5 3" },
  { 18, "ReduceMean", "~-2,0.5,3", "noop_with_empty_axes=1",
    .value = "3: -2 0.5 3" },
  { 18, "ReduceMax", "~-2,0.5,3", "noop_with_empty_axes=1",
    .value = "3: -2 0.5 3" },
  { 18, "ReduceMin", "~-2,0.5,3", "noop_with_empty_axes=1",
    .value = "3: -2 0.5 3" },
  { 18, "ReduceProd", "~-2,0.5,3", "noop_with_empty_axes=1",
    .value = "3: -2 0.5 3" },
  { 18, "ReduceL1", "~-2,0.5,3 =@0", "noop_with_empty_axes=1 keepdims=0",
    .value = "3: 2 0.5 3" },
  { 20, "ReduceSumSquare", "~-2,0.5,3 -", "noop_with_empty_axes=1",
    .value = "3: 4 0.25 9" },
  { 18, "ReduceL2", "i32:~-2,0,3", "noop_with_empty_axes=1",
    .value = "3: 2 0 3" },
  { 18, "ReduceLogSum", "i32:~1,3,20", "noop_with_empty_axes=1",
    .value = "3: 0 1 2" },
  { 18, "ReduceL1", "~-2,0.5,3", "",
    .value = "1: 5.5" },
  { 18, "ReduceL1", "~-2,0.5,3 =0", "noop_with_empty_axes=1",
    .value = "1: 5.5" },
  /* Before opset 14, a BatchNormalization with five results is in training mode, even if nothing reads them. */
  { 6, "BatchNormalization", "~1,2,3,6@4x1 ~1 ~0 ~0 ~1", "",
    .value = "4x1: -1.069 -0.53452 0 1.6036", .results = "y a b c d" },
  { 7, "BatchNormalization", "~1,2,3,6@4x1 ~1 ~0 ~0 ~1", "",
    .value = "4x1: -1.069 -0.53452 0 1.6036", .results = "y a b c d" },
  { 9, "BatchNormalization", "~1,2,3,6@4x1 ~1 ~0 ~0 ~1", "",
    .value = "4x1: -1.069 -0.53452 0 1.6036", .results = "y a b c d" },
  { 13, "BatchNormalization", "~1,2,3,6@4x1 ~1 ~0 ~0 ~1", "",
    .value = "4x1: -1.069 -0.53452 0 1.6036", .results = "y a b c d" },
  { 9, "BatchNormalization", "~1,2,3,6@4x1 ~1 ~0 ~0 ~1", "",
    .value = "1: 0.3", .results = "a y b c d" },
  { 9, "BatchNormalization", "~1,2,3,6@4x1 ~1 ~0 ~0 ~1", "",
    .value = "1: 1.25", .results = "a b y c d" },
  { 9, "BatchNormalization", "~1,2,3,6@4x1 ~1 ~0 ~0 ~1", "",
    .value = "1: 3", .results = "a b c y d" },
  { 9, "BatchNormalization", "~1,2,3,6@4x1 ~1 ~0 ~0 ~1", "",
    .value = "1: 3.5", .results = "a b c d y" },
  { 9, "BatchNormalization", "~1,2,3,6@4x1 ~1 ~0 ~0 ~1", "momentum=0.5",
    .value = "1: 1.5", .results = "a y b c d" },
  { 6, "BatchNormalization", "~1,2,3,6@4x1 ~1 ~0 ~0 ~1", "is_test=1",
    .value = "4x1: 0.99999 2 3 6", .results = "y a b c d" },
  { 6, "BatchNormalization", "~1,2,3,6@4x1 ~1 ~0 ~0 ~1", "is_test=0",
    .value = "4x1: 0.99999 2 3 6", .results = "y" },
  { 9, "BatchNormalization", "~1,2,3,6@4x1 ~1 ~0 ~0 ~1", "",
    .value = "4x1: 0.99999 2 3 6", .results = "y" },
  { 14, "BatchNormalization", "~1,2,3,6@4x1 ~1 ~0 ~0 ~1", "training_mode=1",
    .value = "4x1: -1.069 -0.53452 0 1.6036", .results = "y a b" },
  { 14, "BatchNormalization", "~1,2,3,6@4x1 ~1 ~0 ~0 ~1", "training_mode=1",
    .value = "1: 1.25", .results = "a b y" },
  { 14, "BatchNormalization", "~1,2,3,6@4x1 ~1 ~0 ~0 ~1", "",
    .value = "4x1: 0.99999 2 3 6", .results = "y" },
  { 15, "BatchNormalization", "~1,2,3,6@4x1 ~1 ~0 ~0 ~1", "training_mode=1",
    .value = "4x1: -1.069 -0.53452 0 1.6036", .results = "y a b" },
  { 15, "BatchNormalization", "~1,2,3,6@4x1 ~1 ~0 ~0 ~1", "training_mode=1",
    .value = "1: 1.25", .results = "a b y" },
  { 15, "BatchNormalization", "~1,2,3,6@4x1 ~1 ~0 ~0 ~1", "",
    .value = "4x1: 0.99999 2 3 6", .results = "y" },
  { 15, "BatchNormalization", "~1,2,3,6@4x1 ~1 ~0 ~0 ~1", "",
    .value = "BatchNormalization 'n': 2 results are read, but in inference it has at most 1", .results = "a y b" },
  { 9, "BatchNormalization", "~1,2,3,6@4x1 ~1 ~0 ~0 ~1", "",
    .value = "BatchNormalization 'n': 2 results are read, but in inference it has at most 1", .results = "a y b" },
  { 15, "BatchNormalization", "~1,2,3,6@4x1 ~1 ~0 ~0 ~1", "training_mode=1",
    .value = "BatchNormalization 'n': 4 results are read, but in training it has at most 3", .results = "a b c y d" },
  /* In inference, a Dropout drops nothing. Before opset 12, ONNX Runtime does not fill its mask. */
  { 12, "Dropout", "~1,2,3", "",
    .value = "3: 1 1 1", .results = "a y" },
  { 13, "Dropout", "~1,2,3 s:~0 s:b:~1", "",
    .value = "3: 1 2 3", .results = "y a" },
  /* Ops that ONNX Runtime's optimizer and quantizer write. */
  { 17, "com.microsoft:QLinearAdd", "u8:~100,130,255 s:~0.02 s:u8:~120 u8:~7,8,9 s:~0.03 s:u8:~10 s:~0.05 s:u8:~100", "",
    .value = "3: 90 103 153" },
  { 17, "com.microsoft:QLinearMul", "u8:~100,130,255 s:~0.02 s:u8:~120 u8:~7,8,90 s:~0.03 s:u8:~10 s:~0.05 s:u8:~100", "",
    .value = "3: 101 100 230" },
  { 17, "com.microsoft:QLinearLeakyRelu", "u8:~100,130,255 s:~0.02 s:u8:~120 s:~0.02 s:u8:~120", "alpha=0.1",
    .value = "3: 118 130 255" },
  { 17, "com.microsoft:QLinearSigmoid", "u8:~100,130,255 s:~0.02 s:u8:~120 s:~0.0039 s:u8:~0", "",
    .value = "3: 103 141 240" },
  { 17, "com.microsoft:QLinearSoftmax", "u8:~100,130,255 s:~0.02 s:u8:~120 s:~0.0039 s:u8:~0", "opset=13",
    .value = "3: 10 19 227" },
  { 17, "com.microsoft:QLinearGlobalAveragePool", "u8:#1x2x2x2 s:~0.02 s:u8:~1 s:~0.01 s:u8:~2", "channels_last=0",
    .value = "1x2x1x1: 3 11" },
  { 17, "com.microsoft:QLinearGlobalAveragePool", "u8:#1x2x2x2 s:~0.02 s:u8:~1 s:~0.01 s:u8:~2", "channels_last=1",
    .value = "1x1x1x2: 6 8" },
  { 17, "com.microsoft:QLinearAveragePool", "u8:#1x1x2x4 s:~0.02 s:u8:~1 s:~0.01 s:u8:~2", "kernel_shape=2,2 strides=2,2",
    .value = "1x1x1x2: 5 9" },
  { 17, "com.microsoft:QLinearConcat", "s:~0.05 s:u8:~100 u8:~100,130 s:~0.02 s:u8:~120 u8:~7,8 s:~0.03 s:u8:~10", "axis=0",
    .value = "4: 92 104 98 99" },
  { 17, "com.microsoft:QGemm", "u8:#2x2 s:~0.02 s:u8:~1 i8:~1,-2,3,4@2x2 s:~0.1 s:i8:~0 i32:~100,-100 s:~0.05 s:u8:~100", "",
    .value = "2x2: 104 96 104 96" },
  { 17, "com.microsoft:QGemm", "u8:#2x2 s:~0.02 s:u8:~1 i8:~1,-2,3,4@2x2 ~0.1,0.2 i8:~0,0 i32:~100,-100", "transB=1",
    .value = "2x2: 0.198 -0.412 0.194 -0.356" },
  { 17, "com.microsoft:FusedConv", "#1x1x1x4 ~1,-2@1x1x1x2 ~1", "activation=Relu",
    .value = "1x1x1x3: 0 0 0" },
  { 17, "com.microsoft:FusedConv", "#1x1x1x4 ~1,-2@1x1x1x2 ~1", "activation=LeakyRelu activation_params=0.5,",
    .value = "1x1x1x3: -0.5 -1 -1.5" },
  { 17, "com.microsoft:FusedConv", "#1x1x1x4 ~1,-2@1x1x1x2 ~1 ~5,6,7@1x1x1x3", "activation=Clip activation_params=4.5,5.5",
    .value = "1x1x1x3: 4.5 4.5 4.5" },
  { 17, "com.microsoft:FusedMatMul", "#2x3 #2x3", "transB=1 alpha=0.5",
    .value = "2x2: 2.5 7 7 25" },
  { 17, "com.microsoft:FusedGemm", "#2x2 ~1,-2,3,4@2x2 ~1,-9", "activation=Relu",
    .value = "2x2: 4 0 12 0" },
  { 17, "com.microsoft:Gelu", "~-1,0.5,3", "",
    .value = "3: -0.15866 0.34573 2.996" },
  { 17, "com.microsoft:FastGelu", "~-1,0.5,3 ~1,1,-1", "",
    .value = "3: 0 1.3996 1.9546" },
  { 17, "com.microsoft:BiasGelu", "~-1,0.5,3 ~1,1,-1", "",
    .value = "3: 0 1.3998 1.9545" },
  { 17, "com.microsoft:QuickGelu", "~-1,0.5,3", "",
    .value = "3: -0.1542 0.35039 2.9819" },
  { 17, "com.microsoft:SkipLayerNormalization", "#1x2x2 1x2x2 ~1,2 ~0,1 ~3,5", "epsilon=0.01",
    .value = "1x2x2: -0.99779 2.9956 -0.99779 2.9956", .results = "y - - s" },
  { 17, "com.microsoft:SkipSimplifiedLayerNormalization", "#1x2x2 1x2x2 ~1,2", "epsilon=0.01",
    .value = "1x2x2: 0.63119 2.5248 0.84819 2.2618" },
  { 17, "SimplifiedLayerNormalization", "#2x2 ~1,2", "epsilon=0.01",
    .value = "2x2: 0 2.8006 0.78386 2.3516" },
  { 17, "com.microsoft:DynamicQuantizeMatMul", "~1,2,3,-4@2x2 i8:~1,-2,3,4@2x2 s:~0.1 s:i8:~1 ~1,2", "",
    .value = "2x2: 1.4008 2.3047 0.19843 -0.1" },
  { 17, "com.microsoft:DynamicQuantizeLSTM",
    "~1,-2@2x1x1 i8:~10,-20,30,40,50,-60,70,80@2x1x4 i8:~-10,20,-30,40,50,60,-70,80@2x1x4 "
    "~.1,.2,.3,.4,.5,.6,.7,.8,-.1,-.2,-.3,-.4,-.5,-.6,-.7,-.8@2x8 - ~.5,-.5@2x1x1 ~1,-1@2x1x1 - "
    "~0.01,0.02 i8:~3,4 ~0.02,0.01 i8:~-5,6", "direction=bidirectional hidden_size=1",
    .value = "2x2x1x1: 0.60886 0.0088723 0.6874 -0.08322" },
  { 17, "com.microsoft:DynamicQuantizeLSTM",
    "~1,-2@2x1x1 i8:~10,-20,30,40@1x1x4 i8:~-10,20,-30,40@1x1x4 - - - - - ~0.01 - ~0.02", "direction=reverse hidden_size=1",
    .value = "1x1x1: -0.043097", .results = "a b y" },
  { 17, "com.microsoft:MatMulIntegerToFloat", "u8:#2x2 i8:~1,-2,3,4@2x2 s:~0.1 s:~0.2 s:u8:~1 s:i8:~1", "",
    .value = "2x2: 0 0.06 0.08 0.06" },
  { 17, "com.microsoft:NhwcMaxPool", "u8:#1x2x2x2", "kernel_shape=2,2",
    .value = "1x1x1x2: 6 7" },
  { 17, "com.microsoft:QuantizeLinear", "~-1,0.5,3 s:~0.1 s:u8:~100", "",
    .value = "3: 90 105 130" },
  { 17, "com.microsoft:DequantizeLinear", "u8:~1,5 s:~0.1 s:u8:~100", "",
    .value = "2: -9.9 -9.5" },
  /* Forms that the import refuses, with the message. */
  { 17, "com.microsoft:DynamicQuantizeLSTM", "#2x1x1 i8:#1x1x4 i8:#1x1x4 #1x3 - - - - ~1 - ~1", "hidden_size=1",
    .value = "Split 'n.b.halves': sizes 4, 4 add up to 8, dimension 0 has 3" },
  { 17, "com.microsoft:DynamicQuantizeLSTM", "#2x1x1 i8:#1x1x4 i8:#1x1x4 - - #1x3x1 - - ~1 - ~1", "hidden_size=1",
    .value = "DynamicQuantizeLSTM 'n': initial_h and initial_c must be [D, N, H]" },
  { 17, "com.microsoft:DynamicQuantizeLSTM", "#1x1100000x0 i8:#1x0x4 i8:#1x1x4 - - - - - ~1 - ~1", "hidden_size=1",
    .value = "DynamicQuantizeLSTM 'n': it must have at most 1048576 positions, heads or parts of a batch, not 1100000" },
  { 17, "com.microsoft:DynamicQuantizeLSTM", "#2x1x1 i8:#1x1x4 i8:#1x1x4 - i32:~1 - - - ~1 - ~1", "hidden_size=1",
    .value = "DynamicQuantizeLSTM 'n': sequence_lens is not supported" },
  { 17, "com.microsoft:DynamicQuantizeLSTM", "#2x1x1 i8:#1x1x4 i8:#1x1x4 - - - - ~1,2,3@1x3 ~1 - ~1", "hidden_size=1",
    .value = "DynamicQuantizeLSTM 'n': peepholes are not supported" },
  { 17, "com.microsoft:DynamicQuantizeLSTM", "#2x1x1 i8:#1x1x4 i8:#1x1x4 - - - - - ~1 - ~1", "hidden_size=1 direction=bidirectional",
    .value = "DynamicQuantizeLSTM 'n': X must be [T, N, I], and R [D, H, 4 H] with D by direction" },
  { 21, "DequantizeLinear", "u8:#4x2 ~1,1@1x2", "axis=0 block_size=2",
    .value = "DequantizeLinear 'n': the scale must have the shape 2x2, but has 1x2" },
  { 18, "AveragePool", "#1x1x4x4", "kernel_shape=2,2 dilations=2,2",
    .value = "AveragePool 'n': it is of opset 19, the model of 18" },
  { 17, "ScatterND", "#3x2 =1@1x1 ~5,-1@1x2", "reduction=max",
    .value = "ScatterND 'n': it is of opset 18, the model of 17" },
  { 17, "Col2Im", "#1x4x2 =2,3 =2,2", "",
    .value = "Col2Im 'n': it is of opset 18, the model of 17" },
  { 18, "DeformConv", "#1x1x2x2 ~1,2@1x1x1x2 ~0.5,0,0,0,0,0,0,0@1x4x2x1", "",
    .value = "DeformConv 'n': opset 18 has no such op here" },
  { 19, "DeformConv", "#1x1x2x2 ~1,2@1x1x1x2 ~0.5,0,0,0,0,0,0,0@1x4x2x1", "kernel_shape=2,1",
    .value = "DeformConv 'n': kernel_shape differs from the shape of its weights" },
  { 17, "LpPool", "#1x1x4x4", "kernel_shape=2,2 ceil_mode=1",
    .value = "LpPool 'n': it is of opset 18, the model of 17" },
  { 23, "TensorScatter", "#1x3x1 ~8,9@1x2x1", "", .value = "TensorScatter 'n': opset 23 has no such op here" },
  { 24, "TensorScatter", "#1x3x1 ~8,9@1x2x1 =1,2", "", .value = "TensorScatter 'n': write_indices must have the shape 1, but has 2" },
  { 24, "TensorScatter", "#2x3x1 ~8,9@1x2x1", "axis=0", .value = "TensorScatter 'n': axis must be between 1 and 2, or negative, for rank 3, not 0" },
  { 20, "AffineGrid", "~1,0,0,0,1,0@1x2x3 =1,1,2,2,3", "", .value = "AffineGrid 'n': theta must have the shape 1x3x4, but has 1x2x3" },
  { 20, "AffineGrid", "~1,0,0,0,1,0@1x2x3 =1,1,0,3", "", .value = "AffineGrid 'n': size must have entries of at least 1, not 0" },
  { 19, "Gelu", "#2", "", .value = "Gelu 'n': opset 19 has no such op here" },
  { 22, "Attention", "#1x1x2x2 #1x1x2x2 #1x1x2x2", "", .value = "Attention 'n': opset 22 has no such op here" },
  { 23, "Attention", "#1x2x4 #1x2x4 #1x2x4", "", .value = "Attention 'n': operand 0 must have rank 4, or rank 3 and a multiple of its 0 heads" },
  { 23, "Attention", "#1x1x2x2 #1x1x2x2 #1x1x2x2 #2x3", "", .value = "Attention 'n': attn_mask must have rank 2 to 4 and a column for each of 2 keys" },
  { 23, "Attention", "#1x3x2x2 #1x2x2x2 #1x2x2x2", "", .value = "Attention 'n': the heads of Q must be a multiple of those of K and V" },
  { 23, "Attention", "#1x1x2x2 #1x1x2x2 #1x1x2x2", "qk_matmul_output_mode=4", .value = "Attention 'n': qk_matmul_output_mode 4 is not known", .results = "a b c y" },
  { 23, "RotaryEmbedding", "#1x2x2x4 #1x3x1 #1x3x1", "", .value = "RotaryEmbedding 'n': cos_cache without position_ids must have the shape 1x2x?, but has 1x3x1" },
  { 23, "Swish", "#2", "", .value = "Swish 'n': opset 23 has no such op here" },
  { 17, "BitwiseNot", "u8:#2", "", .value = "BitwiseNot 'n': it is of opset 18, the model of 17" },
};
/* clang-format on */

START_TEST (every_node_has_its_value)
{
  const Meaning *m = &meanings[_i];
  g_autoptr (Model) model =
      model_of_node (m->opset, m->op, m->operands, m->attrs, m->results == NULL ? "y" : m->results);
  g_autofree char *value = model_value (model);

  ck_assert_msg (g_str_equal (value, m->value), "%s %s of opset %d: %s, not %s", m->op, m->operands,
                 (int) m->opset, value, m->value);
}
END_TEST

/* Returns the value of a model that reads five 4-bit elements. */
static char *
value_of_halves (const char *op, gint32 data_type)
{
  g_autoptr (Model) model = model_new (21);
  const guint8 bytes[] = { 0xF1, 0x87, 0x02 };
  const float scale = 0.5f;
  Onnx__TensorProto *halves =
      model_add_initializer (model, "x", &CLEAVE_TYPE (CLEAVE_UINT8, 3), bytes);

  halves->data_type = data_type;
  halves->dims[0] = 5;
  model_add_initializer (model, "s", &CLEAVE_SCALAR (CLEAVE_FLOAT32), &scale);
  model_add_node (model, op, "n", "x s", "y");
  model_add_output (model, "y");
  return model_value (model);
}

START_TEST (elements_of_4_bits_are_dequantized)
{
  g_autofree char *without_sign = value_of_halves ("DequantizeLinear", 21),
                  *with_sign = value_of_halves ("DequantizeLinear", 22),
                  *read_by_others = value_of_halves ("Mul", 22);

  ck_assert_str_eq (without_sign, "5: 0.5 7.5 3.5 4 1");
  ck_assert_str_eq (with_sign, "5: 0.5 -0.5 3.5 -4 1");
  ck_assert_str_eq (
      read_by_others,
      "Mul 'n': operand 0 has elements of 4 bits, which DequantizeLinear alone may read");
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *table = tcase_create ("values");

  tcase_add_loop_test (table, every_node_has_its_value, 0, G_N_ELEMENTS (meanings));
  tcase_add_test (table, elements_of_4_bits_are_dequantized);
  suite_add_tcase (suite, table);
}

CLEAVE_TEST_SUITE ("upgrade-meaning", add_tests)
