/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The input is a graph as text. An accepted graph must be valid. If an accepted graph is written
 * and read, it must be the same graph. */

#include <string.h>

#include "../../lib/text/reader.h"
#include "fuzz.h"

/* Limit on the bytes of values that a text declares without their elements. */
#define MAX_BYTES 100000

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  g_autofree char *text = g_strndup ((const char *) data, size), *full = NULL, *full_again = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_graph_parse_within (text, NULL, MAX_BYTES, &error);
  g_autoptr (CleaveGraph) again = NULL;

  if ((graph == NULL) != (error != NULL))
    fuzz_fail ("neither a graph nor an error, or both");
  if (graph == NULL)
    return 0;
  if (!cleave_graph_validate (graph, &error))
    fuzz_fail ("an invalid graph: %s", error->message);
  full = cleave_graph_to_text (graph, NULL, NULL);
  again = cleave_graph_parse_within (full, NULL, MAX_BYTES, &error);
  if (again == NULL)
    fuzz_fail ("a written graph cannot be read: %s\n%s", error->message, full);
  full_again = cleave_graph_to_text (again, NULL, NULL);
  if (strcmp (full, full_again) != 0)
    fuzz_fail ("a written graph differs when it is read:\n%s\n%s", full, full_again);
  return 0;
}
