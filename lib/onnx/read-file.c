/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads the file of a model into private pages, which can be released one by one. Does not map the
 * file: if another process shortens a mapped file, the system kills this process (SIGBUS). */

#include "read-file.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../ir/file.h"
#include "../ir/memory.h"

typedef struct
{
  gpointer data;
  gsize n_bytes;
} Pages;

static void
pages_free (gpointer data)
{
  Pages *pages = data;

  munmap (pages->data, pages->n_bytes);
  g_free (pages);
}

/* Reads up to `n` bytes into `data`. Returns the number of bytes that were read, which is less than
 * `n` if the file ends earlier; -1 on error. */
static gssize
read_all (int file, guint8 *data, gsize n)
{
  gsize at = 0;

  while (at < n)
    {
      gssize got = read (file, data + at, MIN (n - at, 1 << 30));

      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        return -1;
      if (got == 0)
        break;
      at += (gsize) got;
    }
  return (gssize) at;
}

static GBytes *
read_open (int file)
{
  struct stat info;
  gssize n;
  Pages *pages;
  gpointer data;

  if (fstat (file, &info) != 0)
    return NULL;
  if (S_ISDIR (info.st_mode))
    {
      errno = EISDIR;
      return NULL;
    }
  if (info.st_size == 0)
    return g_bytes_new (NULL, 0);
  if (info.st_size > G_MAXINT32) /* limit of protobuf: 2 GiB */
    {
      errno = EFBIG;
      return NULL;
    }
  data =
      mmap (NULL, (gsize) info.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED)
    return NULL;
  cleave_memory_populate (data, (gsize) info.st_size);
  pages = g_new (Pages, 1);
  *pages = (Pages){ data, (gsize) info.st_size };
  n = read_all (file, data, pages->n_bytes);
  if (n < 0)
    {
      int number = errno;

      pages_free (pages);
      errno = number;
      return NULL;
    }
  return g_bytes_new_with_free_func (data, (gsize) n, pages_free, pages);
}

GBytes *
cleave_onnx_read_file (const char *path, GError **error)
{
  int file = g_open (path, O_RDONLY | O_CLOEXEC, 0);
  GBytes *bytes = file < 0 ? NULL : read_open (file);

  if (bytes == NULL)
    cleave_fail_to_read (path, error);
  if (file >= 0)
    close (file);
  return bytes;
}
