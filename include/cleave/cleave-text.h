/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Text: parses numbers, sizes and shapes of command lines and pipelines, and reads and writes
 * graphs as text. A graph that is written and read again is equal. */

#include <cleave/cleave-graph.h>

G_BEGIN_DECLS

/* Parse numbers of a command line or a pipeline. Errors name the option. */

CLEAVE_API gboolean cleave_text_to_int (
    const char *option, const char *text, gint64 min, gint64 max, gint64 *value, GError **error);
CLEAVE_API gboolean cleave_text_to_size (const char *option,
                                         const char *text,
                                         gint64 *bytes,
                                         GError **error);
CLEAVE_API gboolean cleave_text_to_max_added (const char *option,
                                              const char *text,
                                              double *fraction,
                                              GError **error);
CLEAVE_API gboolean cleave_text_to_shape (const char *option,
                                          const char *text,
                                          CleaveShape *shape,
                                          GError **error);

/* Read and write graphs as text. */

CLEAVE_API CleaveGraph *cleave_graph_parse (const char *text, const char *folder, GError **error);
CLEAVE_API CleaveGraph *cleave_graph_load_text (const char *path, GError **error);
CLEAVE_API char *
cleave_graph_to_text (const CleaveGraph *graph, const char *data_name, GBytes **data);
CLEAVE_API gboolean cleave_graph_save_text (const CleaveGraph *graph,
                                            const char *path,
                                            GError **error);
CLEAVE_API void cleave_tensor_fill_random (CleaveTensor *tensor, const char *name, guint64 seed);

G_END_DECLS
