/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "bundle.h"

/* The values of inputs and outputs in all runs, in the memory order of the bundle. */
typedef struct
{
  const CleaveBundle *bundle;
  guint n_runs;
  GPtrArray *inputs, *outputs;           /* CleaveTensor: values of the last run */
  GPtrArray *input_bytes, *output_bytes; /* GByteArray: values of all runs */
} CleaveBundleRuns;

/* Runs a program of the bundle's graph on random inputs; several times if the bundle has states. */
gboolean
cleave_bundle_runs_init (CleaveBundleRuns *runs, const CleaveBundle *bundle, GError **error);
void cleave_bundle_runs_clear (CleaveBundleRuns *runs);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveBundleRuns, cleave_bundle_runs_clear)
