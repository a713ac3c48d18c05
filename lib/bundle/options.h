/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Checks the options of a bundle (CleaveBundleOptions). bundle.c calls
 * cleave_bundle_check_options() first, so later code can rely on valid options. texts.c parses the
 * options of the command. */

#include <cleave/cleave-bundle.h>

/* a bundle has at most this many memories, since each is a parameter of the run function */
#define CLEAVE_BUNDLE_MAX_MEMORIES 4

/* Fails if an option is wrong; the error names the option. */
gboolean cleave_bundle_check_options (const CleaveGraph *graph,
                                      const CleaveBundleOptions *options,
                                      GError **error);
