/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Writes small models with inputs and what the reference kernels make of them, for another system:
 * N.onnx, N.json, and N.bin with the bytes of all values.  0: all is well. */
int peer_write (const char *folder, guint64 first, guint64 n);
