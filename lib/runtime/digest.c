/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes the SHA-256 digest of the bytes of a constant, as text. */

#include "digest.h"

char *
cleave_constant_dup_digest (CleaveTensor *constant)
{
  g_autoptr (GBytes) bytes = cleave_tensor_dup_bytes (constant);

  return g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, bytes);
}
