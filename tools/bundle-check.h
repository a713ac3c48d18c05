/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Checks a bundle on this machine, for `cleave bundle --check`: compiles the files of the bundle
 * with the C compiler of this machine, measures the objects, and runs the test of the bundle. */

#include <cleave/cleave.h>

/* The results of a check. */
typedef struct
{
  int status;     /* exit status of the test: 0 if all bits are equal; 1 if an output differs; 2 if
                   * the run wrote outside of its memory; -1 if a signal ended the test */
  char *compiler; /* the compiler's name, version and options */
  gint64 stack_bytes;             /* bytes of stack of a run; of several runs, the largest number */
  gint64 code_bytes, table_bytes; /* bytes of code, and of constants other than the weights; -1:
                                   * unknown, since this machine has no program `size` */
} CleaveBundleCheck;

/* Checks a bundle in a temporary folder. `files` maps the name of each file to its text.
 * `weight_bytes` is the number of bytes of the model's constants. The caller clears `check`. */
gboolean cleave_bundle_check (GHashTable *files,
                              gint64 weight_bytes,
                              CleaveBundleCheck *check,
                              GError **error);
void cleave_bundle_check_clear (CleaveBundleCheck *check);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveBundleCheck, cleave_bundle_check_clear)
