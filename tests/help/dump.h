/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* The graph prints as `expected`, white space at the ends of lines and empty lines ignored; if not,
 * fails and prints both, ready to paste. */
void cleave_assert_dump (const CleaveGraph *graph, const char *expected);
/* The error has this code and this message; it is cleared. */
void cleave_assert_error (GError **error, CleaveError code, const char *message);
/* No error: fails with its message. */
void cleave_assert_no_error (GError *error);
/* A tensor of random elements; the same for the same seed.  Floats are drawn from [-2, 2), with
 * some zeros of both signs, infinities and NaNs if `special`. */
CleaveTensor *cleave_random_tensor (const CleaveTensorType *type, guint32 seed, gboolean special);
