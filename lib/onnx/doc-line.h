/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Lines in the doc string of a node that carry information for which ONNX has no attribute. Each
 * line begins with a word that identifies the line, for example "cleave: winograd 0 1". winograd.c
 * and resize-part.c write such lines during the export and read them during the import. */

#include <glib.h>

/* Finds the first line of the doc string `doc` that begins with `word`. Returns a pointer into
 * `doc`, to the text after `word`; the text may be followed by further lines. Returns NULL if no
 * line begins with `word`. */
const char *cleave_doc_line_find (const char *doc, const char *word);
/* Returns a copy of the doc string `doc` with one more line at the end: `word`, directly followed
 * by `text`. `doc` may be NULL. The caller frees the result. */
char *cleave_doc_line_append (const char *doc, const char *word, const char *text);
/* Returns a copy of the doc string `doc` without the line that begins with `word`. The copy is
 * empty if `doc` has no other line. Returns NULL if `doc` is NULL. The caller frees the result. */
char *cleave_doc_line_remove (const char *doc, const char *word);
