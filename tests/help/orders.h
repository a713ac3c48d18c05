/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The order in which a program runs the nodes of a graph, and the peak memory in this order. Suites
 * in tests/memory and tests/runtime/plan use these functions. The functions call the planner in
 * lib/memory directly. */

#include "../../lib/memory/ordering.h"

/* Returns the nodes of a graph in the order in which a program runs them. */
static inline GPtrArray *
order_best (const CleaveGraph *graph, GError **error)
{
  g_autoptr (CleaveStorage) storage = NULL;

  return cleave_order_with_storage (graph, &storage, error);
}

/* Returns the peak bytes of live values if the nodes run in this order. */
static inline gint64
order_peak (const CleaveGraph *graph, const GPtrArray *order)
{
  g_autoptr (CleaveStorage) storage = cleave_storage_new (graph, order);

  return cleave_storage_get_peak (storage);
}
