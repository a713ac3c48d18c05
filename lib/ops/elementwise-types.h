/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Infers the types of the results of element-wise ops. elementwise.c chooses one of these functions
 * for each kind of op in elementwise.def. `elements` is the set of element types of the op: a bit
 * CLEAVE_ELEMENT_BIT (element) for each. */

#include "../ir/op.h"

/* Infers a result with the element type of the operands, whose shapes are broadcast to each other.
 * All operands must have the same element type. */
gboolean cleave_elementwise_infer (const CleaveCall *call,
                                   guint elements,
                                   CleaveTensorType *results,
                                   GError **error);
/* Infers as cleave_elementwise_infer() does, but the result is bool. */
gboolean cleave_elementwise_infer_compare (const CleaveCall *call,
                                           guint elements,
                                           CleaveTensorType *results,
                                           GError **error);
/* Infers the type of a PRelu: the slope is broadcast to X. X is not broadcast. */
gboolean cleave_elementwise_infer_slope (const CleaveCall *call,
                                         guint elements,
                                         CleaveTensorType *results,
                                         GError **error);
/* Infers the type of a Pow: the result has the element type of the base. The exponent may have
 * another element type. */
gboolean cleave_elementwise_infer_power (const CleaveCall *call,
                                         guint elements,
                                         CleaveTensorType *results,
                                         GError **error);
/* Infers the type of a Mod. Fails for floats if the attribute fmod is 0: ONNX allows floats only
 * with fmod 1, for which the remainder has the sign of the dividend. */
gboolean cleave_elementwise_infer_remainder (const CleaveCall *call,
                                             guint elements,
                                             CleaveTensorType *results,
                                             GError **error);
