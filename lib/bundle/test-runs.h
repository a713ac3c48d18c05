/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bundle.h"

/* Runs of the graph for the test of a bundle: write-test.c prints the inputs, and the outputs that
 * the test expects. Example: the test runs a bundle with states 4 times, so input_bytes has 4
 * values of each input, one after the other.
 *
 * The values of inputs and outputs in all runs, in the memory order of the bundle. */
typedef struct
{
  const CleaveBundle *bundle;
  guint n_runs;
  GPtrArray *inputs, *outputs;           /* CleaveTensor: values of the last run, indexed by input
                                          * or output */
  GPtrArray *input_bytes, *output_bytes; /* GByteArray: values of all runs, indexed by input or
                                          * output */
} CleaveBundleRuns;

/* Runs a program of the bundle's graph on random inputs. If the bundle has states, runs it several
 * times. */
gboolean
cleave_bundle_runs_init (CleaveBundleRuns *runs, const CleaveBundle *bundle, GError **error);
void cleave_bundle_runs_clear (CleaveBundleRuns *runs);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveBundleRuns, cleave_bundle_runs_clear)
