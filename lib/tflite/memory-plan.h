/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Offsets of the tensors of a TensorFlow Lite model in the arena of TensorFlow Lite for
 * Microcontrollers. cleave_tflite_add_memory_plan() computes the offsets (memory-plan.c), and then
 * writes them into the file as metadata (offline-metadata.c). */

#include "model.h"

/* Returns a copy of `file` that has the offsets as metadata; NULL on error. */
GBytes *
cleave_tflite_write_offsets (GBytes *file, const gint32 *offsets, guint n_offsets, GError **error);
