/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Reads and writes tensors in NumPy's file format. inputs.c reads the files of --input, model.c
 * reads the files of --fix, and cmd-run.c writes the outputs of a run. npz.c reads archives of .npy
 * files. */

#include <cleave/cleave.h>

/* Returns the tensor of a file in the .npy format, versions 1 to 3, little-endian. Returns NULL on
 * error. NumPy has no bfloat16, so a file stores the two bytes of a bfloat16 with the type "<V2",
 * as the package ml_dtypes writes them. Strings become bytes of UTF-8: the tensor has one more
 * dimension, the bytes of a string. */
CleaveTensor *cleave_npy_parse (GBytes *bytes, GError **error);
GBytes *cleave_npy_serialize (CleaveTensor *tensor);
/* Returns strings (texts.h) as a file in the .npy format, with the type of byte strings ("S"). */
GBytes *cleave_npy_serialize_texts (CleaveTensor *tensor);

/* Returns the tensor in a file: .npy, or .pb with a serialized TensorProto. For any other ending,
 * the error lists `endings`. */
CleaveTensor *cleave_tensor_load (const char *path, const char *endings, GError **error);
