/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Inputs and outputs of strings, which only the dynamic part of a model can have. A value of
 * strings is a tensor of bytes: its last dimension has the bytes of one string in UTF-8, and zeros
 * after the string. cmd-info.c prints the types, and run-report.c prints the strings. */

/* Returns the number of strings. */
gint64 cleave_texts_count (CleaveTensor *tensor);
/* Returns string number `index` of the tensor. The caller frees it. */
char *cleave_texts_dup (CleaveTensor *tensor, gint64 index);
/* Returns the number of strings along each dimension and the largest size of a string, such as
 * "strings 2x3, each at most 256 bytes". */
char *cleave_texts_type (const CleaveTensorType *type);
/* Returns the shape and the first strings as text, such as "strings 2x3: 'a', 'b', ...". */
char *cleave_texts_print (CleaveTensor *tensor);
/* Turns random bytes into strings of one letter. */
void cleave_texts_make_letters (CleaveTensor *tensor);
