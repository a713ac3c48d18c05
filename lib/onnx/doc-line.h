/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Lines in a doc string that carry information for which ONNX has no attribute. Each line begins
 * with a word that identifies it, for example "cleave: winograd 0 1". */

#include <glib.h>

/* (nullable): the text after the word, which continues to the end of the doc string. */
const char *cleave_doc_line_find (const char *doc, const char *word);
/* (transfer full): the doc string, which may be NULL, with the line appended. */
char *cleave_doc_line_append (const char *doc, const char *word, const char *text);
/* (transfer full) (nullable): the doc string without the line. */
char *cleave_doc_line_remove (const char *doc, const char *word);
