/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A deferred tensor: its elements are computed when they are first read. Until then, it reserves
 * addresses, but takes no memory. The importer unpacks weights of 4 bits into such tensors
 * (lib/onnx/tensor-proto.c), so that Cleave can plan a model without unpacking its weights. The
 * exporter writes the packed bytes again (lib/onnx/export/packed.c). */

#include <cleave/cleave-tensor.h>

/* Computes the elements of a deferred tensor: writes all bytes of the tensor to `to`, which holds
 * zeros. */
typedef void (*CleaveTensorFill) (gpointer to, gpointer data);

/* Makes a dense deferred tensor. Calls `fill` at most once, in any thread, and then `free_data`. If
 * no element is ever read, calls only `free_data`. Fails as cleave_tensor_new() does. */
CleaveTensor *cleave_tensor_new_deferred (const CleaveTensorType *type,
                                          CleaveTensorFill fill,
                                          gpointer data,
                                          GDestroyNotify free_data,
                                          GError **error);

/* The number of bits that each element of a tensor of bytes needs. */
typedef enum {
  CLEAVE_BITS_8,
  CLEAVE_BITS_UINT4, /* elements from 0 to 15 */
  CLEAVE_BITS_INT4   /* elements from -8 to 7 */
} CleaveBits;

/* Notes that the elements of a deferred tensor need 4 bits. `packed` is the tensor of the same
 * elements, two per byte, the first one in the low half; NULL: there is none. Call this function
 * before another function can see the tensor. */
void cleave_tensor_set_bits (CleaveTensor *tensor, CleaveBits bits, CleaveTensor *packed);
/* Returns the number of bits that each element needs. Returns CLEAVE_BITS_8 for a slice, and for a
 * tensor that is not deferred. */
CleaveBits cleave_tensor_get_bits (const CleaveTensor *tensor);
/* Returns the elements of `tensor`, two per byte, as a tensor of bytes. The elements of `tensor`
 * must need 4 bits. */
CleaveTensor *cleave_tensor_dup_packed (const CleaveTensor *tensor);
/* Returns a tensor of another shape that shares the elements of a deferred tensor, and computes
 * none of them. NULL if `tensor` is not deferred. */
CleaveTensor *cleave_tensor_dup_deferred (const CleaveTensor *tensor, const CleaveTensorType *type);
