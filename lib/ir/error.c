/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Sets a GError from a format and arguments. */

#include "error.h"

/* clang-format off */
G_DEFINE_QUARK (cleave-error-quark, cleave_error)
/* clang-format on */

gboolean
cleave_fail (GError **error, CleaveError code, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  if (error != NULL)
    *error = g_error_new_valist (CLEAVE_ERROR, (int) code, format, args);
  va_end (args);
  return FALSE;
}

gpointer
cleave_fail_null (GError **error, CleaveError code, const char *format, ...)
{
  va_list args;

  va_start (args, format);
  if (error != NULL)
    *error = g_error_new_valist (CLEAVE_ERROR, (int) code, format, args);
  va_end (args);
  return NULL;
}
