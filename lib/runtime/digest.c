/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "digest.h"

char *
cleave_constant_dup_digest (CleaveTensor *constant)
{
  g_autoptr (GBytes) bytes = cleave_tensor_dup_bytes (constant);

  return g_compute_checksum_for_bytes (G_CHECKSUM_SHA256, bytes);
}
