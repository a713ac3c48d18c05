/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Bytes at the beginning of a file that cleave_foreign_name() looks at, at most. */
#define CLEAVE_FOREIGN_BYTES 64

/* Returns what a file is that is no model, and what to do instead, as the rest of a sentence "not
 * an ONNX model, but …". NULL: its first bytes say nothing. */
const char *cleave_foreign_name (const char *head, gsize n_bytes);
