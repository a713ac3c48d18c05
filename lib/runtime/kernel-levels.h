/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* For tests: returns the name of the n-th level among the levels that run on this processor; 0 is
 * the lowest. Returns NULL if at most n levels run here. */
const char *cleave_kernel_nth_level (guint n);

/* For tests: TRUE if an emulator of the AVX-VNNI instruction runs the process, so that the level
 * `avxvnni` runs. */
extern gboolean cleave_kernel_emulates_avx_vnni;
