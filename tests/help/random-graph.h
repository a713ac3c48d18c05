/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Random graphs for tests of the memory planner, the schedule and the fit. Their values often share
 * memory, so a wrong overlay changes a result. graphs.h has other random graphs, for tests of
 * splits. */

#include <cleave/cleave.h>

/* Returns a graph of about `n_nodes` nodes. Many of the nodes place values in the memory of other
 * values: element-wise ops, joins, views, reshapes. Others are convolutions and products. The graph
 * has several inputs and outputs. The same seed gives the same graph. */
CleaveGraph *random_graph (guint32 seed, guint n_nodes);
/* Returns a graph of random_graph (), or a graph of any ops. A pipeline has cleaned up and split
 * the returned graph. */
CleaveGraph *random_split_graph (guint32 seed);
