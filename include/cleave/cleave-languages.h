/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Functions for bindings of other languages and for tools: tensors over memory that the caller
 * owns, attributes as GVariant, and suggestions for misspelled names. The Python package uses the
 * tensors and attributes; error messages of the command and of passes use the suggestions. */

#include <cleave/cleave-graph.h>

G_BEGIN_DECLS

/**
 * CleaveReleaseFunc:
 * @data: (closure): the data that was passed with the function
 *
 * Releases memory that the caller owns and that the library no longer needs. Any thread may call
 * the function.
 */
typedef void (*CleaveReleaseFunc) (gpointer data);

CLEAVE_API CleaveTensor *cleave_tensor_new_borrowed (const CleaveTensorType *type,
                                                     gpointer memory,
                                                     CleaveReleaseFunc release,
                                                     gpointer data,
                                                     GError **error);
CLEAVE_API GVariant *cleave_node_dup_attrs_variant (const CleaveNode *node);

/* Find the name that a user probably meant, for error messages. */
CLEAVE_API const char *cleave_text_find_nearest (const char *text, const char *const *words);
CLEAVE_API const char *cleave_graph_find_nearest_name (const CleaveGraph *graph, const char *name);
CLEAVE_API CleaveNode *
cleave_graph_select_node (const CleaveGraph *graph, const char *name, GError **error);

G_END_DECLS
