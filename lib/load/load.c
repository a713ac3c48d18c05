/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Chooses the reader of a model. An identifier in the file marks a TensorFlow Lite model, and a
 * name that ends in `.cleave` marks a graph as text. Any other file is read as ONNX. */

#include "foreign.h"

#include <cleave/cleave-error.h>
#include <cleave/cleave-load.h>
#include <cleave/cleave-text.h>
#include <cleave/cleave-tflite.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#define TEXT_SUFFIX ".cleave"

/* The identifier of a TensorFlow Lite file, and its offset in the file, in bytes. */
#define IDENTIFIER "TFL3"
#define IDENTIFIER_OFFSET 4

static gboolean
has_identifier (const char *data, gsize n_bytes)
{
  return n_bytes >= IDENTIFIER_OFFSET + strlen (IDENTIFIER) &&
         memcmp (data + IDENTIFIER_OFFSET, IDENTIFIER, strlen (IDENTIFIER)) == 0;
}

/* Reads the first bytes of a regular file. Returns the number of bytes that were read; 0 if the
 * file cannot be read. */
static gsize
read_head (const char *path, char head[CLEAVE_FOREIGN_BYTES])
{
  gsize n;
  FILE *file = g_file_test (path, G_FILE_TEST_IS_REGULAR) ? g_fopen (path, "rbe") : NULL;

  if (file == NULL)
    return 0;
  n = fread (head, 1, CLEAVE_FOREIGN_BYTES, file);
  fclose (file);
  return n;
}

/* Replaces the error of a file that is no ONNX model. If the first bytes of the file show its
 * format, the new error names the format. `path` may be NULL. */
static void
name_format (const char *path, const char *head, gsize n_bytes, GError **error)
{
  const char *what = cleave_foreign_name (head, n_bytes);

  if (what == NULL || error == NULL || !g_error_matches (*error, CLEAVE_ERROR, CLEAVE_ERROR_MODEL))
    return;
  g_clear_error (error);
  g_set_error (error, CLEAVE_ERROR, CLEAVE_ERROR_MODEL, "%s%snot an ONNX model, but %s",
               path == NULL ? "" : path, path == NULL ? "" : ": ", what);
}

/* Fails if `options` is not empty: only the ONNX reader takes options. */
static gboolean
check_options (const CleaveOnnxOptions *options, GError **error)
{
  if (options == NULL || options->n_shapes + options->n_values + options->n_dims == 0)
    return TRUE;
  g_set_error_literal (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION,
                       "shapes, dimensions and values of inputs can be given for ONNX models only");
  return FALSE;
}

/**
 * cleave_graph_load:
 * @path: (type filename): a model's file
 * @options: (nullable): shapes and values of inputs, for ONNX models only
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a graph from a model. The file is a TensorFlow Lite file if its identifier is `TFL3`
 * ([func@Cleave.tflite_load]), and a graph as text if its name ends in `.cleave`
 * ([func@Cleave.Graph.load_text]). Any other file is an ONNX model ([func@Cleave.onnx_load]).
 *
 * Fails as the function for the format does. If the file has a known format that is no model, the
 * message of %CLEAVE_ERROR_MODEL names the format. Fails with %CLEAVE_ERROR_OPTION if there are
 * options for a model that is not ONNX.
 *
 * Returns: (transfer full) (nullable): the graph
 *
 * Since: 0.2
 */
CleaveGraph *
cleave_graph_load (const char *path, const CleaveOnnxOptions *options, GError **error)
{
  char head[CLEAVE_FOREIGN_BYTES];
  gsize n_bytes;
  CleaveGraph *graph;

  g_return_val_if_fail (path != NULL, NULL);

  if (g_str_has_suffix (path, TEXT_SUFFIX))
    return check_options (options, error) ? cleave_graph_load_text (path, error) : NULL;
  n_bytes = read_head (path, head);
  if (has_identifier (head, n_bytes))
    return check_options (options, error) ? cleave_tflite_load (path, error) : NULL;
  graph = cleave_onnx_load (path, options, error);
  if (graph == NULL)
    name_format (path, head, n_bytes, error);
  return graph;
}

/**
 * cleave_graph_load_bytes:
 * @bytes: a model: a TensorFlow Lite file or an ONNX model
 * @folder: (nullable): where the external data of an ONNX model is; %NULL: the model may have no
 *   external data
 * @options: (nullable): shapes and values of inputs, for ONNX models only
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a graph from the bytes of a model. Fails as [func@Cleave.Graph.load] does.
 *
 * Returns: (transfer full) (nullable): the graph
 *
 * Since: 0.2
 */
CleaveGraph *
cleave_graph_load_bytes (GBytes *bytes,
                         const char *folder,
                         const CleaveOnnxOptions *options,
                         GError **error)
{
  gsize n_bytes;
  const char *data;
  CleaveGraph *graph;

  g_return_val_if_fail (bytes != NULL, NULL);
  data = g_bytes_get_data (bytes, &n_bytes);
  if (has_identifier (data, n_bytes))
    return check_options (options, error) ? cleave_tflite_parse (bytes, error) : NULL;
  graph = cleave_onnx_parse (bytes, folder, options, error);
  if (graph == NULL)
    name_format (NULL, data, n_bytes, error);
  return graph;
}
