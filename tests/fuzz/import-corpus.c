/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The corpus of fuzz-import: small models. */

#include "fuzz.h"
#include "models.h"

static Model *
window_model (void)
{
  static const CleaveTensorType weights = { CLEAVE_FLOAT32, { 4, { 2, 1, 3, 3 } } };
  Model *model = model_new (13);
  CleaveInts two = CLEAVE_INTS (2, 2), pads = CLEAVE_INTS (1, 1, 1, 1);
  Onnx__NodeProto *node;

  model_add_input (model, "x", "1x2x8x8");
  model_add_initializer (model, "w", &weights, NULL);
  node = model_add_node (model, "Conv", "conv", "x w", "a");
  node_add_int (node, "group", 2);
  node_add_ints (node, "pads", &pads);
  node = model_add_node (model, "MaxPool", "pool", "a", "b i");
  node_add_ints (node, "kernel_shape", &two);
  node_add_string (node, "auto_pad", "SAME_UPPER");
  node = model_add_node (model, "ConvTranspose", "up", "b w", "y");
  node_add_ints (node, "strides", &two);
  node_add_string (node, "auto_pad", "SAME_LOWER");
  node_add_int (node, "group", 2);
  model_add_output (model, "y");
  model_add_output (model, "i");
  return model;
}

static Model *
shape_model (void)
{
  Model *model = model_new (13);
  CleaveInts zero = CLEAVE_INTS (0), rest = CLEAVE_INTS (-1), fill = CLEAVE_INTS (2, 3);
  Onnx__NodeProto *node;

  model->doc_string = g_strdup ("text");
  model_add_input (model, "x", "2x3x4")->doc_string = g_strdup ("text");
  model_add_ints (model, "zero", &zero);
  model_add_ints (model, "rest", &rest);
  model_add_ints (model, "fill", &fill);
  model_add_node (model, "Shape", "shape", "x", "s");
  model_add_node (model, "Gather", "first", "s zero", "n");
  node = model_add_node (model, "Concat", "join", "n rest", "to");
  node_add_int (node, "axis", 0);
  model_add_node (model, "Reshape", "flat", "x to", "y");
  model_add_node (model, "ConstantOfShape", "const", "fill", "z");
  model_add_node (model, "Expand", "grow", "zero fill", "e");
  model_add_node (model, "Tile", "tile", "z fill", "t");
  model_add_output (model, "y");
  model_add_output (model, "e");
  model_add_output (model, "t");
  return model;
}

static Model *
old_model (void)
{
  Model *model = model_new (9);
  CleaveInts one = CLEAVE_INTS (1), ends = CLEAVE_INTS (9), pads = CLEAVE_INTS (0, 1, 1, 0, 0, 1);
  CleaveDoubles scales = CLEAVE_DOUBLES (1, 1, 2);
  Onnx__NodeProto *node;

  model_add_input (model, "x", "2x3x4");
  node = model_add_node (model, "Slice", "slice", "x", "a");
  node_add_ints (node, "starts", &one);
  node_add_ints (node, "ends", &ends);
  node_add_ints (node, "axes", &one);
  node = model_add_node (model, "Pad", "pad", "a", "b");
  node_add_ints (node, "pads", &pads);
  node = model_add_node (model, "Softmax", "soft", "b", "c");
  node = model_add_node (model, "Split", "split", "c", "d e");
  node_add_int (node, "axis", 2);
  node = model_add_node (model, "Upsample", "up", "d scales", "y");
  node = model_add_node (model, "ReduceSum", "sum", "e", "z");
  node_add_ints (node, "axes", &one);
  model_add_initializer (model, "scales", &CLEAVE_TYPE (CLEAVE_FLOAT32, 3),
                         (float[]){ 1, 1, (float) scales.v[2] });
  model_add_output (model, "y");
  model_add_output (model, "z");
  return model;
}

static Model *(*const models[]) (void) = { window_model, shape_model, old_model };

GPtrArray *
fuzz_make_corpus (void)
{
  GPtrArray *files = g_ptr_array_new_with_free_func ((GDestroyNotify) g_bytes_unref);

  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autoptr (Model) model = models[i]();

      g_ptr_array_add (files, model_pack (model));
    }
  return files;
}

gboolean
fuzz_is_accepted (GBytes *bytes)
{
  g_autoptr (CleaveGraph) graph = cleave_onnx_parse (bytes, NULL, NULL, NULL);

  return graph != NULL;
}
