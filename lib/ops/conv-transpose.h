/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The parts of a transposed convolution without its arithmetic: shapes, maps, pieces. The records
 * of ConvTranspose and TfliteConvTranspose use these functions. Attributes begin with
 * CleaveConvTransposeAttrs. X is operand 0; the weights, [I, O / group, KH, KW], are the operand
 * with the name W or w. */

#include "conv-parts.h"

/* Infers the shape of the result, and sets its element type to the element type of X. */
gboolean cleave_conv_transpose_infer (const CleaveCall *call, CleaveTensorType *y, GError **error);
/* Sets the maps of X or of the weights. */
void cleave_conv_transpose_maps (const CleaveCall *call, guint operand, CleaveDimMap *map);
/* Sets the pads and output_padding of a piece, so that the pads crop the result of the piece to the
 * chunk. */
gboolean cleave_conv_transpose_narrow (const CleaveCall *call,
                                       const CleaveChunk *chunk,
                                       gpointer attrs,
                                       GString *why);
gint64 cleave_conv_transpose_macs (const CleaveCall *call);
CleaveConvWalk cleave_conv_transpose_init_walk (const CleaveCall *call);
