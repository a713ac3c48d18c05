/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/op.h"

/* The position in a text, and the sources of the values of its constants. */
typedef struct
{
  const char *text, *at;
  const char *folder; /* folder of the files that constants name; NULL: no files */
  gint64 budget;      /* bytes that further constants may take if their values are in no file */
  GHashTable *files;  /* open files: GBytes by name */
  const GPtrArray *constants; /* CleaveTensor: for `index=`; NULL: `index=` is not allowed */
} CleaveReader;

/* Sets `error` to a message with the line and column of `at`. Returns FALSE. */
gboolean cleave_reader_fail (const CleaveReader *reader,
                             const char *at,
                             GError **error,
                             const char *format,
                             ...) G_GNUC_PRINTF (4, 5);
/* Prefixes `wrong` with the line and column of `at`, and moves it to `error`. Returns FALSE. */
gboolean
cleave_reader_fail_with (const CleaveReader *reader, const char *at, GError *wrong, GError **error);

/* Skips blanks, but not the end of the line. */
void cleave_reader_skip (CleaveReader *reader);
/* Returns whether the line ends here, or only `# name` follows. */
gboolean cleave_reader_is_end (const CleaveReader *reader);
/* Returns whether the text at the position begins with `text`; if so, moves past it. */
gboolean cleave_reader_take (CleaveReader *reader, const char *text);
/* Reads letters, digits, `_` and `.`. The result may be empty. */
char *cleave_reader_take_name (CleaveReader *reader);
/* Reads up to a blank or the end of the line. Blanks inside quotes or brackets do not end a
 * word. */
char *cleave_reader_take_word (CleaveReader *reader);
/* Reads the rest of the line, without blanks at its end. */
char *cleave_reader_take_rest (CleaveReader *reader);
/* Returns the next character in quotes, or "the end of the line", for messages. */
char *cleave_reader_dup_next (const CleaveReader *reader);
/* Reads a type, such as `float32 1x3x8x8`. */
gboolean cleave_reader_take_type (CleaveReader *reader, CleaveTensorType *type, GError **error);

/* attributes.c: reads the attributes of a node, up to the types of the node, into `attrs`, which
 * the caller has filled with defaults. */
gboolean
cleave_read_attributes (CleaveReader *reader, const CleaveOp *op, gpointer attrs, GError **error);

/* values.c */

/* The words of a constant, up to the types of its line, not interpreted yet. NULL: the word is
 * absent. */
typedef struct
{
  char *value, *seed, *file, *offset, *index;
  const char *at;
} CleaveReadConstant;

void cleave_read_constant_clear (CleaveReadConstant *constant);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveReadConstant, cleave_read_constant_clear)
gboolean
cleave_read_constant_words (CleaveReader *reader, CleaveReadConstant *constant, GError **error);
CleaveTensor *cleave_read_constant (CleaveReader *reader,
                                    const CleaveReadConstant *constant,
                                    const CleaveTensorType *type,
                                    const char *name,
                                    GError **error);
/* Makes a tensor of a type from its elements as text. The error has no line and column. */
CleaveTensor *cleave_read_elements (CleaveReader *reader,
                                    const CleaveTensorType *type,
                                    const char *elements,
                                    GError **error);

/* read.c: parses a graph as cleave_graph_parse() does. `budget` limits the bytes of constants that
 * are in no file. */
CleaveGraph *
cleave_graph_parse_within (const char *text, const char *folder, gint64 budget, GError **error);
