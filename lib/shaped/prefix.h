/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

/* Returns whether each value of `part` has the first elements, in every dimension, of the value of
 * `whole` at the same place. Then a program of `whole` computes the outputs of `part`, with the
 * same bits, from inputs that are padded at the end with anything. If not, appends the reason to
 * `why`, unless `why` is NULL. Takes linear time, and compares the constants. */
gboolean cleave_graph_is_prefix (const CleaveGraph *part, const CleaveGraph *whole, GString *why);
