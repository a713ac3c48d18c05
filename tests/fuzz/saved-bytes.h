/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Loads saved programs from memory, for the target fuzz-saved.c and its corpus saved-corpus.c. The
 * library loads programs only from files, so the bytes go to a file in memory. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

/* Loads a saved program from bytes instead of a file. */
static inline CleaveProgram *
fuzz_load_saved (gconstpointer data, gsize size, CleaveGraph **graph, GError **error)
{
  int file = memfd_create ("saved", MFD_CLOEXEC);
  g_autofree char *path = g_strdup_printf ("/proc/self/fd/%d", file);
  CleaveProgram *program = NULL;

  if (file < 0 || write (file, data, size) != (gssize) size)
    fuzz_fail ("there is no file for the bytes");
  program = cleave_program_load (path, NULL, FALSE, graph, error);
  close (file);
  return program;
}
