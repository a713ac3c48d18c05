/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Forms of models that the importers refuse, and what a user can do. operators.c prints the table.
 */
static const struct
{
  const char *what, *remedy;
} refusals[] = {
  { "random numbers: `Bernoulli`, `Multinomial`, `RandomNormal`…, a `Dropout` in training",
    "compute the numbers outside the model, as an input" },
  { "`RegexFullMatch`, `Unique`, `TopK` and `TfIdfVectorizer` of strings",
    "run these nodes in front of the model; `cleave extract` writes the other nodes" },
  { "maps of `ai.onnx.ml` (`ZipMap`, `DictVectorizer`), and classifiers of `ai.onnx.ml`",
    "export the model without these ops; `LabelEncoder` and `ArrayFeatureExtractor` run" },
  { "a sequence or an optional value with other elements than tensors, such as maps, as an input "
    "or an output of the model",
    "export the model without this input or output" },
  { "complex numbers, and 8-bit floats that a node computes", "none" },
  { "a node of an unknown domain in the dynamic part",
    "the file keeps the node, but `cleave run` fails" },
  { "a dynamic node that reads a weight of 4 bits or of 8-bit floats",
    "store the weight as `float32` or `int8`" },
  { "a dynamic node that reads channels in blocks (`com.microsoft.nchwc`)",
    "save the model with the level `extended` of ONNX Runtime" },
  { "an operand that must be known at import, such as `starts` of `Slice` behind an input",
    "give the value of the input with `--fix`" },
  { "a saved program, ranks, or a graph as text of a model with a dynamic part",
    "use `cleave run` with the model" },
  { "`partition`, `extract` and `bundle` of the dynamic part",
    "the commands write the static part, and report this; run the dynamic part with ONNX "
    "Runtime" },
  { "the computed `total_sequence_length`, quantized caches, `sliding_window_cache` and norms of "
    "Q "
    "and K of `GroupQueryAttention`; `past_present_share_buffer`, `do_rotary` and the output of "
    "Q "
    "times K of `Attention`",
    "export the model without these, or with the `Attention` of opset 23" },
  { "`g_idx` and `weight_prepacked` of `MatMulNBits`", "quantize without reordering of columns" },
  { "peepholes, `clip`, `sequence_lens` and other activations of `DynamicQuantizeLSTM`",
    "use `LSTM`, which supports these" },
  { "`sequence_lens` of `Scan` 8", "convert the model to opset 9 or later" },
  { "blocks of 8-bit floats", "store the weight as `float32` or `int8`" },
  { "`transBatchA` and `transBatchB` of `FusedMatMul`; the mean and the deviation of "
    "`SkipLayerNormalization`",
    "save the model with the level `basic` of ONNX Runtime" },
  { "`tf_half_pixel_for_nn` of `Resize` with `exclude_outside` or with another `nearest_mode`",
    "export the model with `half_pixel`" },
  { "a tensor in segments", "write the tensor as one raw tensor or as external data" },
};

/* Messages of the importers about models that Cleave does not support, and what a user can do.
 * operators.c prints the table, and tests/structure/refusals.py compares it with the messages in
 * lib/onnx and lib/tflite. "…" stands for a number or a name in a message. */
static const struct
{
  const char *message, *remedy;
} refusal_messages[] = {
  /* ONNX */
  { "opset … is not supported", "convert the model with `onnx.version_converter`" },
  { "IR version … is not supported", "save the model with a newer version of `onnx`" },
  { "random numbers are not supported", "make the random numbers an input of the model" },
  { "strings are not supported: values are numbers",
    "load the model with a dynamic part: the option `dynamic` in C" },
  { "strings and labels are not supported here",
    "load the model with a dynamic part: the option `dynamic` in C" },
  { "element type … is not supported", "cast the value to a type of the table above" },
  { "element type string is not supported", "cast the value to a type of the table above" },
  { "its element type is not supported", "cast the operand to `float32` or `int64`" },
  { "attribute '…' is …, which is not supported", "export the model with a numeric attribute" },
  { "… '…' is not supported", "export the node with another value of the attribute" },
  { "reduction '…' is not supported", "use `none`, `sum` or `mean`" },
  { "tensors in segments are not supported",
    "write the tensor as one raw tensor or as external data" },
  { "sequence_lens is not supported", "convert `Scan` to opset 9; use `LSTM`, which supports it" },
  { "blocks of 8-bit floats are not supported", "store the weight as `float32` or `int8`" },
  { "its result 3, of Q and K, is not supported", "export the model without this result" },
  { "transBatchA and transBatchB are not supported",
    "save the model with the level `basic` of ONNX Runtime" },
  { "its mean and its deviation are not supported",
    "save the model with the level `basic` of ONNX Runtime" },
  { "a quantized cache is not supported", "export the model with a cache of floats" },
  { "peepholes are not supported", "use `LSTM`, which supports peepholes" },
  { "activations and clip are not supported", "use `LSTM`, which supports these" },
  { "input_forget is not supported", "use `LSTM`, which supports `input_forget`" },
  { "channels in blocks are not supported here",
    "save the model with the level `extended` of ONNX Runtime" },
  { "its weights are not supported for …", "cast the operand of `Resize` to `float32`" },
  { "its weights are not supported for rank …",
    "reshape the operand of `Resize` to fewer dimensions" },
  { "tf_half_pixel_for_nn with nearest_mode '…' is not supported",
    "export the model with `half_pixel`" },
  { "tf_half_pixel_for_nn with exclude_outside is not supported",
    "export the model with `half_pixel`" },
  /* The messages of lib/tflite begin here. */
  { "the operator is not supported",
    "convert the model without this operator: the page *TensorFlow Lite* lists the operators" },
  { "has the element type … of the schema, which is not supported",
    "convert the model with `float32`, `int8` or `int16` values" },
  { "the element type of the output is not supported",
    "convert the model with `float32`, `int8` or `int16` values" },
  { "an element type that is not supported",
    "convert the model with `float32`, `int8` or `int16` values" },
  { "uint8 with a scale is not supported", "quantize the model to `int8`" },
  { "its kind of quantization is not supported", "quantize with scales and zero points" },
  { "an activation on integers is not supported", "convert the model without a fused activation" },
  { "activation … on integers is not supported", "convert the model without a fused activation" },
  { "activation … is not supported", "convert the model with one of the supported activations" },
  { "weights in the shuffled format are not supported",
    "convert the model with weights in the default format" },
  { "alpha is …; below 0 it is not supported", "use a `PReLU` instead of a `LeakyReLU`" },
  { "input …, of …, is not supported", "convert the model without this input of the LSTM" },
  { "a clip of the cell is not supported", "convert the model without `cell_clip`" },
  { "input … is a variable, which is not supported", "make the variable an input of the model" },
  { "variables of a called subgraph are not supported", "make the variable an input of the model" },
  { "sparse elements of this type are not supported", "convert the model with dense weights" },
};
