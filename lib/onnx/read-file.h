/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* The bytes of a file, in pages of their own that whoever reads them may give back to the system.
 */
GBytes *cleave_onnx_read_file (const char *path, GError **error);
