/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes the files of a bundle to a folder. */

#include <gio/gio.h>
#include <glib/gstdio.h>

#include "bundle.h"

#include "../ir/file.h"

static void
add (GHashTable *files, const char *name, const char *ending, char *text)
{
  g_hash_table_insert (files, g_strconcat (name, ending, NULL), text);
}

static void
add_parts (const CleaveBundle *bundle, GHashTable *files)
{
  add (files, bundle->name, ".c", cleave_bundle_make_source (bundle));
  add (files, bundle->name, "-weights.h", cleave_bundle_make_weights_header (bundle));
  if (bundle->has_object_weights)
    add (files, bundle->name, "-weights.S", cleave_bundle_make_weights_object (bundle));
  else
    add (files, bundle->name, "-weights.c", cleave_bundle_make_weights (bundle));
  add (files, "cleave-kernels", ".h", cleave_bundle_make_kernels_header (bundle, "cleave-kernels"));
  add (files, "cleave-run", ".h", cleave_bundle_make_kernels_header (bundle, "cleave-run"));
  add (files, "cleave-kernels", ".c", cleave_bundle_make_kernels (bundle));
}

/**
 * cleave_bundle_dup_files:
 * @bundle: a bundle
 * @error: return location for a [struct@GLib.Error]
 *
 * Returns the files of a bundle: the header, the tables, the weights, the kernels, a test, and a
 * README. The test runs the bundle on random inputs and compares the outputs with the outputs of a
 * program of the graph.
 *
 * Fails if the program cannot run.
 *
 * Returns: (transfer full) (nullable) (element-type utf8 utf8): the texts by file name
 *
 * Since: 0.2
 */
GHashTable *
cleave_bundle_dup_files (const CleaveBundle *bundle, GError **error)
{
  g_autoptr (GHashTable) files = NULL;
  char *test;

  g_return_val_if_fail (bundle != NULL, NULL);
  test = cleave_bundle_make_test (bundle, error);
  if (test == NULL)
    return NULL;
  files = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  add (files, bundle->name, ".h", cleave_bundle_make_header (bundle));
  add (files, bundle->name, "-test.c", test);
  add (files, "README", "", cleave_bundle_make_readme (bundle));
  if (bundle->is_single_file)
    add (files, bundle->name, ".c", cleave_bundle_make_single (bundle));
  else
    add_parts (bundle, files);
  return g_steal_pointer (&files);
}

/**
 * cleave_bundle_write:
 * @bundle: a bundle
 * @folder: (type filename): the folder for the files; the function makes it if it does not exist
 * @error: return location for a [struct@GLib.Error]
 *
 * Writes the files of [method@Cleave.Bundle.dup_files] into a folder. Existing files with the same
 * names are replaced.
 *
 * Returns: whether all files were written
 *
 * Since: 0.2
 */
gboolean
cleave_bundle_write (const CleaveBundle *bundle, const char *folder, GError **error)
{
  g_autoptr (GHashTable) files = NULL;
  GHashTableIter iter;
  gpointer name, text;

  g_return_val_if_fail (bundle != NULL && folder != NULL, FALSE);
  files = cleave_bundle_dup_files (bundle, error);
  if (files == NULL)
    return FALSE;
  if (g_mkdir_with_parents (folder, 0777) != 0)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "cannot make the folder '%s'", folder);
  g_hash_table_iter_init (&iter, files);
  while (g_hash_table_iter_next (&iter, &name, &text))
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);

      if (!cleave_write_file (path, text, -1, error))
        return FALSE;
    }
  return TRUE;
}
