/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/op.h"

/* Where a text has been read to, and what its constants may come from. */
typedef struct
{
  const char *text, *at;
  const char *folder; /* of the files beside it; NULL: there are none */
  gint64 budget;      /* bytes of values that are not in a file which the text may still ask for */
  GHashTable *files;  /* GBytes by name */
  const GPtrArray *constants; /* CleaveTensor that a Constant may take by `index=`; NULL: none */
} CleaveReader;

/* Tells `error` what is wrong at a place of the text, and returns FALSE. */
gboolean cleave_reader_fail (const CleaveReader *reader,
                             const char *at,
                             GError **error,
                             const char *format,
                             ...) G_GNUC_PRINTF (4, 5);
/* The same of an error that knows no place; takes it. */
gboolean
cleave_reader_fail_with (const CleaveReader *reader, const char *at, GError *wrong, GError **error);

/* Blanks, but not the end of the line. */
void cleave_reader_skip (CleaveReader *reader);
/* Whether the line ends, or nothing but a name follows. */
gboolean cleave_reader_is_end (const CleaveReader *reader);
/* Whether the text goes on with this; then it is left behind. */
gboolean cleave_reader_take (CleaveReader *reader, const char *text);
/* Letters, digits, `_` and `.`: may be empty. */
char *cleave_reader_take_name (CleaveReader *reader);
/* Up to a blank or the end of the line; what is in quotes or brackets is one. */
char *cleave_reader_take_word (CleaveReader *reader);
/* The rest of the line, without blanks at its end. */
char *cleave_reader_take_rest (CleaveReader *reader);
/* What comes next, as a message shows it. */
char *cleave_reader_dup_next (const CleaveReader *reader);
/* `float32 1x3x8x8`. */
gboolean cleave_reader_take_type (CleaveReader *reader, CleaveTensorType *type, GError **error);

/* attributes.c: the words of a node up to its types, into `attrs`, which have their defaults. */
gboolean
cleave_read_attributes (CleaveReader *reader, const CleaveOp *op, gpointer attrs, GError **error);

/* values.c */

/* The words of a constant up to its types. */
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
/* What a type and elements say; the error knows no place. */
CleaveTensor *cleave_read_elements (CleaveReader *reader,
                                    const CleaveTensorType *type,
                                    const char *elements,
                                    GError **error);

/* read.c: with a limit of bytes other than that of cleave_graph_parse(). */
CleaveGraph *
cleave_graph_parse_within (const char *text, const char *folder, gint64 budget, GError **error);
