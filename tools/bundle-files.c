/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes each file of a bundle into a folder, and makes the folder if it does not exist. */

#include "bundle-files.h"

#include "output-names.h"
#include "outputs.h"

#include <string.h>

gboolean
cleave_bundle_files_write (GHashTable *files, const char *folder, GError **error)
{
  g_autoptr (CleaveOutputs) outputs = cleave_outputs_new ();
  GHashTableIter iter;
  gpointer name, text;

  if (!cleave_output_make_folder (folder, error))
    return FALSE;
  g_hash_table_iter_init (&iter, files);
  while (g_hash_table_iter_next (&iter, &name, &text))
    {
      g_autofree char *path = g_build_filename (folder, name, NULL);
      g_autoptr (GBytes) bytes = g_bytes_new (text, strlen (text));

      if (!cleave_outputs_add_bytes (outputs, path, bytes, error))
        return FALSE;
    }
  return cleave_outputs_commit (outputs, error);
}
