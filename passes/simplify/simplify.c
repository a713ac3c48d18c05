/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Defines the pass `simplify`: the passes of this folder that keep all bits, and clean-up,
 * repeated until nothing changes. */

#include "../info.h"

const CleavePassInfo cleave_pass_info_simplify = {
  .name = "simplify",
  .summary = "Runs the passes that make a model smaller and keep its bits, until nothing changes.",
  .pipeline = "repeat(gather-to-slice,drop-results,drop-expands,merge-clips,merge-pads,"
              "fuse-hard-swish,hoist-quantize,sink-transposes,clean-up)",
};
