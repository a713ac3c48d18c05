/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

#include <cleave/cleave-fit.h>

/* The nodes as they come where a file of the graph is read, whose nodes run in such an order:
 * inputs first, and constants where they are read. */
GPtrArray *cleave_fit_order_as_read (const CleaveGraph *graph, const GPtrArray *order);
/* Puts the nodes in the order in which they run, which a file then has: whoever reads it finds that
 * order again.  Nothing is moved where a program would not take just so many bytes then.  `apart`
 * are those that are alive at once before any lie over what dies.  The peak of the graph as it is
 * counted where nobody says how, or -1: not known. */
gint64 cleave_fit_arrange (
    CleaveGraph *graph, guint n_threads, gboolean inputs_apart, gint64 n_bytes, gint64 apart);
/* Whether it cuts nodes, copies them, or lets them run elsewhere. */
gboolean cleave_fit_plan_changes (const CleaveFitPlan *plan);
