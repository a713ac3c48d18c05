/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads the values of constants: elements in the text, a seed, or bytes of a file beside the
 * text. */

#include "reader.h"

#include <string.h>

#include "../ir/literal.h"
#include "../ir/text.h"

void
cleave_read_constant_clear (CleaveReadConstant *constant)
{
  g_free (constant->value);
  g_free (constant->seed);
  g_free (constant->file);
  g_free (constant->offset);
  g_free (constant->index);
}

gboolean
cleave_read_constant_words (CleaveReader *reader, CleaveReadConstant *constant, GError **error)
{
  constant->at = reader->at;
  for (; !cleave_reader_is_end (reader) && *reader->at != ':'; cleave_reader_skip (reader))
    {
      const char *begin = reader->at;
      char **field = cleave_reader_take (reader, "value=")    ? &constant->value
                     : cleave_reader_take (reader, "seed=")   ? &constant->seed
                     : cleave_reader_take (reader, "file=")   ? &constant->file
                     : cleave_reader_take (reader, "offset=") ? &constant->offset
                     : reader->constants != NULL && cleave_reader_take (reader, "index=")
                         ? &constant->index
                         : NULL;

      if (field == NULL || *field != NULL)
        return cleave_reader_fail (reader, begin, error,
                                   "expected value=, seed=, file= with offset=, once, or ':'");
      *field = cleave_reader_take_word (reader);
    }
  if ((constant->value != NULL) + (constant->seed != NULL) + (constant->file != NULL) +
              (constant->index != NULL) >
          1 ||
      (constant->offset != NULL && constant->file == NULL))
    return cleave_reader_fail (reader, constant->at, error,
                               "expected one of value=, seed= and file= with offset=");
  return TRUE;
}

static gboolean
spend (CleaveReader *reader, const CleaveTensorType *type, GError **error)
{
  gint64 n_bytes = cleave_tensor_type_n_bytes (type);

  if (n_bytes > reader->budget)
    return cleave_fail (error, CLEAVE_ERROR_MEMORY,
                        "constants without a file take more bytes than a text may have");
  reader->budget -= n_bytes;
  return TRUE;
}

CleaveTensor *
cleave_read_elements (CleaveReader *reader,
                      const CleaveTensorType *type,
                      const char *elements,
                      GError **error)
{
  return spend (reader, type, error) ? cleave_literal_parse (type, elements, error) : NULL;
}

static CleaveTensor *
draw (CleaveReader *reader,
      const CleaveTensorType *type,
      const char *name,
      const char *seed,
      GError **error)
{
  CleaveTensor *tensor;
  gint64 number = 0;

  if ((seed != NULL && !cleave_text_to_int ("seed", seed, 0, G_MAXINT64, &number, error)) ||
      !spend (reader, type, error))
    return NULL;
  tensor = cleave_tensor_new (type, error);
  if (tensor != NULL)
    cleave_tensor_fill_random (tensor, name, (guint64) number);
  return tensor;
}

/* Maps a file that lies in the folder of the text. Fails if the name or a symbolic link leads out
 * of the folder. */
static GBytes *
open_file (CleaveReader *reader, const char *name, GError **error)
{
  GBytes *bytes = g_hash_table_lookup (reader->files, name);
  g_autofree char *path = NULL;
  g_autoptr (GMappedFile) file = NULL;

  if (bytes != NULL)
    return bytes;
  if (reader->folder == NULL || strchr (name, G_DIR_SEPARATOR) != NULL || *name == '.' ||
      *name == '\0')
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL,
                             "'%s' must be a plain name (no '/', no '.' at the beginning) of a "
                             "file beside the text; standard input has no files beside it",
                             name);
  path = g_build_filename (reader->folder, name, NULL);
  if (g_file_test (path, G_FILE_TEST_IS_SYMLINK) || !g_file_test (path, G_FILE_TEST_IS_REGULAR))
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL,
                             "there is no regular file '%s' beside the text; links are not read",
                             name);
  file = g_mapped_file_new (path, FALSE, error);
  if (file == NULL)
    return NULL;
  bytes = g_mapped_file_get_bytes (file);
  g_hash_table_insert (reader->files, g_strdup (name), bytes);
  return bytes;
}

static CleaveTensor *
map (CleaveReader *reader,
     const CleaveReadConstant *constant,
     const CleaveTensorType *type,
     GError **error)
{
  g_autofree char *name = cleave_literal_parse_name (constant->file);
  gint64 offset = 0, n = cleave_tensor_type_n_bytes (type);
  g_autoptr (GBytes) bytes = NULL;
  GBytes *file;

  if (name == NULL)
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL, "the quotes do not end");
  if (constant->offset != NULL &&
      !cleave_text_to_int ("offset", constant->offset, 0, G_MAXINT64, &offset, error))
    return NULL;
  file = open_file (reader, name, error);
  if (file == NULL)
    return NULL;
  if (offset > (gint64) g_bytes_get_size (file) || n > (gint64) g_bytes_get_size (file) - offset)
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL,
                             "the file '%s' has %" G_GSIZE_FORMAT " bytes", name,
                             g_bytes_get_size (file));
  bytes = g_bytes_new_from_bytes (file, (gsize) offset, (gsize) n);
  return cleave_tensor_new_from_bytes (type, bytes, error);
}

static CleaveTensor *
pick (const CleaveReader *reader, const CleaveTensorType *type, const char *index, GError **error)
{
  gint64 i;
  CleaveTensor *tensor;

  if (!cleave_text_to_int ("index", index, 0, (gint64) reader->constants->len - 1, &i, error))
    return NULL;
  tensor = reader->constants->pdata[i];
  if (cleave_tensor_type_equal (cleave_tensor_get_type (tensor), type))
    return cleave_tensor_ref (tensor);
  return cleave_fail_null (error, CLEAVE_ERROR_MODEL,
                           "constant %" G_GINT64_FORMAT " has another type", i);
}

CleaveTensor *
cleave_read_constant (CleaveReader *reader,
                      const CleaveReadConstant *constant,
                      const CleaveTensorType *type,
                      const char *name,
                      GError **error)
{
  GError *wrong = NULL;
  CleaveTensor *tensor =
      constant->value != NULL   ? cleave_read_elements (reader, type, constant->value, &wrong)
      : constant->index != NULL ? pick (reader, type, constant->index, &wrong)
      : constant->file != NULL  ? map (reader, constant, type, &wrong)
                                : draw (reader, type, name, constant->seed, &wrong);

  if (tensor == NULL)
    cleave_reader_fail_with (reader, constant->at, wrong, error);
  return tensor;
}
