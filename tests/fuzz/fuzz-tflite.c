/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The input is a TensorFlow Lite file. If the import accepts the file, the graph must be valid, and
 * printing it must work. */

#include "fuzz.h"

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_tflite_parse (bytes, &error);
  g_autofree char *text = NULL;

  if ((graph == NULL) != (error != NULL))
    fuzz_fail ("neither a graph nor an error, or both");
  if (graph == NULL)
    return 0;
  if (!cleave_graph_validate (graph, &error))
    fuzz_fail ("an invalid graph: %s", error->message);
  text = cleave_graph_print (graph);
  return text == NULL;
}
