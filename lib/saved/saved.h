/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-program.h>

/* The file format of saved programs, which run without being compiled again. save.c writes the file
 * (cleave_graph_save_program()), and load.c maps it and makes a program (cleave_program_load()).
 *
 *    header | metadata, a serialized GVariant | padding to a page | data blocks
 *
 * The data blocks are the bytes of constants and packed weights. All processes that load the file
 * share the pages of the blocks. */

#define CLEAVE_SAVED_MAGIC "CLEAVEPL"
#define CLEAVE_SAVED_ORDER 0x01020304u
#define CLEAVE_SAVED_FORMAT 1u
/* alignment of the first data block in the file, in bytes: a page */
#define CLEAVE_SAVED_PAGE 4096
/* alignment of each further data block, relative to the first data block, in bytes: a cache line */
#define CLEAVE_SAVED_LINE 64

typedef struct
{
  char magic[8];
  guint32 order, format; /* byte order of the writer (CLEAVE_SAVED_ORDER), and version of the
                          * format */
  guint64 n_metadata;    /* size of the metadata in bytes; the metadata follows the header */
  guint64 data, n_data;  /* offset and size of all data blocks together, in bytes; the file ends
                          * after the data blocks */
  guint64 unused[3];
} CleaveSavedHeader;

G_STATIC_ASSERT (sizeof (CleaveSavedHeader) == 64);

/* clang-format off */
#define CLEAVE_SAVED_TYPE                                                                          \
  "("                                                                                              \
  "s"         /* version and build of the library */                                               \
  "s"         /* level of the processor */                                                         \
  "a(aytxs)"  /* files of the model: path, size, time of last change (ns), SHA-256 */              \
  "b"         /* whether the program runs reference kernels only */                                \
  "s"         /* the graph, as text */                                                             \
  "as"        /* names of the graph's inputs, in order */                                          \
  "a(uaxt)"   /* tensors: element type, shape, offset in the data blocks */                        \
  "a(uaxax)"  /* constants, by their index= in the graph's text: tensor; begin, end of slice */    \
  "u"         /* number of threads */                                                              \
  "au" "au"   /* steps in the order of the schedule; thread of each step */                        \
  "ad" "ad"   /* indexed by step: estimated begin, estimated end */                                \
  "ax" "x"    /* offset of each buffer in the arena, size of the arena, in bytes */                \
  "a(stt)"    /* packed weights: key, size, offset in the data blocks */                           \
  ")"
/* clang-format on */

/* build-id.c: returns the version and the build ID of the library. */
char *cleave_saved_dup_library (void);

/* The functions of sources.c are about the files from which a model was read. */

/* Returns the metadata of one file of the model: path, size, time of last change and SHA-256, as a
 * GVariant of the type (aytxs). CLEAVE_SAVED_TYPE has an array of this type. Returns NULL on
 * error. */
GVariant *cleave_source_new (const char *path, GError **error);
/* Checks that the model's files are unchanged. If `model` is NULL, ignores files that no longer
 * exist. If `model` is not NULL, `model` is the current path of the first file. All files must then
 * exist, and the other files must be in the folder of the first file. */
gboolean cleave_sources_check (GVariant *sources, const char *model, GError **error);

/* save.c: sorts the inputs of a graph in the order of `names`. Returns FALSE if the graph's inputs
 * do not have exactly these names. */
gboolean cleave_saved_order_inputs (CleaveGraph *graph, const char *const *names);
