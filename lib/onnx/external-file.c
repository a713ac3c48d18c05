/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads external data part by part, and does not map the file. If another process shortens a mapped
 * file, the next access to its end kills this process (SIGBUS). Reading a file from the page cache
 * takes 0.6 s of processor time per GiB, and private memory. But Cleave can release weights after
 * it has packed them: a run with 1.5 GiB of weights peaks at 1.6 GiB, not 3.1 GiB.
 *
 * Cleave maps two kinds of data nevertheless:
 *
 * - a file of more than 2 GiB, so that a command that only plans reads no weights (`info` of a 3
 *   GiB model takes 7 MiB, not 3.1 GiB);
 * - weights that would leave no memory for packed weights and activations.
 *
 * When Cleave frees a part of the mapped data, it also releases the pages of this part. */

#include "external-file.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../ir/error.h"
#include "../ir/file.h"
#include "../ir/memory.h"

/* alignment of parts in memory, in bytes, since kernels load whole vectors */
#define ALIGNMENT 64

/* a file of more than this many bytes is always mapped */
#define LARGE ((guint64) 1 << 31)

/* A file that is mapped into memory. The CleaveExternalFile and each MappedPart hold a
 * reference. */
typedef struct
{
  char *data;
  gsize n_bytes;
} Mapping;

/* A part of a mapped file, as a range of byte offsets. Holds a reference to the mapping. */
typedef struct
{
  Mapping *mapping;
  gsize begin, end;
} MappedPart;

struct _CleaveExternalFile
{
  char *path;
  int file;
  guint64 size;
  GHashTable *parts; /* maps the text "offset bytes" of each part to its GBytes */
  Mapping *mapped;   /* the mapping; NULL: the file is not mapped */
};

/* The list of all mappings (Mapping) of the process, and its lock. cleave_external_file_forget()
 * finds the mapping that contains an address. */
static GMutex lock;
static GPtrArray *mappings; /* the mappings; NULL: no file has been mapped yet */

static void
mapping_clear (gpointer data)
{
  Mapping *mapping = data;

  g_mutex_lock (&lock);
  g_ptr_array_remove_fast (mappings, mapping);
  g_mutex_unlock (&lock);
  if (mapping->data != NULL)
    munmap (mapping->data, mapping->n_bytes);
}

static void
mapping_unref (Mapping *mapping)
{
  g_atomic_rc_box_release_full (mapping, mapping_clear);
}

/* Releases the pages that lie completely within a range of a mapping. A later access reads them
 * from the file again. */
static void
release (char *data, gsize n_bytes)
{
  gsize page = (gsize) sysconf (_SC_PAGESIZE);
  gsize begin = ((gsize) data + page - 1) / page * page,
        end = ((gsize) data + n_bytes) / page * page;

  if (begin < end)
    madvise ((gpointer) begin, end - begin, MADV_DONTNEED);
}

CleaveExternalFile *
cleave_external_file_new (const char *path, GError **error)
{
  CleaveExternalFile *file = g_new0 (CleaveExternalFile, 1);
  struct stat info;

  file->path = g_strdup (path);
  file->parts =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) g_bytes_unref);
  file->file = g_open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
  if (file->file >= 0 && fstat (file->file, &info) == 0)
    {
      file->size = (guint64) info.st_size;
      return file;
    }
  cleave_fail_to_read (file->path, error);
  cleave_external_file_free (file);
  return NULL;
}

void
cleave_external_file_free (CleaveExternalFile *file)
{
  if (file->file >= 0)
    close (file->file);
  g_hash_table_unref (file->parts);
  g_clear_pointer (&file->mapped, mapping_unref);
  g_free (file->path);
  g_free (file);
}

guint64
cleave_external_file_get_size (const CleaveExternalFile *file)
{
  return file->size;
}

gint64
cleave_external_file_get_budget (void)
{
  return (gint64) sysconf (_SC_PHYS_PAGES) / 2 * sysconf (_SC_PAGESIZE);
}

/* Reads `n` bytes from the offset `offset` of the file. Fails if the file has become shorter. */
static gboolean
read_into (const CleaveExternalFile *file, guint64 offset, char *data, gsize n, GError **error)
{
  gsize at = 0;

  while (at < n)
    {
      gssize got =
          pread (file->file, data + at, MIN (n - at, 1 << 30), (off_t) (offset + (guint64) at));

      if (got < 0 && errno == EINTR)
        continue;
      if (got < 0)
        return cleave_fail_to_read (file->path, error);
      if (got == 0)
        return cleave_fail (error, CLEAVE_ERROR_MODEL, "'%s' became shorter while it was read",
                            file->path);
      at += (gsize) got;
    }
  return TRUE;
}

static GBytes *
read_part (
    const CleaveExternalFile *file, guint64 offset, gsize n_bytes, gpointer memory, GError **error)
{
  cleave_memory_populate (memory, n_bytes);
  if (read_into (file, offset, memory, n_bytes, error))
    return g_bytes_new_with_free_func (memory, n_bytes, free, memory);
  free (memory);
  return NULL;
}

/* Returns a mapping of the whole file with its current size, since the file may have become shorter
 * after it was opened. */
static Mapping *
mapping_new (const CleaveExternalFile *file, GError **error)
{
  char *data = NULL;
  Mapping *mapping;
  struct stat info;

  if (fstat (file->file, &info) != 0 ||
      (info.st_size > 0 && (data = mmap (NULL, (gsize) info.st_size, PROT_READ, MAP_PRIVATE,
                                         file->file, 0)) == MAP_FAILED))
    {
      cleave_fail_to_read (file->path, error);
      return NULL;
    }
  mapping = g_atomic_rc_box_new (Mapping);
  *mapping = (Mapping){ data, (gsize) info.st_size };
  g_mutex_lock (&lock);
  if (mappings == NULL)
    mappings = g_ptr_array_new ();
  g_ptr_array_add (mappings, mapping);
  g_mutex_unlock (&lock);
  return mapping;
}

void
cleave_external_file_forget (gconstpointer data, gsize n_bytes)
{
  g_mutex_lock (&lock);
  for (guint i = 0; mappings != NULL && i < mappings->len; i++)
    {
      const Mapping *mapping = mappings->pdata[i];
      gsize offset = (gsize) data - (gsize) mapping->data;

      if (offset < mapping->n_bytes && n_bytes <= mapping->n_bytes - offset)
        release (mapping->data + offset, n_bytes);
    }
  g_mutex_unlock (&lock);
}

static void
part_free (gpointer data)
{
  MappedPart *part = data;

  release (part->mapping->data + part->begin, part->end - part->begin);
  mapping_unref (part->mapping);
  g_free (part);
}

static GBytes *
map_part (CleaveExternalFile *file, guint64 offset, gsize n_bytes, GError **error)
{
  MappedPart *part;

  if (file->mapped == NULL)
    file->mapped = mapping_new (file, error);
  if (file->mapped == NULL)
    return NULL;
  if (offset > file->mapped->n_bytes || n_bytes > file->mapped->n_bytes - offset)
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL, "'%s' became shorter while it was read",
                             file->path);
  part = g_new (MappedPart, 1);
  *part = (MappedPart){ g_atomic_rc_box_acquire (file->mapped), (gsize) offset,
                        (gsize) offset + n_bytes };
  return g_bytes_new_with_free_func (file->mapped->data + offset, n_bytes, part_free, part);
}

GBytes *
cleave_external_file_get (
    CleaveExternalFile *file, guint64 offset, gsize n_bytes, gint64 *budget, GError **error)
{
  g_autofree char *key =
      g_strdup_printf ("%" G_GUINT64_FORMAT " %" G_GSIZE_FORMAT, offset, n_bytes);
  GBytes *part = g_hash_table_lookup (file->parts, key);
  gpointer memory = NULL;

  if (part != NULL)
    return g_bytes_ref (part);
  if ((gint64) n_bytes <= *budget && file->size <= LARGE)
    memory = cleave_memory_try ((gint64) n_bytes, ALIGNMENT, "external data", NULL);
  if (memory == NULL)
    return map_part (file, offset, n_bytes, error);
  part = read_part (file, offset, n_bytes, memory, error);
  if (part == NULL)
    return NULL;
  *budget -= (gint64) n_bytes;
  g_hash_table_insert (file->parts, g_steal_pointer (&key), g_bytes_ref (part));
  return part;
}
