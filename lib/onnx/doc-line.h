/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Lines in a doc string that carry information for which ONNX has no attribute. Each line begins
 * with a word that identifies it, for example "cleave: winograd 0 1". */

#include <glib.h>

/* Returns the text after the word, up to the end of the doc string; NULL if no line begins with the
 * word. */
const char *cleave_doc_line_find (const char *doc, const char *word);
/* Returns the doc string, which may be NULL, with the line appended. The caller frees it. */
char *cleave_doc_line_append (const char *doc, const char *word, const char *text);
/* Returns the doc string without the line, or NULL. The caller frees it. */
char *cleave_doc_line_remove (const char *doc, const char *word);
