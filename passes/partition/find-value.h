/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

/* Finds a value that a node computes by the name that a user wrote: the name of the value, of an
 * output of the graph, or of the node. Returns NULL and CLEAVE_ERROR_OPTION, with the nearest name,
 * if there is none, or if it is an input or a constant and `computed` asks for others. */
CleaveResult *cleave_partition_find_value (const CleaveGraph *graph,
                                           const char *name,
                                           gboolean computed,
                                           GError **error);
