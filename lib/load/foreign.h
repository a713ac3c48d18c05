/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Largest number of bytes at the beginning of a file that cleave_foreign_name() reads. */
#define CLEAVE_FOREIGN_BYTES 64

/* Returns the format of a file that is no model and what the user can do next, as the end of a
 * sentence "not an ONNX model, but …". Returns NULL if the first bytes do not show the format. */
const char *cleave_foreign_name (const char *head, gsize n_bytes);
