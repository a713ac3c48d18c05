/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A fuzz target: libFuzzer and AFL++ call it with their bytes, corpus.c with its own. */

#include <cleave/cleave.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* A finding.  abort(), which fuzzers catch; g_error() may trap, which they do not. */
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

/* What corpus.c begins with: GBytes, each of which the target accepts. */
GPtrArray *fuzz_make_corpus (void);
/* Whether the bytes are of the kind that the target reads. */
gboolean fuzz_is_accepted (GBytes *bytes);
