/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-program.h>

/* A saved program: a header, what was decided as a serialized GVariant, and, from a page of its own
 * on, the bytes of constants and of packed weights, which are mapped. */

#define CLEAVE_SAVED_MAGIC "CLEAVEPL"
#define CLEAVE_SAVED_ORDER 0x01020304u
#define CLEAVE_SAVED_FORMAT 1u
/* Where the bytes begin, and where each block of them does: a page, and a line of the cache. */
#define CLEAVE_SAVED_PAGE 4096
#define CLEAVE_SAVED_LINE 64

typedef struct
{
  char magic[8];
  guint32 order, format; /* of bytes in a number; of the file */
  guint64 n_said;        /* bytes of the variant, right behind this */
  guint64 data, n_data;  /* where the bytes begin, and how many they are, up to the file's end */
  guint64 unused[3];
} CleaveSavedHeader;

G_STATIC_ASSERT (sizeof (CleaveSavedHeader) == 64);

/* clang-format off */
#define CLEAVE_SAVED_TYPE                                                                          \
  "("                                                                                              \
  "s"         /* the library */                                                                    \
  "s"         /* the level of the processor */                                                     \
  "a(aytxs)"  /* files of the model: path, size, time of the last change, SHA-256 */               \
  "b"         /* reference kernels only */                                                         \
  "s"         /* the graph, as text */                                                             \
  "as"        /* its inputs in order */                                                            \
  "a(uaxt)"   /* tensors: element, shape, where in the data */                                     \
  "a(uaxax)"  /* constants of the text: tensor, begin and end of the part */                       \
  "u"         /* threads */                                                                        \
  "au" "au"   /* steps: order, thread */                                                           \
  "ad" "ad"   /* steps: estimated begin, end */                                                    \
  "ax" "x"    /* buffers: offset; size of the arena */                                             \
  "a(stt)"    /* packed weights: key, size, where in the data */                                   \
  ")"
/* clang-format on */

/* build-id.c: the version of the library and what tells one build of it from another. */
char *cleave_saved_dup_library (void);

/* sources.c: the files of a model. */

/* As the variant says it, (aytxs). */
GVariant *cleave_source_new (const char *path, GError **error);
/* Whether they are as they were, those that are still there; `model`, unless NULL, is where the
 * first of them must be now, with the others beside it. */
gboolean cleave_sources_check (GVariant *sources, const char *model, GError **error);

/* save.c: the inputs of a graph in the order of these names; FALSE: they have others. */
gboolean cleave_saved_order_inputs (CleaveGraph *graph, const char *const *names);
