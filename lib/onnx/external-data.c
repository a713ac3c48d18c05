/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads the external data of tensors: bytes in files in the model's folder. */

#include "external-data.h"

#include <errno.h>
#include <gio/gio.h>
#include <stdlib.h>
#include <string.h>

#include "../ir/error.h"
#include "external-file.h"

gboolean
cleave_onnx_folder_init (CleaveOnnxFolder *folder, const char *path, GError **error)
{
  char *resolved = path == NULL ? NULL : realpath (path, NULL);

  *folder = (CleaveOnnxFolder){ 0 };
  if (path != NULL && resolved == NULL)
    {
      g_set_error (error, G_FILE_ERROR, (int) g_file_error_from_errno (errno), "folder '%s': %s",
                   path, g_strerror (errno));
      return FALSE;
    }
  folder->path = g_strdup (resolved);
  free (resolved);
  folder->files = g_hash_table_new_full (g_str_hash, g_str_equal, g_free,
                                         (GDestroyNotify) cleave_external_file_free);
  folder->budget = cleave_external_file_get_budget ();
  return TRUE;
}

void
cleave_onnx_folder_clear (CleaveOnnxFolder *folder)
{
  g_clear_pointer (&folder->path, g_free);
  g_clear_pointer (&folder->files, g_hash_table_unref);
}

static gboolean
is_inside (const char *path, const char *folder)
{
  gsize n = strlen (folder);

  return g_str_has_prefix (path, folder) && (path[n] == '/' || folder[n - 1] == '/');
}

/* Resolves a location, including symbolic links, to a path. Returns NULL and the error if the path
 * does not lead to a file within the folder. */
static char *
resolve (const CleaveOnnxFolder *folder, const char *location, GError **error)
{
  g_auto (GStrv) steps = g_strsplit (location, "/", -1);
  g_autofree char *path = NULL;
  char *resolved;
  char *copy;

  if (*location == '\0' || g_path_is_absolute (location) ||
      g_strv_contains ((const char *const *) steps, ".."))
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL,
                             "external data '%s' is not inside the model's folder", location);
  path = g_build_filename (folder->path, location, NULL);
  resolved = realpath (path, NULL);
  if (resolved == NULL)
    {
      g_set_error (error, G_FILE_ERROR, (int) g_file_error_from_errno (errno),
                   "external data '%s': %s", location, g_strerror (errno));
      return NULL;
    }
  copy = g_strdup (resolved);
  free (resolved);
  if (is_inside (copy, folder->path) && g_file_test (copy, G_FILE_TEST_IS_REGULAR))
    return copy;
  cleave_fail (error, CLEAVE_ERROR_MODEL,
               "external data '%s' is not a file inside the model's folder", location);
  g_free (copy);
  return NULL;
}

/* Returns the file at a location. Keeps each file open, since several tensors may lie in one file.
 */
static CleaveExternalFile *
open_file (CleaveOnnxFolder *folder, const char *location, GError **error)
{
  g_autofree char *path = resolve (folder, location, error);
  CleaveExternalFile *file;

  if (path == NULL)
    return NULL;
  file = g_hash_table_lookup (folder->files, path);
  if (file != NULL)
    return file;
  file = cleave_external_file_new (path, error);
  if (file != NULL)
    g_hash_table_insert (folder->files, g_steal_pointer (&path), file);
  return file;
}

typedef struct
{
  const char *location;
  guint64 offset, length;
} External;

static gboolean
read_external (const Onnx__TensorProto *proto, guint64 n_bytes, External *external, GError **error)
{
  *external = (External){ .length = n_bytes };
  for (size_t i = 0; i < proto->n_external_data; i++)
    {
      const char *key = proto->external_data[i]->key;
      const char *value = proto->external_data[i]->value;
      guint64 *number = NULL;

      if (key == NULL || value == NULL)
        return cleave_fail (error, CLEAVE_ERROR_MODEL, "external data has no key or no value");
      if (strcmp (key, "location") == 0)
        external->location = value;
      else if (strcmp (key, "offset") == 0)
        number = &external->offset;
      else if (strcmp (key, "length") == 0)
        number = &external->length;
      if (number != NULL && !g_ascii_string_to_unsigned (value, 10, 0, G_MAXINT64, number, NULL))
        return cleave_fail (error, CLEAVE_ERROR_MODEL,
                            "the %s of external data must be a number of bytes, not '%s'", key,
                            value);
    }
  if (external->location == NULL)
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "external data has no location");
  if (external->length != n_bytes)
    return cleave_fail (error, CLEAVE_ERROR_MODEL,
                        "external data of %" G_GUINT64_FORMAT " bytes, but its type takes "
                        "%" G_GUINT64_FORMAT,
                        external->length, n_bytes);
  return TRUE;
}

GBytes *
cleave_onnx_read_external (const Onnx__TensorProto *proto,
                           guint64 n_bytes,
                           CleaveOnnxFolder *folder,
                           GError **error)
{
  CleaveExternalFile *file;
  External external;
  guint64 size;

  if (!read_external (proto, n_bytes, &external, error))
    return NULL;
  if (folder == NULL || folder->path == NULL)
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL,
                             "external data '%s' needs a model that is loaded from a file",
                             external.location);
  file = open_file (folder, external.location, error);
  if (file == NULL)
    return NULL;
  size = cleave_external_file_get_size (file);
  if (external.offset > size || n_bytes > size - external.offset)
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL,
                             "external data '%s' has %" G_GUINT64_FORMAT
                             " bytes, but %" G_GUINT64_FORMAT " from %" G_GUINT64_FORMAT
                             " on are asked for",
                             external.location, size, n_bytes, external.offset);
  return cleave_external_file_get (file, external.offset, (gsize) n_bytes, &folder->budget, error);
}
