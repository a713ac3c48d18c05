/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Makes the level `avxvnni` run on a processor that has VNNI only in AVX-512, so that its code can
 * be tested there. Returns FALSE for other levels, and on processors without either. */
gboolean cleave_test_emulate_level (const char *level);
