/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The words with which commands print the peak memory of a model: the peak of "live activations".
 * The help of cleave.c explains live activations once. Reports of run, split, fit, memory and info
 * use the name without an explanation. */

#include <cleave/cleave.h>

/* The name of the quantity that commands print as the peak memory of a model. */
#define CLEAVE_CONVENTION_NAME "live activations"

/* The text of CLEAVE_MEMORY_CONVENTION for figures without the inputs of the graph. */
#define CLEAVE_CONVENTION_WITHOUT_INPUTS                                                           \
  "live activations of the schedule, outputs of the graph included, inputs in memory of the "      \
  "caller, weights apart, element-wise and depthwise in place, slices and assembled parts as "     \
  "views"

/* The text of CLEAVE_MEMORY_CONVENTION for the help of commands, in lines of at most 100
 * columns. */
#define CLEAVE_CONVENTION_LINES                                                                    \
  "live activations of the schedule: inputs and outputs of the graph included,\n"                  \
  "weights apart, element-wise and depthwise in place, slices and assembled parts as views"
