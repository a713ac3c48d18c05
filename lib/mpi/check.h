/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Fails with what was to be done and the message of MPI, unless the code is MPI_SUCCESS. */
gboolean cleave_mpi_check (int code, const char *what, GError **error);
