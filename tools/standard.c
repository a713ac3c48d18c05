/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Copies standard input into a file in memory, and copies a file to standard output. While standard
 * output is reserved for a file, all text that the command prints goes to standard error. */

#define _GNU_SOURCE /* declares memfd_create() */

#include "standard.h"

#include "arguments.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCK_BYTES (1 << 16)

gboolean
cleave_standard_is (const char *path)
{
  return g_str_equal (path, "-");
}

static gboolean
write_all (int to, const char *data, gsize n)
{
  while (n > 0)
    {
      gssize written = write (to, data, n);

      if (written < 0 && errno == EINTR)
        continue;
      if (written < 0)
        return FALSE;
      data += written;
      n -= (gsize) written;
    }
  return TRUE;
}

/* Copies everything from one descriptor to another. Returns FALSE and sets errno on error. */
static gboolean
copy (int from, int to)
{
  g_autofree char *block = g_malloc (BLOCK_BYTES);

  for (;;)
    {
      gssize n = read (from, block, BLOCK_BYTES);

      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return n == 0;
      if (!write_all (to, block, (gsize) n))
        return FALSE;
    }
}

/* path of the copy of standard input; NULL: standard input was not read */
static char *copy_path;

gboolean
cleave_read_file (const char *path, char **data, gsize *n_bytes, GError **error)
{
  FILE *file = g_fopen (path, "rbe");
  int number = errno;

  if (file != NULL)
    fclose (file);
  if (file == NULL || g_file_test (path, G_FILE_TEST_IS_DIR))
    {
      number = file == NULL ? number : EISDIR;
      g_set_error (error, G_FILE_ERROR, (gint) g_file_error_from_errno (number),
                   "cannot read '%s': %s", path, g_strerror (number));
      return FALSE;
    }
  return g_file_get_contents (path, data, n_bytes, error);
}

const char *
cleave_standard_name (const char *path)
{
  return g_strcmp0 (path, copy_path) == 0 ? "standard input" : path;
}

const char *
cleave_standard_read (GError **error)
{
  int file;

  if (copy_path != NULL)
    return cleave_argument_fail (error, "standard input is read once, but '-' is given twice"),
           NULL;
  file = memfd_create ("standard input", MFD_CLOEXEC);
  if (file < 0 || !copy (STDIN_FILENO, file))
    return cleave_argument_fail (error, "cannot read standard input: %s", g_strerror (errno)), NULL;
  if (lseek (file, 0, SEEK_CUR) == 0)
    return cleave_argument_fail (error, "standard input is empty"), NULL;
  copy_path = g_strdup_printf ("/proc/self/fd/%d", file);
  return copy_path;
}

/* After cleave_standard_reserve(), the file descriptor of the reserved standard output. Before,
 * -1. */
static int reserved = -1;

gboolean
cleave_standard_reserve (gboolean is_text, GError **error)
{
  if (reserved >= 0)
    return cleave_argument_fail (error, "only one output can go to standard output ('-')");
  if (!is_text && isatty (STDOUT_FILENO))
    return cleave_argument_fail (error, "a terminal cannot show this output: redirect it, or name "
                                        "a file in place of '-'");
  fflush (stdout);
  reserved = fcntl (STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (reserved < 0 || dup2 (STDERR_FILENO, STDOUT_FILENO) < 0)
    return cleave_argument_fail (error, "cannot write to standard output: %s", g_strerror (errno));
  return TRUE;
}

gboolean
cleave_standard_write (const char *path, GError **error)
{
  int file = open (path, O_RDONLY | O_CLOEXEC);
  gboolean good = file >= 0 && copy (file, reserved);
  int number = errno;

  if (file >= 0)
    close (file);
  return good ||
         cleave_argument_fail (error, "cannot write to standard output: %s", g_strerror (number));
}
