/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The functions of a fuzz target, such as fuzz-text.c with text-corpus.c. libFuzzer and AFL++ call
 * the target with their inputs. corpus.c is a test that needs no fuzzer: it calls the target with
 * mutations of the target's corpus. */

#include <cleave/cleave.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput (const guint8 *data, gsize size);

/* Reports an error that the target found. Calls abort(), which fuzzers catch. g_error() may end by
 * a trap, which fuzzers do not catch. */
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
