/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Checks the result of `cleave split` and `cleave fit` for option --check: the split graph must
 * compute the bits of the original graph. cmd-split.c and cmd-fit.c call these functions after the
 * split, and report.c prints the verdict. */

#include <cleave/cleave.h>

/* Runs both graphs on the same random inputs and compares the outputs bit by bit. Writes the split
 * graph as ONNX, reads it, and runs it on all cores; runs the original on one thread. Sets
 * `verdict` to a text about the first difference, or to a text that says that the outputs are
 * equal. */
gboolean cleave_check (const CleaveGraph *before,
                       const CleaveGraph *after,
                       char **verdict,
                       gboolean *equal,
                       GError **error);
