/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Compares the operations of word-vector.h, and the conversions to integers that QDQ sums use, with
 * plain C. Returns the number of differences. */
guint cleave_test_words (guint n_rounds);
