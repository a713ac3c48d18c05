/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Writes random models for comparisons with ONNX Runtime. `differential --write FOLDER` calls
 * peer_write(), and tests/peers/differential.mjs runs the models and compares the results. */

#include <glib.h>

/* Writes models of at most `max_nodes` nodes with inputs and the results of the reference
 * kernels, to be compared with another system. Files: N.onnx, N.json, and N.bin with the bytes
 * of all values. Returns 0 on success. */
int peer_write (const char *folder, guint64 first, guint64 n, guint max_nodes);
