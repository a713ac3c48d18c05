/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The input is an ONNX model. The target imports the model twice: first it refuses a dynamic part,
 * then it accepts one. An accepted model must be valid. If the model can be exported, the import
 * must accept the export, too. */

#include "fuzz.h"

static void
read_again (const CleaveGraph *graph, const CleaveOnnxOptions *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = cleave_onnx_serialize (graph, NULL);
  g_autoptr (CleaveGraph) again = NULL;

  if (bytes == NULL)
    return;
  again = cleave_onnx_parse (bytes, NULL, options, &error);
  if (again == NULL)
    fuzz_fail ("a written graph cannot be read: %s\n%s", error->message,
               cleave_graph_print (graph));
}

static gboolean
try_model (GBytes *bytes, const CleaveOnnxOptions *options)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_onnx_parse (bytes, NULL, options, &error);

  if ((graph == NULL) != (error != NULL))
    fuzz_fail ("neither a graph nor an error, or both");
  if (graph == NULL)
    return FALSE;
  if (!cleave_graph_validate (graph, &error))
    fuzz_fail ("an invalid graph: %s", error->message);
  read_again (graph, options);
  return TRUE;
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  const CleaveOnnxOptions with_dynamic = { .dynamic = TRUE };
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  gboolean is_static;

  is_static = try_model (bytes, NULL);
  if (!try_model (bytes, &with_dynamic) && is_static)
    fuzz_fail ("a static model is an error if nodes may be dynamic");
  return 0;
}
