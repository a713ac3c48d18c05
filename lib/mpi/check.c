/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts an error code of MPI into a GError. The message contains the text that MPI has for the
 * code. */

#include "check.h"

#include <gio/gio.h>
#include <mpi.h>

gboolean
cleave_mpi_check (int code, const char *what, GError **error)
{
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;

  if (code == MPI_SUCCESS)
    return TRUE;
  MPI_Error_string (code, text, &length);
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "cannot %s: %s", what, text);
  return FALSE;
}
