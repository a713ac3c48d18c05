/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Allocates, populates and frees large blocks: aligned blocks, blocks that another process can map,
 * and arrays. Populating a block makes the system allocate all its pages in one call, so that the
 * first access to a page causes no page fault. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* declares memfd_create() */
#endif

#include "memory.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "error.h"

static gpointer
fail (gint64 n_bytes, const char *what, GError **error)
{
  return cleave_fail_null (error, CLEAVE_ERROR_MEMORY,
                           "there is no memory for the %" G_GINT64_FORMAT " bytes of %s", n_bytes,
                           what);
}

gpointer
cleave_memory_try (gint64 n_bytes, gsize alignment, const char *what, GError **error)
{
  gpointer memory = NULL;

  if (posix_memalign (&memory, alignment, (gsize) MAX (n_bytes, 1)) == 0)
    return memory;
  return fail (n_bytes, what, error);
}

/* Ignores `alignment`: mmap() returns whole pages, which are aligned enough for any request. */
gpointer
cleave_memory_try_shared (
    gint64 n_bytes, gsize alignment, const char *what, int *fd, GError **error)
{
  gsize size = (gsize) MAX (n_bytes, 1);
  gpointer memory;

  *fd = memfd_create ("cleave", MFD_CLOEXEC);
  if (*fd >= 0 && ftruncate (*fd, (off_t) size) != 0)
    {
      close (*fd);
      *fd = -1;
    }
  if (*fd < 0)
    return cleave_memory_try (n_bytes, alignment, what, error);
  memory = mmap (NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
  if (memory != MAP_FAILED)
    return memory;
  close (*fd);
  *fd = -1;
  return fail (n_bytes, what, error);
}

void
cleave_memory_free_shared (gpointer memory, gint64 n_bytes, int fd)
{
  if (fd < 0)
    {
      free (memory);
      return;
    }
  munmap (memory, (gsize) MAX (n_bytes, 1));
  close (fd);
}

/* The advice of madvise() that populates pages. If the system does not define this advice,
 * cleave_memory_populate() does nothing. */
#ifdef MADV_POPULATE_WRITE
#define POPULATE MADV_POPULATE_WRITE
#else
#define POPULATE MADV_NORMAL
#endif

/* Blocks of less than this many bytes are not populated: the system call would cost as much as the
 * page faults that it saves. */
#define LARGE (128 << 10)

void
cleave_memory_populate (gpointer memory, gsize n_bytes)
{
  gsize page, skipped;

  if (n_bytes < LARGE)
    return;
  page = (gsize) sysconf (_SC_PAGESIZE);
  skipped = (page - (guintptr) memory % page) % page;
  madvise ((char *) memory + skipped, (n_bytes - skipped) / page * page, POPULATE);
}

gpointer
cleave_memory_new (gsize n, gsize size)
{
  gpointer memory = g_malloc_n (n, size);

  cleave_memory_populate (memory, n * size);
  return memory;
}

gpointer
cleave_memory_new0 (gsize n, gsize size)
{
  gpointer memory = g_malloc0_n (n, size);

  cleave_memory_populate (memory, n * size);
  return memory;
}

GPtrArray *
cleave_memory_list (guint n)
{
  GPtrArray *list = g_ptr_array_sized_new (n);

  cleave_memory_populate (list->pdata, n * sizeof (gpointer));
  return list;
}
