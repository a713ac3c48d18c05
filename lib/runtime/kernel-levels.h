/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* For tests: returns the name of the n-th level that runs here, the lowest first; NULL: there are
 * fewer. */
const char *cleave_kernel_nth_level (guint n);

/* For tests: the process emulates the instruction of AVX-VNNI, so the level `avxvnni` runs. */
extern gboolean cleave_kernel_emulates_avx_vnni;
