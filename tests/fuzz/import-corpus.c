/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs the fuzz target without a fuzzer: on small models, and on what some thousand seeds make of
 * them. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../models.h"

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

#define N_SEEDS 20000

/* Models */

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

  model_add_input (model, "x", "2x3x4");
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

/* Changes */

/* Numbers at which sizes and indices go wrong. */
static const guint8 odd[] = { 0x00, 0x01, 0x02, 0x07, 0x08, 0x09, 0x0a, 0x7f, 0x80, 0xff };

static void
change (GByteArray *bytes, GRand *rand)
{
  guint at = (guint) g_rand_int_range (rand, 0, (gint32) bytes->len);
  guint wanted = (guint) g_rand_int_range (rand, 1, 9);
  guint n = MIN (wanted, bytes->len - at);
  guint8 byte = odd[g_rand_int_range (rand, 0, G_N_ELEMENTS (odd))];
  guint8 copy[8];

  switch (g_rand_int_range (rand, 0, 6))
    {
    case 0:
      bytes->data[at] ^= (guint8) (1 << g_rand_int_range (rand, 0, 8));
      break;
    case 1:
      bytes->data[at] = byte;
      break;
    case 2: /* another of the file's own bytes */
      bytes->data[at] = bytes->data[g_rand_int_range (rand, 0, (gint32) bytes->len)];
      break;
    case 3:
      g_byte_array_remove_range (bytes, at, n);
      break;
    case 4:
      memcpy (copy, bytes->data + at, n);
      g_byte_array_append (bytes, copy, n);
      break;
    default:
      memset (bytes->data + at, byte, n);
      break;
    }
}

static gboolean
is_accepted (const GByteArray *data)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data->data, data->len);
  g_autoptr (CleaveGraph) graph = cleave_onnx_parse (bytes, NULL, NULL, NULL);

  return graph != NULL;
}

/* Whether the changed file is still a model. */
static gboolean
run_seed (GBytes *const *files, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  GBytes *file = files[g_rand_int_range (rand, 0, G_N_ELEMENTS (models))];
  g_autoptr (GByteArray) bytes = g_byte_array_new ();
  guint n_changes = (guint) g_rand_int_range (rand, 1, 5);
  gsize size;

  g_byte_array_append (bytes, g_bytes_get_data (file, &size), (guint) g_bytes_get_size (file));
  for (guint i = 0; i < n_changes && bytes->len > 0; i++)
    change (bytes, rand);
  LLVMFuzzerTestOneInput (bytes->data, bytes->len);
  return is_accepted (bytes);
}

/* Files named on the command line are run instead. */
static int
run_files (char **paths)
{
  for (guint i = 0; paths[i] != NULL; i++)
    {
      g_autoptr (GMappedFile) file = g_mapped_file_new (paths[i], FALSE, NULL);

      if (file == NULL)
        return 1;
      LLVMFuzzerTestOneInput ((const guint8 *) g_mapped_file_get_contents (file),
                              g_mapped_file_get_length (file));
    }
  return 0;
}

int
main (int argc, char **argv)
{
  GBytes *files[G_N_ELEMENTS (models)];
  guint n_accepted = 0;

  if (argc > 1)
    return run_files (argv + 1);
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      g_autoptr (Model) model = models[i]();
      g_autoptr (GError) error = NULL;
      g_autoptr (CleaveGraph) graph = model_import (model, &error);

      g_assert_no_error (error);
      files[i] = model_pack (model);
    }
  for (guint32 seed = 0; seed < N_SEEDS; seed++)
    {
      if (g_getenv ("FUZZ_VERBOSE") != NULL)
        fprintf (stderr, "seed %u\n", seed);
      n_accepted += run_seed (files, seed) ? 1 : 0;
    }
  printf ("%u of %u accepted\n", n_accepted, N_SEEDS);
  g_assert_cmpuint (n_accepted, >, N_SEEDS / 100);
  g_assert_cmpuint (n_accepted, <, N_SEEDS);
  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    g_bytes_unref (files[i]);
  return 0;
}
