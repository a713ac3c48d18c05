/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The input is a file with tensors, in any of the formats. If an accepted tensor is written as .npy
 * and read, it must be the same tensor. */

#include "../../tools/npy.h"
#include "../../tools/npz.h"
#include "fuzz.h"

static void
check (CleaveTensor *tensor, const GError *error)
{
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (CleaveTensor) again = NULL;

  if ((tensor == NULL) != (error != NULL))
    fuzz_fail ("neither a tensor nor an error, or both");
  if (tensor == NULL)
    return;
  bytes = cleave_npy_serialize (tensor);
  again = cleave_npy_parse (bytes, NULL);
  if (again == NULL || !cleave_tensor_equal (tensor, again))
    fuzz_fail ("a written tensor differs when it is read");
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  g_autoptr (GError) npy_error = NULL, proto_error = NULL;
  g_autoptr (CleaveTensor) npy = cleave_npy_parse (bytes, &npy_error);
  g_autoptr (CleaveTensor) proto = cleave_onnx_parse_tensor (bytes, &proto_error);

  g_autoptr (GError) npz_error = NULL;
  g_autoptr (GArray) archive = cleave_npz_parse (bytes, &npz_error);

  check (npy, npy_error);
  check (proto, proto_error);
  if ((archive == NULL) != (npz_error != NULL))
    fuzz_fail ("neither an archive nor an error, or both");
  for (guint i = 0; archive != NULL && i < archive->len; i++)
    check (g_array_index (archive, CleaveNpzEntry, i).tensor, NULL);
  return 0;
}
