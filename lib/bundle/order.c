/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Orders the nodes of a graph for a bundle. A loop contains only consecutive steps, so the order
 * decides which layers can share a loop. */

#include "../memory/ordering.h"
#include "model-parts.h"

GPtrArray *
cleave_bundle_order_nodes (const CleaveGraph *graph, gboolean by_memory, GError **error)
{
  g_autoptr (CleaveStorage) storage = NULL;

  return by_memory ? cleave_order_with_storage (graph, &storage, error)
                   : cleave_graph_get_order (graph, error);
}
