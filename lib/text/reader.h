/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Reads the words of a graph as text: names, types, attributes and the values of constants. line.h
 * puts the words of one line together, and read.c makes a graph from the lines. Every error names
 * the line and the column. */

#include "../ir/op.h"

/* A position in a text, and the sources of the values of its constants. */
typedef struct
{
  const char *text, *at;
  const char *folder;         /* folder of the files that constants name; NULL: no files */
  gint64 budget;              /* bytes that the constants in the rest of the text may take;
                               * constants whose values are in files do not count */
  GHashTable *files;          /* maps the name of an open file to its contents (GBytes) */
  const GPtrArray *constants; /* CleaveTensor: entry N is the value of a constant that the text
                               * writes as `index=N`; NULL: the text may not write `index=` */
} CleaveReader;

/* Sets `error` to a message with the line and column of `at`. Returns FALSE. */
gboolean cleave_reader_fail (const CleaveReader *reader,
                             const char *at,
                             GError **error,
                             const char *format,
                             ...) G_GNUC_PRINTF (4, 5);
/* Moves the error `wrong` to `error` and puts the line and column of `at` before its message.
 * Returns FALSE. */
gboolean
cleave_reader_fail_with (const CleaveReader *reader, const char *at, GError *wrong, GError **error);

/* Skips blanks, but not the end of the line. */
void cleave_reader_skip (CleaveReader *reader);
/* Returns whether the line ends at the reader's position, or only `# name` follows. */
gboolean cleave_reader_is_end (const CleaveReader *reader);
/* If the text at the reader's position begins with `text`, moves past it and returns TRUE. */
gboolean cleave_reader_take (CleaveReader *reader, const char *text);
/* Reads and returns letters, digits, `_` and `.`. The result may be empty. */
char *cleave_reader_take_name (CleaveReader *reader);
/* Reads and returns the text up to a blank or the end of the line. Blanks inside quotes or brackets
 * do not end a word. */
char *cleave_reader_take_word (CleaveReader *reader);
/* Reads and returns the rest of the line, without the blanks at its end. */
char *cleave_reader_take_rest (CleaveReader *reader);
/* Returns the next character in quotes, or "the end of the line", for messages. */
char *cleave_reader_dup_next (const CleaveReader *reader);
/* Reads a type, such as `float32 1x3x8x8`. */
gboolean cleave_reader_take_type (CleaveReader *reader, CleaveTensorType *type, GError **error);

/* attributes.c: reads the attributes of a node into `attrs` and stops before the types of the node.
 * The caller has filled `attrs` with defaults. */
gboolean
cleave_read_attributes (CleaveReader *reader, const CleaveOp *op, gpointer attrs, GError **error);

/* The declarations below are for values of constants (values.c). */

/* The words that give a Constant its value, such as `seed=1`, as text. A word that is absent is
 * NULL. `at` points to the constant's words in the text. */
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
/* Makes a tensor of a type from its elements as text. The error names no line and column, which the
 * caller must add. */
CleaveTensor *cleave_read_elements (CleaveReader *reader,
                                    const CleaveTensorType *type,
                                    const char *elements,
                                    GError **error);

/* read.c: parses a graph as cleave_graph_parse() does. The values of all constants may take at most
 * `budget` bytes, without values that come from a file. */
CleaveGraph *
cleave_graph_parse_within (const char *text, const char *folder, gint64 budget, GError **error);
