/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

G_BEGIN_DECLS

/* What other languages need besides. */

/**
 * CleaveReleaseFunc:
 * @data: (closure): the data that was given with it
 *
 * Is called when memory that was lent is not needed any more, on whatever thread that happens.
 */
typedef void (*CleaveReleaseFunc) (gpointer data);

CLEAVE_API CleaveTensor *cleave_tensor_new_borrowed (const CleaveTensorType *type,
                                                     gpointer memory,
                                                     CleaveReleaseFunc release,
                                                     gpointer data,
                                                     GError **error);
CLEAVE_API GVariant *cleave_node_dup_attrs_variant (const CleaveNode *node);

/* For a message: what somebody may have meant. */
CLEAVE_API const char *cleave_text_find_nearest (const char *text, const char *const *words);
CLEAVE_API const char *cleave_graph_find_nearest_name (const CleaveGraph *graph, const char *name);
CLEAVE_API CleaveNode *
cleave_graph_select_node (const CleaveGraph *graph, const char *name, GError **error);

G_END_DECLS
