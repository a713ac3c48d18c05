/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Small TensorFlow Lite files for the fuzz target of their import. */

#include "fuzz.h"
#include "tflite-file.h"

GPtrArray *
fuzz_make_corpus (void)
{
  return tflite_file_examples ();
}

gboolean
fuzz_is_accepted (GBytes *bytes)
{
  g_autoptr (CleaveGraph) graph = cleave_tflite_parse (bytes, NULL);

  return graph != NULL;
}
