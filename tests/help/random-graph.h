/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* A graph of about `n_nodes` nodes of all kinds that place values in each other's memory:
 * element-wise ops, joins, views, reshapes, convolutions, products; with several inputs and
 * outputs.  The same for the same seed. */
CleaveGraph *random_graph (guint32 seed, guint n_nodes);
/* That or one of any ops, cleaned up and cut by a pipeline. */
CleaveGraph *random_split_graph (guint32 seed);
