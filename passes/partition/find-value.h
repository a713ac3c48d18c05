/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

/* Finds a value by the name that a user wrote: the name of the value, of an output of the graph, or
 * of a node (its first result). cut-at.c and extract.c call this function. If `computed`, the value
 * must not be an input or a constant. On failure, returns NULL and sets CLEAVE_ERROR_OPTION with
 * the nearest name. */
CleaveResult *cleave_partition_find_value (const CleaveGraph *graph,
                                           const char *name,
                                           gboolean computed,
                                           GError **error);
