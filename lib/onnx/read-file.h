/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Reads a file into private pages, which cleave_wire_unpack() may release one by one. Returns NULL
 * on error. */
GBytes *cleave_onnx_read_file (const char *path, GError **error);
