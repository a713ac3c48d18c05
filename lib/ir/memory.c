/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "memory.h"

#include <stdlib.h>

#include "error.h"

gpointer
cleave_memory_try (gint64 n_bytes, gsize alignment, const char *what, GError **error)
{
  gpointer memory = NULL;

  if (posix_memalign (&memory, alignment, (gsize) MAX (n_bytes, 1)) == 0)
    return memory;
  cleave_fail (error, CLEAVE_ERROR_MEMORY,
               "there is no memory for the %" G_GINT64_FORMAT " bytes of %s", n_bytes, what);
  return NULL;
}
