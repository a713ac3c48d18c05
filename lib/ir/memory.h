/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Aligned memory of a size that a model decides: NULL and CLEAVE_ERROR_MEMORY where GLib would
 * abort.  Freed with free(). */
gpointer cleave_memory_try (gint64 n_bytes, gsize alignment, const char *what, GError **error);
/* For memory that is written at once: takes all its pages with one call of the system, in place of
 * a fault for each. */
void cleave_memory_populate (gpointer memory, gsize n_bytes);
