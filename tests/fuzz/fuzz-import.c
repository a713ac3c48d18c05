/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The input is an ONNX model. An accepted model must be valid. If it can be exported, the export
 * must be accepted, too. */

#include "fuzz.h"

static void
read_again (const CleaveGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = cleave_onnx_serialize (graph, NULL);
  g_autoptr (CleaveGraph) again = NULL;

  if (bytes == NULL)
    return;
  again = cleave_onnx_parse (bytes, NULL, NULL, &error);
  if (again == NULL)
    fuzz_fail ("a written graph cannot be read: %s\n%s", error->message,
               cleave_graph_print (graph));
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_onnx_parse (bytes, NULL, NULL, &error);

  if ((graph == NULL) != (error != NULL))
    fuzz_fail ("neither a graph nor an error, or both");
  if (graph == NULL)
    return 0;
  if (!cleave_graph_validate (graph, &error))
    fuzz_fail ("an invalid graph: %s", error->message);
  read_again (graph);
  return 0;
}
