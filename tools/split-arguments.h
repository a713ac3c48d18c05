/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "split-limits.h"

/* How to split, as the command line says it; texts are NULL where an option is not given. */
typedef struct
{
  char *dims, *num_chunks, *chunk_size, *chunk_sizes, *chunk_weights, *slice_ranges;
  char *align, *min_chunk;
  gboolean small_first;
  CleaveLimits limits;
} CleaveSplitArguments;

void cleave_split_arguments_clear (CleaveSplitArguments *arguments);
/* Whether more is said than limits; and whether anything is said at all. */
gboolean cleave_split_arguments_has_option (const CleaveSplitArguments *arguments);
gboolean cleave_split_arguments_is_given (const CleaveSplitArguments *arguments);
/* The option, NULL if there is none but a constraint; FALSE and the error if there is neither, too
 * much, or nonsense. */
gboolean cleave_split_arguments_parse (const CleaveSplitArguments *arguments,
                                       CleaveSplit **split,
                                       CleaveConstraint *constraint,
                                       GError **error);
