/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Recognizes files that are no model, such as a PyTorch checkpoint. If the ONNX reader fails,
 * load.c calls cleave_foreign_name(), so that the error names the format and the next step. */

#include <glib.h>

/* cleave_foreign_name() needs at most this many bytes from the beginning of a file. */
#define CLEAVE_FOREIGN_BYTES 64

/* Returns the end of a sentence "not an ONNX model, but …": the format of a file that is no model,
 * and what the user can do next. Returns NULL if the first bytes do not show the format. */
const char *cleave_foreign_name (const char *head, gsize n_bytes);
