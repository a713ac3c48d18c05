/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Options of bundles (CleaveBundleOptions). */

#include <cleave/cleave-bundle.h>

/* limit on the number of memories, each of which is a parameter of the run function */
#define CLEAVE_BUNDLE_MAX_MEMORIES 4

/* Fails if an option is wrong; the error names the option. */
gboolean cleave_bundle_check_options (const CleaveGraph *graph,
                                      const CleaveBundleOptions *options,
                                      GError **error);
