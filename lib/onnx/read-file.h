/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Reads the bytes of a model file for cleave_wire_unpack(). The importer (import/import.c) uses
 * this function for files; callers of cleave_onnx_parse() bring the bytes themselves. */

#include <glib.h>

/* Reads a file into private pages. cleave_wire_unpack() may release each page after it has copied
 * its bytes. Returns NULL on error. */
GBytes *cleave_onnx_read_file (const char *path, GError **error);
