/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-tensor.h>

/* The elements of a tensor as text: one number for each, with commas between them, or a single one
 * where all are the same bits.  Read again, they are the same bits: a float that no decimal number
 * tells, and every 16-bit float, is its bits, such as 0x7fc00001. */
void cleave_literal_print (CleaveTensor *tensor, GString *out);
/* NULL on error, which says what is wrong but not where. */
CleaveTensor *cleave_literal_parse (const CleaveTensorType *type, const char *text, GError **error);

/* A real attribute.  A number of nine digits is a float's. */
void cleave_literal_print_real (double value, GString *out);
gboolean cleave_literal_parse_real (const char *text, double *value);

/* A name or text as it is, or in quotes where it could be taken for something else: where it is
 * empty, begins with a quote, or has control characters, one of `special`, or space at an end. */
void cleave_literal_print_name (const char *name, const char *special, GString *out);
/* The name that a text stands for; NULL: quotes do not end, or something comes after them. */
char *cleave_literal_parse_name (const char *text);
