/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Outputs of strings: tensors of bytes whose last dimension has one string in UTF-8 and then zeros.
 */

/* Returns the number of strings. */
gint64 cleave_texts_count (CleaveTensor *tensor);
/* Returns one string. */
char *cleave_texts_dup (CleaveTensor *tensor, gint64 index);
/* Returns the shape and the first strings for people, such as "strings 2x3: 'a', 'b', ...". */
char *cleave_texts_print (CleaveTensor *tensor);
