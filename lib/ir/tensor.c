/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tensors: creation, slices, and access to elements.
 *
 * Over 400 lines: only this file knows all ways in which a tensor holds its elements. */

#include "deferred-tensor.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "error.h"
#include "memory.h"
#include "range.h"
#include "view.h"

/* The elements of a deferred tensor (deferred-tensor.h), which are computed at their first use. */
typedef struct
{
  gsize is_filled; /* nonzero once the elements are computed; for g_once_init_enter() */
  gpointer memory; /* the elements; zeros until they are computed */
  gsize n_bytes;
  CleaveTensorFill fill;
  gpointer data; /* argument of `fill`; NULL once the elements are computed */
  GDestroyNotify free_data;
  CleaveBits bits;
  CleaveTensor *packed; /* the same elements, two per byte; NULL: there is no packed form */
} Deferred;

/* A tensor holds its elements in one of `owned`, `bytes`, `deferred` or `base`; the other three are
 * NULL. A slice shares the elements of its base, the tensor that it was cut from. */
struct _CleaveTensor
{
  CleaveTensorType type;
  gint64 stride[CLEAVE_MAX_RANK];
  gpointer data;
  gpointer owned; /* aligned memory that the tensor owns */
  GBytes *bytes;  /* bytes that other tensors may share */
  Deferred *deferred;
  CleaveTensor *base; /* the tensor that this slice was cut from; the base is not a slice */
  CleaveRange range;  /* the range of the base that this tensor holds */
};

/* Alignment of elements, in bytes: the size of a cache line, so that an aligned vector load never
 * crosses a line. */
#define ALIGNMENT 64

static CleaveTensor *
tensor_new (const CleaveTensorType *type)
{
  CleaveTensor *tensor = g_atomic_rc_box_new0 (CleaveTensor);

  tensor->type = *type;
  tensor->range = cleave_range_whole (&type->shape);
  cleave_shape_strides (&type->shape, tensor->stride);
  return tensor;
}

/**
 * cleave_tensor_new:
 * @type: element type and shape
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a dense tensor of zeros.
 *
 * Fails with %CLEAVE_ERROR_ELEMENT_TYPE or %CLEAVE_ERROR_SHAPE if the type is not legal, see
 * [method@Cleave.TensorType.check], and with %CLEAVE_ERROR_MEMORY if there is not enough memory.
 *
 * Returns: (transfer full) (nullable): the tensor, or %NULL on error
 *
 * Since: 0.1
 */
CleaveTensor *
cleave_tensor_new (const CleaveTensorType *type, GError **error)
{
  g_return_val_if_fail (type != NULL, NULL);

  CleaveTensor *tensor;
  gpointer memory;

  if (!cleave_tensor_type_check (type, error))
    return NULL;
  memory = cleave_memory_try (cleave_tensor_type_n_bytes (type), ALIGNMENT, "a tensor", error);
  if (memory == NULL)
    return NULL;
  cleave_memory_populate (memory, (gsize) cleave_tensor_type_n_bytes (type));
  memset (memory, 0, (gsize) MAX (cleave_tensor_type_n_bytes (type), 1));
  tensor = tensor_new (type);
  tensor->data = tensor->owned = memory;
  return tensor;
}

/**
 * cleave_tensor_new_copy:
 * @type: element type and shape
 * @data: the elements in row-major order, [method@Cleave.TensorType.n_bytes] bytes
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a dense tensor with a copy of these elements.
 *
 * Fails as [ctor@Cleave.Tensor.new] does.
 *
 * Returns: (transfer full) (nullable): the tensor, or %NULL on error
 *
 * Since: 0.1
 */
CleaveTensor *
cleave_tensor_new_copy (const CleaveTensorType *type, gconstpointer data, GError **error)
{
  CleaveTensor *tensor = cleave_tensor_new (type, error);
  gint64 n_bytes;

  if (tensor == NULL)
    return NULL;
  n_bytes = cleave_tensor_type_n_bytes (type);
  g_return_val_if_fail (data != NULL || n_bytes == 0, NULL);
  if (n_bytes > 0)
    memcpy (tensor->data, data, (gsize) n_bytes);
  return tensor;
}

/**
 * cleave_tensor_new_from_bytes:
 * @type: element type and shape
 * @bytes: (transfer none): the elements in row-major order, exactly
 * [method@Cleave.TensorType.n_bytes] bytes, such as a part of a mapped file
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a dense tensor that shares these bytes. If the bytes are not aligned for the element type,
 * they are copied.
 *
 * Fails as [ctor@Cleave.Tensor.new] does, and with %CLEAVE_ERROR_SHAPE if the number of bytes is
 * wrong.
 *
 * Returns: (transfer full) (nullable): the tensor, or %NULL on error
 *
 * Since: 0.1
 */
CleaveTensor *
cleave_tensor_new_from_bytes (const CleaveTensorType *type, GBytes *bytes, GError **error)
{
  g_return_val_if_fail (type != NULL && bytes != NULL, NULL);

  gsize n_bytes;
  gconstpointer data = g_bytes_get_data (bytes, &n_bytes);
  CleaveTensor *tensor;

  if (!cleave_tensor_type_check (type, error))
    return NULL;
  if (n_bytes != (gsize) cleave_tensor_type_n_bytes (type))
    {
      g_autofree char *text = cleave_tensor_type_to_string (type);

      return cleave_fail_null (error, CLEAVE_ERROR_SHAPE,
                               "%s needs %" G_GINT64_FORMAT " bytes, not %" G_GSIZE_FORMAT, text,
                               cleave_tensor_type_n_bytes (type), n_bytes);
    }
  if ((guintptr) data % cleave_element_size (type->element) != 0)
    return cleave_tensor_new_copy (type, data, error);
  tensor = tensor_new (type);
  tensor->bytes = g_bytes_ref (bytes);
  tensor->data = (gpointer) data;
  return tensor;
}

static void
deferred_clear (gpointer data)
{
  Deferred *deferred = data;

  if (deferred->data != NULL)
    deferred->free_data (deferred->data);
  munmap (deferred->memory, deferred->n_bytes);
  cleave_tensor_unref (deferred->packed);
}

static void
deferred_unref (Deferred *deferred)
{
  g_atomic_rc_box_release_full (deferred, deferred_clear);
}

CleaveTensor *
cleave_tensor_new_deferred (const CleaveTensorType *type,
                            CleaveTensorFill fill,
                            gpointer data,
                            GDestroyNotify free_data,
                            GError **error)
{
  gsize n_bytes;
  CleaveTensor *tensor;
  gpointer memory;

  if (!cleave_tensor_type_check (type, error))
    {
      free_data (data);
      return NULL;
    }
  n_bytes = (gsize) MAX (cleave_tensor_type_n_bytes (type), 1);
  memory = mmap (NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
  if (memory == MAP_FAILED)
    {
      free_data (data);
      return cleave_fail_null (error, CLEAVE_ERROR_MEMORY,
                               "a tensor needs %" G_GSIZE_FORMAT " bytes, which are not available",
                               n_bytes);
    }
  tensor = tensor_new (type);
  tensor->data = memory;
  tensor->deferred = g_atomic_rc_box_new0 (Deferred);
  *tensor->deferred = (Deferred){
    .memory = memory, .n_bytes = n_bytes, .fill = fill, .data = data, .free_data = free_data
  };
  return tensor;
}

CleaveTensor *
cleave_tensor_dup_deferred (const CleaveTensor *tensor, const CleaveTensorType *type)
{
  CleaveTensor *copy;

  if (tensor->deferred == NULL)
    return NULL;
  g_assert (cleave_tensor_type_n_bytes (type) == cleave_tensor_type_n_bytes (&tensor->type));
  copy = tensor_new (type);
  copy->data = tensor->data;
  copy->deferred = g_atomic_rc_box_acquire (tensor->deferred);
  return copy;
}

/* The functions below are for tensors whose elements need 4 bits. */

void
cleave_tensor_set_bits (CleaveTensor *tensor, CleaveBits bits, CleaveTensor *packed)
{
  g_assert (tensor->deferred != NULL && tensor->deferred->packed == NULL);
  tensor->deferred->bits = bits;
  if (packed != NULL)
    tensor->deferred->packed = cleave_tensor_ref (packed);
}

CleaveBits
cleave_tensor_get_bits (const CleaveTensor *tensor)
{
  return tensor->deferred == NULL ? CLEAVE_BITS_8 : tensor->deferred->bits;
}

CleaveTensor *
cleave_tensor_dup_packed (const CleaveTensor *tensor)
{
  gint64 n = cleave_shape_n_elements (&tensor->type.shape);
  CleaveTensor *packed;
  const guint8 *from;

  g_assert (cleave_tensor_get_bits (tensor) != CLEAVE_BITS_8);
  if (tensor->deferred->packed != NULL)
    return cleave_tensor_ref (tensor->deferred->packed);
  packed = cleave_tensor_new (&CLEAVE_TYPE (CLEAVE_UINT8, (n + 1) / 2), NULL);
  if (packed == NULL)
    g_error ("there is no memory for a copy of a tensor");
  from = cleave_tensor_get_data (tensor);
  for (gint64 i = 0; i < n; i++)
    ((guint8 *) packed->data)[i / 2] |= (guint8) ((from[i] & 15) << (i % 2 * 4));
  return packed;
}

static void
fill (Deferred *deferred)
{
  if (!g_once_init_enter (&deferred->is_filled))
    return;
  cleave_memory_populate (deferred->memory, deferred->n_bytes);
  deferred->fill (deferred->memory, deferred->data);
  deferred->free_data (g_steal_pointer (&deferred->data));
  g_once_init_leave (&deferred->is_filled, 1);
}

/* Returns a view of the elements. Does not compute the elements of a deferred tensor. */
static CleaveView
view_unread (const CleaveTensor *tensor)
{
  CleaveView view = { .data = tensor->data, .type = tensor->type };

  memcpy (view.stride, tensor->stride, sizeof view.stride);
  return view;
}

/**
 * cleave_tensor_new_slice:
 * @tensor: (transfer none): a tensor
 * @range: a range inside the tensor's shape
 *
 * Makes a tensor that is a range of another tensor and shares its memory. In general, a slice is
 * not dense. The slice keeps the memory alive.
 *
 * Returns: (transfer full): the slice
 *
 * Since: 0.1
 */
CleaveTensor *
cleave_tensor_new_slice (CleaveTensor *tensor, const CleaveRange *range)
{
  g_return_val_if_fail (tensor != NULL && cleave_range_is_legal (range), NULL);

  CleaveRange whole = cleave_range_whole (&tensor->type.shape);
  CleaveView all = view_unread (tensor);
  CleaveView part;
  CleaveTensor *slice;

  g_return_val_if_fail (range->rank == whole.rank && cleave_range_contains (&whole, range), NULL);

  part = cleave_view_slice (&all, range);
  slice = tensor_new (&part.type);
  memcpy (slice->stride, part.stride, sizeof part.stride);
  slice->data = part.data;
  slice->base = cleave_tensor_ref (tensor->base != NULL ? tensor->base : tensor);
  slice->range = cleave_range_absolute (range, &tensor->range);
  return slice;
}

/**
 * cleave_tensor_ref:
 * @tensor: a tensor
 *
 * Adds a reference to a tensor.
 *
 * Returns: (transfer full): @tensor
 *
 * Since: 0.1
 */
CleaveTensor *
cleave_tensor_ref (CleaveTensor *tensor)
{
  return g_atomic_rc_box_acquire (tensor);
}

static void
tensor_clear (gpointer data)
{
  CleaveTensor *tensor = data;

  free (tensor->owned);
  g_clear_pointer (&tensor->bytes, g_bytes_unref);
  g_clear_pointer (&tensor->deferred, deferred_unref);
  g_clear_pointer (&tensor->base, cleave_tensor_unref);
}

/**
 * cleave_tensor_unref:
 * @tensor: (nullable) (transfer full): a tensor
 *
 * Drops a reference to a tensor. The last reference frees the tensor.
 *
 * Since: 0.1
 */
void
cleave_tensor_unref (CleaveTensor *tensor)
{
  if (tensor != NULL)
    g_atomic_rc_box_release_full (tensor, tensor_clear);
}

/**
 * cleave_tensor_get_type:
 * @tensor: a tensor
 *
 * Returns: (transfer none): element type and shape
 *
 * Since: 0.1
 */
const CleaveTensorType *
cleave_tensor_get_type (const CleaveTensor *tensor)
{
  g_return_val_if_fail (tensor != NULL, NULL);
  return &tensor->type;
}

/**
 * cleave_tensor_get_strides:
 * @tensor: a tensor
 *
 * Returns: (transfer none): the stride of each dimension, in elements: the distance in memory
 * between elements whose indices in this dimension differ by 1
 *
 * Since: 0.1
 */
const gint64 *
cleave_tensor_get_strides (const CleaveTensor *tensor)
{
  g_return_val_if_fail (tensor != NULL, NULL);
  return tensor->stride;
}

/**
 * cleave_tensor_get_data:
 * @tensor: a tensor
 *
 * Returns: (transfer none): the address of the element with all indices 0. The strides give the
 * addresses of all other elements
 *
 * Since: 0.1
 */
gconstpointer
cleave_tensor_get_data (const CleaveTensor *tensor)
{
  g_return_val_if_fail (tensor != NULL, NULL);

  Deferred *deferred = tensor->base != NULL ? tensor->base->deferred : tensor->deferred;

  if (deferred != NULL)
    fill (deferred);
  return tensor->data;
}

/**
 * cleave_tensor_get_mutable_data:
 * @tensor: a tensor that owns its memory, because [ctor@Cleave.Tensor.new] or
 * [ctor@Cleave.Tensor.new_copy] made it
 *
 * Returns: (transfer none) (nullable): the elements in row-major order, which the caller may
 * change; %NULL if the tensor does not own its memory
 *
 * Since: 0.1
 */
gpointer
cleave_tensor_get_mutable_data (CleaveTensor *tensor)
{
  g_return_val_if_fail (tensor != NULL, NULL);
  return tensor->owned;
}

/**
 * cleave_tensor_is_dense:
 * @tensor: a tensor
 *
 * Returns: whether the elements are in row-major order in memory, without gaps
 *
 * Since: 0.1
 */
gboolean
cleave_tensor_is_dense (const CleaveTensor *tensor)
{
  g_return_val_if_fail (tensor != NULL, FALSE);

  CleaveView view = view_unread (tensor);

  return cleave_view_is_dense (&view);
}

/**
 * cleave_tensor_get_base:
 * @tensor: a tensor
 * @range: (out) (optional): the range of the base that the tensor holds
 *
 * Returns: (transfer none): the tensor of which @tensor is a slice, or @tensor itself if @tensor is
 * no slice
 *
 * Since: 0.1
 */
CleaveTensor *
cleave_tensor_get_base (CleaveTensor *tensor, CleaveRange *range)
{
  g_return_val_if_fail (tensor != NULL, NULL);
  if (range != NULL)
    *range = tensor->range;
  return tensor->base != NULL ? tensor->base : tensor;
}
