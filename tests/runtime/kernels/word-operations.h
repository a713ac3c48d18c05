/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The tests of word-vector.h, the vectors of 16-bit integers. vector-operations.c calls
 * cleave_test_words() in its program, once for each level of the processor. */

#include <glib.h>

/* Compares the operations of word-vector.h, and the conversions to integers that QDQ sums use, with
 * plain C. Returns the number of differences. */
guint cleave_test_words (guint n_rounds);
