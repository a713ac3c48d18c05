/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "output-names.h"

#include "arguments.h"
#include "model.h"

#include <errno.h>
#include <glib/gstdio.h>
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

/* Fails if the folder of the path does not exist or cannot be written to. If the path is a link to
 * another folder, that folder is not checked. */
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
