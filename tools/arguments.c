/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cleave/cleave-languages.h>

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

/* Options */

char *
cleave_argument_dup_hint (const char *text, const char *const *words)
{
  const char *nearest = cleave_text_find_nearest (text, words);

  return nearest == NULL ? g_strdup ("") : g_strdup_printf ("; did you mean '%s'?", nearest);
}

static const GOptionEntry *
find_short (const GOptionEntry *entries, char letter)
{
  for (; entries->long_name != NULL; entries++)
    if (entries->short_name == letter)
      return entries;
  return NULL;
}

/* GLib wants a blank between -o and FILE. */
static char **
part_short_options (int argc, char **argv, const GOptionEntry *entries)
{
  GPtrArray *parted = g_ptr_array_new ();
  gboolean at_end = FALSE;

  for (int i = 0; i < argc; i++)
    {
      const char *text = argv[i];
      const GOptionEntry *entry =
          at_end || text[0] != '-' || text[1] == '-' ? NULL : find_short (entries, text[1]);

      at_end |= g_str_equal (text, "--");
      if (entry != NULL && entry->arg != G_OPTION_ARG_NONE && text[2] != '\0')
        {
          g_ptr_array_add (parted, g_strndup (text, 2));
          text += 2;
        }
      g_ptr_array_add (parted, g_strdup (text));
    }
  g_ptr_array_add (parted, NULL);
  return (char **) g_ptr_array_free (parted, FALSE);
}

/* The table, for the completion of shells: name, letter, what it takes, what it does. */
static void
list_options (const GOptionEntry *entries)
{
  for (; entries->long_name != NULL; entries++)
    printf ("--%s\t%s%c\t%s\t%s\n", entries->long_name, entries->short_name != 0 ? "-" : "",
            entries->short_name != 0 ? entries->short_name : ' ',
            entries->arg == G_OPTION_ARG_NONE  ? ""
            : entries->arg_description != NULL ? entries->arg_description
                                               : "VALUE",
            entries->description != NULL ? entries->description : "");
}

/* Says of an option that there is not which one there is. */
static void
add_hint (char **argv, const GOptionEntry *entries, GError **error)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  if (error == NULL || !g_error_matches (*error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION))
    return;
  for (guint i = 0; entries[i].long_name != NULL; i++)
    g_ptr_array_add (names, (gpointer) entries[i].long_name);
  g_ptr_array_add (names, NULL);
  for (guint i = 1; argv[i] != NULL && !g_str_equal (argv[i], "--"); i++)
    {
      g_autofree char *name = g_strndup (argv[i], strcspn (argv[i], "=")), *option = NULL;
      const char *nearest;

      if (!g_str_has_prefix (name, "--") ||
          g_strv_contains ((const char *const *) names->pdata, name + 2) ||
          strstr ((*error)->message, name) == NULL)
        continue;
      nearest = cleave_text_find_nearest (name + 2, (const char *const *) names->pdata);
      option = nearest == NULL ? NULL : g_strconcat ("; did you mean '--", nearest, "'?", NULL);
      g_clear_error (error);
      cleave_argument_fail (error, "there is no option '%s'%s", name, option == NULL ? "" : option);
      return;
    }
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
  g_auto (GStrv) files = NULL, parted = part_short_options (argc, argv, entries);
  g_autofree char **left = NULL; /* GLib takes options out */

  if (argc == 2 && g_str_equal (argv[1], "--list-options"))
    {
      list_options (entries);
      exit (0);
    }
  argc = (int) g_strv_length (parted);
  argv = left = g_memdup2 (parted, ((gsize) argc + 1) * sizeof *parted);
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_set_summary (context, summary);
  if (!g_option_context_parse (context, &argc, &argv, error))
    {
      add_hint (parted, entries, error);
      return NULL;
    }
  files = take_files (argc, argv);
  if (n_files == G_MAXUINT || g_strv_length (files) == n_files)
    return g_steal_pointer (&files);
  if (n_files == 0)
    cleave_argument_fail (error, "expected options alone, not '%s'", files[0]);
  else
    cleave_argument_fail (error, "expected %s, not %u files", what, g_strv_length (files));
  return NULL;
}
