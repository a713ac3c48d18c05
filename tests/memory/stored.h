/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Makes the storage of a graph (buffers and locations of its values), with assertions about it. The
 * suites buffers.c and layouts.c use these functions to find where a value is in memory. run-help.h
 * builds the graphs. */

#include "../../lib/memory/buffers.h"
#include "orders.h"
#include "random-graph.h"
#include "run-help.h"

static inline CleaveStorage *
make_storage (const CleaveGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) order = order_best (graph, &error);
  CleaveStorage *storage;

  cleave_assert_no_error (error);
  storage = cleave_storage_new (graph, order);
  /* `order` is freed at the end of this function, and `nodes` points to it */
  storage->nodes = NULL;
  return storage;
}

static inline const CleaveLocation *
place_of (const CleaveStorage *storage, const CleaveResult *value)
{
  return &cleave_storage_assignment (storage, value)->location;
}
