/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "memory.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* Where the system can, and silently nowhere else. */
#ifdef MADV_POPULATE_WRITE
#define POPULATE MADV_POPULATE_WRITE
#else
#define POPULATE MADV_NORMAL
#endif

/* Bytes.  A system call for less costs as much as the faults that it saves. */
#define LARGE (128 << 10)

void
cleave_memory_populate (gpointer memory, gsize n_bytes)
{
  gsize page = (gsize) sysconf (_SC_PAGESIZE);
  gsize skipped = (page - (guintptr) memory % page) % page;

  if (n_bytes >= LARGE)
    madvise ((char *) memory + skipped, (n_bytes - skipped) / page * page, POPULATE);
}
