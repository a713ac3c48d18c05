/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Parses lists of numbers and ranges: in options of the command and of pipelines
 * (passes/split/text.c), in texts of graphs (lib/text), and in split arguments of frameworks
 * (lib/ops/frameworks-texts.c). Error messages name the option. cleave-text.h has the public
 * part. */

#include <cleave/cleave-text.h>

/* Parse "1,2,3" to an array of gint64, and "0.5,1" to an array of double. Return NULL on error; a
 * list has at least one entry. */
GArray *cleave_text_to_ints (const char *option, const char *text, GError **error);
GArray *cleave_text_to_doubles (const char *option, const char *text, GError **error);
/* Parses "0:1,0:16/0:1,16:32" to an array of CleaveRange. Returns NULL on error. */
GArray *cleave_text_to_ranges (const char *option, const char *text, GError **error);
/* Returns the position of the character at address `at` in `text`, in words for an error message:
 * "line 2, column 3", or "column 3" if `text` has only one line. Lines and columns count from 1. */
char *cleave_text_dup_place (const char *text, const char *at);
