/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Builds the ONNX file of a graph in memory, to find which nodes the file has in Loops, and to
 * estimate the bytes of activations while ONNX Runtime runs the file. */

#include "../forecast.h"

#include "export.h"

gint64
cleave_onnx_forecast (const CleaveGraph *graph, char ***iterations, GError **error)
{
  g_auto (CleaveOnnxExport) export = { 0 };
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);

  export.iterations = names;
  if (!cleave_onnx_export_build (&export, graph, error))
    return -1;
  g_ptr_array_add (names, NULL);
  *iterations = (char **) g_ptr_array_steal (names, NULL);
  if (export.origin == NULL || !export.origin->has_loops)
    return MIN (cleave_onnx_export_estimate (&export, FALSE),
                cleave_onnx_export_estimate (&export, TRUE));
  return export.is_hidden ? cleave_onnx_export_estimate (&export, FALSE) : export.known_bytes;
}

/**
 * cleave_onnx_list_iterations:
 * @graph: a graph
 * @error: return location for a [struct@GLib.Error]
 *
 * Lists the nodes that a file of the graph contains in a `Loop`: see [func@Cleave.onnx_set_loops].
 * Takes as long as writing a file.
 *
 * Fails as [func@Cleave.onnx_serialize] does, but accepts a model of any size.
 *
 * Returns: (transfer full) (nullable) (array zero-terminated=1): the names of these nodes, or
 *   %NULL on error
 *
 * Since: 0.2
 */
char **
cleave_onnx_list_iterations (const CleaveGraph *graph, GError **error)
{
  char **iterations = NULL;

  g_return_val_if_fail (graph != NULL, NULL);
  cleave_onnx_forecast (graph, &iterations, error);
  return iterations;
}

/**
 * cleave_onnx_estimate_bytes:
 * @graph: a graph
 * @error: return location for a [struct@GLib.Error]
 *
 * Estimates the peak of activations, in bytes, while ONNX Runtime runs the file of a graph. The
 * estimate models the memory planner of ONNX Runtime 1.30.
 *
 * The estimate does not include: inputs, which belong to the caller; weights; copies between
 * layouts; and overhead of the allocator. These copies and this overhead raise the peak by at most
 * 50 % of the estimate. For a graph without [func@Cleave.onnx_set_loops], the result is the lower
 * of two estimates: with shapes in the file, and with shapes that are known only at run time. Takes
 * as long as writing a file.
 *
 * Fails as [func@Cleave.onnx_serialize] does, but accepts a model of any size.
 *
 * Returns: the number of bytes, or -1 on error
 *
 * Since: 0.2
 */
gint64
cleave_onnx_estimate_bytes (const CleaveGraph *graph, GError **error)
{
  g_auto (GStrv) iterations = NULL;

  g_return_val_if_fail (graph != NULL, -1);
  return cleave_onnx_forecast (graph, &iterations, error);
}
