/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Assertions about graphs and errors, and random tensors. test.h includes this file, so every suite
 * has these functions. If a graph differs from the expected text, dump.c prints the text of the
 * graph and the expected text. */

#include <cleave/cleave.h>

/* Asserts that the printed graph equals `expected`, apart from empty lines and trailing white
 * space. On failure, prints both texts in a form that can be pasted into the test. */
void cleave_assert_dump (const CleaveGraph *graph, const char *expected);
/* Asserts that the error has this code and message, and clears it. */
void cleave_assert_error (GError **error, CleaveError code, const char *message);
/* Asserts that there is no error. If there is an error, fails with its message. */
void cleave_assert_no_error (GError *error);
/* Returns a tensor of random elements; the same seed gives the same tensor. Floats are in [-2,
 * 2). If `special`, some are zeros of both signs, infinities and NaNs. */
CleaveTensor *cleave_random_tensor (const CleaveTensorType *type, guint32 seed, gboolean special);
