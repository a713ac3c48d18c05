/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Gives tests access to the levels of the processor, so that they can compare the kernels of all
 * levels that run on it. kernels.c implements the functions. */

/* For tests: returns the name of a level that runs on this processor. n counts these levels from 0,
 * the lowest. Returns NULL if at most n levels run here. */
const char *cleave_kernel_nth_level (guint n);

/* For tests: TRUE if an emulator of the AVX-VNNI instruction runs the process, so that the level
 * `avxvnni` runs. */
extern gboolean cleave_kernel_emulates_avx_vnni;
