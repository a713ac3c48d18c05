/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "arguments.h"

#include <string.h>

gboolean
cleave_argument_fail (GError **error, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error_literal (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION, message);
  return FALSE;
}

void
cleave_argument_pair (const char *text, gboolean last, char **name, const char **value)
{
  const char *equals = last ? strrchr (text, '=') : strchr (text, '=');

  *name = equals == NULL ? NULL : g_strndup (text, (gsize) (equals - text));
  *value = equals == NULL ? text : equals + 1;
}

/* What is not an option, but the end of the options. */
static char **
take_files (int argc, char **argv)
{
  GPtrArray *files = g_ptr_array_new ();

  for (int i = 1; i < argc; i++)
    if (i > 1 || !g_str_equal (argv[i], "--"))
      g_ptr_array_add (files, g_strdup (argv[i]));
  g_ptr_array_add (files, NULL);
  return (char **) g_ptr_array_free (files, FALSE);
}

char **
cleave_argument_parse (int argc,
                       char **argv,
                       const GOptionEntry *entries,
                       const char *what,
                       const char *summary,
                       guint n_files,
                       GError **error)
{
  g_autofree char *usage = g_strdup (what);
  g_autoptr (GOptionContext) context = g_option_context_new (n_files > 0 ? usage : NULL);
  g_auto (GStrv) files = NULL;

  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_set_summary (context, summary);
  if (!g_option_context_parse (context, &argc, &argv, error))
    return NULL;
  files = take_files (argc, argv);
  if (n_files == G_MAXUINT || g_strv_length (files) == n_files)
    return g_steal_pointer (&files);
  if (n_files == 0)
    cleave_argument_fail (error, "expected options alone, not '%s'", files[0]);
  else
    cleave_argument_fail (error, "expected %s, not %u files", what, g_strv_length (files));
  return NULL;
}
