/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-tensor.h>

/* A tensor whose elements are computed when they are first read. Until then it takes addresses, but
 * no memory. Weights that the importer unpacks are such tensors, so that a plan of a model does not
 * unpack them. */

/* Computes the elements: writes all bytes of the tensor to `to`, which holds zeros. */
typedef void (*CleaveTensorFill) (gpointer to, gpointer data);

/* Makes a dense tensor. Calls `fill` at most once, in any thread, and then `free_data`; or
 * `free_data` alone if no element is read. Fails as cleave_tensor_new() does. */
CleaveTensor *cleave_tensor_new_deferred (const CleaveTensorType *type,
                                          CleaveTensorFill fill,
                                          gpointer data,
                                          GDestroyNotify free_data,
                                          GError **error);
