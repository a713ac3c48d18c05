/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The records of the ops that a bundle can compute. */

#include "op.h"

extern const CleaveBundleOp cleave_bundle_op_tflite_conv;

/* Returns whether there is a record of an op. */
gboolean cleave_bundle_op_has (const char *op);
