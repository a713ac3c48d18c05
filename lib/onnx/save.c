/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes ONNX models to files. If a model has 2 GiB or more, the bytes of its initializers go to a
 * second file. */

#include <errno.h>
#include <fcntl.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "../ir/align.h"
#include "../ir/debug.h"
#include "export/export.h"
#include "external-file.h"
#include "wire.h"

/* A model file has at most this many bytes: the limit of protobuf. */
#define MAX_FILE G_MAXINT32
/* If there is a second file, the initializers of at least this many bytes go to the second file.
 * Smaller initializers stay in the model. */
#define MIN_EXTERNAL 1024
/* alignment of initializers in the second file, in bytes: a page, so that each initializer can be
 * mapped */
#define ALIGNMENT 4096

/* An initializer for the second file: its bytes, and its offset in the second file. */
typedef struct
{
  gconstpointer data;
  gsize n_bytes;
  gint64 offset;
} Part;

static gboolean
fail_file (const char *path, GError **error)
{
  int number = errno;

  g_set_error (error, G_FILE_ERROR, (int) g_file_error_from_errno (number), "cannot write '%s': %s",
               path, g_strerror (number));
  return FALSE;
}

static gboolean
write_all (int file, gconstpointer data, gsize n)
{
  while (n > 0)
    {
      gssize written = write (file, data, MIN (n, 1 << 30));

      if (written < 0 && errno == EINTR)
        continue;
      if (written < 0)
        return FALSE;
      data = (const char *) data + written;
      n -= (gsize) written;
    }
  return TRUE;
}

/* Writes bytes. If the bytes are in a mapped file, releases their pages, since nothing reads the
 * bytes again. Returns FALSE on error. */
static gboolean
write_last (int file, gconstpointer data, gsize n)
{
  gboolean good = write_all (file, data, n);

  cleave_external_file_forget (data, n);
  return good;
}

static gboolean
write_parts (int file, gconstpointer data)
{
  const GArray *parts = data;

  for (guint i = 0; i < parts->len; i++)
    {
      const Part *part = &g_array_index (parts, Part, i);

      if (lseek (file, part->offset, SEEK_SET) < 0 || !write_last (file, part->data, part->n_bytes))
        return FALSE;
    }
  return TRUE;
}

/* Buffers the bytes that protobuf-c appends in small pieces, and writes them to a file. */
typedef struct
{
  ProtobufCBuffer base;
  int file;
  gboolean failed;
  gsize n; /* number of bytes in `small` */
  guint8 small[1 << 16];
} Writer;

static void
flush (Writer *writer)
{
  writer->failed = writer->failed || !write_all (writer->file, writer->small, writer->n);
  writer->n = 0;
}

static void
append (ProtobufCBuffer *buffer, size_t n, const uint8_t *data)
{
  Writer *writer = (Writer *) buffer;

  if (writer->n + n > sizeof writer->small)
    flush (writer);
  if (n > sizeof writer->small)
    writer->failed = writer->failed || !write_last (writer->file, data, n);
  else if (n > 0)
    {
      memcpy (writer->small + writer->n, data, n);
      writer->n += n;
    }
}

/* Writes a model straight from its messages, without a serialized copy in memory. */
static gboolean
write_model (int file, gconstpointer model)
{
  g_autofree Writer *writer = g_new0 (Writer, 1);

  writer->base.append = append;
  writer->file = file;
  onnx__model_proto__pack_to_buffer (model, &writer->base);
  flush (writer);
  return !writer->failed;
}

/* Makes a file with the function `write_data` and syncs it to disk. Removes the file on failure. */
static gboolean
write_file (const char *path,
            gboolean (*write_data) (int file, gconstpointer data),
            gconstpointer data,
            GError **error)
{
  int file = g_open (path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  gboolean good = file >= 0 && write_data (file, data) && fsync (file) == 0;
  int number = errno;

  if (file >= 0 && close (file) != 0 && good)
    {
      good = FALSE;
      number = errno;
    }
  if (good)
    return TRUE;
  if (file >= 0)
    g_unlink (path);
  errno = number;
  return fail_file (path, error);
}

static void
add_entry (Onnx__TensorProto *proto, const char *key, char *value)
{
  Onnx__StringStringEntryProto *entry = g_new (Onnx__StringStringEntryProto, 1);

  onnx__string_string_entry_proto__init (entry);
  entry->key = g_strdup (key);
  entry->value = value;
  cleave_wire_append (&proto->external_data, &proto->n_external_data, entry);
}

/* Removes the bytes of initializers of at least MIN_EXTERNAL bytes from the model, and refers to
 * the second file instead. Returns the list of these initializers (Part). */
static GArray *
take_parts (const CleaveOnnxExport *export, const char *location)
{
  GArray *parts = g_array_new (FALSE, FALSE, sizeof (Part));
  const Onnx__GraphProto *graph = export->model->graph;
  gint64 end = 0;

  for (size_t i = 0; i < graph->n_initializer; i++)
    {
      Onnx__TensorProto *proto = graph->initializer[i];
      Part part = { proto->raw_data.data, proto->raw_data.len, end };

      if (part.n_bytes < MIN_EXTERNAL)
        continue;
      add_entry (proto, "location", g_strdup (location));
      add_entry (proto, "offset", g_strdup_printf ("%" G_GINT64_FORMAT, part.offset));
      add_entry (proto, "length", g_strdup_printf ("%" G_GSIZE_FORMAT, part.n_bytes));
      proto->has_data_location = 1;
      proto->data_location = ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL;
      proto->has_raw_data = 0;
      proto->raw_data = (ProtobufCBinaryData){ 0 };
      g_array_append_val (parts, part);
      end = cleave_align_up (part.offset + (gint64) part.n_bytes, ALIGNMENT);
    }
  return parts;
}

/**
 * cleave_onnx_save_with_data:
 * @graph: a graph
 * @path: (type filename): the file of the model
 * @data_path: (type filename): the file of the initializers' bytes, if the model would be too large
 * @location: the name of that file in the model, relative to the model's folder
 * @has_data: (out): whether the second file was written
 * @error: return location for a [struct@GLib.Error]
 *
 * Writes a graph as an ONNX model, as [func@Cleave.onnx_save] does, but directly to the given
 * files. Use this function if you write to temporary files and then move several files into place
 * together.
 *
 * Fails as [func@Cleave.onnx_save] does. After an error, neither file exists.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.1
 */
gboolean
cleave_onnx_save_with_data (const CleaveGraph *graph,
                            const char *path,
                            const char *data_path,
                            const char *location,
                            gboolean *has_data,
                            GError **error)
{
  g_return_val_if_fail (location != NULL && has_data != NULL, FALSE);
  g_auto (CleaveOnnxExport) export = { 0 };
  g_autoptr (GArray) parts = NULL;
  gsize size;

  g_return_val_if_fail (graph != NULL && path != NULL && data_path != NULL, FALSE);
  *has_data = FALSE;
  if (!cleave_onnx_export_build (&export, graph, error) ||
      !cleave_onnx_export_dynamic (&export, error))
    return FALSE;
  size = cleave_onnx_export_size (&export);
  if (cleave_debug_is_on (CLEAVE_DEBUG_EXTERNAL) || size > MAX_FILE)
    {
      parts = take_parts (&export, location);
      size = cleave_onnx_export_size (&export);
    }
  if (!cleave_onnx_export_check_size (size, error))
    return FALSE;
  if (parts != NULL && parts->len > 0 && !write_file (data_path, write_parts, parts, error))
    return FALSE;
  *has_data = parts != NULL && parts->len > 0;
  if (write_file (path, write_model, export.model, error))
    return TRUE;
  if (*has_data)
    g_unlink (data_path);
  *has_data = FALSE;
  return FALSE;
}

/* Returns the path of a temporary hidden file in the folder of the file `path`. */
static char *
make_temporary (const char *path)
{
  g_autofree char *folder = g_path_get_dirname (path), *base = g_path_get_basename (path);
  g_autofree char *name =
      g_strdup_printf (".cleave-%ld-%08x-%s", (long) getpid (), g_random_int (), base);

  return g_build_filename (folder, name, NULL);
}

static gboolean
move (const char *from, const char *to, GError **error)
{
  return g_rename (from, to) == 0 || fail_file (to, error);
}

/* Replaces the path of the temporary file in an error message by `path`, which the caller knows. */
static void
name_path (GError **error, const char *temporary, const char *path)
{
  g_autoptr (GString) message = error == NULL ? NULL : g_string_new ((*error)->message);

  if (message == NULL)
    return;
  g_string_replace (message, temporary, path, 0);
  g_free ((*error)->message);
  (*error)->message = g_strdup (message->str);
}

/**
 * cleave_onnx_save:
 * @graph: a graph
 * @path: (type filename): the file to write; an existing file is replaced
 * @error: return location for a [struct@GLib.Error]
 *
 * Writes a graph as an ONNX model, with the contents that [func@Cleave.onnx_serialize] returns. If
 * the model would take 2 GiB or more, the bytes of its initializers are in a second file beside it.
 * The name of this file is the name of the model followed by `.data`.
 *
 * Fails as [func@Cleave.onnx_serialize] does, and with [error@GLib.FileError] if a file cannot be
 * written. After an error, an existing file is unchanged.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.1
 */
gboolean
cleave_onnx_save (const CleaveGraph *graph, const char *path, GError **error)
{
  g_autofree char *data_path = NULL, *temporary = NULL, *data_temporary = NULL, *location = NULL;
  gboolean has_data, good;

  g_return_val_if_fail (graph != NULL && path != NULL, FALSE);
  data_path = g_strconcat (path, ".data", NULL);
  location = g_path_get_basename (data_path);
  temporary = make_temporary (path);
  data_temporary = make_temporary (data_path);
  if (!cleave_onnx_save_with_data (graph, temporary, data_temporary, location, &has_data, error))
    {
      name_path (error, data_temporary, data_path);
      name_path (error, temporary, path);
      return FALSE;
    }
  /* rename the model last, so that the data file to which it refers exists */
  good = (!has_data || move (data_temporary, data_path, error)) && move (temporary, path, error);
  if (!good)
    {
      g_unlink (temporary);
      g_unlink (data_temporary);
    }
  return good;
}
