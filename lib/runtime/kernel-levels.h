/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Gives tests access to the levels of the processor: tests compare the kernels of all levels that
 * run on this processor. kernels.c implements the functions. */

/* For tests: returns the name of a level that runs on this processor. `n` 0 is the lowest level.
 * Returns NULL if at most n levels run on this processor. */
const char *cleave_kernel_nth_level (guint n);

/* For tests: TRUE if the process runs in an emulator of AVX-VNNI instructions, so that the level
 * `avxvnni` runs. */
extern gboolean cleave_kernel_emulates_avx_vnni;
