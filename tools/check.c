/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs the original graph with one thread and the split graph with a thread for each processor, and
 * compares their outputs bit for bit. The split graph is written as ONNX and read again before the
 * run. Both runs read the same random inputs. */

#include "check.h"

#include "execute.h"
#include "inputs.h"
#include "sizes.h"

#include <stdio.h>

/* Writes the graph as ONNX and reads it again, as a user of the model would. Returns a copy of the
 * graph if ONNX has no form for a node, such as a node of an op of TensorFlow Lite. Returns NULL on
 * error. */
static CleaveGraph *
read_back (const CleaveGraph *graph, GError **error)
{
  g_autoptr (GBytes) bytes = cleave_onnx_serialize (graph, NULL);

  const CleaveOnnxOptions options = { .dynamic = TRUE };

  return bytes == NULL ? cleave_graph_copy (graph)
                       : cleave_onnx_parse (bytes, NULL, &options, error);
}

/* Returns a text about the difference of one output of the two graphs; NULL if the outputs are
 * equal. */
static char *
describe_difference (const char *name, CleaveTensor *a, CleaveTensor *b)
{
  const CleaveTensorType *was = cleave_tensor_get_type (a), *is = cleave_tensor_get_type (b);
  g_autofree char *wanted = cleave_tensor_type_to_string (was);
  g_autofree char *got = cleave_tensor_type_to_string (is);
  CleaveDifference d;

  if (!cleave_tensor_type_equal (was, is))
    return g_strdup_printf ("output '%s' was %s and is %s", name, wanted, got);
  d = cleave_compare (a, b);
  if (d.n_different == 0)
    return NULL;
  return g_strdup_printf ("output '%s' differs in %" G_GINT64_FORMAT " element%s, by %.9g at most",
                          name, d.n_different, CLEAVE_PLURAL (d.n_different), d.largest);
}

gboolean
cleave_check (const CleaveGraph *before,
              const CleaveGraph *after,
              char **verdict,
              gboolean *equal,
              GError **error)
{
  g_autoptr (GPtrArray) inputs = cleave_make_inputs (before, NULL, error);
  g_autoptr (CleaveGraph) written = inputs == NULL ? NULL : read_back (after, error);
  g_auto (CleaveExecution) whole = { 0 }, split = { 0 };

  if (written == NULL || !cleave_execute (before, inputs, 1, 1, &whole, error) ||
      !cleave_execute (written, inputs, g_get_num_processors (), 1, &split, error))
    return FALSE;
  if (!g_strv_equal ((const char *const *) whole.names, (const char *const *) split.names))
    *verdict = g_strdup ("a list of the outputs has another number of tensors");
  for (guint i = 0; i < whole.outputs->len && *verdict == NULL; i++)
    *verdict =
        describe_difference (whole.names[i], whole.outputs->pdata[i], split.outputs->pdata[i]);
  *equal = *verdict == NULL;
  if (*equal)
    *verdict = g_strdup ("equal, bit for bit");
  return TRUE;
}
