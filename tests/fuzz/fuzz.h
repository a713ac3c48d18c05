/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The functions of a fuzz target. libFuzzer and AFL++ call the target with their inputs; corpus.c
 * calls it with mutations of the corpus. */

#include <cleave/cleave.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* Reports a finding. Calls abort(), which fuzzers catch. Fuzzers do not catch a trap, by which
 * g_error() may end. */
G_GNUC_PRINTF (1, 2)
G_NORETURN static inline void
fuzz_fail (const char *format, ...)
{
  va_list args;

  va_start (args, format);
  vfprintf (stderr, format, args);
  va_end (args);
  fputc ('\n', stderr);
  abort ();
}

/* Returns the initial corpus: GBytes, each of which the target accepts. */
GPtrArray *fuzz_make_corpus (void);
/* Returns whether the target accepts the bytes. */
gboolean fuzz_is_accepted (GBytes *bytes);
