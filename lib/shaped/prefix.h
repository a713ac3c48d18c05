/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Tells whether a program for larger inputs can run smaller inputs that are padded. For example, a
 * network without a reduction over the batch computes rows 0 to 2 of 8 as it computes 3 rows.
 * shaped.c and programs.c call cleave_graph_is_prefix() before they reuse a program for other
 * shapes. */

#include <cleave/cleave-graph.h>

/* Returns whether each value of `part` equals the first elements, in every dimension, of its
 * counterpart in `whole`. If the function returns TRUE, a program of `whole` can run `part`: the
 * caller pads each input of `part` with elements of any value. The first elements of each output
 * then have the same bits as the output of `part`. If the function returns FALSE, appends the
 * reason to `why`, unless `why` is NULL. The time is linear in the number of nodes and in the bytes
 * of the constants. */
gboolean cleave_graph_is_prefix (const CleaveGraph *part, const CleaveGraph *whole, GString *why);
