/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Replaces the errors of GLib about files, which name temporary files and internal functions. */

#include "file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

gboolean
cleave_fail_to_read (const char *path, GError **error)
{
  int number = errno;

  g_set_error (error, G_FILE_ERROR, (int) g_file_error_from_errno (number), "cannot read '%s': %s",
               path, g_strerror (number));
  return FALSE;
}

gboolean
cleave_check_readable (const char *path, GError **error)
{
  gboolean is_readable = access (path, R_OK) == 0;

  if (is_readable && !g_file_test (path, G_FILE_TEST_IS_DIR))
    return TRUE;
  if (is_readable)
    errno = EISDIR;
  return cleave_fail_to_read (path, error);
}

gboolean
cleave_write_file (const char *path, gconstpointer data, gssize n, GError **error)
{
  g_autoptr (GError) mine = NULL;
  const char *reason;

  if (g_file_set_contents (path, data, n, &mine))
    return TRUE;
  /* The message of GLib ends with the reason of the system, after the name of a temporary file. */
  reason = strrchr (mine->message, ':');
  g_set_error (error, mine->domain, mine->code, "cannot write '%s'%s", path,
               reason == NULL ? "" : reason);
  return FALSE;
}
