/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "reader.h"

/* Reads one line of a graph as text, such as `%2 = Conv %0, %1 pads=1,1,1,1 : float32 1x8x6x6  #
 * conv`. The reader of graphs (read.c) calls cleave_text_line_read() for each node and makes the
 * node from the CleaveTextLine. The functions of reader.h read the words of the line. */

/* The parsed line of one node. The pointers `*_at` point to the op, the types and the name of the
 * node in the text, for error messages. */
typedef struct
{
  const char *begin, *op_at, *types_at, *name_at;
  GPtrArray *ids, *operands, *value_names;
  const CleaveOp *op;
  gpointer attrs;
  CleaveReadConstant constant;
  GArray *types;
  char *name;
} CleaveTextLine;

void cleave_text_line_init (CleaveTextLine *line);
void cleave_text_line_clear (CleaveTextLine *line);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveTextLine, cleave_text_line_clear)

/* Reads the line of a node. `values` maps the name of each value of earlier lines (such as "1" for
 * %1) to its CleaveResult. */
gboolean cleave_text_line_read (CleaveReader *reader,
                                GHashTable *values,
                                CleaveTextLine *line,
                                GError **error);
/* Reads a reference to a value of an earlier line, such as `%1`. Returns NULL on error. */
CleaveResult *cleave_text_take_value (CleaveReader *reader, GHashTable *values, GError **error);
/* Returns the name between `begin` and `end`. Removes quotes and surrounding blanks. Returns NULL
 * if the name is not valid. */
char *cleave_text_dup_name (const char *begin, const char *end);
