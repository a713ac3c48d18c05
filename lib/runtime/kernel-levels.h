/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* For tests: returns the name of level n of those that run on this processor; level 0 is the
 * lowest. Returns NULL if n or fewer levels run. */
const char *cleave_kernel_nth_level (guint n);

/* For tests: TRUE if the process runs in an emulator of the AVX-VNNI instruction, so the level
 * `avxvnni` runs. */
extern gboolean cleave_kernel_emulates_avx_vnni;
