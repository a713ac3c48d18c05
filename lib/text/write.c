/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes a graph as text, with large constants in a second file. */

#include <cleave/cleave-text.h>

#include <string.h>

#include "../ir/file.h"
#include "../ir/literal.h"
#include "../ir/print.h"

/* Constants of at most this many bytes are written in the text: 16 float32 numbers are still easy
 * to read. Larger constants go into the second file. */
#define MAX_INLINE_BYTES 64
/* The file for constants has at most this many bytes: a GByteArray holds at most G_MAXINT32 bytes,
 * and alignment may add 64 bytes. A constant that does not fit goes into the text.
 */
#define MAX_FILE_BYTES (G_MAXINT32 - 64)
/* alignment of constants in the file, in bytes, which kernels need for weights */
#define ALIGNMENT 64

typedef struct
{
  const char *file; /* name of the file for constants; NULL: all constants are in the text */
  GByteArray *bytes;
} Data;

static void
print_constant (CleaveTensor *value, GString *out, gpointer user_data)
{
  static const guint8 zeros[ALIGNMENT] = { 0 };
  Data *data = user_data;
  gsize begin = out->len, size;
  g_autoptr (GBytes) bytes = NULL;
  gconstpointer elements;

  g_string_append (out, " value=");
  if (data->file == NULL || data->bytes->len > MAX_FILE_BYTES ||
      cleave_tensor_type_n_bytes (cleave_tensor_get_type (value)) > MAX_FILE_BYTES ||
      cleave_tensor_type_n_bytes (cleave_tensor_get_type (value)) <= MAX_INLINE_BYTES)
    {
      cleave_literal_print (value, out);
      return;
    }
  g_string_truncate (out, begin);
  bytes = cleave_tensor_dup_bytes (value);
  elements = g_bytes_get_data (bytes, &size);
  g_string_append (out, " file=");
  cleave_literal_print_name (data->file, " ", out);
  g_string_append_printf (out, " offset=%u", data->bytes->len);
  g_byte_array_append (data->bytes, elements, (guint) size);
  g_byte_array_append (data->bytes, zeros, (ALIGNMENT - data->bytes->len % ALIGNMENT) % ALIGNMENT);
}

/**
 * cleave_graph_to_text:
 * @graph: a graph
 * @data_name: (nullable): name of the file for large constants; %NULL: all constants go into the
 * text
 * @data: (out) (optional) (transfer full): the contents for that file; empty without @data_name
 *
 * Writes a whole graph as text: as [method@Cleave.Graph.print] does, with the names of the graph
 * and of values, and with the values of constants. [func@Cleave.Graph.parse] makes the same graph
 * from the text, unless a node has an op that Cleave does not know.
 *
 * Returns: (transfer full): the text
 *
 * Since: 0.1
 */
char *
cleave_graph_to_text (const CleaveGraph *graph, const char *data_name, GBytes **data)
{
  g_return_val_if_fail (graph != NULL, NULL);
  Data to = { data == NULL ? NULL : data_name, g_byte_array_new () };
  const CleavePrintMore more = { print_constant, &to };
  char *text = cleave_graph_print_more (graph, &more);
  GBytes *bytes = g_byte_array_free_to_bytes (to.bytes);

  if (data != NULL)
    *data = bytes;
  else
    g_bytes_unref (bytes);
  return text;
}

/**
 * cleave_graph_save_text:
 * @graph: a graph
 * @path: (type filename): the file to write
 * @error: return location for a [struct@GLib.Error]
 *
 * Writes a graph as text, as [method@Cleave.Graph.to_text] does, to a file. Large constants go to a
 * second file: @path with `.data` appended.
 *
 * Fails if a file cannot be written.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.1
 */
gboolean
cleave_graph_save_text (const CleaveGraph *graph, const char *path, GError **error)
{
  g_return_val_if_fail (graph != NULL && path != NULL, FALSE);
  g_autofree char *base = g_path_get_basename (path), *text = NULL;
  g_autofree char *name = g_strconcat (base, ".data", NULL);
  g_autofree char *data_path = g_strconcat (path, ".data", NULL);
  g_autoptr (GBytes) data = NULL;

  text = cleave_graph_to_text (graph, name, &data);
  if (g_bytes_get_size (data) > 0 && !cleave_write_file (data_path, g_bytes_get_data (data, NULL),
                                                         (gssize) g_bytes_get_size (data), error))
    return FALSE;
  return cleave_write_file (path, text, -1, error);
}
