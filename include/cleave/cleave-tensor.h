/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Tensors: the values of constants, and the memory that is bound to the inputs and outputs of a
 * program. A tensor is reference-counted. A tensor owns its elements, shares bytes (for example, of
 * a mapped file), or is a slice of another tensor. */

#include <cleave/cleave-types.h>

G_BEGIN_DECLS

#define CLEAVE_TYPE_TENSOR (cleave_tensor_get_gtype ())

/**
 * CleaveTensor:
 *
 * An element type, a shape and the elements. The elements are dense in row-major order, or a
 * strided view of another tensor, which the view keeps alive.
 */
typedef struct _CleaveTensor CleaveTensor;

CLEAVE_API GType cleave_tensor_get_gtype (void);

/* Create tensors. cleave_tensor_new() fills a tensor with zeros, and cleave_tensor_new_copy()
 * copies the data. cleave_tensor_new_from_bytes() and cleave_tensor_new_slice() share memory. */
CLEAVE_API CleaveTensor *cleave_tensor_new (const CleaveTensorType *type, GError **error);
CLEAVE_API CleaveTensor *
cleave_tensor_new_copy (const CleaveTensorType *type, gconstpointer data, GError **error);
CLEAVE_API CleaveTensor *
cleave_tensor_new_from_bytes (const CleaveTensorType *type, GBytes *bytes, GError **error);
CLEAVE_API CleaveTensor *cleave_tensor_new_slice (CleaveTensor *tensor, const CleaveRange *range);

CLEAVE_API CleaveTensor *cleave_tensor_ref (CleaveTensor *tensor);
CLEAVE_API void cleave_tensor_unref (CleaveTensor *tensor);

/* Read the type, the layout and the elements of a tensor. */
CLEAVE_API const CleaveTensorType *cleave_tensor_get_type (const CleaveTensor *tensor);
CLEAVE_API const gint64 *cleave_tensor_get_strides (const CleaveTensor *tensor);
CLEAVE_API gconstpointer cleave_tensor_get_data (const CleaveTensor *tensor);
CLEAVE_API gpointer cleave_tensor_get_mutable_data (CleaveTensor *tensor);
CLEAVE_API GBytes *cleave_tensor_dup_bytes (CleaveTensor *tensor);
CLEAVE_API gboolean cleave_tensor_is_dense (const CleaveTensor *tensor);
CLEAVE_API CleaveTensor *cleave_tensor_get_base (CleaveTensor *tensor, CleaveRange *range);
CLEAVE_API CleaveTensor *cleave_tensor_dup_dense (CleaveTensor *tensor);
CLEAVE_API CleaveTensor *cleave_tensor_dup_canonical (CleaveTensor *tensor);
CLEAVE_API gboolean cleave_tensor_equal (const CleaveTensor *a, const CleaveTensor *b);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveTensor, cleave_tensor_unref)

G_END_DECLS
