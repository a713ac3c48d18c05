/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Offsets of the tensors of a TensorFlow Lite model in the arena of TensorFlow Lite for
 * Microcontrollers, and the file with these offsets. */

#include "model.h"

/* Sets the offset of each tensor in bytes; -1 for a constant, and for a variable or another tensor
 * that the runtime places itself. Returns the bytes of the arena; -1 on error. */
gint64 cleave_tflite_plan_memory (const CleaveTfliteModel *model,
                                  gint64 alignment,
                                  gint32 *offsets,
                                  GError **error);
/* Returns a copy of the file `file` with the offsets as metadata; NULL on error. */
GBytes *
cleave_tflite_write_offsets (GBytes *file, const gint32 *offsets, guint n_offsets, GError **error);
