/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Sets a GError and returns the failure value in one expression: return cleave_fail (error, …).
 * Every function of the library reports the mistakes of a user with the functions below. The
 * message names the node or option, the value found and the value expected. */

#include <cleave/cleave-error.h>

/* Sets the error, unless `error` is NULL, and returns FALSE. */
gboolean cleave_fail (GError **error, CleaveError code, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
/* Sets the error, unless `error` is NULL, and returns NULL. */
gpointer cleave_fail_null (GError **error, CleaveError code, const char *format, ...)
    G_GNUC_PRINTF (3, 4);
