/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Bytes drive both readers of tensors.  What one of them accepts, .npy can say, and is read again
 * as the same. */

#include "../../tools/npy.h"
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
    fuzz_fail ("what was written is not what is read");
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  g_autoptr (GError) npy_error = NULL, proto_error = NULL;
  g_autoptr (CleaveTensor) npy = cleave_npy_parse (bytes, &npy_error);
  g_autoptr (CleaveTensor) proto = cleave_onnx_parse_tensor (bytes, &proto_error);

  check (npy, npy_error);
  check (proto, proto_error);
  return 0;
}
