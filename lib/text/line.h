/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "reader.h"

/* What a line says of a node. */
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

/* `values` has those of the lines before, by their numbers. */
gboolean cleave_text_line_read (CleaveReader *reader,
                                GHashTable *values,
                                CleaveTextLine *line,
                                GError **error);
/* `%1`, which must be one of them. */
CleaveResult *cleave_text_take_value (CleaveReader *reader, GHashTable *values, GError **error);
/* A name in quotes or not, without blanks around it; NULL: there is none. */
char *cleave_text_dup_name (const char *begin, const char *end);
