/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Options of bundles (CleaveBundleOptions). */

#include <cleave/cleave-bundle.h>

/* The run function has a parameter for each memory. */
#define CLEAVE_BUNDLE_MAX_MEMORIES 4

/* Fails with a message that names a wrong option. */
gboolean cleave_bundle_check_options (const CleaveGraph *graph,
                                      const CleaveBundleOptions *options,
                                      GError **error);
