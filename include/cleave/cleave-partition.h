/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Divides a split graph into smaller graphs that another runtime can run: in a fixed order, or all
 * graphs of one level at the same time. Each graph lists the graphs that must run before it.
 * `cleave partition` writes each graph as an ONNX model of its own. */

#include <cleave/cleave-graph.h>

G_BEGIN_DECLS

#define CLEAVE_TYPE_PARTITION (cleave_partition_get_gtype ())

/**
 * CleavePartition:
 *
 * Smaller graphs that together compute a graph, and the order in which they must run.
 */
typedef struct _CleavePartition CleavePartition;

CLEAVE_API GType cleave_partition_get_gtype (void);
CLEAVE_API CleavePartition *cleave_partition_new (const CleaveGraph *graph, GError **error);
CLEAVE_API CleavePartition *
cleave_partition_new_by_count (const CleaveGraph *graph, guint n_parts, GError **error);
CLEAVE_API CleavePartition *
cleave_partition_new_by_bytes (const CleaveGraph *graph, gint64 max_bytes, GError **error);
CLEAVE_API gint64 cleave_partition_find_least_bytes (const CleaveGraph *graph, GError **error);
CLEAVE_API CleavePartition *
cleave_partition_new_at (const CleaveGraph *graph, const char *const *values, GError **error);
CLEAVE_API CleavePartition *cleave_partition_ref (CleavePartition *partition);
CLEAVE_API void cleave_partition_unref (CleavePartition *partition);

CLEAVE_API guint cleave_partition_get_n_parts (const CleavePartition *partition);
CLEAVE_API CleaveGraph *cleave_partition_get_graph (const CleavePartition *partition, guint index);
CLEAVE_API guint cleave_partition_get_level (const CleavePartition *partition, guint index);
CLEAVE_API int cleave_partition_get_subgraph (const CleavePartition *partition, guint index);
CLEAVE_API guint cleave_partition_get_n_before (const CleavePartition *partition, guint index);
CLEAVE_API guint cleave_partition_get_before (const CleavePartition *partition,
                                              guint index,
                                              guint number);
CLEAVE_API const char *cleave_partition_get_output_value (const CleavePartition *partition,
                                                          guint index);
CLEAVE_API int cleave_partition_find (const CleavePartition *partition, const CleaveNode *node);
CLEAVE_API gboolean cleave_partition_measure (const CleavePartition *partition,
                                              guint index,
                                              gint64 *weight_bytes,
                                              gint64 *arena_bytes,
                                              GError **error);

CLEAVE_API CleaveGraph *cleave_graph_extract (const CleaveGraph *graph,
                                              const char *const *from,
                                              const char *const *to,
                                              GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleavePartition, cleave_partition_unref)

G_END_DECLS
