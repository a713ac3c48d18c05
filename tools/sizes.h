/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Sizes of memory in the text that commands print, such as "1.31 MiB", or "1374000 bytes" with the
 * option --bytes. Every command that prints a size uses these functions. JSON always has numbers of
 * bytes. */

/* TRUE: commands print sizes as plain numbers of bytes (--bytes) */
extern gboolean cleave_sizes_in_bytes;

#define CLEAVE_BYTES_OPTION                                                                        \
  {                                                                                                \
    "bytes", 0, 0, G_OPTION_ARG_NONE, &cleave_sizes_in_bytes, "print sizes in bytes, for scripts", \
        NULL                                                                                       \
  }

/* Returns a size with a unit of 1024 and two decimals, such as "1.31 MiB" or "640 B". The printed
 * size is rounded up, so it can be used as a limit. */
char *cleave_size_to_text (gint64 n_bytes);
/* Returns a size as commands print it: cleave_size_to_text(), or "1374000 bytes" with --bytes. */
char *cleave_size_to_print (gint64 n_bytes);
/* Returns the letter that a noun after the number needs: "" after 1, else "s". */
#define CLEAVE_PLURAL(n) ((n) == 1 ? "" : "s")
/* Returns a text of the library, with each size such as "1374000 bytes" replaced by the text of
 * cleave_size_to_print(). */
char *cleave_size_replace_all (const char *text);
