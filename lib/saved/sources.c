/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Records the files of a model in its saved program. When the saved program is loaded, checks that
 * these files are unchanged. */

#include "saved.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../ir/error.h"
#include "../ir/file.h"

#define CHUNK (1 << 20)

/* A file that changed less than this many nanoseconds ago may change again without a new time
 * stamp: the clock for time stamps advances in steps of up to 10 ms. */
#define RECENT 20000000

typedef struct
{
  guint64 size;
  gint64 changed; /* time of the last change, in nanoseconds since 1970 */
} Stamp;

/* Opens a regular file and sets `stamp` to the file's size and time of last change. Returns a file
 * descriptor, or -1 on error. */
static int
open_file (const char *path, Stamp *stamp, GError **error)
{
  int file = g_open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
  struct stat info;

  if (file < 0 || fstat (file, &info) != 0)
    cleave_fail_to_read (path, error);
  else if (!S_ISREG (info.st_mode))
    cleave_fail (error, CLEAVE_ERROR_MODEL, "'%s' is not a file", path);
  else
    {
      *stamp = (Stamp){ (guint64) info.st_size,
                        (gint64) info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec };
      return file;
    }
  if (file >= 0)
    close (file);
  return -1;
}

static char *
dup_sum (int file, const char *path, GError **error)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  g_autofree guint8 *chunk = g_malloc (CHUNK);
  gssize n;

  while ((n = read (file, chunk, CHUNK)) != 0)
    if (n > 0)
      g_checksum_update (sum, chunk, n);
    else if (errno != EINTR)
      return cleave_fail_to_read (path, error), NULL;
  return g_strdup (g_checksum_get_string (sum));
}

/* Returns the nanoseconds since a file changed. The result is negative if the stamp is in the
 * future. */
static gint64
get_age (const Stamp *stamp)
{
  return g_get_real_time () * 1000 - stamp->changed;
}

/* Opens a file, and sets `stamp` to the size and the time of last change of the file. Returns a
 * file descriptor, or -1 on error. If the file changed less than RECENT ago, first waits until
 * RECENT has passed. If the time of last change is in the future, does not wait. Without the wait,
 * cleave_source_new() would store no time, and a second save could write other bytes than the first
 * save. */
static int
open_settled (const char *path, Stamp *stamp, GError **error)
{
  int file = open_file (path, stamp, error);
  gint64 age = file < 0 ? RECENT : get_age (stamp);

  if (age < 0 || age >= RECENT)
    return file;
  close (file);
  g_usleep ((gulong) (RECENT - age) / 1000 + 1);
  return open_file (path, stamp, error);
}

GVariant *
cleave_source_new (const char *path, GError **error)
{
  g_autofree char *sum = NULL;
  Stamp stamp;
  int file = open_settled (path, &stamp, error);

  if (file < 0)
    return NULL;
  if (get_age (&stamp) < RECENT)
    stamp.changed = 0; /* 0: the time is unknown, so that loading compares the checksum */
  sum = dup_sum (file, path, error);
  close (file);
  return sum == NULL ? NULL : g_variant_new ("(^aytxs)", path, stamp.size, stamp.changed, sum);
}

/* Returns whether the file at `path` is unchanged; sets the error if not. If `is_named`, the user
 * named the path, and the function compares the size and the checksum of the file. If not
 * `is_named`, the function accepts a file with the recorded size and time of last change without
 * reading the file.
 */
static gboolean
check_source (GVariant *source, const char *path, gboolean is_named, GError **error)
{
  g_autofree char *sum = NULL;
  const char *expected;
  guint64 size;
  gint64 changed;
  Stamp stamp;
  int file = open_file (path, &stamp, error);
  gboolean same;

  if (file < 0)
    return FALSE;
  g_variant_get_child (source, 1, "t", &size);
  g_variant_get_child (source, 2, "x", &changed);
  g_variant_get_child (source, 3, "&s", &expected);
  same = stamp.size == size;
  if (same && (is_named || stamp.changed != changed))
    {
      sum = dup_sum (file, path, error);
      same = g_strcmp0 (sum, expected) == 0;
    }
  close (file);
  if (!same && (error == NULL || *error == NULL))
    cleave_fail (error, CLEAVE_ERROR_MODEL,
                 "'%s' is not the file that the program was made from: compile the model again",
                 path);
  return same;
}

gboolean
cleave_sources_check (GVariant *sources, const char *model, GError **error)
{
  g_autofree char *folder = model == NULL ? NULL : g_path_get_dirname (model);

  if (model != NULL && g_variant_n_children (sources) == 0)
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "the program was not made from a file");
  for (gsize i = 0; i < g_variant_n_children (sources); i++)
    {
      g_autoptr (GVariant) source = g_variant_get_child_value (sources, i);
      g_autofree char *base = NULL, *path = NULL;
      const char *recorded;

      g_variant_get_child (source, 0, "^&ay", &recorded);
      base = g_path_get_basename (recorded);
      path = model == NULL ? g_strdup (recorded)
             : i == 0      ? g_strdup (model)
                           : g_build_filename (folder, base, NULL);
      if (model == NULL && !g_file_test (path, G_FILE_TEST_EXISTS))
        continue;
      if (!check_source (source, path, model != NULL, error))
        return FALSE;
    }
  return TRUE;
}
