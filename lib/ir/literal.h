/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Literals of the text form of graphs: the elements of tensors, real attributes, and names.
 * Printing and parsing again gives the same bits. */

#include <cleave/cleave-tensor.h>

/* Prints the elements of a tensor, separated by commas: "1,2,3". If all elements have the same
 * bits, prints one. An element that no short decimal number represents exactly, such as a NaN, is
 * printed as its bits (0x7fc00001), and so is each 16-bit float. */
void cleave_literal_print (CleaveTensor *tensor, GString *out);
/* Parses the elements of a tensor. Returns NULL on error; the message does not say where the text
 * is. */
CleaveTensor *cleave_literal_parse (const CleaveTensorType *type, const char *text, GError **error);

/* Print and parse a real attribute. A number with exactly nine digits is read as a float32, since
 * nine digits represent each float32. */
void cleave_literal_print_real (double value, GString *out);
gboolean cleave_literal_parse_real (const char *text, double *value);

/* Prints a name, in quotes if it would be ambiguous without. It is if it is empty, begins with a
 * quote, begins or ends with a space, or has a control character or a character of `special`. */
void cleave_literal_print_name (const char *name, const char *special, GString *out);
/* Parses a name, with or without quotes. Returns NULL if the closing quote is missing or is not the
 * last character. */
char *cleave_literal_parse_name (const char *text);
