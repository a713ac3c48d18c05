/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-types.h>

/* Gives every NaN the same bits.  Which of two NaNs a sum takes, and with which sign, is the
 * machine's choice and the compiler's, so that the bits of a NaN are promised nowhere. */
void cleave_nans_settle (CleaveElement element, gpointer data, gint64 n);
/* Whether so many elements have the same bits, where any NaN equals any other. */
gboolean cleave_nans_equal (CleaveElement element, gconstpointer a, gconstpointer b, gint64 n);
