/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-error.h>

/* Sets the error and returns FALSE. */
gboolean cleave_fail (GError **error, CleaveError code, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
/* The same where a pointer is wanted: returns NULL. */
gpointer cleave_fail_null (GError **error, CleaveError code, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
