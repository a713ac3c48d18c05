/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Checks the endings and the folders of output files, makes folders, and derives a file name from
 * the name of each value. */

#include "output-names.h"

#include "arguments.h"
#include "model.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* Returns words as text: "a, b or c". */
static char *
dup_list (char *const *words)
{
  GString *text = g_string_new (words[0]);

  for (guint i = 1; words[i] != NULL; i++)
    g_string_append_printf (text, "%s%s", words[i + 1] == NULL ? " or " : ", ", words[i]);
  return g_string_free (text, FALSE);
}

static gboolean
check_ending (const char *path, const char *what, const char *endings, GError **error)
{
  g_auto (GStrv) words = g_strsplit (endings, " ", -1);
  g_autofree char *list = dup_list (words);

  for (guint i = 0; words[i] != NULL; i++)
    if (g_str_has_suffix (path, words[i]))
      return TRUE;
  return cleave_argument_fail (error, "cannot %s to '%s': its ending must be %s", what, path, list);
}

/* Fails if the folder of the file `path` does not exist or cannot be written to. Checks nothing if
 * `path` is a symbolic link: the file is then written to the folder of the link's target. */
static gboolean
check_folder (const char *path, GError **error)
{
  g_autofree char *folder = g_path_get_dirname (path);

  if (g_file_test (path, G_FILE_TEST_IS_SYMLINK))
    return TRUE;
  if (!g_file_test (folder, G_FILE_TEST_EXISTS))
    return cleave_argument_fail (error, "cannot write '%s': there is no folder '%s'", path, folder);
  return g_access (folder, W_OK) == 0 ||
         cleave_argument_fail (error, "cannot write '%s': %s", path, g_strerror (errno));
}

gboolean
cleave_output_name_check_folder (const char *path, GError **error)
{
  g_autofree char *above = NULL;

  if (path == NULL || g_file_test (path, G_FILE_TEST_IS_DIR))
    return TRUE;
  for (above = g_strdup (path); !g_file_test (above, G_FILE_TEST_EXISTS);)
    {
      char *next = g_path_get_dirname (above);

      g_free (above);
      above = next;
    }
  if (!g_file_test (above, G_FILE_TEST_IS_DIR))
    return cleave_argument_fail (error, "cannot make the folder '%s': '%s' is a file", path, above);
  return g_access (above, W_OK) == 0 ||
         cleave_argument_fail (error, "cannot make the folder '%s': %s", path, g_strerror (errno));
}

gboolean
cleave_output_make_folder (const char *path, GError **error)
{
  return g_mkdir_with_parents (path, 0777) == 0 ||
         cleave_argument_fail (error, "cannot make the folder '%s': %s", path, g_strerror (errno));
}

gboolean
cleave_output_name_check (const char *path, const char *what, const char *endings, GError **error)
{
  return path == NULL || cleave_standard_is (path) ||
         ((endings == NULL || check_ending (path, what, endings, error)) &&
          check_folder (path, error));
}

gboolean
cleave_output_name_check_model (const char *path, GError **error)
{
  return cleave_output_name_check (path, "write a model", ".onnx " CLEAVE_TEXT_SUFFIX, error);
}

gboolean
cleave_output_name_check_drawings (const char *before, const char *after, GError **error)
{
  static const char *const endings = ".dot .svg .png";

  return cleave_output_name_check (before, "draw", endings, error) &&
         cleave_output_name_check (after, "draw", endings, error);
}

/* A file name without number and suffix has at most this many bytes. With number and suffix, the
 * name is still shorter than the limit of every file system. */
#define MAX_FILE_NAME 200

static char *
dup_safe_name (const char *name)
{
  char *safe = g_strndup (name, MAX_FILE_NAME);

  for (char *c = safe; *c != '\0'; c++)
    if (!g_ascii_isalnum (*c) && strchr ("._-", *c) == NULL)
      *c = '_';
  return safe;
}

char **
cleave_output_name_files (char *const *names, const char *suffix)
{
  guint n = g_strv_length ((char **) names);
  char **files = g_new0 (char *, n + 1);
  g_autoptr (GHashTable) taken = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint i = 0; i < n; i++)
    {
      files[i] = dup_safe_name (names[i]);
      if (g_str_equal (files[i], names[i]))
        g_hash_table_add (taken, (gpointer) names[i]);
    }
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *safe = files[i], *file = g_strdup (safe);

      for (guint number = 2; !g_str_equal (safe, names[i]) && g_hash_table_contains (taken, file);
           number++)
        {
          g_free (file);
          file = g_strdup_printf ("%s-%u", safe, number);
        }
      files[i] = g_strconcat (file, suffix, NULL);
      g_hash_table_add (taken, (gpointer) g_intern_string (file));
    }
  return files;
}
