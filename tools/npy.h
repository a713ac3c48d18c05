/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* NumPy's file format, versions 1 to 3, little-endian.  bfloat16, which NumPy has not, is the two
 * bytes "<V2", as ml_dtypes writes it. */
CleaveTensor *cleave_npy_parse (GBytes *bytes, GError **error);
GBytes *cleave_npy_serialize (CleaveTensor *tensor);

/* A tensor from a file: .npy by NumPy's format, .pb as a serialized TensorProto.  Where it has
 * another ending, the error says `endings`. */
CleaveTensor *cleave_tensor_load (const char *path, const char *endings, GError **error);
