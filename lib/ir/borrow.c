/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes tensors over memory that the caller owns. */

#include "error.h"

#include <cleave/cleave-languages.h>

/**
 * cleave_tensor_new_borrowed:
 * @type: element type and shape
 * @memory: (nullable): the elements in row-major order, [method@Cleave.TensorType.n_bytes] bytes,
 * aligned for the element type; %NULL only if there are no elements
 * @release: (scope async) (closure data): called when the tensor and all its slices are freed
 * @data: passed to @release
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a dense tensor over memory that the caller owns. The caller keeps the memory until @release
 * is called. The elements are not copied, so the tensor and the caller share changes of the
 * elements.
 *
 * Fails as [ctor@Cleave.Tensor.new] does, and with %CLEAVE_ERROR_OPTION if the memory is not
 * aligned for the element type. On failure, the function does not call @release.
 *
 * Returns: (transfer full) (nullable): the tensor
 *
 * Since: 0.1
 */
CleaveTensor *
cleave_tensor_new_borrowed (const CleaveTensorType *type,
                            gpointer memory,
                            CleaveReleaseFunc release,
                            gpointer data,
                            GError **error)
{
  g_return_val_if_fail (type != NULL && release != NULL, NULL);

  g_autoptr (GBytes) bytes = NULL;
  gsize n_bytes;

  if (!cleave_tensor_type_check (type, error))
    return NULL;
  n_bytes = (gsize) cleave_tensor_type_n_bytes (type);
  g_return_val_if_fail (memory != NULL || n_bytes == 0, NULL);
  if ((guintptr) memory % cleave_element_size (type->element) != 0)
    return cleave_fail_null (error, CLEAVE_ERROR_OPTION, "the memory is not aligned for %s",
                             cleave_element_get_name (type->element));
  bytes = g_bytes_new_with_free_func (memory, n_bytes, release, data);
  return cleave_tensor_new_from_bytes (type, bytes, error);
}
