/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Turns error codes of MPI into GErrors, for all files of this folder. Example: cleave_mpi_check
 * (code, "compare models", error) sets "cannot compare models: …". */

/* Returns whether the code is MPI_SUCCESS. If not, sets the error "cannot `what`: …" with MPI's
 * message. */
gboolean cleave_mpi_check (int code, const char *what, GError **error);
