/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Literals of the text form of graphs: the elements of tensors, real attributes, and names. print.c
 * and lib/text/write.c print literals, and the reader in lib/text parses literals. Printing a value
 * and parsing the text gives the same bits. */

#include <cleave/cleave-tensor.h>

/* Prints the elements of a tensor, separated by commas: "1,2,3". If all elements have the same
 * bits, prints only one element. Prints 16-bit floats and NaNs as their bits, such as 0x7fc00001.
 */
void cleave_literal_print (CleaveTensor *tensor, GString *out);
/* Parses the elements of a tensor. Returns NULL and the error on failure; the caller must add the
 * position in the file to the error message. */
CleaveTensor *cleave_literal_parse (const CleaveTensorType *type, const char *text, GError **error);

/* Print and parse a real attribute. A number with exactly nine digits is parsed as a float32, since
 * nine digits represent each float32. */
void cleave_literal_print_real (double value, GString *out);
gboolean cleave_literal_parse_real (const char *text, double *value);

/* Prints a name, in quotes if the name would be ambiguous without quotes. A name is ambiguous if it
 * is empty, begins with a quote, begins or ends with a space, or has a control character or a
 * character of `special`. */
void cleave_literal_print_name (const char *name, const char *special, GString *out);
/* Parses a name, with or without quotes. Returns NULL if the closing quote is missing or is not the
 * last character. */
char *cleave_literal_parse_name (const char *text);
