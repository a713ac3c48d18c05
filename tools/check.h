/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Runs both graphs on the same inputs, the split one as it is written and on all cores; `verdict`
 * is told how they differ, or that they do not. */
gboolean cleave_check (const CleaveGraph *before,
                       const CleaveGraph *after,
                       char **verdict,
                       gboolean *equal,
                       GError **error);
/* Whether an error says that a limit cannot be met: it is then told on standard error and cleared,
 * since the answer is no, and nothing is wrong. */
gboolean cleave_fit_refused (GError **error);
