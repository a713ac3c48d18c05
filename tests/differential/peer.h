/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Writes random models for comparisons with ONNX Runtime. `differential --write FOLDER` calls
 * peer_write(), and tests/peers/differential.mjs runs the models and compares the results. */

#include <glib.h>

/* Writes models of the seeds `first` to `first` + `n` - 1, with at most `max_nodes` nodes each.
 * Files of a seed S: S.onnx, S.json, and S.bin with the bytes of the inputs and of the results of
 * the reference kernels. Returns 0 on success. */
int peer_write (const char *folder, guint64 first, guint64 n, guint max_nodes);
