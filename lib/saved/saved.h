/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-program.h>

/* The file format of saved programs, which are loaded without compiling again
 * (cleave_graph_save_program(), cleave_program_load()):
 *
 *    header | metadata, a serialized GVariant | padding to a page | data blocks
 *
 * The data blocks are the bytes of constants and packed weights. They are mapped, so processes
 * share them. */

#define CLEAVE_SAVED_MAGIC "CLEAVEPL"
#define CLEAVE_SAVED_ORDER 0x01020304u
#define CLEAVE_SAVED_FORMAT 1u
/* Alignment of the data in the file, in bytes: a page. */
#define CLEAVE_SAVED_PAGE 4096
/* Alignment of each block in the data, in bytes: a cache line. */
#define CLEAVE_SAVED_LINE 64

typedef struct
{
  char magic[8];
  guint32 order, format; /* byte order, and version of the format */
  guint64 n_metadata;    /* size of the metadata in bytes; it follows the header */
  guint64 data, n_data;  /* offset and size of the data in bytes; the data ends with the file */
  guint64 unused[3];
} CleaveSavedHeader;

G_STATIC_ASSERT (sizeof (CleaveSavedHeader) == 64);

/* clang-format off */
#define CLEAVE_SAVED_TYPE                                                                          \
  "("                                                                                              \
  "s"         /* version and build of the library */                                               \
  "s"         /* level of the processor */                                                         \
  "a(aytxs)"  /* files of the model: path, size, time of last change (ns), SHA-256 */              \
  "b"         /* reference kernels only */                                                         \
  "s"         /* the graph, as text */                                                             \
  "as"        /* names of its inputs, in order */                                                  \
  "a(uaxt)"   /* tensors: element type, shape, offset in the data */                               \
  "a(uaxax)"  /* constants, numbered by index= in the text: tensor, begin and end of the slice */        \
  "u"         /* threads */                                                                        \
  "au" "au"   /* steps: order, thread */                                                           \
  "ad" "ad"   /* steps: estimated begin, end */                                                    \
  "ax" "x"    /* offset of each buffer; size of the arena */                                       \
  "a(stt)"    /* packed weights: key, size, offset in the data */                                  \
  ")"
/* clang-format on */

/* build-id.c: returns the version of the library and the ID of its build. */
char *cleave_saved_dup_library (void);

/* sources.c: the files of a model */

/* Returns the entry for a file in the metadata, (aytxs), or NULL on error. */
GVariant *cleave_source_new (const char *path, GError **error);
/* Returns whether the files that still exist are unchanged. `model`, unless NULL, is the current
 * path of the first file. All other files must then be in the same folder, and all files must
 * exist. */
gboolean cleave_sources_check (GVariant *sources, const char *model, GError **error);

/* save.c: sorts the inputs of a graph by this list of names. Returns FALSE if the graph has other
 * inputs. */
gboolean cleave_saved_order_inputs (CleaveGraph *graph, const char *const *names);
