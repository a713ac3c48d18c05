/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Chooses the reader of a model: a TensorFlow Lite file by its identifier, a graph as text by the
 * ending of its name, and ONNX otherwise. */

#include <cleave/cleave-error.h>
#include <cleave/cleave-load.h>
#include <cleave/cleave-text.h>
#include <cleave/cleave-tflite.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#define TEXT_SUFFIX ".cleave"

/* The identifier of a TensorFlow Lite file, and where it is. */
#define IDENTIFIER "TFL3"
#define IDENTIFIER_OFFSET 4

static gboolean
has_identifier (const char *data, gsize n_bytes)
{
  return n_bytes >= IDENTIFIER_OFFSET + strlen (IDENTIFIER) &&
         memcmp (data + IDENTIFIER_OFFSET, IDENTIFIER, strlen (IDENTIFIER)) == 0;
}

/* Returns whether a regular file begins like a TensorFlow Lite file. */
static gboolean
is_tflite (const char *path)
{
  char head[IDENTIFIER_OFFSET + sizeof (IDENTIFIER) - 1];
  gsize n;
  FILE *file;

  if (!g_file_test (path, G_FILE_TEST_IS_REGULAR))
    return FALSE;
  file = g_fopen (path, "rbe");
  if (file == NULL)
    return FALSE;
  n = fread (head, 1, sizeof (head), file);
  fclose (file);
  return has_identifier (head, n);
}

/* Fails if there are options, which only the ONNX reader takes. */
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
 * Makes a graph of a model. It is a TensorFlow Lite file if its identifier is `TFL3`
 * ([func@Cleave.tflite_load]), and a graph as text if its name ends in `.cleave`
 * ([func@Cleave.Graph.load_text]). Any other file is an ONNX model ([func@Cleave.onnx_load]).
 *
 * Fails as these functions do, and with %CLEAVE_ERROR_OPTION if there are options for a model that
 * is not ONNX.
 *
 * Returns: (transfer full) (nullable): the graph
 *
 * Since: 0.2
 */
CleaveGraph *
cleave_graph_load (const char *path, const CleaveOnnxOptions *options, GError **error)
{
  g_return_val_if_fail (path != NULL, NULL);

  if (g_str_has_suffix (path, TEXT_SUFFIX))
    return check_options (options, error) ? cleave_graph_load_text (path, error) : NULL;
  if (is_tflite (path))
    return check_options (options, error) ? cleave_tflite_load (path, error) : NULL;
  return cleave_onnx_load (path, options, error);
}

/**
 * cleave_graph_load_bytes:
 * @bytes: a model: a TensorFlow Lite file or an ONNX model
 * @folder: (nullable): where the external data of an ONNX model is; %NULL: it may have none
 * @options: (nullable): shapes and values of inputs, for ONNX models only
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a graph of the bytes of a model. Fails as [func@Cleave.Graph.load] does.
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

  g_return_val_if_fail (bytes != NULL, NULL);
  data = g_bytes_get_data (bytes, &n_bytes);
  if (has_identifier (data, n_bytes))
    return check_options (options, error) ? cleave_tflite_parse (bytes, error) : NULL;
  return cleave_onnx_parse (bytes, folder, options, error);
}
