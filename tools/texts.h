/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Outputs of strings. Such an output is a tensor of bytes: its last dimension has the bytes of one
 * string in UTF-8, and zeros after the string. */

/* Returns the number of strings. */
gint64 cleave_texts_count (CleaveTensor *tensor);
/* Returns string number `index` of the tensor. The caller frees it. */
char *cleave_texts_dup (CleaveTensor *tensor, gint64 index);
/* Returns the shape and the first strings as text, such as "strings 2x3: 'a', 'b', ...". */
char *cleave_texts_print (CleaveTensor *tensor);
