/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Runs tests of the level avxvnni on processors without AVX-VNNI. suites.c and vector-operations.c
 * call cleave_test_emulate_level() before the first kernel runs. emulate-vnni.c replaces the
 * instructions while the program runs. */

#include <glib.h>

/* Makes the level `avxvnni` run on a processor that has the VNNI instructions of AVX-512 and lacks
 * AVX-VNNI. Returns FALSE for other levels, and on processors that have VNNI in neither form. */
gboolean cleave_test_emulate_level (const char *level);
