/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Runs both graphs on the same random inputs and compares the outputs bit by bit. The split graph
 * is first written and read again as ONNX, and runs on all cores; the original runs on one thread.
 * Sets `verdict` to the first difference, or to a text that says that there is none. */
gboolean cleave_check (const CleaveGraph *before,
                       const CleaveGraph *after,
                       char **verdict,
                       gboolean *equal,
                       GError **error);
/* If the error says that a limit cannot be met, prints it on standard error, clears it and returns
 * TRUE. The command then ends with CLEAVE_NO instead of CLEAVE_WRONG. */
gboolean cleave_fit_refused (GError **error);
