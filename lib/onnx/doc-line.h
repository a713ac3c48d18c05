/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Lines of a doc string by which a file says what ONNX has no attribute for.  Each begins with a
 * word of its own. */

#include <glib.h>

/* (nullable): what follows the word, to the end of the doc string. */
const char *cleave_doc_line_find (const char *doc, const char *word);
/* (transfer full): the doc string, which may be NULL, with such a line at its end. */
char *cleave_doc_line_append (const char *doc, const char *word, const char *text);
/* (transfer full) (nullable): the doc string without it. */
char *cleave_doc_line_remove (const char *doc, const char *word);
